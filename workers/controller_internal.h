/* SPDX-License-Identifier: Apache-2.0 */
/* Between controller.c and controller_state.c. Nobody else includes it. */
#ifndef WORKERS_CONTROLLER_INTERNAL_H
#define WORKERS_CONTROLLER_INTERNAL_H

#include "workers/controller.h"
#include "workers/engine.h"
#include "workers/releases.h"

struct controller {
	struct engine engine;
	struct controller_callbacks callbacks;
	struct releases *releases;
	struct loop_timer *resync, *drained;
	enum worker_state state;
	bool first_synced; /* the objects of the start are known */
	bool resyncing;    /* the next complete list queues everything */
	bool draining;
	bool marked; /* what is to be let go of is known */
};

/* Opens the queue when all that it takes is there, closes it else; tells the state. */
void controller_health(struct controller *c);
/* controller_remove.c: goes on when the objects are known and nothing runs any more; one is gone; all that there were are done. */
void controller_remove_go_on(struct controller *c);
void controller_remove_gone(struct controller *c, const struct store_view *view);
bool controller_removed(const struct controller *c);
/* Says what is left when it is ended before its time. */
void controller_remove_cut(const struct controller *c);
/* Finds the state from the health of the watches, and tells when it is another than before. */
void controller_set_state(struct controller *c);

#endif
