/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries live in a hash table from the first request to the end of the last run; those that wait for a turn are in one of two lists,
 * those that wait for their time in a heap with one timer of the loop. Runs are started when the loop is about to wait, a bounded number a turn, so that
 * timers and sockets are served in between.
 */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/queue_internal.h"

#define STARTS_A_TURN 32

static const char *const reason_names[REASON_MAX] = {
	[REASON_LIST] = "list",
	[REASON_ADDED] = "added",
	[REASON_MODIFIED] = "modified",
	[REASON_DELETED] = "deleted",
	[REASON_CHILD_DRIFT] = "child-drift",
	[REASON_CHILD] = "child",
	[REASON_RESYNC] = "resync",
	[REASON_RETRY] = "retry",
	[REASON_TIMER] = "timer",
	[REASON_RELOAD] = "reload",
};

const char *
queue_reason_name(enum queue_reason reason)
{
	return reason_names[reason];
}

static struct queue_item *
item_of(struct deadline *deadline)
{
	return (struct queue_item *)(void *)((char *)deadline -
					     offsetof(struct queue_item, deadline));
}

static void
set_timer(struct queue *queue)
{
	const struct deadline *first = deadlines_first(&queue->deadlines);
	int64_t now = clock_monotonic_ns();

	if (first == NULL || !queue->open)
		loop_timer_clear(queue->timer);
	else
		loop_timer_set(queue->timer, first->at_ns <= now ? 0 : first->at_ns - now);
}

static void
stop_waiting(struct queue *queue, struct queue_item *item)
{
	deadlines_remove(&queue->deadlines, &item->deadline);
	set_timer(queue);
}

/* --- states --- */

static bool
in_background(enum queue_reason reason)
{
	return reason == REASON_LIST || reason == REASON_RESYNC || reason == REASON_RELOAD;
}

static void
show_depth(const struct queue *queue)
{
	metric_set(M_QUEUE_DEPTH, 0, queue_ready(queue));
}

static void
make_ready(struct queue *queue, struct queue_item *item, enum queue_reason reason)
{
	item->state = READY;
	item->reason = reason;
	item->background = in_background(reason);
	item->since_ns = clock_monotonic_ns();
	queue_list_append(queue_list_of(queue, item), item);
	metric_add(M_QUEUE_ADDS_TOTAL, 0, 1);
	show_depth(queue);
	if (queue->open && !loop_timer_active(queue->turn))
		loop_timer_set(queue->turn, 0);
}

static void
make_waiting(
	struct queue *queue, struct queue_item *item, enum queue_reason reason, int64_t delay_ns)
{
	item->state = WAITING;
	item->reason = reason;
	item->deadline.at_ns = clock_monotonic_ns() + delay_ns;
	deadlines_add(&queue->deadlines, &item->deadline);
	set_timer(queue);
}

static void
end_waiting(struct queue *queue, struct queue_item *item, enum queue_reason reason)
{
	stop_waiting(queue, item);
	make_ready(queue, item, reason);
}

/* A background item that people now wait for moves to the live list. */
static void
promote(struct queue *queue, struct queue_item *item, enum queue_reason reason)
{
	if (!item->background || in_background(reason))
		return;
	queue_list_remove(queue_list_of(queue, item), item);
	item->background = false;
	item->reason = reason;
	queue_list_append(queue_list_of(queue, item), item);
}

static void
ask_again(struct queue_item *item, enum queue_reason reason, uint64_t version)
{
	if (!item->again || in_background(item->again_reason))
		item->again_reason = reason;
	if (!item->again || version != 0)
		item->again_version = version;
	item->again_delay_ns = 0;
	item->again = true;
	item->gone = false;
}

/* What is asked for while the item waits for its time: ends the wait unless that is a delay after failures of this very version. */
static void
ask_waiting(
	struct queue *queue, struct queue_item *item, enum queue_reason reason, uint64_t version)
{
	if (item->backoff.failures == 0 || (version != 0 && version != item->version))
		end_waiting(queue, item, reason);
}

