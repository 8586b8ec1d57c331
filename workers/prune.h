/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many children a start (or a reload, which starts the controller anew) may delete. Pure.
 *
 * Objects that are there at the start are reconciled once before any of their children is pruned; what they would prune is counted. If that is
 * more than prune.max in all, none is pruned, and those objects say PruneBlocked. What people change later is not bounded.
 */
#ifndef WORKERS_PRUNE_H
#define WORKERS_PRUNE_H

#include <stdbool.h>
#include <stddef.h>

struct prune_gate {
	size_t max;
	size_t left;    /* objects of the start that are still to be looked at */
	size_t counted; /* children that they would prune */
	bool listed;    /* all objects of the start are known */
	bool decided;
};

enum prune_answer { PRUNE_GO, PRUNE_HOLD, PRUNE_BLOCKED };

/* An object of the start is known. */
void prune_gate_expect(struct prune_gate *gate);
/* All are known. True when that decides. */
bool prune_gate_listed(struct prune_gate *gate);
/* One was looked at, or is gone. True when it was the last, which decides: held ones must be looked at again. */
bool prune_gate_seen(struct prune_gate *gate);
/* May this object prune n children? initial: of the start, not looked at yet; held: it was answered PRUNE_HOLD before. */
enum prune_answer prune_gate_ask(struct prune_gate *gate, bool initial, bool held, size_t n);

#endif
