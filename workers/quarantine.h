/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that ended this worker's predecessors, as the supervisor tells a new one. A quarantined object is not rendered until its time comes or people change
 * it. What it had is left as it is: its children are neither applied nor pruned. Owns its copy of the list.
 */
#ifndef WORKERS_QUARANTINE_H
#define WORKERS_QUARANTINE_H

#include <stdbool.h>
#include "workers/store.h"
#include "workers/worker.h"

struct quarantine;

struct quarantine *quarantine_new(const struct worker_suspect *suspects, size_t n);
void quarantine_free(struct quarantine *quarantine);
/*
 * True if the object is to be left alone: what to say about it goes to text, and how long to *ret_left_ns. It is not when its version (view->fingerprint) is
 * another than that which ended the workers.
 */
bool quarantine_holds(const struct quarantine *quarantine, const struct store_view *view,
	char *text, size_t size, int64_t *ret_left_ns);
/* The object was reconciled from end to end, or is gone: true if it was on the list, from which it is off now. */
bool quarantine_leave(struct quarantine *quarantine, const char *namespace_, const char *name);

#endif