static void
ask(struct queue *queue, const char *namespace_, const char *name, enum queue_reason reason,
	uint64_t version, bool kick)
{
	struct queue_item *item = queue_table_get(queue, namespace_, name);

	switch (item->state) {
	case IDLE:
		make_ready(queue, item, reason);
		break;
	case READY:
		promote(queue, item, reason);
		break;
	case RUNNING:
		ask_again(item, reason, version);
		break;
	case WAITING:
		if (kick)
			end_waiting(queue, item, reason);
		else
			ask_waiting(queue, item, reason, version);
		break;
	}
}

void
queue_add(struct queue *queue, const char *namespace_, const char *name, enum queue_reason reason,
	uint64_t version)
{
	ask(queue, namespace_, name, reason, version, false);
}

void
queue_kick(struct queue *queue, const char *namespace_, const char *name, enum queue_reason reason)
{
	ask(queue, namespace_, name, reason, 0, true);
}

void
queue_add_after(struct queue *queue, const char *namespace_, const char *name,
	enum queue_reason reason, int64_t delay_ns)
{
	struct queue_item *item = queue_table_get(queue, namespace_, name);

	if (item->state == IDLE) {
		make_waiting(queue, item, reason, delay_ns);
	} else if (item->state == RUNNING && !item->again) {
		ask_again(item, reason, 0);
		item->again_delay_ns = delay_ns;
	}
}

void
queue_forget(struct queue *queue, const char *namespace_, const char *name)
{
	struct queue_item *item = queue_table_find(queue, namespace_, name);

	if (item == NULL)
		return;
	if (item->state == RUNNING) {
		item->gone = true;
		item->again = false;
		return;
	}
	if (item->state == READY)
		queue_list_remove(queue_list_of(queue, item), item);
	if (item->state == WAITING)
		stop_waiting(queue, item);
	queue_table_drop(queue, item);
	show_depth(queue);
}

/* --- running --- */

static struct queue_item *
next_ready(struct queue *queue)
{
	for (int i = 0; i < LISTS; i++)
		if (queue->lists[i].first != NULL)
			return queue->lists[i].first;
	return NULL;
}

static void
start(struct queue *queue, struct queue_item *item)
{
	int64_t now = clock_monotonic_ns();

	queue_list_remove(queue_list_of(queue, item), item);
	item->state = RUNNING;
	item->again = item->gone = false;
	metric_observe(M_QUEUE_DURATION, 0, now - item->since_ns);
	item->since_ns = now;
	queue_list_append(&queue->started, item);
	queue->started_sum_ns += now;
	queue->running++;
	metric_set(M_ACTIVE_WORKERS, 0, queue->running);
	show_depth(queue);
	queue->run(queue->data, item);
}

static bool
may_start(const struct queue *queue)
{
	return queue->open && queue->running < queue->options.concurrency && queue_ready(queue) > 0;
}

static void
on_prepare(void *data)
{
	struct queue *queue = data;

	for (int i = 0; i < STARTS_A_TURN && may_start(queue); i++)
		start(queue, next_ready(queue));
	if (may_start(queue))
		loop_timer_set(queue->turn, 0);
}

/* Only keeps the loop from waiting: the work is done in on_prepare(). */
static void
on_turn(void *data)
{
	(void)data;
}

static void
on_timer(void *data)
{
	struct queue *queue = data;
	int64_t now = clock_monotonic_ns();
	struct deadline *first;

	while ((first = deadlines_first(&queue->deadlines)) != NULL && first->at_ns <= now) {
		struct queue_item *item = item_of(first);

		if (item->reason == REASON_RETRY)
			metric_add(M_QUEUE_RETRIES_TOTAL, 0, 1);
		end_waiting(queue, item, item->reason);
	}
	set_timer(queue);
}

