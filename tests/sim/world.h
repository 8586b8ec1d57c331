/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One simulated world: an API server with the examples' CRDs, the controllers of the examples on it, and people who change things. world.c
 * builds and ends it and lets people act; invariants.c says what must hold.
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "common/config/config.h"
#include "tests/sim/sim.h"
#include "workers/controller.h"

#define WORLD_CONTROLLERS 3 /* nginx, uuid, and greeting with a finalizer */
#define WORLD_NAMES       8 /* names of objects that people use: 0 .. 7 in "default" */

/* What is read once for all seeds. */
struct world_files {
	struct config_controller *configs[WORLD_CONTROLLERS];
	char *crds[WORLD_CONTROLLERS]; /* JSON */
};
int world_files_read(const char *examples, struct world_files *ret);
void world_files_free(struct world_files *files);

/* A controller that runs, or does not at the moment. */
struct world_runner {
	struct kube *kube;
	struct controller *controller;
	enum worker_state state;
};

struct world {
	const struct world_files *files;
	struct loop *loop;
	struct api *api;
	struct world_runner runners[WORLD_CONTROLLERS];
	/* A UUID once seen stays, for the life of the object with this uid. */
	struct {
		char uid[64], uuid[64];
	} uuids[WORLD_NAMES];
	unsigned actions;
	struct {
		uint64_t at_revision;
	} last;
};

void world_open(
	struct world *world, const struct world_files *files, const struct sim_options *options);
void world_close(struct world *world);
/* Controllers: dies (nothing is carried over) and starts anew. */
void world_start(struct world *world, unsigned i);
void world_kill(struct world *world, unsigned i);
/* One thing that people, time or fate do, drawn by chance. */
void world_act(struct world *world);
/* What the server has at a path, past the network and its faults; NULL: nothing. cJSON_Delete(). */
cJSON *world_get(const char *path);
/* Fate has done its worst: no faults, everything runs. */
void world_calm(struct world *world);

/* invariants.c */
/* At every step. */
void invariants_step(struct world *world);
/* After the calm: every object as it should be; then nothing is written any more. */
void invariants_converged(struct world *world);
/* Others' objects come and go, history is forgotten, watches end: they go on where bookmarks say, without a list. */
void invariants_resume(struct world *world);
/* During an outage attempts are few. */
void invariants_outage(struct world *world);

#endif
