/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Birth and death of a worker's process: what it is given, and what is kept of it. A step that fails is an event like any other, so nothing here gives up.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "common/utf8.h"
#include "supervisor/oom.h"
#include "supervisor/worker_internal.h"
#include "workers/worker.h"

#define OOM_SCORE_ADD 300

void
worker_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
worker_drop_process(struct sup_worker *worker)
{
	sup_worker_look(worker);
	sup_worker_keep_counters(worker);
	loop_io_free(worker->io);
	loop_child_free(worker->child);
	worker->io = NULL;
	worker->child = NULL;
	worker->pid = 0;
	worker_close_fd(&worker->fd_down);
	worker_close_fd(&worker->fd_up);
	worker_close_fd(&worker->fd_scoreboard);
	if (worker->board)
		scoreboard_unmap(worker->board);
	worker->board = NULL;
	worker->reader = (struct record_reader){0};
}

/* --- birth --- */

/* In the child, which keeps it for its life. */
static const char *const *
controllers_names(const struct sup_shared *shared)
{
	const char **names;
	size_t n = 0;

	for (const struct sup_worker *w = *shared->workers; w; w = w->next)
		n++;
	names = xcalloc(n + 1, sizeof(*names));
	n = 0;
	for (const struct sup_worker *w = *shared->workers; w; w = w->next)
		if (!w->removed)
			names[n++] = w->name;
	return names;
}

static int
child_main(void *data)
{
	struct sup_worker *worker = data;
	struct worker_args args = {.name = worker->name,
		.config = worker->config,
		.config_length = worker->config_length,
		.generation = worker->generation,
		.fd_down = WORKER_FD_DOWN,
		.fd_up = WORKER_FD_UP,
		.fd_scoreboard = WORKER_FD_SCOREBOARD,
		.suspects = worker->poison.suspects,
		.n_suspects = worker->poison.n,
		.former_kinds = (const char *const *)worker->former_kinds,
		.controllers = controllers_names(worker->shared)};

	return worker->shared->worker_main(&args);
}

static void
on_record(void *data, int events)
{
	(void)events;
	sup_worker_hear(data);
}

static void on_death(void *data, pid_t pid, int status);

/* Pipes and scoreboard: down[0] and up[1] are the child's. */
static int
open_channels(struct sup_worker *worker, int down[2], int up[2], struct error *err)
{
	int code = proc_pipe(down);

	if (code < 0)
		return error_set(err, code, "no pipe: %s", strerror(-code));
	code = proc_pipe(up);
	if (code < 0) {
		close(down[0]);
		close(down[1]);
		return error_set(err, code, "no pipe: %s", strerror(-code));
	}
	worker->fd_down = down[1];
	worker->fd_up = up[0];
	fcntl(worker->fd_down, F_SETFL, O_NONBLOCK);
	fcntl(worker->fd_up, F_SETFL, O_NONBLOCK);
	worker->fd_scoreboard = scoreboard_create(worker->generation, &worker->board);
	if (worker->fd_scoreboard >= 0)
		return 0;
	code = worker->fd_scoreboard;
	worker->fd_scoreboard = -1;
	close(down[0]);
	close(up[1]);
	return error_set(err, code, "no scoreboard: %s", strerror(-code));
}

static pid_t
fork_worker(struct sup_worker *worker, struct error *err)
{
	int down[2], up[2];
	char title[96];

	if (open_channels(worker, down, up, err) < 0)
		return err->code;
	snprintf(title, sizeof(title), "operatord: worker %s", worker->name);
	struct proc_fd fds[] = {{down[0], WORKER_FD_DOWN}, {up[1], WORKER_FD_UP},
		{worker->fd_scoreboard, WORKER_FD_SCOREBOARD}};
	struct proc_spawn spawn = {.loop = worker->shared->loop,
		.title = title,
		.fds = fds,
		.n_fds = 3,
		/* Without us nobody ends one that hangs, or keeps two of a kind apart: nothing gentler reaches one that is stopped or stuck. */
		.parent_death_signal = SIGKILL,
		.new_session = true,
		.memory_limit = worker->memory_limit,
		.memory_limit_soft = true,
		.file_limit = worker->file_limit,
		.oom_score_add = OOM_SCORE_ADD,
		.child_main = child_main,
		.data = worker};
	pid_t pid = proc_spawn(&spawn, err);
	close(down[0]);
	close(up[1]);
	return pid;
}

/* No death but no birth: it has no pid to tell of. */
static void
note_failed_fork(struct sup_worker *worker, const struct error *err)
{
	struct death death = {.when_ns = clock_monotonic_ns(),
		.wall_ns = clock_wall_ns(),
		.cause = RESTART_CAUSE_NOT_FORKED};

	snprintf(death.text, sizeof(death.text), "could not be forked: %.70s", err->text);
	worker->dead_pid = 0;
	restart_note(&worker->restart, &death, 0);
}

