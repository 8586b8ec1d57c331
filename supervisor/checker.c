/* SPDX-License-Identifier: Apache-2.0 */
/* Forks the checker, reads what it writes, waits for its end, and judges. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/config/check.h"
#include "common/json.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "common/sandbox/sandbox.h"
#include "supervisor/checker.h"

#ifndef CHECKER_LIMIT_S /* shorter in the test of it */
#define CHECKER_LIMIT_S 30
#endif
#define TIME_LIMIT_NS (CHECKER_LIMIT_S * NSEC_PER_SEC)
#define MEMORY_LIMIT  (1024u << 20)
#define PIPE_FD       3

struct checker {
	struct loop *loop;
	const char *path;
	pid_t pid;
	int fd;
	bool reaped, ended, too_late;
	int status;
	struct buf document;
	struct loop_io *io;
	struct loop_child *child;
	struct loop_timer *deadline;
	void (*done)(void *data, cJSON *document, const struct error *err);
	void *data;
};

/* In the child: the document goes to the pipe. It reads what the configuration names, and may do nothing else. */
static int
child_main(void *data)
{
	const struct sandbox sandbox = {.all_files = true};
	const char *path = data;
	struct buf document = BUF_INIT_LIMIT(CONFIG_DOCUMENT_MAX);
	struct error err = {0};
	int code = 0;

	/* Sent to a whole service or session, they are meant for the supervisor, not as the end of its check. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	if (sandbox_enter(&sandbox, &err) < 0)
		log_warn("the check's sandbox is not whole: %s", err.text);
	config_check(path, false, &document);
	if (document.failed)
		code = 1;
	for (size_t at = 0; code == 0 && at < document.length;) {
		ssize_t n = write(PIPE_FD, document.data + at, document.length - at);
		if (n < 0 && errno != EINTR)
			code = 1;
		at += n > 0 ? (size_t)n : 0;
	}
	buf_free(&document);
	return code;
}

static void
judge(struct checker *checker)
{
	struct error err = {0};
	cJSON *document = NULL;
	char status[96];

	if (checker->too_late) {
		error_set(&err, -ETIMEDOUT,
			"%s: the check took longer than %d s and was ended; the configuration is "
			"refused",
			checker->path, (int)(TIME_LIMIT_NS / NSEC_PER_SEC));
	} else if (!WIFEXITED(checker->status) || WEXITSTATUS(checker->status) != 0) {
		proc_status_text(checker->status, status);
		error_set(&err, -EIO, "%s: the check %s; the configuration is refused",
			checker->path, status);
	} else if (checker->document.failed) {
		error_set(&err, -EFBIG, "%s: the configuration is too large", checker->path);
	} else {
		document = json_parse(checker->document.data, checker->document.length, &err);
		if (!document)
			error_prefix(&err, "%s: the check's answer can't be read", checker->path);
	}
	void (*done)(void *, cJSON *, const struct error *) = checker->done;
	void *data = checker->data;
	checker_free(checker);
	done(data, document, document ? NULL : &err);
}

static void
judge_when_over(struct checker *checker)
{
	if (checker->reaped && checker->ended)
		judge(checker);
}

static void
on_readable(void *data, int events)
{
	struct checker *checker = data;
	char bytes[16384];

	(void)events;
	ssize_t n = read(checker->fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		buf_add(&checker->document, bytes, (size_t)n);
		return;
	}
	loop_io_set(checker->io, checker->fd, 0);
	checker->ended = true;
	judge_when_over(checker);
}

static void
on_exit_(void *data, pid_t pid, int status)
{
	struct checker *checker = data;

	(void)pid;
	checker->reaped = true;
	checker->status = status;
	judge_when_over(checker);
}

/* It may not have come to have a group of its own yet. Reaped by the loop, watched or not. */
static void
end(const struct checker *checker)
{
	proc_kill_group(checker->pid, SIGKILL);
	proc_kill(checker->pid, SIGKILL);
}

static void
on_deadline(void *data)
{
	struct checker *checker = data;

	checker->too_late = true;
	if (!checker->reaped)
		end(checker);
}

struct checker *
checker_start(struct loop *loop, const char *path,
	void (*done)(void *data, cJSON *document, const struct error *err), void *data,
	struct error *err)
{
	struct checker *checker;
	int fds[2], code = proc_pipe(fds);

	if (code < 0) {
		error_set(err, code, "no pipe for the configuration's check: %s", strerror(-code));
		return NULL;
	}
	struct proc_fd kept = {fds[1], PIPE_FD};
	struct proc_spawn spawn = {.loop = loop,
		.title = "operatord: checker",
		.fds = &kept,
		.n_fds = 1,
		.parent_death_signal = SIGKILL,
		.new_session = true,
		.memory_limit = MEMORY_LIMIT,
		.cpu_limit_seconds = TIME_LIMIT_NS / NSEC_PER_SEC,
		.child_main = child_main,
		.data = (void *)(uintptr_t)path};
	pid_t pid = proc_spawn(&spawn, err);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return NULL;
	}
	checker = xcalloc(1, sizeof(*checker));
	*checker = (struct checker){
		.loop = loop, .path = path, .pid = pid, .fd = fds[0], .done = done, .data = data};
	checker->document = BUF_INIT_LIMIT(CONFIG_DOCUMENT_MAX);
	checker->child = loop_child_new(loop, pid, on_exit_, checker);
	checker->io = loop_io_new(loop, on_readable, checker);
	checker->deadline = loop_timer_new(loop, on_deadline, checker);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	loop_io_set(checker->io, fds[0], LOOP_READ);
	loop_timer_set(checker->deadline, TIME_LIMIT_NS);
	return checker;
}

void
checker_free(struct checker *checker)
{
	if (!checker)
		return;
	if (!checker->reaped)
		end(checker);
	loop_io_free(checker->io);
	loop_child_free(checker->child);
	loop_timer_free(checker->deadline);
	close(checker->fd);
	buf_free(&checker->document);
	free(checker);
}
