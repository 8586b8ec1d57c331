/* SPDX-License-Identifier: Apache-2.0 */
/* The problems of one file, each with its place, until all are known and can be shown in order. */
#ifndef COMMON_CONFIG_PROBLEMS_H
#define COMMON_CONFIG_PROBLEMS_H

#include <stddef.h>
#include <cjson/cJSON.h>

#define PROBLEMS_MAX 100 /* of a file; what comes later is counted */

struct problem {
	int line, column; /* from 1; 0: of the file as a whole */
	size_t order;
	char *text; /* "path: problem" */
	const char *file; /* where it is when that is not the file it is reported for, else NULL; outlives the problem */
};

struct problems {
	struct problem *list;
	size_t n, dropped;
};

/* path may be "". The text becomes one line of at most about 1 000 bytes. */
void problems_add(struct problems *problems, int line, int column, const char *path,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same for a problem in another file, which the one it is reported for reads in. */
void problems_add_in(struct problems *problems, const char *file, int line, int column,
	const char *path, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Appends "FILE:LINE:COLUMN: TEXT" to a JSON array, in order of the place. */
void problems_report(struct problems *problems, const char *file, cJSON *array);
void problems_clear(struct problems *problems);

#endif
