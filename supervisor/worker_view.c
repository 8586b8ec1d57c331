/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a worker's process: its records, its scoreboard, its heartbeat, its numbers. All of it is the process's own word, so all of it is checked:
 * it can spoil the view of itself and nothing else. What follows from it is decided in worker.c.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/utf8.h"
#include "supervisor/worker.h"

#define START_LIMIT_NS (30 * NSEC_PER_SEC) /* from the fork until its loop turns */
#define RECORDS_A_WAKE \
	64 /* more at once is a flood: the rest waits for the next look at the heartbeat */

void
sup_worker_set_state(struct sup_worker *worker, enum worker_state state, const char *cause)
{
	const char *text = cause ? cause : "";

	if (worker->state == state && strcmp(worker->cause, text) == 0)
		return;
	if (worker->state != state)
		worker->state_since_ns = clock_monotonic_ns();
	worker->state = state;
	size_t n = utf8_cut(text, strlen(text), sizeof(worker->cause) - 1);
	memcpy(worker->cause, text, n);
	worker->cause[n] = '\0';
}

void
sup_worker_set_cause(struct sup_worker *worker, const char *cause)
{
	sup_worker_set_state(worker, worker->state, cause);
}

/* --- records --- */

/* Said once a life: whoever sends nonsense sends a lot of it. */
static void
complain(struct sup_worker *worker, const char *what)
{
	if (worker->bad_records++ == 0)
		sup_worker_log(worker, LOG_LEVEL_WARN,
			"worker %s (pid %d) %s; dropped, as any further one", worker->name,
			(int)worker->pid, what);
}

/* Only what a worker may say of itself: the rest is the supervisor's to know. */
static bool
may_claim(int64_t state)
{
	return state >= 0 && state <= WORKER_OVER_LIMIT;
}

static void
take_record(struct sup_worker *worker, const struct record *record)
{
	if (record->generation == worker->generation && record->type == RECORD_CURED)
		poison_cure(&worker->poison, record->text);
	else if (record->generation != worker->generation || record->type != RECORD_STATE)
		complain(worker, "sent a record that is not its to send");
	else if (!may_claim(record->value))
		complain(worker, "claims a state that is not its to claim");
	else if (worker->life ==
		 LIFE_RUNNING) /* else what it is asked to do says more than what it still was */
		sup_worker_set_state(worker, (enum worker_state)record->value, record->text);
}

void
sup_worker_hear(struct sup_worker *worker)
{
	struct record record;

	for (int i = 0; i < RECORDS_A_WAKE; i++) {
		int n = record_read(&worker->reader, worker->fd_up, &record);
		if (n == 0)
			return;
		if (n == 1) {
			take_record(worker, &record);
		} else if (n == -EBADMSG) {
			complain(worker, "sent a record that makes no sense");
		} else { /* it has closed its end: its exit will be reaped */
			loop_io_set(worker->io, worker->fd_up, 0);
			return;
		}
	}
	/* Nothing is lost by waiting: what it is now stands on the scoreboard. */
	loop_io_set(worker->io, worker->fd_up, 0);
	worker->flooded = true;
}

/* --- scoreboard --- */

/* Times come from the worker: it can't have lived before its fork. */
static void
note_live(struct sup_worker *worker)
{
	int64_t since_ns = worker->copy.live_since_ns;

	if (since_ns <= 0)
		return;
	if (since_ns < worker->started_ns)
		since_ns = worker->started_ns;
	int64_t live_ns = clock_monotonic_ns() - since_ns;
	if (live_ns > worker->live_ns)
		worker->live_ns = live_ns;
}

/* A counter that falls would be read as a reset, and what it had counted be added once more. */
static void
take_copy(struct sup_worker *worker, struct scoreboard *fresh)
{
	for (unsigned id = 0; id < METRIC_ID_MAX; id++) {
		unsigned i = metric_offset((enum metric_id)id),
			 end = i + metric_slots(&metrics[id]);
		for (; metrics[id].type != METRIC_GAUGE && i < end; i++)
			if (fresh->slots[i] < worker->copy.slots[i])
				fresh->slots[i] = worker->copy.slots[i];
	}
	worker->copy = *fresh;
}

/* Of the process whose pid it is: ours, and not reaped. */
static void
note_cpu(struct sup_worker *worker)
{
	struct timespec time;
	clockid_t clock;

	if (worker->pid == 0 || clock_getcpuclockid(worker->pid, &clock) != 0 ||
		clock_gettime(clock, &time) < 0)
		return;
	int64_t cpu_ns = time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
	if (cpu_ns > worker->cpu_ns)
		worker->cpu_ns = cpu_ns;
}

