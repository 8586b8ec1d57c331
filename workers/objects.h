/* SPDX-License-Identifier: Apache-2.0 */
/* What the store notes about a controller's own objects (the parents): flags, numbers, and the metric operatord_objects. */
#ifndef WORKERS_OBJECTS_H
#define WORKERS_OBJECTS_H

#include <stdbool.h>
#include "workers/mirror.h"
#include "workers/store.h"

enum {
	/* seen in each version */
	OBJECT_DELETING = 1 << 0,
	OBJECT_PAUSED = 1 << 1, /* by annotation */
	OBJECT_FINALIZER =
		1 << 2, /* it has our finalizer; set by the controller, which knows its name */
	/* kept for the life of a uid */
	OBJECT_INITIAL = 1 << 16, /* was there when we started, and was not reconciled yet */
	OBJECT_REMOVE = 1 << 18, /* its controller was removed, and it has not been let go of yet */
	OBJECT_HELD = 1 << 17,   /* it has children to prune since our start: see prune.h */
};

enum {
	OBJECT_NOTE_SENT, /* hash of a status patch that the server did not take as it was, 0: none */
	OBJECT_NOTE_APPLIED, /* bit i: child i was applied since our start */
	OBJECT_NOTE_FAILURE  /* hash of the failure that was said last, 0: none */
};

/*
 * Fills fingerprint and flags of an entry. The fingerprint is the object's version for the queue: it changes with what people write (all
 * but metadata and status, and labels and annotations), not with statuses, resourceVersion or managedFields.
 */
void object_entry(struct store_entry *entry);

/* The object in an answer has this uid: it is not another one of the same name, made anew meanwhile. */
bool object_is(const char *bytes, size_t length, const char *uid);

/* How an object stands, for the metric. */
enum object_state {
	OBJECT_UNCOUNTED,
	OBJECT_READY,
	OBJECT_RECONCILING,
	OBJECT_FAILED,
	OBJECT_LEAVING,
	OBJECT_UNKNOWN,
	OBJECT_STATES
};
struct object_counts {
	size_t n[OBJECT_STATES];
};
/* Counts the object in this state and no longer in the one it was in; OBJECT_UNCOUNTED: it goes. */
void object_count(struct object_counts *counts, struct mirror *mirror,
	const struct store_view *view, enum object_state state);

#endif
