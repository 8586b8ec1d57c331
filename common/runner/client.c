/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side that asks: starts the runner, keeps its runs in two lists (first come, first served; `concurrency` at once), and hands out
 * its reports. A report is data: one of an unknown run is dropped. Runs are begun from the loop and never from inside runner_start(),
 * so that a callback can't come before its caller is ready for it.
 *
 * The end of the socket is the runner's end: it alone holds the other end.
 *
 * Callbacks may free the runner: what goes on behind one stands between enter() and leave(), which says whether there is one left.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "common/runner/client.h"
#include "common/runner/process.h"

/* --- lists --- */

static void
list_init(struct run_list *list)
{
	*list = (struct run_list){.end = &list->first};
}

static void
list_add(struct run_list *list, struct runner_run *run)
{
	run->next = NULL;
	*list->end = run;
	list->end = &run->next;
	list->n++;
}

static bool
list_remove(struct run_list *list, struct runner_run *run)
{
	for (struct runner_run **at = &list->first; *at != NULL; at = &(*at)->next) {
		if (*at != run)
			continue;
		*at = run->next;
		if (run->next == NULL)
			list->end = at;
		list->n--;
		return true;
	}
	return false;
}

static struct runner_run *
list_take(struct run_list *list)
{
	struct runner_run *run = list->first;

	if (run != NULL)
		(void)list_remove(list, run);
	return run;
}

/* --- the runs --- */

static void
enter(struct runner *r)
{
	r->depth++;
}

static bool
leave(struct runner *r)
{
	bool dead = r->dead;

	if (--r->depth == 0 && dead)
		free(r);
	return !dead;
}

/* Begins what there is room for, from the loop. */
static void
on_kick(void *data)
{
	struct runner *r = data;

	enter(r);
	/* Freed, it has none that wait. */
	while (r->waiting.first != NULL && r->running.n < r->options.concurrency) {
		struct runner_run *run = list_take(&r->waiting);
		const char *failed;
		int error = run_begin(run, &failed);
		if (error == 0)
			list_add(&r->running, run);
		else
			run_answer_not_started(run, -error, failed);
	}
	(void)leave(r);
}

static void
kick(struct runner *r)
{
	if (r->waiting.first != NULL && r->running.n < r->options.concurrency && r->fd >= 0)
		loop_timer_set(r->kick, 0);
}

/* Once, when the last has ended; may free the runner. */
static void
say_stopped(struct runner *r)
{
	void (*stopped)(void *data) = r->stopped;

	if (!r->stopping || r->running.n > 0 || r->waiting.n > 0 || stopped == NULL)
		return;
	r->stopped = NULL;
	loop_timer_clear(r->grace);
	stopped(r->stopped_data);
}

static void
on_report(struct runner *r, const struct runner_message *message)
{
	struct runner_run *run = r->running.first;

	while (run != NULL && run->id != message->id)
		run = run->next;
	if (run == NULL || message->type != RUNNER_ENDED) {
		log_warn("a message of the runner that fits no run was dropped");
		return;
	}
	(void)list_remove(&r->running, run);
	run_answer(run, RUNNER_LOST, &message->report);
}

/* Answers all runs of a list alike. Whether the runner is still there. */
static bool
answer_all(struct runner *r, struct run_list *list, enum runner_outcome outcome)
{
	struct runner_run *run;

	enter(r);
	while ((run = list_take(list)) != NULL)
		run_answer(run, outcome, NULL);
	return leave(r);
}

static void
on_lost(struct runner *r)
{
	loop_io_set(r->io, r->fd, 0);
	(void)close(r->fd);
	r->fd = -1;
	/* It closes its socket by dying, a moment before it can be reaped; runner_free() tries again. One that hangs is not waited for. */
	(void)waitpid(r->pid, NULL, WNOHANG);
	if (!answer_all(r, &r->running, RUNNER_LOST) || !answer_all(r, &r->waiting, RUNNER_LOST))
		return;
	if (r->options.lost != NULL)
		r->options.lost(r->options.data);
	else
		say_stopped(r);
}

/* 1: go on; 0: a callback has freed the runner; else -errno, -EPIPE at the end. */
static int
take_message(struct runner *r)
{
	struct runner_message message;
	int fds[RUNNER_FDS_MAX], got;
	size_t n_fds;

	got = runner_message_receive(r->fd, &message, fds, &n_fds);
	if (got == -EBADMSG)
		log_warn("a message that is not the runner's was dropped");
	if (got != 1)
		return got == -EBADMSG ? 1 : got == 0 ? -EPIPE : got;
	for (size_t i = 0; i < n_fds; i++)
		(void)close(fds[i]);
	enter(r);
	on_report(r, &message);
	return leave(r) ? 1 : 0;
}

static void
on_socket(void *data, int events)
{
	struct runner *r = data;
	int got;

	(void)events;
	while ((got = take_message(r)) == 1)
		;
	if (got == 0)
		return;
	if (got != -EAGAIN) {
		on_lost(r);
		return;
	}
	kick(r);
	say_stopped(r);
}

int
runner_start(struct runner *r, const struct runner_request *request, struct runner_run **ret,
	struct error *err)
{
	struct runner_run *run;
	int error;

