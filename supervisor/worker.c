/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Birth, life and death of a worker's process; what is known of it meanwhile is worker_view.c's. What to do comes from the table in restart.c; here it is done. A step that fails is an event like
 * any other, so nothing here gives up.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/config/config.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "supervisor/worker.h"
#include "workers/worker.h"

#define ABORT_LIMIT_NS (5 * NSEC_PER_SEC) /* from SIGABRT to SIGKILL */
#define OOM_SCORE_ADD  300

/* Reads from its settings what the supervisor itself needs. */
static void
read_settings(struct sup_worker *worker)
{
	struct config_controller *config =
		config_decode_controller(worker->config, worker->config_length, NULL);

	if (!config)
		return; /* the worker will say it, with exit code 78 */
	worker->required = config->required;
	worker->memory_limit = config->memory_limit > 0 ? (uint64_t)config->memory_limit : 0;
	worker->file_limit = config->file_limit > 0 ? (uint64_t)config->file_limit : 0;
	worker->watch_silence_ns = config->watch_silence_ns;
	config_controller_free(config);
}

#define FORMER_KINDS_MAX 64

static void
add_former_kind(struct sup_worker *worker, const struct config_child *child)
{
	char *kind = xasprintf("%s %s", child->api_version, child->kind);

	for (size_t i = 0; i < worker->n_former_kinds; i++)
		if (strcmp(worker->former_kinds[i], kind) == 0 ||
			worker->n_former_kinds == FORMER_KINDS_MAX) {
			free(kind);
			return;
		}
	worker->former_kinds = xreallocarray(
		worker->former_kinds, worker->n_former_kinds + 2, sizeof(*worker->former_kinds));
	worker->former_kinds[worker->n_former_kinds++] = kind;
	worker->former_kinds[worker->n_former_kinds] = NULL;
}

/* Before it gets another configuration. */
static void
keep_kinds(struct sup_worker *worker)
{
	struct config_controller *config = worker->config ? config_decode_controller(worker->config,
								    worker->config_length, NULL)
							  : NULL;

	if (!config)
		return;
	for (size_t i = 0; i < config->n_children; i++)
		add_former_kind(worker, &config->children[i]);
	config_controller_free(config);
}

static void on_timer(void *data);

static void
take_config(struct sup_worker *worker, const char *config, size_t length)
{
	keep_kinds(worker);
	poison_clear(&worker->poison); /* other templates may do with them */
	free(worker->config);
	worker->config = xstrndup(config, length);
	worker->config_length = length;
	worker->restart.failures = 0;
	read_settings(worker);
}

struct sup_worker *
sup_worker_new(struct sup_shared *shared, const char *name, const char *config, size_t length,
	const char *cause)
{
	struct sup_worker *worker = xcalloc(1, sizeof(*worker));

	worker->shared = shared;
	worker->name = xstrdup(name);
	worker->required = true;
	worker->fd_down = worker->fd_up = worker->fd_scoreboard = -1;
	worker->state = WORKER_STOPPED;
	worker->state_since_ns = clock_monotonic_ns();
	worker->timer = loop_timer_new(shared->loop, on_timer, worker);
	if (config)
		take_config(worker, config, length);
	else
		sup_worker_set_state(worker, WORKER_CONFIG_INVALID, cause);
	return worker;
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
drop_process(struct sup_worker *worker)
{
	sup_worker_look(worker);
	sup_worker_keep_counters(worker);
	loop_io_free(worker->io);
	loop_child_free(worker->child);
	worker->io = NULL;
	worker->child = NULL;
	worker->pid = 0;
	close_fd(&worker->fd_down);
	close_fd(&worker->fd_up);
	close_fd(&worker->fd_scoreboard);
	if (worker->board)
		scoreboard_unmap(worker->board);
	worker->board = NULL;
	worker->reader = (struct record_reader){0};
}

void
sup_worker_free(struct sup_worker *worker)
{
	if (!worker)
		return;
	drop_process(worker);
	loop_timer_free(worker->timer);
	free(worker->config);
	free(worker->next_config);
	for (size_t i = 0; i < worker->n_former_kinds; i++)
		free(worker->former_kinds[i]);
	free(worker->former_kinds);
	poison_clear(&worker->poison);
	free(worker->file);
	free(worker->name);
	free(worker);
}

void
sup_worker_send(struct sup_worker *worker, enum record_type type, int32_t value)
{
	struct record record;

	if (worker->fd_down < 0)
		return;
	record_set(&record, type, worker->generation, value, NULL);
	int code = record_write(worker->fd_down, &record);
	if (code < 0 && type == RECORD_STOP) /* a full pipe, or none: its end means stop too */
		close_fd(&worker->fd_down);
	else if (code < 0)
		log_warn("worker %s (pid %d) does not read what it is told: %s", worker->name,
			(int)worker->pid, strerror(-code));
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

static void
spawn(struct sup_worker *worker)
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
		char text[96];
		snprintf(text, sizeof(text), "could not be forked: %.70s", err.text);
		drop_process(worker);
		worker->dead_pid = 0;
		restart_note(&worker->restart, clock_monotonic_ns(), clock_wall_ns(), 0, text);
		worker->end_cause = RESTART_CAUSE_NOT_FORKED;
		sup_worker_event(worker, LIFE_EVENT_NOT_FORKED);
		return;
	}
	worker->pid = pid;
	worker->child = loop_child_new(worker->shared->loop, pid, on_death, worker);
	worker->io = loop_io_new(worker->shared->loop, on_record, worker);
	loop_io_set(worker->io, worker->fd_up, LOOP_READ);
	sup_worker_set_state(worker, WORKER_STARTING, NULL);
	log_info("worker %s started (pid %d)", worker->name, (int)pid);
}

