/* SPDX-License-Identifier: Apache-2.0 */
/* The items by key, and the two lists of those that wait for a turn. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/memory.h"
#include "workers/queue_internal.h"

#define BUCKETS_FIRST 64

void
queue_table_init(struct queue *queue)
{
	queue->n_buckets = BUCKETS_FIRST;
	queue->buckets = xcalloc(queue->n_buckets, sizeof(struct queue_item *));
}

void
queue_table_free(struct queue *queue)
{
	for (size_t i = 0; i < queue->n_buckets; i++) {
		struct queue_item *next;

		for (struct queue_item *item = queue->buckets[i]; item != NULL; item = next) {
			next = item->hash_next;
			free(item);
		}
	}
	free(queue->buckets);
}

static size_t
bucket_of(const struct queue *queue, const char *namespace_, const char *name)
{
	uint64_t hash = XXH3_64bits_withSeed(
		name, strlen(name), XXH3_64bits(namespace_, strlen(namespace_)));

	return hash & (queue->n_buckets - 1);
}

struct queue_item *
queue_table_find(const struct queue *queue, const char *namespace_, const char *name)
{
	struct queue_item *item = queue->buckets[bucket_of(queue, namespace_, name)];

	while (item != NULL && (strcmp(item->key, namespace_) != 0 ||
				       strcmp(item->key + item->name_at, name) != 0))
		item = item->hash_next;
	return item;
}

static void
widen(struct queue *queue)
{
	struct queue_item **old = queue->buckets;
	size_t n = queue->n_buckets;

	if (queue->n_items < n)
		return;
	queue->n_buckets = n * 2;
	queue->buckets = xcalloc(queue->n_buckets, sizeof(struct queue_item *));
	for (size_t i = 0; i < n; i++) {
		struct queue_item *next;

		for (struct queue_item *item = old[i]; item != NULL; item = next) {
			size_t bucket = bucket_of(queue, item->key, item->key + item->name_at);

			next = item->hash_next;
			item->hash_next = queue->buckets[bucket];
			queue->buckets[bucket] = item;
		}
	}
	free(old);
}

struct queue_item *
queue_table_get(struct queue *queue, const char *namespace_, const char *name)
{
	struct queue_item *item = queue_table_find(queue, namespace_, name);
	size_t nn = strlen(namespace_), n = strlen(name), bucket;

	if (item != NULL)
		return item;
	widen(queue);
	item = xcalloc(1, sizeof(*item) + nn + n + 2);
	item->name_at = nn + 1;
	memcpy(item->key, namespace_, nn);
	memcpy(item->key + item->name_at, name, n);
	bucket = bucket_of(queue, namespace_, name);
	item->hash_next = queue->buckets[bucket];
	queue->buckets[bucket] = item;
	queue->n_items++;
	return item;
}

void
queue_table_drop(struct queue *queue, struct queue_item *item)
{
	struct queue_item **p =
		&queue->buckets[bucket_of(queue, item->key, item->key + item->name_at)];

	while (*p != item)
		p = &(*p)->hash_next;
	*p = item->hash_next;
	queue->n_items--;
	free(item);
}

/* --- the lists of ready items --- */

struct queue_list *
queue_list_of(struct queue *queue, const struct queue_item *item)
{
	return &queue->lists[item->background ? BACKGROUND : LIVE];
}

void
queue_list_append(struct queue_list *list, struct queue_item *item)
{
	item->next = NULL;
	item->previous = list->last;
	if (list->last != NULL)
		list->last->next = item;
	else
		list->first = item;
	list->last = item;
	list->n++;
}

void
queue_list_remove(struct queue_list *list, struct queue_item *item)
{
	if (item->previous != NULL)
		item->previous->next = item->next;
	else
		list->first = item->next;
	if (item->next != NULL)
		item->next->previous = item->previous;
	else
		list->last = item->previous;
	item->next = item->previous = NULL;
	list->n--;
}