static void
end_run(struct queue *queue, struct queue_item *item)
{
	metric_observe(M_WORK_DURATION, 0, clock_monotonic_ns() - item->since_ns);
	queue_list_remove(&queue->started, item);
	queue->started_sum_ns -= item->since_ns;
	queue->running--;
	metric_set(M_ACTIVE_WORKERS, 0, queue->running);
	item->state = IDLE;
}

void
queue_done(struct queue *queue, struct queue_item *item)
{
	bool again = item->again;

	end_run(queue, item);
	item->backoff.failures = 0;
	if (!again)
		queue_table_drop(queue, item);
	else if (item->again_delay_ns > 0)
		make_waiting(queue, item, item->again_reason, item->again_delay_ns);
	else
		make_ready(queue, item, item->again_reason);
}

int64_t
queue_retry(struct queue *queue, struct queue_item *item, uint64_t version, int64_t min_ns)
{
	int64_t delay;

	end_run(queue, item);
	if (item->gone) {
		queue_table_drop(queue, item);
		return 0;
	}
	if (version != item->version)
		item->backoff.failures = 0;
	item->version = version;
	if (item->again && item->again_version != 0 && item->again_version != version) {
		make_ready(queue, item, item->again_reason);
		return 0;
	}
	delay = backoff_next(&item->backoff, &queue->policy, clock_monotonic_ns(), clock_random());
	if (delay < min_ns)
		delay = min_ns;
	make_waiting(queue, item, REASON_RETRY, delay);
	return delay;
}

/* --- life --- */

struct queue *
queue_new(struct loop *loop, const struct queue_options *options,
	void (*run)(void *data, struct queue_item *item), void *data)
{
	struct queue *queue = xcalloc(1, sizeof(*queue));

	queue->options = *options;
	queue->policy = (struct backoff_policy){.first_ns = options->retry_min_ns,
		.max_ns = options->retry_max_ns,
		.factor = 2,
		.jitter = 0.1};
	queue->run = run;
	queue->data = data;
	queue_table_init(queue);
	queue->prepare = loop_prepare_new(loop, on_prepare, queue);
	queue->timer = loop_timer_new(loop, on_timer, queue);
	queue->turn = loop_timer_new(loop, on_turn, queue);
	metric_set(M_MAX_CONCURRENT, 0, options->concurrency);
	return queue;
}

void
queue_free(struct queue *queue)
{
	if (queue == NULL)
		return;
	loop_prepare_free(queue->prepare);
	loop_timer_free(queue->timer);
	loop_timer_free(queue->turn);
	queue_table_free(queue);
	deadlines_clear(&queue->deadlines);
	free(queue);
}

void
queue_open(struct queue *queue, bool open)
{
	queue->open = open;
	if (open && queue_ready(queue) > 0)
		loop_timer_set(queue->turn, 0);
	set_timer(queue);
}

const char *
queue_item_namespace(const struct queue_item *item)
{
	return item->key;
}

const char *
queue_item_name(const struct queue_item *item)
{
	return item->key + item->name_at;
}

enum queue_reason
queue_item_reason(const struct queue_item *item)
{
	return item->reason;
}

uint32_t
queue_item_failures(const struct queue_item *item)
{
	return item->backoff.failures;
}

size_t
queue_ready(const struct queue *queue)
{
	return queue->lists[LIVE].n + queue->lists[BACKGROUND].n;
}

size_t
queue_waiting(const struct queue *queue)
{
	return queue->deadlines.n;
}

void
queue_measure(const struct queue *queue)
{
	const struct queue_item *oldest = queue->started.first;
	int64_t now = clock_monotonic_ns();

	metric_set(M_UNFINISHED_WORK, 0,
		(uint64_t)((int64_t)queue->running * now - queue->started_sum_ns));
	metric_set(M_LONGEST_RUNNING, 0, oldest ? (uint64_t)(now - oldest->since_ns) : 0);
}

size_t
queue_running(const struct queue *queue)
{
	return queue->running;
}
