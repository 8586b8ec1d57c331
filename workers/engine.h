/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of one controller, as its reconciles use them. Owned by controller.c. */
#ifndef WORKERS_ENGINE_H
#define WORKERS_ENGINE_H

#include "common/config/config.h"
#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "workers/children.h"
#include "workers/events.h"
#include "workers/leaving.h"
#include "workers/mirror.h"
#include "workers/objects.h"
#include "workers/planner.h"
#include "workers/prune.h"
#include "workers/quarantine.h"
#include "workers/queue.h"
#include "workers/status.h"
#include "workers/throttle.h"

struct reconcile;

struct engine {
	struct loop *loop;
	struct kube *kube;
	const struct config_controller *config;
	char *field_manager;
	char *finalizer; /* ours, on objects whose deletion needs work */
	const char *const *controllers; /* of this installation; NULL: not known */
	struct kube_resource resource; /* of the parents, as discovered */
	struct planner planner;
	struct store_budget budget;
	struct mirror *primary;
	struct children *children;
	struct queue *queue;
	struct quarantine *quarantine;
	void (*cured)(void *data, const char *namespace_, const char *name); /* one left the quarantine's list; may be NULL */
	struct throttle *throttle;
	struct events *events;
	struct status_paths *paths; /* members of the status that the schema drops or adds */
	struct prune_gate gate;
	struct object_counts counts;
	bool removing;           /* the controller was removed: its objects are let go of, nothing else is done */
	size_t remove_left;      /* objects with OBJECT_REMOVE */
	struct leaving leaving; /* objects under deletion that have our finalizer */
	struct reconcile *running; /* a list */
	/* The first status write that only adds members finds out which of them the schema keeps; the others wait for it. */
	struct reconcile *probe;
	bool probed;
	void (*ended)(void *data); /* a reconcile ended; may be NULL */
	void *data;
};

#endif