void
worker_spawn(struct sup_worker *worker)
{
	struct error err = {0};

	worker->generation++;
	worker->pressed = worker->flooded = false;
	worker->bad_records = 0;
	worker->copy = (struct scoreboard){0};
	worker->last_beat_ns = worker->live_ns = 0;
	worker->started_ns = worker->checked_ns = clock_monotonic_ns();
	pid_t pid = fork_worker(worker, &err);
	if (pid < 0) {
		worker_drop_process(worker);
		note_failed_fork(worker, &err);
		sup_worker_event(worker, LIFE_EVENT_NOT_FORKED);
		return;
	}
	worker->pid = pid;
	worker->child = loop_child_new(worker->shared->loop, pid, on_death, worker);
	worker->io = loop_io_new(worker->shared->loop, on_record, worker);
	loop_io_set(worker->io, worker->fd_up, LOOP_READ);
	sup_worker_set_state(worker, WORKER_STARTING, NULL);
	sup_worker_log(
		worker, LOG_LEVEL_INFO, "worker %s started (pid %d)", worker->name, (int)pid);
}

/* --- death --- */

/* The end in words. A SIGKILL that was not ours may be the kernel's, for want of memory: its counter tells. */
static void
end_text(struct sup_worker *worker, int status, bool ours, char out[96])
{
	uint64_t before = worker->shared->oom_kills, now;

	proc_status_text(status, out);
	if (ours || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return;
	now = oom_kills(OOM_MOUNTS, OOM_MEMBERSHIP);
	worker->shared->oom_kills = now;
	if (now > before)
		(void)snprintf(out, 96, "killed by SIGKILL (the kernel was out of memory)");
}

/* Asked to stop, it was ended by the grace or by itself: no death to tell of, and no object to blame. */
static void
say_stopped(struct sup_worker *worker, int status)
{
	char text[96];

	end_text(worker, status, worker->pressed, text);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		sup_worker_log(worker, LOG_LEVEL_INFO, "worker %s (pid %d) stopped", worker->name,
			(int)worker->pid);
	else
		sup_worker_log(worker, LOG_LEVEL_WARN, "worker %s (pid %d) %s while %s",
			worker->name, (int)worker->pid, text,
			worker->life != LIFE_REMOVING
				? "stopping"
				: "letting go of its objects: what is left has its finalizer, "
				  "which operatorctl release takes off");
}

static void
blame(struct sup_worker *worker, const char *text)
{
	const char *key = worker->copy.busy_key;
	unsigned deaths = poison_note(
		&worker->poison, key, worker->copy.busy_version, text, clock_monotonic_ns());

	sup_worker_log(worker, LOG_LEVEL_WARN, "worker %s (pid %d) ended at work on %s%s",
		worker->name, (int)worker->pid, key,
		deaths < POISON_DEATHS ? ""
				       : ", not for the first time: the object is quarantined, "
					 "the others go on");
}

/* seen: the scoreboard could be read after the end; else what it was at work on is not known. */
static void
note_death(struct sup_worker *worker, int status, bool seen)
{
	bool hung = worker->life == LIFE_ENDING,
	     busy = seen && worker->copy.busy_since_ns && *worker->copy.busy_key;
	int64_t now_ns = clock_monotonic_ns();
	struct death death = {.when_ns = now_ns,
		.wall_ns = clock_wall_ns(),
		.lifetime_ns = now_ns - worker->started_ns,
		.cause = restart_cause_of(status, hung),
		.status = status};
	char text[96];

	end_text(worker, status, hung, text);
	/* "hung, killed by SIGABRT" */
	snprintf(death.text, sizeof(death.text), "%s%s", hung ? "hung, " : "", text);
	if (busy) {
		size_t n = utf8_cut(worker->copy.busy_key, strlen(worker->copy.busy_key),
			sizeof(death.object) - 1);
		memcpy(death.object, worker->copy.busy_key, n);
		blame(worker, death.text);
	}
	restart_note(&worker->restart, &death, worker->live_ns);
	worker->dead_pid = worker->pid;
	if (death.cause == RESTART_CAUSE_CONFIG)
		sup_worker_set_state(
			worker, WORKER_CONFIG_INVALID, *worker->cause ? worker->cause : death.text);
}

static void
on_death(void *data, pid_t pid, int status)
{
	struct sup_worker *worker = data;

	(void)pid;
	sup_worker_hear(worker); /* its last words */
	bool seen = sup_worker_look(worker);
	if (worker->life == LIFE_STOPPING || worker->life == LIFE_REMOVING)
		say_stopped(worker, status);
	else
		note_death(worker, status, seen);
	worker_drop_process(worker);
	sup_worker_event(worker, LIFE_EVENT_DIED);
}
