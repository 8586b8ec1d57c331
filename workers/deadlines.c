/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of pointers; each deadline knows its place, so that it can be taken out. Owns the array only. */
#include "config.h"

#include <stdlib.h>

#include "common/memory.h"
#include "workers/deadlines.h"

static void
place(struct deadlines *d, size_t i, struct deadline *deadline)
{
	d->heap[i] = deadline;
	deadline->index = i;
}

static void
move_up(struct deadlines *d, size_t i, struct deadline *deadline)
{
	while (i > 0 && d->heap[(i - 1) / 2]->at_ns > deadline->at_ns) {
		place(d, i, d->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(d, i, deadline);
}

static void
move_down(struct deadlines *d, size_t i, struct deadline *deadline)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < d->n && d->heap[child + 1]->at_ns < d->heap[child]->at_ns)
			child++;
		if (child >= d->n || d->heap[child]->at_ns >= deadline->at_ns)
			break;
		place(d, i, d->heap[child]);
		i = child;
	}
	place(d, i, deadline);
}

void
deadlines_add(struct deadlines *d, struct deadline *deadline)
{
	if (d->n == d->size) {
		d->size = d->size == 0 ? 32 : d->size * 2;
		d->heap = xreallocarray(d->heap, d->size, sizeof(struct deadline *));
	}
	d->n++;
	move_up(d, d->n - 1, deadline);
}

void
deadlines_remove(struct deadlines *d, struct deadline *deadline)
{
	size_t i = deadline->index;
	struct deadline *last = d->heap[--d->n];

	if (last == deadline)
		return;
	if (i > 0 && d->heap[(i - 1) / 2]->at_ns > last->at_ns)
		move_up(d, i, last);
	else
		move_down(d, i, last);
}

struct deadline *
deadlines_first(const struct deadlines *d)
{
	return d->n == 0 ? NULL : d->heap[0];
}

void
deadlines_clear(struct deadlines *d)
{
	free(d->heap);
	*d = (struct deadlines){0};
}
