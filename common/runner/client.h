/* SPDX-License-Identifier: Apache-2.0 */
/* The asking side's parts, shared by its files. For common/runner alone. */
#ifndef COMMON_RUNNER_CLIENT_H
#define COMMON_RUNNER_CLIENT_H

#include "common/runner/protocol.h"
#include "common/runner/stream.h"

struct runner_run {
	struct runner *runner;
	struct runner_run *next; /* in the list of those that wait, or of those that run */
	const struct runner_command *command;
	struct runner_request request; /* without values and input; done NULL: cancelled */
	uint64_t id;
	char *input; /* until the start */
	struct runner_message message;
	int64_t asked_ns, started_ns;
	bool stopped, over; /* why it was killed */
	struct stream_sink sink;
	struct stream streams[RUNNER_FDS_MAX - 1];
	struct loop_timer *backstop; /* the runner must have answered by then */
};

struct run_list {
	struct runner_run *first, **end;
	unsigned n;
};

struct runner {
	struct loop *loop;
	struct runner_options options;
	int fd; /* -1: lost */
	pid_t pid;
	struct loop_io *io;
	struct loop_timer *kick, *grace;
	struct run_list waiting, running;
	uint64_t last_id;
	bool stopping;
	unsigned depth; /* of calls that go on behind a callback */
	bool dead;      /* freed, but for its own memory, by a callback */
	void (*stopped)(void *data);
	void *stopped_data;
};

/* --- run.c: one run --- */

/* A copy of the request, checked. */
int run_new(struct runner *runner, const struct runner_request *request, struct runner_run **ret, struct error *err);
/* Pipes, the request's file, and the message to the runner. 0, or -errno with *ret_failed as in runner_result. */
int run_begin(struct runner_run *run, const char **ret_failed);
/* Tells the runner to stop it. */
void run_kill(struct runner_run *run);
/* Calls done, if it is still wanted, with what is known, and frees. The run is in no list any more. */
void run_answer(struct runner_run *run, enum runner_outcome outcome, const struct runner_report *report);
void run_answer_not_started(struct runner_run *run, int error, const char *failed);
void run_free(struct runner_run *run);

#endif