bool
sup_worker_look(struct sup_worker *worker)
{
	const struct scoreboard *copy = &worker->copy;
	struct scoreboard fresh;

	note_cpu(worker);
	if (!worker->board || !scoreboard_copy(worker->board, worker->generation, &fresh))
		return false;
	take_copy(worker, &fresh);
	if (copy->heartbeat_ns > worker->last_beat_ns)
		worker->last_beat_ns = copy->heartbeat_ns;
	note_live(worker);
	if (*copy->server_host)
		memcpy(worker->server_host, copy->server_host, sizeof(worker->server_host));
	/* The record that said it may have found the pipe full. */
	if (worker->life == LIFE_RUNNING && worker->pid && copy->state != worker->state &&
		may_claim(copy->state))
		sup_worker_set_state(worker, (enum worker_state)copy->state, copy->cause);
	return true;
}

/* --- counters --- */

/* Slots are any numbers: a sum that wrapped would look like a reset. */
static uint64_t
add_clamped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Counters and histograms of a life that is over are kept; gauges end with it. */
void
sup_worker_keep_counters(struct sup_worker *worker)
{
	for (unsigned id = 0; id < METRIC_ID_MAX; id++) {
		if (metrics[id].type == METRIC_GAUGE)
			continue;
		unsigned first = metric_offset((enum metric_id)id), n = metric_slots(&metrics[id]);
		for (unsigned i = first; i < first + n; i++)
			worker->base[i] = add_clamped(worker->base[i], worker->copy.slots[i]);
	}
	worker->copy = (struct scoreboard){0};
	worker->cpu_base_ns += worker->cpu_ns;
	worker->cpu_ns = 0;
}

uint64_t
sup_worker_restarts(const struct sup_worker *worker)
{
	uint64_t sum = 0;

	for (int i = 0; i < RESTART_CAUSE_MAX; i++)
		sum += worker->restarts[i];
	return sum;
}

void
sup_worker_slots(const struct sup_worker *worker, enum metric_id id, uint64_t *ret)
{
	unsigned first = metric_offset(id), n = metric_slots(&metrics[id]);

	for (unsigned i = 0; i < n; i++)
		ret[i] = add_clamped(worker->base[first + i], worker->copy.slots[first + i]);
}

/* --- looking after it --- */

bool
sup_is_late(int64_t *last_tick_ns, int64_t now_ns, int64_t period_ns)
{
	int64_t away_ns = *last_tick_ns ? now_ns - *last_tick_ns : 0;

	*last_tick_ns = now_ns;
	if (away_ns <= 2 * period_ns)
		return false;
	log_warn("was away for %.1f s: heartbeats count from now", (double)away_ns / 1e9);
	return true;
}

/* Before its loop turns it compiles its templates, which takes longer than a short heartbeat. */
static bool
is_starting(const struct sup_worker *worker)
{
	return worker->last_beat_ns == 0 || worker->copy.state == WORKER_STARTING;
}

void
sup_worker_check(struct sup_worker *worker, int64_t now_ns, bool late)
{
	if ((worker->life != LIFE_RUNNING && worker->life != LIFE_REMOVING) || worker->pid == 0)
		return;
	sup_worker_look(worker);
	if (worker->flooded) {
		worker->flooded = false;
		loop_io_set(worker->io, worker->fd_up, LOOP_READ);
	}
	if (late) {
		worker->checked_ns = now_ns;
		return;
	}
	int64_t since_ns = worker->last_beat_ns > worker->checked_ns ? worker->last_beat_ns
								     : worker->checked_ns;
	int64_t limit_ns = is_starting(worker) ? START_LIMIT_NS
					       : SUP_STALE_PERIODS * worker->shared->heartbeat_ns;
	if (now_ns - since_ns > limit_ns)
		sup_worker_event(worker, LIFE_EVENT_HUNG);
}

bool
sup_worker_ready(const struct sup_worker *worker)
{
	return worker->state == WORKER_LIVE && worker->life == LIFE_RUNNING;
}

double
sup_worker_heartbeat_age(const struct sup_worker *worker, int64_t now_ns)
{
	return worker->pid && worker->last_beat_ns ? (double)(now_ns - worker->last_beat_ns) / 1e9
						   : -1;
}

double
sup_worker_watch_age(const struct sup_worker *worker, int64_t now_ns)
{
	int64_t seen_ns = worker->copy.watch_seen_ns;

	return worker->pid && seen_ns > 0 && seen_ns <= now_ns ? (double)(now_ns - seen_ns) / 1e9
							       : -1;
}

double
sup_worker_cpu(const struct sup_worker *worker, int64_t now_ns)
{
	(void)now_ns;
	return (double)(worker->cpu_base_ns + worker->cpu_ns) / 1e9;
}

uint64_t
sup_worker_memory(const struct sup_worker *worker)
{
	char path[64];
	unsigned long long pages = 0;

	if (!worker->pid)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)worker->pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}
