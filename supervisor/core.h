/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's own state, shared by its modules: owned by supervisor.c, changed by it and by reload.c, read by the pages. */
#ifndef SUPERVISOR_CORE_H
#define SUPERVISOR_CORE_H

#include <stdbool.h>
#include "common/buf.h"
#include "common/config/config.h"
#include "supervisor/auto_reload.h"
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
	cJSON *templates;                /* paths that children name as their files */
	struct config_state loaded;      /* the files just before they were last read */
	struct auto_reload *auto_reload; /* reload: auto, else NULL */
	bool last_reload_good;
	int64_t last_good_reload_wall_ns, started_wall_ns, started_ns, last_tick_ns;
	bool configured; /* the first configuration is applied */
	bool stopping;
	int log_level_asked; /* enum log_level, asked for while it runs; -1: not */
	struct service *service;
	struct sup_http *http;
	struct sup_control *control;
	struct loop_timer *tick;
};

/* supervisor.c */
struct sup_worker *supervisor_find(const struct supervisor *sup, const char *name);
void supervisor_add(struct supervisor *sup, struct sup_worker *worker);
/* The one asked for while it runs, else the command line's, else the configuration's. */
enum log_level supervisor_log_level(const struct supervisor *sup);
/* Asks for a level, here and in every worker, over reloads until the next call; -1: that of the command line or the configuration again. */
void supervisor_ask_log_level(struct supervisor *sup, int level);
/* Has every worker take supervisor_log_level(), if it is another than before. */
void supervisor_pass_log_level(struct supervisor *sup, enum log_level before);

/* stop.c. The first call asks every worker to stop, each further one shortens the grace; the loop ends with the last worker. */
void stop_request(struct supervisor *sup);
/* sup_shared.stopped */
void stop_on_stopped(void *sup, struct sup_worker *worker);

/* What a configuration came to: what is wrong with it and what it can't change at run time, then what was done. Lines; the owner frees both. */
struct sup_report {
	struct buf problems, changes;
};

/*
 * apply.c. The supervisor's own settings of a valid document: EXIT_STOPPED, or another exit code and nothing is changed; what needs a restart is said in
 * the report. Then the controllers: starts what is added, stops what is removed, replaces what changed, leaves the rest.
 */
int apply_settings(struct supervisor *sup, const cJSON *document, struct sup_report *report);
void apply_controllers(struct supervisor *sup, const cJSON *document, struct sup_report *report);
/* No file has an error. */
bool apply_is_whole(const cJSON *document);

/*
 * reload.c. Applies a checker's document: reports every error and what was done; returns EXIT_STOPPED, EXIT_CONFIG when a file has errors (then those
 * files' controllers go on as they run), EXIT_TROUBLE when the change is not possible while it runs.
 */
int reload_apply(struct supervisor *sup, const cJSON *document, struct sup_report *report);
/* Logs it line by line: warnings, errors, and at level info what was done. */
void reload_log(const char *what, int code, const struct sup_report *report);
void sup_report_clear(struct sup_report *report);
/* Reads the configuration anew; done may be NULL, may be called from inside. One at a time: asked for during another, or before the first is applied, it follows that. */
void reload_start(
	struct supervisor *sup, void (*done)(void *data, int code, const char *text), void *data);
/* Notes the files that children name as templates, from a check that began when sup->loaded was taken. */
void reload_note_templates(struct supervisor *sup, const cJSON *document);
/* Begins or ends looking at the files, as reload: says. */
void reload_watch(struct supervisor *sup);
/* Starts what was asked for meanwhile. */
void reload_next(struct supervisor *sup);
/* Ends what is under way; who waits is told. */
void reload_cancel(struct supervisor *sup);

#endif