/* --- death --- */

/* "hung, killed by SIGABRT" */
static void
end_text(const struct sup_worker *worker, int status, char out[96])
{
	char text[96];

	proc_status_text(status, text);
	snprintf(out, 96, "%s%s", worker->life == LIFE_ENDING ? "hung, " : "", text);
}

static enum restart_cause
cause_of(const struct sup_worker *worker, int status)
{
	if (worker->life == LIFE_ENDING)
		return RESTART_CAUSE_HUNG;
	if (!WIFEXITED(status))
		return RESTART_CAUSE_KILLED;
	return WEXITSTATUS(status) == WORKER_EXIT_CONFIG ? RESTART_CAUSE_CONFIG
							 : RESTART_CAUSE_EXITED;
}

static void
say_stopped(const struct sup_worker *worker, int status, const char *text)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		log_info("worker %s (pid %d) stopped", worker->name, (int)worker->pid);
	else
		log_warn("worker %s (pid %d) %s while stopping", worker->name, (int)worker->pid,
			text);
}

/* Asked to stop, it was ended by the grace: that says nothing of the object. */
static void
blame(struct sup_worker *worker, const char *text)
{
	const char *key = worker->copy.busy_key;
	unsigned deaths;

	if (worker->life == LIFE_STOPPING)
		return;
	deaths = poison_note(&worker->poison, key, text, clock_monotonic_ns());
	log_warn("worker %s (pid %d) ended at work on %s%s", worker->name, (int)worker->pid, key,
		deaths < POISON_DEATHS ? ""
				       : ", not for the first time: the object is quarantined, "
					 "the others go on");
}

static void
on_death(void *data, pid_t pid, int status)
{
	struct sup_worker *worker = data;
	char text[96];

	(void)pid;
	sup_worker_hear(worker); /* its last words */
	sup_worker_look(worker);
	end_text(worker, status, text);
	if (worker->life == LIFE_STOPPING) {
		say_stopped(worker, status, text);
	} else {
		restart_note(&worker->restart, clock_monotonic_ns(), clock_wall_ns(),
			worker->live_ns, text);
		worker->dead_pid = worker->pid;
		worker->end_cause = cause_of(worker, status);
	}
	if (worker->copy.busy_since_ns && *worker->copy.busy_key)
		blame(worker, text);
	drop_process(worker);
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_EXIT_CONFIG)
		sup_worker_set_state(
			worker, WORKER_CONFIG_INVALID, *worker->cause ? worker->cause : text);
	sup_worker_event(worker, LIFE_EVENT_DIED);
}

static enum restart_class
class_of(const struct sup_worker *worker, enum life_event event)
{
	if (event == LIFE_EVENT_NOT_FORKED)
		return RESTART_NOT_FORKED;
	return worker->state == WORKER_CONFIG_INVALID ? RESTART_CONFIG : RESTART_DEATH;
}

static void
schedule(struct sup_worker *worker, enum life_event event)
{
	const struct restart *r = &worker->restart;
	const char *text = r->deaths[(r->total - 1) % DEATHS_KEPT].text;
	enum restart_class class_ = class_of(worker, event);
	int64_t now_ns = clock_monotonic_ns();
	int64_t delay_ns = restart_delay(r, class_, clock_random());
	bool loops = restart_crashloop(r, now_ns),
	     /* What is wrong with its configuration it has said itself, just before. */
		told = class_ != RESTART_CONFIG && *worker->cause && strcmp(worker->cause, text);

	log_error("worker %s (pid %d) %s%s%s%s after %.1f s; death %llu, next start in %.1f s%s",
		worker->name, (int)worker->dead_pid, text, told ? " (its last word: " : "",
		told ? worker->cause : "", told ? ")" : "",
		(double)(now_ns - worker->started_ns) / 1e9, (unsigned long long)r->total,
		(double)delay_ns / 1e9, restart_reason(class_, loops));
	if (class_ != RESTART_CONFIG)
		sup_worker_set_state(worker, loops ? WORKER_CRASHLOOP : WORKER_BACKOFF, text);
	loop_timer_set(worker->timer, delay_ns);
}

