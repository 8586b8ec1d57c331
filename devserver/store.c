/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects, revisions and history in memory.
 *
 * Knows nothing of kinds, schemas or requests. A collection is an array sorted by key: look-up is a binary search,
 * a list is a walk. The ring owns a reference to the states before and after each change. Growth is bounded by what
 * clients write; allocation failure ends the program (xcalloc), as it holds nothing that must survive.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/buf.h"
#include "common/memory.h"
#include "devserver/store.h"
#include "devserver/tree.h"

#define FIRST_REVISION 1000 /* so that small numbers in tests are versions of the past */

struct store {
	uint64_t revision;
	struct collection *collections;
	struct event *ring;
	size_t history, first, count;
	uint64_t forgotten; /* changes up to this revision are gone */
	void (*changed)(void *data, const struct event *event);
	void *data;
};

struct store *
registry_new(size_t history, void (*changed)(void *data, const struct event *event), void *data)
{
	struct store *store = xcalloc(1, sizeof(*store));

	store->history = history;
	store->ring = xcalloc(history, sizeof(*store->ring));
	store->revision = store->forgotten = FIRST_REVISION;
	store->changed = changed;
	store->data = data;
	return store;
}

struct object *
registry_ref(struct object *object)
{
	object->refs++;
	return object;
}

void
registry_unref(struct object *object)
{
	if (!object || --object->refs)
		return;
	free(object->json);
	free(object->key);
	free(object->uid);
	free(object->namespace_);
	cJSON_Delete(object->labels);
	cJSON_Delete(object->owners);
	free(object);
}

static void
forget_oldest(struct store *store)
{
	struct event *event = &store->ring[store->first];

	store->forgotten = event->revision;
	registry_unref(event->before);
	registry_unref(event->after);
	store->first = (store->first + 1) % store->history;
	store->count--;
}

void
registry_compact(struct store *store)
{
	while (store->count)
		forget_oldest(store);
	store->forgotten = store->revision;
}

void
registry_free(struct store *store)
{
	struct collection *c, *next;

	if (!store)
		return;
	registry_compact(store);
	for (c = store->collections; c; c = next) {
		next = c->next;
		for (size_t i = 0; i < c->count; i++)
			registry_unref(c->items[i]);
		free(c->items);
		free(c->group);
		free(c->plural);
		free(c);
	}
	free(store->ring);
	free(store);
}

uint64_t
registry_revision(const struct store *store)
{
	return store->revision;
}

struct collection *
registry_first_collection(struct store *store)
{
	return store->collections;
}

struct collection *
registry_collection(struct store *store, const char *group, const char *plural, bool namespaced)
{
	struct collection *c;

	for (c = store->collections; c; c = c->next)
		if (strcmp(c->group, group) == 0 && strcmp(c->plural, plural) == 0)
			break;
	if (!c) {
		c = xcalloc(1, sizeof(*c));
		c->group = xstrdup(group);
		c->plural = xstrdup(plural);
		c->next = store->collections;
		store->collections = c;
	}
	c->namespaced = namespaced;
	return c;
}

