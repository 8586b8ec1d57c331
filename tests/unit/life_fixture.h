/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers' lives without processes and without time: a clock that only moves when it is told, a loop of timers, and a proc_spawn() that keeps what it was
 * given. What the supervisor does to a worker is looked at from the worker's side of the pipes and of the scoreboard.
 */
#ifndef TESTS_UNIT_LIFE_FIXTURE_H
#define TESTS_UNIT_LIFE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/scoreboard.h"
#include "supervisor/worker.h"

#define LIFE_HEARTBEAT_NS (5 * INT64_C(1000000000))

/* A process that is pretended to be there. */
struct fake_process {
	pid_t pid;
	int fd_down, fd_up;
	struct scoreboard *board;
	uint32_t generation;
	bool beats; /* its loop turns */
	int aborts, terms, kills, group_kills, continues; /* signals that it got */
	struct loop_child *watcher;
};

extern struct sup_shared life_shared;
extern struct sup_worker *life_worker;
extern struct fake_process life_process; /* the running one; pid 0: none */
extern int life_spawn_error;             /* what the next forks fail with, 0: nothing */
extern unsigned life_spawns, life_stops; /* forks, and ends as asked */

void life_setup(void); /* with one worker, not started */
void life_teardown(void);
/* Moves the clock, timer by timer; processes that beat do so all the time, the supervisor looks after them each heartbeat. */
void life_run(int64_t ns);
/* Moves the clock while nothing runs: neither the supervisor nor a worker. */
void life_freeze(int64_t ns);
/* The process ends, with a status as waitpid(2) gives it. */
void life_die(int status);
void life_say(enum worker_state state);
/* Runs until there is a process, at most the time; how long it took. */
int64_t life_run_until_spawn(int64_t at_most_ns);
/* Of the process that runs: a stop record came. */
bool life_was_asked(void);

#endif
