/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run on the side that asks: the request's file, the pipes, the runner's report made a result. The program's ends of the
 * pipes are closed here as soon as the runner has them; the reading ends are closed when its report comes, whoever still holds the
 * other ends, so that nobody can hold up the answer.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "common/runner/client.h"

/* Beyond all bounds of the keeper: after that it is the runner that does not work. */
#define BACKSTOP_NS (5 * NSEC_PER_SEC)

/* --- a request's copy --- */

static int
copy_values(struct runner_run *run, const struct runner_request *request, struct error *err)
{
	const char *const *names = run->command->run_env;
	struct runner_message *message = &run->message;
	size_t used = 0, n = 0;

	for (; names != NULL && names[n] != NULL; n++) {
		const char *value = request->values != NULL ? request->values[n] : NULL;
		size_t length = value != NULL ? strlen(value) + 1 : 0;
		if (value == NULL)
			return error_set(err, -EINVAL, "no value for %s", names[n]);
		if (length > sizeof(message->values) - used)
			return error_set(err, -E2BIG, "values of variables over %d bytes in all",
				RUNNER_VALUES_MAX);
		memcpy(message->values + used, value, length);
		used += length;
	}
	message->n_values = (uint32_t)n;
	return 0;
}

static int
copy_input(struct runner_run *run, const struct runner_request *request, struct error *err)
{
	if (request->input_length == 0)
		return 0;
	if (request->input_length > RUNNER_INPUT_MAX)
		return error_set(err, -E2BIG, "a request of %zu bytes; %zu at most",
			request->input_length, RUNNER_INPUT_MAX);
	/* Sized by objects: not for xcalloc, which ends the process. */
	run->input = malloc(request->input_length);
	if (run->input == NULL)
		return error_set(err, -ENOMEM, "no memory for a request of %zu bytes",
			request->input_length);
	memcpy(run->input, request->input, request->input_length);
	return 0;
}

static void
on_over(void *data)
{
	struct runner_run *run = data;

	run->over = true;
	run_kill(run);
}

int
run_new(struct runner *runner, const struct runner_request *request, struct runner_run **ret,
	struct error *err)
{
	const struct runner_command *command;
	struct runner_run *run;
	int r;

	if (request->command >= runner->options.n_commands || request->timeout_ns < 0 ||
		request->timeout_ns > RUNNER_TIMEOUT_MAX)
		return error_set(err, -EINVAL, "no such command, or a timeout out of range");
	command = &runner->options.commands[request->command];
	run = xcalloc(1, sizeof(*run));
	run->runner = runner;
	run->command = command;
	run->request = *request;
	run->asked_ns = clock_monotonic_ns();
	run->message.timeout_ns =
		request->timeout_ns > 0 ? request->timeout_ns : command->timeout_ns;
	run->message.command = (uint32_t)request->command;
	run->sink = (struct stream_sink){.answer = BUF_INIT_LIMIT(command->answer_limit),
		.line = request->line,
		.line_data = request->data,
		.over = on_over,
		.over_data = run};
	for (int i = 0; i < RUNNER_FDS_MAX - 1; i++)
		run->streams[i].fd = -1;
	r = copy_values(run, request, err);
	if (r == 0)
		r = copy_input(run, request, err);
	if (r < 0) {
		run_free(run);
		return r;
	}
	*ret = run;
	return 0;
}

/* --- the start --- */

