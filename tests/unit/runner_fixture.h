/* SPDX-License-Identifier: Apache-2.0 */
/* A runner with a shell script as its only command, and what its runs came to. */
#ifndef TESTS_UNIT_RUNNER_FIXTURE_H
#define TESTS_UNIT_RUNNER_FIXTURE_H

#include <stdbool.h>
#include "common/buf.h"
#include "common/runner/runner.h"

/* A result whose strings stay. */
struct ended {
	struct runner_result result;
	char text[256], last_line[256];
	struct buf answer, log; /* log: its lines, each with a line end */
	unsigned calls;
	struct bench *bench;
};

struct bench {
	struct loop *loop;
	struct loop_timer *deadline;
	struct runner *runner;
	struct runner_command command;
	struct runner_options options;
	const char *argv[8];
	unsigned pending; /* runs that are not answered yet */
	bool lost, stopped;
};

/* sh -c SCRIPT, answer on fd 3 (or stdout), 10 s, 200 ms grace, 1 MiB; the test changes what it wants before bench_start(). */
void bench_init(struct bench *bench, const char *script);
void bench_start(struct bench *bench);
void bench_free(struct bench *bench);
/* Asks for a run; input may be NULL. */
struct runner_run *bench_ask(struct bench *bench, struct ended *ended, const char *input, size_t length);
/* Turns the loop until no run is pending (until: or *until); fails the test after 30 s. */
void bench_wait(struct bench *bench, const bool *until);
/* Turns it for a millisecond. */
void bench_turn(struct bench *bench);
/* All of it: one run of a script. */
void bench_run(struct bench *bench, struct ended *ended);
void ended_free(struct ended *ended);
/* Whether the process is gone (a zombie is not) within 5 s. */
bool is_gone(pid_t pid);
/* It takes the descriptor limit for itself, and dies of an execve(2) that fails late. */
bool under_valgrind(void);
/* Direct children of any process, from /proc; -1: none to read. */
int children_of(pid_t pid);

#endif
