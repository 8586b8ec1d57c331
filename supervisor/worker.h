/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One worker as the supervisor sees it: its process, pipes, scoreboard and life. Everything that comes from the process is checked.
 */
#ifndef SUPERVISOR_WORKER_H
#define SUPERVISOR_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/records.h"
#include "common/scoreboard.h"
#include "supervisor/poison.h"
#include "supervisor/restart.h"

struct sup_worker;
struct worker_args;

/* What all workers share. Owned by supervisor.c, outlives them. */
struct sup_shared {
	struct loop *loop;
	int (*worker_main)(const struct worker_args *args);
	struct sup_worker *const *workers; /* the first of all */
	int64_t heartbeat_ns, stop_grace_ns, kill_grace_ns;
	/* A worker has stopped for good, or stopped to be replaced: may free it. */
	void (*stopped)(void *data, struct sup_worker *worker);
	void *data;
	bool had_to_kill;   /* one did not stop when it was asked */
	uint64_t oom_kills; /* by the kernel in our cgroup, when we last looked */
};

struct sup_worker {
	struct sup_shared *shared;
	struct sup_worker *next;
	char *name;
	char *config; /* canonical bytes, NULL: its configuration is invalid and it never ran */
	size_t config_length;
	char *next_config; /* what it is to run after the stop that is under way; NULL: nothing */
	size_t next_config_length;
	char **former_kinds; /* of children that it had in its life here, "apps/v1 Deployment", NULL at the end: what is left of them is its to prune */
	size_t n_former_kinds;
	bool required;
	uint64_t memory_limit, file_limit;
	int64_t watch_silence_ns;
	bool holds;                  /* objects may have its finalizer, from this configuration or one before */
	bool removal_keeps, removal_deletes; /* onRemove; else it releases */
	int64_t remove_timeout_ns;
	char *file;                  /* the configuration file that it came from, NULL: not known */
	bool removed;                /* the configuration has it no more: gone once stopped */
	bool file_invalid;           /* its file has errors: it runs on with what it had */
	char cause[RECORD_TEXT_MAX]; /* why it is in its state */

	enum life life;
	enum worker_state state; /* as told by the worker, or by its life */
	int64_t state_since_ns;
	pid_t pid; /* 0: no process */
	uint32_t generation;
	uint64_t restarts[RESTART_CAUSE_MAX]; /* by why */
	int64_t cpu_ns, cpu_base_ns;          /* CPU time of this incarnation, and of those before */
	int64_t started_ns, last_beat_ns, checked_ns;
	int64_t live_ns;      /* the longest that this incarnation was live without a break */
	bool pressed;         /* SIGTERM was sent: next is SIGKILL */
	bool flooded;         /* it sent too many records at once: not read before the next check */
	unsigned bad_records; /* of this incarnation */
	pid_t dead_pid;       /* of the last incarnation that died unasked, for the log */
	char server_host[256]; /* of its API server, for labels; outlives an incarnation */
	struct restart restart;
	struct poison poison; /* objects that ended it, under the configuration that it has */

	int fd_down, fd_up, fd_scoreboard;
	const struct scoreboard *board;
	struct scoreboard copy;          /* the last consistent one of this incarnation */
	char **children; /* ids, n_children: names of the series by child */
	size_t n_children;
	uint64_t base[METRIC_SLOTS_MAX]; /* counters of those that died */
	struct record_reader reader;
	struct loop_io *io;
	struct loop_child *child;
	struct loop_timer *timer; /* delay, grace */
};

/* A line about a worker carries its controller's name as a field, as the worker's own lines do. */
#define sup_worker_log(worker, level, ...) \
	log_fields(level, LOG_FIELDS("controller", (worker)->name), __VA_ARGS__)

/* config NULL: invalid, with the cause in text. Copies. */
struct sup_worker *sup_worker_new(struct sup_shared *shared, const char *name, const char *config,
	size_t length, const char *cause);
void sup_worker_free(struct sup_worker *worker); /* has no process any more */
/* Takes over another configuration: at once when it has no process, else it is stopped and started again. */
void sup_worker_set_config(struct sup_worker *worker, const char *config, size_t length);
/* The configuration has its controller no more: lets go of its objects first, where there is something to let go of. */
void sup_worker_remove(struct sup_worker *worker);
void sup_worker_event(struct sup_worker *worker, enum life_event event);
void sup_worker_send(struct sup_worker *worker, enum record_type type, int32_t value);

/* worker_view.c */
#define SUP_STALE_PERIODS 3 /* heartbeats that may be missing */
void sup_worker_set_state(struct sup_worker *worker, enum worker_state state, const char *cause);
/* Takes the records that are there, up to a bound. */
void sup_worker_hear(struct sup_worker *worker);
/* Adds the counters of the last copy to the base, when an incarnation is over; clears the copy. */
void sup_worker_keep_counters(struct sup_worker *worker);
/* At each tick, of one period: were we away (stopped, frozen, starved) since the last? *last_tick_ns 0: it is the first. */
bool sup_is_late(int64_t *last_tick_ns, int64_t now_ns, int64_t period_ns);
/* Looks at the heartbeat; late: the supervisor itself was away, deadlines begin anew. */
void sup_worker_check(struct sup_worker *worker, int64_t now_ns, bool late);
/* Starts after its first, for whatever cause. */
uint64_t sup_worker_restarts(const struct sup_worker *worker);
/* Refreshes the copy of the scoreboard, and the state from it; false: it could not be read, all is as before. Counters of the copy never fall within a life,
 * whatever the worker writes. */
bool sup_worker_look(struct sup_worker *worker);
/* One metric over all its lives: metric_slots() numbers. */
void sup_worker_slots(const struct sup_worker *worker, enum metric_id id, uint64_t *ret);
/* Says why it is in the state that it is in. */
void sup_worker_set_cause(struct sup_worker *worker, const char *cause);
/* Live. What is wrong with its file does not matter while it runs on with what it had. */
bool sup_worker_ready(const struct sup_worker *worker);
/* Seconds since the loop's last beat, and since anything was heard from the watch; negative: not known. */
double sup_worker_heartbeat_age(const struct sup_worker *worker, int64_t now_ns);
double sup_worker_watch_age(const struct sup_worker *worker, int64_t now_ns);
/* CPU time of all its lives; what a life used after the last look at it is not known. */
double sup_worker_cpu(const struct sup_worker *worker, int64_t now_ns);
/* Resident bytes of its process, 0 without one. */
uint64_t sup_worker_memory(const struct sup_worker *worker);

#endif