/* The first index whose key is not below key. */
static size_t
lower_bound(struct object *const *items, size_t count, const char *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(items[middle]->key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static char *
make_key(const char *namespace_, const char *name)
{
	return *namespace_ ? xasprintf("%s/%s", namespace_, name) : xstrdup(name);
}

struct object *
registry_find(const struct collection *c, const char *namespace_, const char *name)
{
	char *key = make_key(namespace_ ? namespace_ : "", name);
	size_t at = lower_bound(c->items, c->count, key);
	bool found = at < c->count && strcmp(c->items[at]->key, key) == 0;

	free(key);
	return found ? c->items[at] : NULL;
}

void
registry_range(const struct collection *c, const char *namespace_, size_t *ret_start, size_t *ret_end)
{
	char *from, *to;

	*ret_start = 0;
	*ret_end = c->count;
	if (!namespace_ || !*namespace_)
		return;
	from = xasprintf("%s/", namespace_);
	to = xasprintf("%s0", namespace_); /* '0' follows '/' */
	*ret_start = lower_bound(c->items, c->count, from);
	*ret_end = lower_bound(c->items, c->count, to);
	free(from);
	free(to);
}

/* kind and apiVersion lead, so that a list of built-in kinds can leave them out by an offset. */
static void
move_first(cJSON *tree, const char *key)
{
	cJSON *item = tree_take(tree, key);

	if (item && tree->child)
		cJSON_InsertItemInArray(tree, 0, item);
	else if (item)
		cJSON_AddItemToObject(tree, key, item);
}

static size_t
head_length(const cJSON *tree)
{
	struct buf head = BUF_INIT;
	size_t length;

	buf_adds(&head, "{\"kind\":,\"apiVersion\":,");
	json_print(&head, tree_get(tree, "kind"));
	json_print(&head, tree_get(tree, "apiVersion"));
	length = head.length;
	buf_free(&head);
	return length;
}

static cJSON *
copy_or_null(const cJSON *value)
{
	return tree_empty(value) ? NULL : cJSON_Duplicate(value, true);
}

/* Prints the tree at the revision. The tree stays the caller's. */
static struct object *
object_new(cJSON *tree, uint64_t revision)
{
	struct object *object = xcalloc(1, sizeof(*object));
	cJSON *metadata = tree_object(tree, "metadata");
	struct buf out = BUF_INIT;
	char text[24];
	char *slash;

	snprintf(text, sizeof(text), "%" PRIu64, revision);
	tree_set_string(metadata, "resourceVersion", text);
	move_first(tree, "apiVersion");
	move_first(tree, "kind");
	json_print(&out, tree);
	object->json = buf_detach(&out, &object->length);
	object->refs = 1;
	object->revision = revision;
	object->head = head_length(tree);
	object->key =
		make_key(json_string(metadata, "namespace", ""), json_string(metadata, "name", ""));
	slash = strchr(object->key, '/');
	object->namespace_ = xstrdup(json_string(metadata, "namespace", ""));
	object->name = slash ? slash + 1 : object->key;
	object->uid = xstrdup(json_string(metadata, "uid", ""));
	object->labels = copy_or_null(tree_get(metadata, "labels"));
	object->owners = copy_or_null(tree_get(metadata, "ownerReferences"));
	object->deleting = tree_get(metadata, "deletionTimestamp") != NULL;
	object->finalizers = !tree_empty(tree_get(metadata, "finalizers"));
	if (!object->json) {
		registry_unref(object);
		return NULL;
	}
	return object;
}

static void
insert_item(struct collection *c, size_t at, struct object *object)
{
	if (c->count == c->capacity) {
		c->capacity = c->capacity ? c->capacity * 2 : 16;
		c->items = xreallocarray(c->items, c->capacity, sizeof(*c->items));
	}
	memmove(&c->items[at + 1], &c->items[at], (c->count - at) * sizeof(*c->items));
	c->items[at] = object;
	c->count++;
}

static void
remove_item(struct collection *c, size_t at)
{
	c->count--;
	memmove(&c->items[at], &c->items[at + 1], (c->count - at) * sizeof(*c->items));
}

/* Takes over the references to before and after. */
static void
record(struct store *store, struct collection *c, enum event_type type, struct object *before,
	struct object *after)
{
	struct event *event;

	if (store->count == store->history)
		forget_oldest(store);
	event = &store->ring[(store->first + store->count) % store->history];
	*event = (struct event){store->revision, type, c, before, after};
	store->count++;
	c->revision = store->revision;
	store->changed(store->data, event);
}

struct object *
registry_put(struct store *store, struct collection *c, cJSON *tree)
{
	struct object *object = object_new(tree, store->revision + 1), *before = NULL;
	size_t at;

	cJSON_Delete(tree);
	if (!object)
		return NULL;
	store->revision++;
	at = lower_bound(c->items, c->count, object->key);
	if (at < c->count && strcmp(c->items[at]->key, object->key) == 0) {
		before = c->items[at];
		c->items[at] = object;
	} else {
		insert_item(c, at, object);
	}
	record(store, c, before ? EVENT_MODIFIED : EVENT_ADDED, before, registry_ref(object));
	return object;
}

struct object *
registry_at(const struct object *object, uint64_t revision)
{
	cJSON *tree = registry_parse(object);
	struct object *copy = tree ? object_new(tree, revision) : NULL;

	cJSON_Delete(tree);
	return copy;
}

const struct object *
registry_remove(struct store *store, struct collection *c, struct object *object)
{
	size_t at = lower_bound(c->items, c->count, object->key);
	struct object *last = registry_at(object, store->revision + 1);

	if (!last)
		return NULL;
	store->revision++;
	remove_item(c, at);
	record(store, c, EVENT_DELETED, object, last);
	return last;
}

cJSON *
registry_parse(const struct object *object)
{
	return json_parse(object->json, object->length, NULL);
}

bool
registry_since(const struct store *store, uint64_t revision, size_t *ret_first, size_t *ret_count)
{
	size_t low = 0, high = store->count;

	if (revision < store->forgotten)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (registry_event(store, middle)->revision <= revision)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_first = low;
	*ret_count = store->count - low;
	return true;
}

const struct event *
registry_event(const struct store *store, size_t index)
{
	return &store->ring[(store->first + index) % store->history];
}

/* Undoes one change in a copy of a collection; the copy has room for it. */
static void
undo(struct collection *copy, const struct event *event)
{
	size_t at = lower_bound(copy->items, copy->count, event->after->key);

	switch (event->type) {
	case EVENT_ADDED:
		remove_item(copy, at);
		break;
	case EVENT_MODIFIED:
		copy->items[at] = event->before;
		break;
	case EVENT_DELETED:
		insert_item(copy, at, event->before);
		break;
	}
}

bool
registry_snapshot(const struct store *store, const struct collection *c, uint64_t revision,
	struct object ***ret_items, size_t *ret_count)
{
	struct collection copy = {.count = c->count, .capacity = c->count};
	size_t first, count;

	if (!registry_since(store, revision, &first, &count))
		return false;
	copy.items = xcalloc(c->count ? c->count : 1, sizeof(*copy.items));
	if (c->count)
		memcpy(copy.items, c->items, c->count * sizeof(*copy.items));
	else
		copy.capacity = 1;
	for (size_t i = count; i > 0; i--)
		if (registry_event(store, first + i - 1)->collection == c)
			undo(&copy, registry_event(store, first + i - 1));
	for (size_t i = 0; i < copy.count; i++)
		registry_ref(copy.items[i]);
	*ret_items = copy.items;
	*ret_count = copy.count;
	return true;
}

void
registry_snapshot_free(struct object **items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		registry_unref(items[i]);
	free(items);
}
