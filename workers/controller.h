/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One controller on an event loop: keeps the children of its objects in step, reports their status. No effects on the
 * process but logs and the scoreboard's numbers, so that it runs in a simulation as it does in a worker.
 */
#ifndef WORKERS_CONTROLLER_H
#define WORKERS_CONTROLLER_H

#include "common/config/config.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "common/worker_state.h"
#include "workers/worker.h"

struct controller;
struct controller_callbacks {
	/* The state changed; cause: why, "" when there is nothing to say. */
	void (*state)(void *data, enum worker_state state, const char *cause);
	/* After controller_drain(): nothing runs any more. */
	void (*drained)(void *data);
	/* A suspect was reconciled from end to end, or is gone; may be NULL. */
	void (*cured)(void *data, const char *namespace_, const char *name);
	void *data;
};

/* What it works with; all of it must outlive it. */
struct controller_options {
	const struct config_controller *config;
	/* The names of all controllers of this installation, NULL at the end: what another of them manages is not taken from it, what a former one left
	 * is; NULL: not known, nothing is taken. */
	const char *const *controllers;
	/* Kinds of children that earlier configurations had, as "apps/v1 Deployment", NULL at the end: what is left of them is pruned; NULL: none. */
	const char *const *former_kinds;
	const struct worker_suspect *suspects; /* copied */
	size_t n_suspects;
};

/* template_init() was called. NULL with the cause when the expressions can't be compiled. Never calls back from inside. */
struct controller *controller_new(struct loop *loop, struct kube *kube,
	const struct controller_options *options, const struct controller_callbacks *callbacks,
	struct error *err);
/* Cancels what runs. Not from inside a callback. */
void controller_free(struct controller *controller);
/* Starts no reconcile any more; drained() is called when the running ones have ended. */
void controller_drain(struct controller *controller);
/* Lets go of the objects as onRemove says, then drains. controller_drain() ends it before. */
void controller_remove(struct controller *controller);
/* Writes sizes to the scoreboard: with each heartbeat. */
void controller_measure(const struct controller *controller);

#endif
