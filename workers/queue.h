/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which object is reconciled when, and why. One entry a key: an object that is asked for again while it waits stays where it is,
 * while it runs it runs once more afterwards; two runs of one object never overlap. At most `concurrency` run at once. Live changes go before
 * first lists and resyncs.
 *
 * Failures back off from retry_min doubling to retry_max, counted for one `version` of an object: a number of the caller that
 * changes with what people wrote (spec, labels, annotations) and not with statuses, so that a status write neither resets the
 * count nor cuts the delay short.
 */
#ifndef WORKERS_QUEUE_H
#define WORKERS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/loop/loop.h"

enum queue_reason {
	REASON_LIST, /* it was in the first list */
	REASON_ADDED,
	REASON_MODIFIED,
	REASON_DELETED,
	REASON_CHILD_DRIFT, /* a child is gone, or someone changed what we applied */
	REASON_CHILD,       /* a child changed that an expression reads */
	REASON_RESYNC,
	REASON_RETRY, /* after a failure */
	REASON_TIMER,
	REASON_RELOAD,
	REASON_MAX
};
const char *queue_reason_name(enum queue_reason reason);

struct queue;
struct queue_item; /* an entry that runs; valid until queue_done() or queue_retry() */

struct queue_options {
	unsigned concurrency;
	int64_t retry_min_ns, retry_max_ns;
};

/* run is called from the loop, not from inside the functions here; it must lead to one queue_done() or queue_retry(), at once or later. */
struct queue *queue_new(struct loop *loop, const struct queue_options *options,
	void (*run)(void *data, struct queue_item *item), void *data);
/* Running items must have ended. */
void queue_free(struct queue *queue);
/* Closed at first. While closed nothing is started; what is asked for is kept. */
void queue_open(struct queue *queue, bool open);

/* Asks for a run. version as above; 0: unknown, which never cuts a delay short. */
void queue_add(struct queue *queue, const char *namespace_, const char *name,
	enum queue_reason reason, uint64_t version);
/* The same, and a delay after failures ends now: when what it failed for may have gone. */
void queue_kick(
	struct queue *queue, const char *namespace_, const char *name, enum queue_reason reason);
/* Asks for a run after a delay, unless an earlier one comes. */
void queue_add_after(struct queue *queue, const char *namespace_, const char *name,
	enum queue_reason reason, int64_t delay_ns);
/* The object is gone: drops what waits; a run that goes on is not repeated. */
void queue_forget(struct queue *queue, const char *namespace_, const char *name);

const char *queue_item_namespace(const struct queue_item *item);
const char *queue_item_name(const struct queue_item *item);
enum queue_reason queue_item_reason(const struct queue_item *item);
uint32_t queue_item_failures(const struct queue_item *item);

/* Ends a run that succeeded, or that there is nothing to repeat for. */
void queue_done(struct queue *queue, struct queue_item *item);
/* Ends a run that failed: runs again after the delay, at least min_ns. Returns the delay, 0 when it runs again at once. */
int64_t queue_retry(struct queue *queue, struct queue_item *item, uint64_t version, int64_t min_ns);

size_t queue_ready(const struct queue *queue);   /* wait for a turn */
size_t queue_waiting(const struct queue *queue); /* wait for their time */
size_t queue_running(const struct queue *queue);
/* Shows how long the running ones have taken so far (workqueue_unfinished_work_seconds and its like): to be called now and then. */
void queue_measure(const struct queue *queue);

#endif