/* A file in memory that nobody can change any more. */
static int
make_input(const struct runner_run *run, int *ret_fd)
{
	size_t length = run->request.input_length;
	int fd = memfd_create("operatord-request", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return -errno;
	for (size_t at = 0; at < length;) {
		/* At a place: the file's own position stays at its beginning. */
		ssize_t n = pwrite(fd, run->input + at, length - at, (off_t)at);
		if (n <= 0)
			goto fail;
		at += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		goto fail;
	*ret_fd = fd;
	return 0;
fail:
	r = errno != 0 ? -errno : -EIO;
	(void)close(fd);
	return r;
}

/* fds[1] and up get the program's ends; ours are read from then on. */
static int
open_streams(struct runner_run *run, int *fds, size_t n_fds)
{
	for (size_t i = 1; i < n_fds; i++) {
		int ends[2], r = proc_pipe(ends);
		if (r < 0)
			return r;
		fds[i] = ends[1];
		(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
		stream_open(&run->streams[i - 1], run->runner->loop, &run->sink, ends[0], (int)i,
			i == (run->command->answer == RUNNER_ANSWER_FD3 ? 3 : 1));
	}
	return 0;
}

static void
on_backstop(void *data)
{
	struct runner_run *run = data;

	log_error("the runner does not answer: it is given up");
	/* No signal, which a sandbox may forbid us: both sides see the end of the socket. */
	(void)shutdown(run->runner->fd, SHUT_RDWR);
}

static void
set_backstop(struct runner_run *run)
{
	run->backstop = loop_timer_new(run->runner->loop, on_backstop, run);
	loop_timer_set(
		run->backstop, run->message.timeout_ns + run->command->kill_grace_ns + BACKSTOP_NS);
}

static void
drop_input(struct runner_run *run)
{
	memory_burn(run->input, run->request.input_length);
	run->input = NULL;
}

int
run_begin(struct runner_run *run, const char **ret_failed)
{
	int fds[RUNNER_FDS_MAX] = {-1, -1, -1, -1}, r;
	size_t n_fds = runner_command_fds(run->command);

	run->started_ns = clock_monotonic_ns();
	run->id = ++run->runner->last_id;
	run->message.version = RUNNER_MESSAGE_VERSION;
	run->message.type = RUNNER_START;
	run->message.id = run->id;
	*ret_failed = "its request's file";
	r = make_input(run, &fds[0]);
	if (r < 0)
		goto out;
	drop_input(run);
	*ret_failed = "its pipes";
	r = open_streams(run, fds, n_fds);
	if (r < 0)
		goto out;
	*ret_failed = "the runner's socket";
	r = runner_message_send(run->runner->fd, &run->message, fds, n_fds);
	if (r == 0)
		set_backstop(run);
out:
	for (size_t i = 0; i < n_fds; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	return r;
}

void
run_kill(struct runner_run *run)
{
	const struct runner_message message = {
		.version = RUNNER_MESSAGE_VERSION, .type = RUNNER_KILL, .id = run->id};
	int r = run->runner->fd < 0 ? -EPIPE
				    : runner_message_send(run->runner->fd, &message, NULL, 0);

	/* When the runner is gone its socket says so next; else the run ends by its timeout. */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		log_warn("can't stop %s before its timeout: %s", run->command->name, strerror(-r));
}

/* --- the end --- */

static const char *const stages[RUNNER_STAGE_MAX] = {[RUNNER_STAGE_NONE] = "",
	[RUNNER_STAGE_REQUEST] = "the runner's check",
	[RUNNER_STAGE_FORK] = "fork",
	[RUNNER_STAGE_SETUP] = "its limits, descriptors or environment",
	[RUNNER_STAGE_CHDIR] = "chdir",
	[RUNNER_STAGE_EXEC] = "execve"};

/* What the report says by itself; that we killed it comes before. */
static void
judge(const struct runner_run *run, const struct runner_report *report,
	struct runner_result *result)
{
	if (report->error != 0) {
		result->outcome = RUNNER_NOT_STARTED;
		result->error = report->error;
		result->failed = stages[report->stage];
	} else if (run->over) {
		result->outcome = RUNNER_OVER_LIMIT;
	} else if (report->flags & RUNNER_REPORT_TIMED_OUT) {
		result->outcome = RUNNER_TIMED_OUT;
	} else if (WIFEXITED(report->status) && !(report->flags & RUNNER_REPORT_LOST)) {
		result->outcome = RUNNER_EXITED;
		result->code = WEXITSTATUS(report->status);
	} else if (run->stopped) {
		result->outcome = RUNNER_STOPPED;
	} else if (WIFSIGNALED(report->status) && !(report->flags & RUNNER_REPORT_LOST)) {
		result->outcome = RUNNER_SIGNALED;
		result->code = WTERMSIG(report->status);
	}
	result->leftovers = report->leftovers;
	result->survivors = report->survivors;
	result->duration_ns = report->duration_ns;
	result->cpu_ns = report->cpu_ns;
	result->max_rss = report->max_rss;
}

static void
answer(struct runner_run *run, struct runner_result *result)
{
	for (int i = 0; i < RUNNER_FDS_MAX - 1; i++)
		stream_finish(&run->streams[i]);
	/* The last bytes of what is read now may be those over the limit. */
	if (run->over && result->outcome == RUNNER_EXITED)
		result->outcome = RUNNER_OVER_LIMIT;
	log_apply_mask(run->sink.last_line);
	result->answer = run->sink.answer.data;
	result->answer_length = run->sink.answer.length;
	result->last_line = run->sink.last_line;
	result->log_dropped = run->sink.log_dropped;
	if (run->request.done != NULL)
		run->request.done(run->request.data, result);
	run_free(run);
}

void
run_answer(struct runner_run *run, enum runner_outcome outcome, const struct runner_report *report)
{
	struct runner_result result = {.command = run->command, .outcome = outcome, .failed = ""};

	if (report != NULL)
		judge(run, report, &result);
	result.waited_ns =
		(run->started_ns != 0 ? run->started_ns : clock_monotonic_ns()) - run->asked_ns;
	answer(run, &result);
}

void
run_answer_not_started(struct runner_run *run, int error, const char *failed)
{
	struct runner_result result = {.command = run->command,
		.outcome = RUNNER_NOT_STARTED,
		.error = error,
		.failed = failed,
		.waited_ns = run->started_ns - run->asked_ns};

	answer(run, &result);
}

void
run_free(struct runner_run *run)
{
	for (int i = 0; i < RUNNER_FDS_MAX - 1; i++)
		stream_close(&run->streams[i]);
	loop_timer_free(run->backstop);
	drop_input(run);
	explicit_bzero(run->sink.answer.data, run->sink.answer.length);
	buf_free(&run->sink.answer);
	free(run);
}
