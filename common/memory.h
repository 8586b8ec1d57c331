/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation for start-up, configuration and bookkeeping, whose size does not depend on what others send:
 * never returns NULL, logs and exits when there is no memory. Data that others size uses buf (which fails).
 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stddef.h>

void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t n);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Exit code of a process that has no memory for its own bookkeeping. */
#define MEMORY_EXIT 12

/* Overwrites with zeroes in a way that is not optimised out, then frees. For secrets. NULL is fine. */
void memory_burn(void *p, size_t n);

#endif
