/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of deadlines that their owners embed. Knows no clock and no timer. */
#ifndef WORKERS_DEADLINES_H
#define WORKERS_DEADLINES_H

#include <stddef.h>
#include <stdint.h>

struct deadline {
	int64_t at_ns;
	size_t index; /* the heap's own */
};

struct deadlines {
	struct deadline **heap;
	size_t n, size;
};

void deadlines_add(struct deadlines *deadlines, struct deadline *deadline);
/* It must be in. */
void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline);
/* The earliest; NULL when there is none. */
struct deadline *deadlines_first(const struct deadlines *deadlines);
void deadlines_clear(struct deadlines *deadlines);

#endif
