/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects: immutable, counted, sorted by key in one collection a resource; one revision counter for all; a ring
 * of the last changes, from which watches start and continued lists see the past.
 */
#ifndef DEVSERVER_STORE_H
#define DEVSERVER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>

struct object {
	unsigned int refs;
	uint64_t revision;
	char *json; /* {"kind":...,"apiVersion":...,rest */
	size_t length;
	size_t head;      /* bytes up to and including the comma behind apiVersion */
	char *key;        /* NAMESPACE/NAME or NAME: the real server's order */
	const char *name; /* within key */
	char *namespace_; /* "" for cluster scope */
	char *uid;
	cJSON *labels, *owners; /* copies, NULL when there are none */
	bool deleting, finalizers;
};

struct collection {
	char *group, *plural;
	bool namespaced;
	struct object **items; /* sorted by key */
	size_t count, capacity;
	uint64_t revision; /* of its last change */
	struct collection *next;
};

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED };

struct event {
	uint64_t revision;
	enum event_type type;
	struct collection *collection;
	struct object *before; /* NULL when ADDED */
	struct object *after;  /* when DELETED: the last state, with the version of the deletion */
};

struct store;

struct store *registry_new(
	size_t history, void (*changed)(void *data, const struct event *event), void *data);
void registry_free(struct store *store);
uint64_t registry_revision(const struct store *store);
/* The collection of a resource; made when asked for the first time, never removed. */
struct collection *registry_collection(
	struct store *store, const char *group, const char *plural, bool namespaced);
struct collection *registry_first_collection(struct store *store);

struct object *registry_find(
	const struct collection *collection, const char *namespace_, const char *name);
/* Range of items in one namespace ("" or NULL: all). */
void registry_range(const struct collection *collection, const char *namespace_, size_t *ret_start,
	size_t *ret_end);

/*
 * Writes an object: sets its resourceVersion, prints it, tells the listener. Takes tree. The answer is borrowed from
 * the collection. NULL: no memory.
 */
struct object *registry_put(struct store *store, struct collection *collection, cJSON *tree);
/* Removes it; the object of the event, with the version of the deletion, is borrowed from the ring. */
const struct object *registry_remove(
	struct store *store, struct collection *collection, struct object *object);
/* A fresh tree of the object; cJSON_Delete(). */
cJSON *registry_parse(const struct object *object);

/* A copy of an object as of another revision; registry_unref(). */
struct object *registry_at(const struct object *object, uint64_t revision);

struct object *registry_ref(struct object *object);
void registry_unref(struct object *object);

/* The changes after a revision, oldest first; false: the ring has forgotten some of them. */
bool registry_since(
	const struct store *store, uint64_t revision, size_t *ret_first, size_t *ret_count);
const struct event *registry_event(const struct store *store, size_t index);
/* The items of a collection as they were at a revision, referenced; false: forgotten. registry_snapshot_free(). */
bool registry_snapshot(const struct store *store, const struct collection *collection,
	uint64_t revision, struct object ***ret_items, size_t *ret_count);
void registry_snapshot_free(struct object **items, size_t count);
void registry_compact(struct store *store);

#endif
