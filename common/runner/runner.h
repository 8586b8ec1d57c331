/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs run for a process that must not execute any itself: hooks and credential plugins.
 *
 * runner_new() forks a process, the runner, which knows the configured commands from the moment of the fork; later it takes only a
 * command's index, values for variables that the command names, and descriptors. So whoever parses the network never executes, and
 * can't choose what is executed. Fork it before the first connection and before a sandbox that forbids execve(2).
 *
 * What holds of every run:
 * - A session and process group of its own; descriptors 0 to 2, and 3 where the command answers there; default signals, empty mask,
 *   no new privileges, no core file, its own limits; the environment is what the command says and nothing else.
 * - It ends: SIGTERM to its group at the timeout, after kill_grace_ns SIGKILL to all that descends from it, whatever session or group
 *   it moved to. What is left 250 ms after the program itself has ended is killed too. What even SIGKILL does not end within 2 s is
 *   counted in `survivors` and killed for as long as it lives.
 * - It is answered once, at most timeout + kill_grace_ns + 3 s after its start (5 s when the runner hangs), and leaves neither a zombie nor a descriptor.
 * - Its answer and its log are bounded. It gets the request as a file that it can't change.
 * - It does not outlive the process that asked: SIGKILL at once, whether that process died, was killed, or closed the runner.
 *
 * When the runner itself is gone (killed by someone), every run is answered by RUNNER_LOST and `lost` is called. There is no way to fork
 * a clean one any more: a worker leaves and is restarted by the supervisor, a program says so and ends.
 */
#ifndef COMMON_RUNNER_RUNNER_H
#define COMMON_RUNNER_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/clock.h"
#include "common/error.h"
#include "common/loop/loop.h"

#define RUNNER_COMMANDS_MAX    1024
#define RUNNER_CONCURRENCY_MAX 64   /* runs at once */
#define RUNNER_WAITING_MAX     4096 /* runs that wait for their turn */
#define RUNNER_INPUT_MAX       ((size_t)16 << 20)
#define RUNNER_ANSWER_MAX      ((size_t)16 << 20)
#define RUNNER_LOG_MAX         ((size_t)256 << 10) /* of a run's log lines; what is more is read slowly, dropped and counted */
#define RUNNER_LINE_MAX        1024                /* of one log line; the rest of it is dropped and counted */
#define RUNNER_VALUES_MAX      900                 /* bytes of all values of a run, with a NUL each */
#define RUNNER_TIMEOUT_MAX     (86400 * NSEC_PER_SEC)

enum runner_answer { RUNNER_ANSWER_STDOUT, RUNNER_ANSWER_FD3 }; /* where the answer comes from; all else it writes is log */

struct runner_command {
	const char *name;             /* for ps(1) and messages */
	const char *const *argv;      /* NULL-terminated; argv[0] is a path with a slash: nothing is searched */
	const char *const *env;       /* "NAME=value" ..., NULL-terminated; NULL: none */
	const char *const *run_env;   /* names of variables whose values come with each run, NULL-terminated; NULL: none */
	bool inherit_env;             /* starts from the environment at the fork, less what belongs to the service manager; else from PATH */
	const char *directory;        /* NULL: "/" */
	enum runner_answer answer;
	size_t answer_limit;          /* bytes, 1 to RUNNER_ANSWER_MAX */
	int64_t timeout_ns;           /* 1 to RUNNER_TIMEOUT_MAX */
	int64_t kill_grace_ns;        /* between SIGTERM and SIGKILL; 0: none; up to RUNNER_TIMEOUT_MAX */
	uint64_t memory_limit;        /* RLIMIT_DATA in bytes, 0: the hard limit of the process that forked the runner */
	uint64_t file_limit;          /* RLIMIT_NOFILE, 0: as the runner's */
	uint64_t cpu_limit_seconds;   /* RLIMIT_CPU, 0: as the runner's */
};