	if (r->fd < 0 || r->stopping)
		return error_set(err, -ESHUTDOWN, "the runner starts no programs any more");
	if (r->waiting.n >= RUNNER_WAITING_MAX)
		return error_set(err, -EBUSY, "%u programs wait already", r->waiting.n);
	error = run_new(r, request, &run, err);
	if (error < 0)
		return error;
	list_add(&r->waiting, run);
	kick(r);
	if (ret != NULL)
		*ret = run;
	return 0;
}

void
runner_cancel(struct runner_run *run)
{
	struct runner *r = run->runner;

	if (list_remove(&r->waiting, run)) {
		run_free(run);
		return;
	}
	run->request.done = NULL;
	run->sink.line = NULL;
	run->stopped = true;
	run_kill(run);
}

/* --- the end --- */

static void
on_grace(void *data)
{
	struct runner *r = data;

	for (struct runner_run *run = r->running.first; run != NULL && r->fd >= 0;
		run = run->next) {
		run->stopped = true;
		run_kill(run);
	}
}

/* From the loop, since stopped must not be called from inside runner_stop(). */
static void
on_stop(void *data)
{
	struct runner *r = data;

	if (answer_all(r, &r->waiting, RUNNER_STOPPED))
		say_stopped(r);
}

void
runner_stop(struct runner *r, int64_t grace_ns, void (*stopped)(void *data), void *data)
{
	r->stopping = true;
	r->stopped = stopped;
	r->stopped_data = data;
	loop_timer_free(r->kick);
	r->kick = loop_timer_new(r->loop, on_stop, r);
	loop_timer_set(r->kick, 0);
	loop_timer_set(r->grace, grace_ns);
}

void
runner_free(struct runner *r)
{
	struct runner_run *run;

	if (r == NULL)
		return;
	/* On a program's main loop the loop may have been first: no such child. */
	if (r->fd < 0)
		(void)waitpid(r->pid, NULL, WNOHANG);
	else if (close(r->fd) == 0)
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	while ((run = list_take(&r->running)) != NULL)
		run_free(run);
	while ((run = list_take(&r->waiting)) != NULL)
		run_free(run);
	loop_io_free(r->io);
	loop_timer_free(r->kick);
	loop_timer_free(r->grace);
	r->dead = true;
	if (r->depth == 0)
		free(r);
}

/* --- the start --- */

static int
check_command(const struct runner_command *c, struct error *err)
{
	size_t n = 0;

	if (c->argv[0] == NULL || strchr(c->argv[0], '/') == NULL)
		return error_set(err, -EINVAL,
			"command %s: its program must be a path with a slash", c->name);
	while (c->run_env != NULL && c->run_env[n] != NULL)
		n++;
	if (n > RUNNER_RUN_ENV_MAX || c->answer_limit == 0 || c->answer_limit > RUNNER_ANSWER_MAX ||
		c->timeout_ns <= 0 || c->timeout_ns > RUNNER_TIMEOUT_MAX || c->kill_grace_ns < 0 ||
		c->kill_grace_ns > RUNNER_TIMEOUT_MAX)
		return error_set(err, -EINVAL, "command %s: a bound out of range", c->name);
	return 0;
}

static int
check_options(const struct runner_options *options, struct error *err)
{
	int r = 0;

	if (options->n_commands == 0 || options->n_commands > RUNNER_COMMANDS_MAX ||
		options->concurrency == 0 || options->concurrency > RUNNER_CONCURRENCY_MAX)
		return error_set(err, -EINVAL, "commands: 1 to %d, concurrency: 1 to %d",
			RUNNER_COMMANDS_MAX, RUNNER_CONCURRENCY_MAX);
	for (size_t i = 0; r == 0 && i < options->n_commands; i++)
		r = check_command(&options->commands[i], err);
	return r;
}

static pid_t
fork_runner(struct loop *loop, const struct runner_options *options, int socket, struct error *err)
{
	const struct proc_fd fds[] = {{socket, RUNNER_FD_SOCKET}};
	struct proc_spawn spawn = {.loop = loop,
		.title = options->title,
		.fds = fds,
		.n_fds = 1,
		.parent_death_signal = SIGTERM,
		.new_session = true,
		.child_main = runner_process,
		.data = (void *)(uintptr_t)options};

	return proc_spawn(&spawn, err);
}

int
runner_new(struct loop *loop, const struct runner_options *options, struct runner **ret,
	struct error *err)
{
	struct runner *r;
	int ends[2], error = check_options(options, err);
	pid_t pid;

	if (error < 0)
		return error;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(err, -errno, "can't start the runner: %s", strerror(errno));
	pid = fork_runner(loop, options, ends[1], err);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return (int)pid;
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	r = xcalloc(1, sizeof(*r));
	r->loop = loop;
	r->options = *options;
	r->fd = ends[0];
	r->pid = pid;
	list_init(&r->waiting);
	list_init(&r->running);
	r->kick = loop_timer_new(loop, on_kick, r);
	r->grace = loop_timer_new(loop, on_grace, r);
	r->io = loop_io_new(loop, on_socket, r);
	loop_io_set(r->io, r->fd, LOOP_READ);
	*ret = r;
	return 0;
}

pid_t
runner_pid(const struct runner *r)
{
	return r->pid;
}

unsigned
runner_running(const struct runner *r)
{
	return r->running.n;
}

unsigned
runner_waiting(const struct runner *r)
{
	return r->waiting.n;
}
