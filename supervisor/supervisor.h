/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor. It knows workers only by the function pointer that main.c hands over. */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "common/error.h"
#include "common/log.h"

struct worker_args;

struct supervisor_options {
	const char *config_path;
	const char *control; /* --control, NULL: the default place */
	int log_level;       /* enum log_level from the command line, -1: the configuration's */
	int (*worker_main)(const struct worker_args *args);
};

/* Exit codes of operatord. */
enum {
	EXIT_STOPPED = 0,
	EXIT_TROUBLE = 1,
	EXIT_USAGE = 64,
	EXIT_NO_PERMISSION = 77,
	EXIT_CONFIG = 78
};

/* Runs to the end; returns the exit code. */
int supervisor_run(const struct supervisor_options *options);
/* One check of the configuration, in the checker's process: the document (cJSON_Delete()), or NULL and the cause. */
cJSON *supervisor_check(const char *config_path, struct error *err);
/* Prints a list of the document ("errors", "warnings") to stderr, a line each; returns how many. */
size_t supervisor_print(const cJSON *document, const char *list, const char *before);

#endif
