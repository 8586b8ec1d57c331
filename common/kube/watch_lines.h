/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the bytes of a watch into lines, wherever the chunks of the transport begin and end. */
#ifndef COMMON_KUBE_WATCH_LINES_H
#define COMMON_KUBE_WATCH_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include "common/buf.h"

struct watch_lines {
	struct buf pending; /* the beginning of a line whose end has not come */
};

void watch_lines_init(struct watch_lines *lines, size_t line_limit);
void watch_lines_free(struct watch_lines *lines);
/* Forgets a beginning. */
void watch_lines_reset(struct watch_lines *lines);
/*
 * Hands each whole line that is not blank to `line` (without its end; valid during the call). A value that is not 0 ends the feeding and
 * is returned; what is left is forgotten. -EFBIG: a line is longer than the limit. -ENOMEM.
 */
int watch_lines_feed(struct watch_lines *lines, const char *bytes, size_t length,
	int (*line)(void *data, const char *bytes, size_t length), void *data);
/* The stream has ended: a line without its end counts. */
int watch_lines_end(struct watch_lines *lines, int (*line)(void *data, const char *bytes, size_t length), void *data);

#endif
