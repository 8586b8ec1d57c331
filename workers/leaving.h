/* SPDX-License-Identifier: Apache-2.0 */
/* The objects under deletion that wait for our finalizer: since when we know, and since when the server says. Small: most objects are not leaving. */
#ifndef WORKERS_LEAVING_H
#define WORKERS_LEAVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/jsonscan.h"

struct leaving_object {
	uint64_t uid;       /* its hash */
	int64_t since_ns;   /* clock_monotonic_ns() when it was first seen so */
	int64_t deletion_s; /* its deletionTimestamp, seconds since 1970; 0: unreadable */
};

struct leaving {
	struct leaving_object *objects;
	size_t n, size;
};

/* Notes an object; true when it was not known yet. */
bool leaving_add(struct leaving *leaving, const char *uid, const char *bytes, size_t length);
/* Until the next add or remove; NULL: not known. */
struct leaving_object *leaving_find(struct leaving *leaving, const char *uid);
void leaving_remove(struct leaving *leaving, const char *uid);
/* The earliest deletion_s, 0: none. */
int64_t leaving_oldest(const struct leaving *leaving);
void leaving_clear(struct leaving *leaving);

#endif