struct runner_options {
	const struct runner_command *commands; /* with all they point at: not copied, must outlive the runner */
	size_t n_commands;
	unsigned concurrency;     /* 1 to RUNNER_CONCURRENCY_MAX; what is more waits its turn, first come first served */
	const char *title;        /* process title: "operatord: runner nginx" */
	void (*lost)(void *data); /* the runner is gone, all runs were answered; takes the place of runner_stop()'s callback. May be NULL */
	void *data;
};

struct runner;
struct runner_run;

/* 0 or -errno with the cause. Costs a process; a worker without commands has none. */
int runner_new(struct loop *loop, const struct runner_options *options, struct runner **ret, struct error *err);
/* Kills what runs, without answering it, and waits for the runner's end, some milliseconds: not for a loop that goes on. NULL is fine. */
void runner_free(struct runner *runner);
pid_t runner_pid(const struct runner *runner);

enum runner_outcome {
	RUNNER_EXITED,      /* code: the exit code; only this with code 0 is a success */
	RUNNER_SIGNALED,    /* code: the signal that ended it, not ours */
	RUNNER_TIMED_OUT,
	RUNNER_OVER_LIMIT,  /* its answer was longer than answer_limit; it was killed */
	RUNNER_NOT_STARTED, /* error: errno of the call that failed (ENOENT, EACCES, ENOEXEC, E2BIG, EAGAIN, EMFILE ...) */
	RUNNER_STOPPED,     /* by runner_stop(), before its start or while it ran */
	RUNNER_LOST,        /* the runner is gone, or its part for this run is; whether the program did its work is unknown */
	RUNNER_OUTCOME_MAX
};

struct runner_result {
	const struct runner_command *command;
	enum runner_outcome outcome;
	int code, error;
	const char *failed;      /* RUNNER_NOT_STARTED: what could not be done: "execve", "chdir", ... */
	const char *answer;      /* NUL-terminated (and may hold others), valid during the callback; as far as it came, whatever the outcome */
	size_t answer_length;
	const char *last_line;   /* of its log, secrets masked; "" when it wrote none */
	uint64_t log_dropped;    /* bytes of log beyond the bounds */
	unsigned leftovers;      /* processes that it left behind and that were killed */
	unsigned survivors;      /* processes that SIGKILL did not end in time */
	int64_t waited_ns, duration_ns, cpu_ns; /* before its start; to the program's end; all its processes' time */
	uint64_t max_rss;        /* bytes, of its largest process */
};

/* "exited with code 3", "timed out after 20 s", "can't start /x: No such file or directory (...)": for logs and conditions. */
void runner_result_text(const struct runner_result *result, char *out, size_t size);
const char *runner_outcome_name(enum runner_outcome outcome); /* "exited", "signaled", ...: for metrics */

struct runner_request {
	size_t command;            /* index in options */
	const char *const *values; /* of the command's run_env, as many and in that order; NULL when it has none */
	const void *input;         /* stdin, copied; may be NULL when the length is 0 */
	size_t input_length;
	int64_t timeout_ns;        /* 0: the command's */
	/* Called once, never from inside a call of this header; may start and cancel runs, and free the runner. */
	void (*done)(void *data, const struct runner_result *result);
	/* A line of its log, unless it is empty, without line end and with no secret masked, fd 1 or 2; not NUL-terminated, any bytes. NULL: lines are dropped. */
	void (*line)(void *data, int fd, const char *text, size_t length);
	void *data;
};

/* 0 and *ret (may be NULL), or: -EINVAL (no such command, a wrong number of values or bytes), -E2BIG (input or values), -EBUSY (too
 * many wait), -ESHUTDOWN (stopped or lost). */
int runner_start(struct runner *runner, const struct runner_request *request, struct runner_run **ret, struct error *err);
/* done and line are not called any more; the program gets SIGTERM, then SIGKILL. Not after done. */
void runner_cancel(struct runner_run *run);
/* Starts nothing any more, answers what waits by RUNNER_STOPPED, gives what runs grace_ns to end and then stops it. stopped: none runs
 * any more (never from inside); may call runner_free(). */
void runner_stop(struct runner *runner, int64_t grace_ns, void (*stopped)(void *data), void *data);
unsigned runner_running(const struct runner *runner);
unsigned runner_waiting(const struct runner *runner);

#endif
