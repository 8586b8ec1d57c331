/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's own state, shared by its modules: owned by supervisor.c, changed by it and by reload.c, read by the pages. */
#ifndef SUPERVISOR_CORE_H
#define SUPERVISOR_CORE_H

#include <stdbool.h>
#include "common/config/config.h"
#include "supervisor/checker.h"
#include "supervisor/supervisor.h"
#include "supervisor/worker.h"

/* A configuration file as the last check saw it. */
struct sup_file {
	char *path;
	bool valid;
};

/* Who waits for a reload's end: code is an exit code (0, 78, 1), text is for people, line by line. */
struct sup_waiter {
	void (*done)(void *data, int code, const char *text);
	void *data;
	struct sup_waiter *next;
};

struct supervisor {
	const struct supervisor_options *options;
	struct loop *loop;
	struct sup_shared shared;
	struct sup_worker *workers; /* in the order of their names */
	struct config_supervisor config;
	struct sup_file *files;
	size_t n_files;
	struct checker *checker;    /* a reload is under way */
	struct sup_waiter *waiters; /* for the one under way */
	struct sup_waiter *queued;  /* for the next one, which follows it */
	bool reload_again;
	bool last_reload_good;
	int64_t last_good_reload_wall_ns, started_wall_ns, started_ns, last_tick_ns;
	bool stopping;
	unsigned stops; /* stop signals so far */
	struct sup_http *http;
	struct sup_control *control;
	struct loop_timer *tick;
};

struct sup_worker *supervisor_find(const struct supervisor *sup, const char *name);
void supervisor_add(struct supervisor *sup, struct sup_worker *worker);

/*
 * reload.c. Applies a checker's document: starts what is added, stops what is removed, replaces what changed, leaves the rest. Appends to
 * text what was done and every error; returns 0, or 78 when a file has errors (then those files' controllers go on as they run).
 */
struct buf;
int reload_apply(struct supervisor *sup, const cJSON *document, struct buf *text);
/* Reads the configuration anew; done may be NULL. One at a time: asked for during another, it follows it. */
void reload_start(
	struct supervisor *sup, void (*done)(void *data, int code, const char *text), void *data);

#endif
