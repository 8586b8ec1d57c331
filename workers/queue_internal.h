/* SPDX-License-Identifier: Apache-2.0 */
/* Between queue.c (what runs when) and queue_table.c (keys and lists). Nobody else includes it. */
#ifndef WORKERS_QUEUE_INTERNAL_H
#define WORKERS_QUEUE_INTERNAL_H

#include "common/backoff.h"
#include "workers/deadlines.h"
#include "workers/queue.h"

enum queue_state { IDLE, READY, RUNNING, WAITING };
enum { LIVE, BACKGROUND, LISTS };

struct queue_item {
	struct queue_item *hash_next;
	struct queue_item *next, *previous; /* in a list */
	struct deadline deadline;           /* while it waits */
	int64_t since_ns;                   /* of being ready, then of the run */
	struct backoff backoff;
	uint64_t version; /* that the failures are counted for */
	uint64_t again_version;
	enum queue_state state;
	enum queue_reason reason, again_reason;
	int64_t again_delay_ns;
	bool again; /* asked for while it runs */
	bool gone;  /* forgotten while it runs */
	bool background;
	size_t name_at;
	char key[]; /* namespace NUL name NUL */
};

struct queue_list {
	struct queue_item *first, *last;
	size_t n;
};

struct queue {
	struct queue_options options;
	struct backoff_policy policy;
	void (*run)(void *data, struct queue_item *item);
	void *data;
	struct loop_prepare *prepare;
	struct loop_timer *timer, *turn;
	struct queue_item **buckets;
	size_t n_buckets, n_items;
	struct queue_list lists[LISTS];
	struct deadlines deadlines;
	size_t running;
	struct queue_list started; /* those that run, the oldest first */
	int64_t started_sum_ns;    /* when they began, added up */
	bool open;
};

void queue_table_init(struct queue *queue);
/* Frees the items, too. */
void queue_table_free(struct queue *queue);
struct queue_item *queue_table_find(
	const struct queue *queue, const char *namespace_, const char *name);
/* Finds or adds an idle one. */
struct queue_item *queue_table_get(struct queue *queue, const char *namespace_, const char *name);
/* Frees an item that is in no list and no heap. */
void queue_table_drop(struct queue *queue, struct queue_item *item);

/* The list of ready items that the item belongs to. */
struct queue_list *queue_list_of(struct queue *queue, const struct queue_item *item);
void queue_list_append(struct queue_list *list, struct queue_item *item);
void queue_list_remove(struct queue_list *list, struct queue_item *item);

#endif