static void
ask(struct sup_worker *worker)
{
	sup_worker_send(worker, RECORD_STOP, 0);
	sup_worker_set_state(worker, WORKER_DRAINING, NULL);
	loop_timer_set(worker->timer, worker->shared->stop_grace_ns);
}

static void
abort_(struct sup_worker *worker)
{
	log_error("worker %s (pid %d) hangs%s%s: no heartbeat for %d periods; ending it",
		worker->name, (int)worker->pid, *worker->copy.busy_key ? " at work on " : "",
		worker->copy.busy_key, SUP_STALE_PERIODS);
	sup_worker_set_state(worker, WORKER_HUNG, worker->copy.busy_key);
	proc_kill(worker->pid, SIGABRT);
	proc_kill(worker->pid, SIGCONT); /* one that was stopped can't take it before */
	loop_timer_set(worker->timer, ABORT_LIMIT_NS);
	worker->pressed = true; /* SIGABRT was the warning */
}

/* First SIGTERM, then SIGKILL for the whole group. */
static void
press(struct sup_worker *worker)
{
	if (!worker->pressed) {
		log_warn("worker %s (pid %d) has not stopped yet: SIGTERM", worker->name,
			(int)worker->pid);
		worker->pressed = true;
		proc_kill(worker->pid, SIGTERM);
		loop_timer_set(worker->timer, worker->shared->kill_grace_ns);
		return;
	}
	if (loop_timer_active(worker->timer))
		return; /* the grace after SIGTERM is running */
	log_error("worker %s (pid %d) does not end: SIGKILL", worker->name, (int)worker->pid);
	if (worker->life == LIFE_STOPPING)
		worker->shared->had_to_kill = true;
	proc_kill_group(worker->pid, SIGKILL);
	proc_kill(worker->pid, SIGKILL); /* in case it never came to have a group of its own */
}

static void
finish(struct sup_worker *worker)
{
	loop_timer_clear(worker->timer);
	if (worker->next_config && !worker->removed) {
		take_config(worker, worker->next_config, worker->next_config_length);
		free(worker->next_config);
		worker->next_config = NULL;
		sup_worker_event(worker, LIFE_EVENT_START);
		return;
	}
	if (worker->config)
		sup_worker_set_state(worker, WORKER_STOPPED, NULL);
	worker->shared->stopped(worker->shared->data, worker);
}

void
sup_worker_event(struct sup_worker *worker, enum life_event event)
{
	enum life before = worker->life, next;
	enum life_action action = life_step(worker->life, event, &next);

	worker->life = next;
	if (next != before)
		log_debug("worker %s: %s -> %s", worker->name, life_name(before), life_name(next));
	switch (action) {
	case LIFE_DO_NOTHING:
		break;
	case LIFE_DO_SPAWN:
		loop_timer_clear(worker->timer);
		if (before == LIFE_WAITING)
			worker->restarts[worker->end_cause]++;
		spawn(worker);
		break;
	case LIFE_DO_SCHEDULE:
		schedule(worker, event);
		break;
	case LIFE_DO_ASK:
		ask(worker);
		break;
	case LIFE_DO_ABORT:
		abort_(worker);
		break;
	case LIFE_DO_PRESS:
		press(worker);
		break;
	case LIFE_DO_CANCEL:
	case LIFE_DO_FINISH:
		finish(worker); /* may free it */
		break;
	case LIFE_ACTION_MAX:
		break;
	}
}

static void
on_timer(void *data)
{
	struct sup_worker *worker = data;

	sup_worker_event(worker, worker->life == LIFE_WAITING ? LIFE_EVENT_DUE : LIFE_EVENT_LATE);
}

void
sup_worker_set_config(struct sup_worker *worker, const char *config, size_t length)
{
	worker->file_invalid = false;
	if (worker->pid == 0) {
		take_config(worker, config, length);
		sup_worker_event(worker, LIFE_EVENT_START);
		return;
	}
	free(worker->next_config);
	worker->next_config = xstrndup(config, length);
	worker->next_config_length = length;
	if (worker->life == LIFE_RUNNING || worker->life == LIFE_ENDING)
		sup_worker_event(worker, LIFE_EVENT_STOP);
}
