/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a worker: what to do comes from the table in restart.c, here it is done. Its process is worker_process.c's, what is known of it meanwhile
 * worker_view.c's, its configuration worker_config.c's.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "supervisor/worker_internal.h"

#define ABORT_LIMIT_NS (5 * NSEC_PER_SEC) /* from SIGABRT to SIGKILL */

static void on_timer(void *data);

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
		worker_take_config(worker, config, length);
	else
		sup_worker_set_state(worker, WORKER_CONFIG_INVALID, cause);
	return worker;
}

void
sup_worker_free(struct sup_worker *worker)
{
	if (!worker)
		return;
	worker_drop_process(worker);
	loop_timer_free(worker->timer);
	free(worker->config);
	free(worker->next_config);
	for (size_t i = 0; i < worker->n_former_kinds; i++)
		free(worker->former_kinds[i]);
	free(worker->former_kinds);
	worker_forget_children(worker);
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
		worker_close_fd(&worker->fd_down);
	else if (code < 0)
		sup_worker_log(worker, LOG_LEVEL_WARN,
			"worker %s (pid %d) does not read what it is told: %s", worker->name,
			(int)worker->pid, strerror(-code));
}

/* The line that announces a delay repeats why: who reads it must not search. */
static void
schedule(struct sup_worker *worker)
{
	const struct restart *r = &worker->restart;
	const struct death *last = restart_death(r, 0);
	int64_t now_ns = clock_monotonic_ns(), delay_ns = restart_delay(r, clock_random());
	/* What is wrong with its configuration it has said itself, just before. */
	bool config = last->cause == RESTART_CAUSE_CONFIG,
	     told = !config && *worker->cause && strcmp(worker->cause, last->text) != 0;
	char text[RESTART_TEXT_MAX], pid[24] = "";

	restart_text(r, now_ns, delay_ns, text);
	if (worker->dead_pid)
		snprintf(pid, sizeof(pid), " (pid %d)", (int)worker->dead_pid);
	sup_worker_log(worker, LOG_LEVEL_ERROR, "worker %s%s %s%s%s", worker->name, pid, text,
		told ? "; its last word: " : "", told ? worker->cause : "");
	if (config) /* it may have said what is wrong with it */
		sup_worker_set_state(
			worker, WORKER_CONFIG_INVALID, *worker->cause ? worker->cause : last->text);
	else
		sup_worker_set_state(worker,
			restart_crashloop(r, now_ns) ? WORKER_CRASHLOOP : WORKER_BACKOFF,
			last->text);
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
ask_to_remove(struct sup_worker *worker)
{
	sup_worker_log(worker, LOG_LEVEL_INFO,
		"worker %s (pid %d) lets go of its objects, for %.0f s at most: its controller was "
		"removed",
		worker->name, (int)worker->pid, (double)worker->remove_timeout_ns / 1e9);
	sup_worker_send(worker, RECORD_STOP, RECORD_STOP_REMOVE);
	sup_worker_set_state(worker, WORKER_REMOVING, NULL);
	loop_timer_set(worker->timer, worker->remove_timeout_ns);
}

void
sup_worker_remove(struct sup_worker *worker)
{
	bool wanted = worker->removal_deletes || (worker->holds && !worker->removal_keeps);

	worker->removed = true;
	if (!wanted && worker->holds)
		sup_worker_log(worker, LOG_LEVEL_WARN,
			"controller %s was removed with onRemove: keep: its objects keep their "
			"finalizers, and can't be deleted before operatorctl release took them off",
			worker->name);
	else if (wanted && worker->pid == 0 && worker->config)
		sup_worker_log(worker, LOG_LEVEL_WARN,
			"controller %s was removed while it did not run: its objects keep what it "
			"gave them; operatorctl release takes its finalizers off",
			worker->name);
	if (wanted)
		sup_worker_event(worker, LIFE_EVENT_REMOVE);
	/* Asked a second time, one that stops already would lose its grace; one that lets go must not be kept from it. */
	else if (worker->life != LIFE_STOPPING && worker->life != LIFE_REMOVING)
		sup_worker_event(worker, LIFE_EVENT_STOP);
}

static void
abort_(struct sup_worker *worker)
{
	sup_worker_log(worker, LOG_LEVEL_ERROR,
		"worker %s (pid %d) hangs%s%s: no heartbeat for %d periods; ending it",
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
		sup_worker_log(worker, LOG_LEVEL_WARN,
			"worker %s (pid %d) has not stopped yet: SIGTERM", worker->name,
			(int)worker->pid);
		worker->pressed = true;
		proc_kill(worker->pid, SIGTERM);
		loop_timer_set(worker->timer, worker->shared->kill_grace_ns);
		return;
	}
	if (loop_timer_active(worker->timer))
		return; /* the grace after SIGTERM is running */
	sup_worker_log(worker, LOG_LEVEL_ERROR, "worker %s (pid %d) does not end: SIGKILL",
		worker->name, (int)worker->pid);
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
		worker_take_config(worker, worker->next_config, worker->next_config_length);
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
		sup_worker_log(worker, LOG_LEVEL_DEBUG, "worker %s: %s -> %s", worker->name,
			life_name(before), life_name(next));
	switch (action) {
	case LIFE_DO_NOTHING:
		break;
	case LIFE_DO_SPAWN:
		loop_timer_clear(worker->timer);
		if (before == LIFE_WAITING)
			worker->restarts[restart_death(&worker->restart, 0)->cause]++;
		worker_spawn(worker);
		break;
	case LIFE_DO_SCHEDULE:
		schedule(worker);
		break;
	case LIFE_DO_ASK:
		ask(worker);
		break;
	case LIFE_DO_REMOVE:
		ask_to_remove(worker);
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
		worker_take_config(worker, config, length);
		sup_worker_event(worker, LIFE_EVENT_START);
		return;
	}
	free(worker->next_config);
	worker->next_config = xstrndup(config, length);
	worker->next_config_length = length;
	if (worker->life == LIFE_RUNNING || worker->life == LIFE_ENDING)
		sup_worker_event(worker, LIFE_EVENT_STOP);
}
