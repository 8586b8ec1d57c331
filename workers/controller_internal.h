/* SPDX-License-Identifier: Apache-2.0 */
/* Between controller.c and controller_state.c. Nobody else includes it. */
#ifndef WORKERS_CONTROLLER_INTERNAL_H
#define WORKERS_CONTROLLER_INTERNAL_H

#include "workers/controller.h"
#include "workers/engine.h"

struct controller {
	struct engine engine;
	struct controller_callbacks callbacks;
	struct loop_timer *resync, *drained;
	enum worker_state state;
	bool first_synced; /* the objects of the start are known */
	bool resyncing;    /* the next complete list queues everything */
	bool draining;
};

/* Finds the state from the health of the watches, and tells when it is another than before. */
void controller_set_state(struct controller *c);

#endif
