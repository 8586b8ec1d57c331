/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage collection.
 *
 * A dependent goes when none of the owners that it names exists; one owner that is gone is only taken off the list.
 * Owners of a kind that is not served count as there. Foreground deletion waits for dependents that block it; orphaning
 * takes the references off. Dependents are found by a walk over all objects: a pointer test each.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/gc.h"
#include "devserver/tree.h"
#include "devserver/write.h"

struct found {
	struct collection *collection;
	struct object *object;
};

static const cJSON *
reference_to(const struct object *object, const char *uid)
{
	for (const cJSON *owner = object->owners ? object->owners->child : NULL; owner;
		owner = owner->next)
		if (strcmp(json_string(owner, "uid", ""), uid) == 0)
			return owner;
	return NULL;
}

static void
add_found(struct found **list, size_t *count, size_t *capacity, struct collection *c,
	struct object *object)
{
	if (*count == *capacity) {
		*capacity = *capacity ? *capacity * 2 : 16;
		*list = xreallocarray(*list, *capacity, sizeof(**list));
	}
	(*list)[(*count)++] = (struct found){c, registry_ref(object)};
}

/* Every object that names this owner; references are the caller's. */
static struct found *
dependents(struct api *api, const char *uid, size_t *ret_count)
{
	struct found *list = NULL;
	size_t capacity = 0;

	*ret_count = 0;
	for (struct collection *c = registry_first_collection(api->store); c; c = c->next)
		for (size_t i = 0; i < c->count; i++)
			if (c->items[i]->owners && reference_to(c->items[i], uid))
				add_found(&list, ret_count, &capacity, c, c->items[i]);
	return list;
}

static void
free_found(struct found *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		registry_unref(list[i].object);
	free(list);
}

enum owner_state { OWNER_THERE, OWNER_WAITS, OWNER_GONE };

static bool
has_finalizer(const struct object *object, const char *name)
{
	cJSON *tree = object->finalizers ? registry_parse(object) : NULL;
	const cJSON *list = json_get(tree, "metadata", "finalizers", NULL),
		    *item = list ? list->child : NULL;
	bool found;

	while (item && !(cJSON_IsString(item) && strcmp(item->valuestring, name) == 0))
		item = item->next;
	found = item;
	cJSON_Delete(tree);
	return found;
}

static struct object *
find_owner(const struct api *api, const cJSON *owner, const char *namespace_,
	struct collection **ret, bool *ret_known)
{
	const struct version *version = kinds_by_kind(
		&api->kinds, json_string(owner, "apiVersion", ""), json_string(owner, "kind", ""));
	struct object *object;

	*ret_known = version && (!kinds_namespaced(version->resource) || *namespace_);
	if (!*ret_known)
		return NULL;
	*ret = version->resource->collection;
	object = registry_find(*ret, kinds_namespaced(version->resource) ? namespace_ : "",
		json_string(owner, "name", ""));
	return object && strcmp(object->uid, json_string(owner, "uid", "")) == 0 ? object : NULL;
}

static enum owner_state
owner_state(const struct api *api, const cJSON *owner, const char *namespace_)
{
	struct collection *collection;
	bool known;
	struct object *object = find_owner(api, owner, namespace_, &collection, &known);

	if (!known)
		return OWNER_THERE;
	if (!object)
		return OWNER_GONE;
	return object->deleting && has_finalizer(object, "foregroundDeletion") ? OWNER_WAITS
									       : OWNER_THERE;
}

/* Takes the references to owners that are gone (uid NULL), or to this one, off. */
static void
drop_references(struct api *api, struct collection *c, struct object *object, const char *uid)
{
	cJSON *tree = registry_parse(object), *metadata = tree_object(tree, "metadata"),
	      *owners = tree_get(metadata, "ownerReferences");

	tree_each_safe(owner, next,
		owners) if (uid ? strcmp(json_string(owner, "uid", ""), uid) == 0
				: owner_state(api, owner, object->namespace_) == OWNER_GONE)
		cJSON_Delete(cJSON_DetachItemViaPointer(owners, owner));
	if (tree_empty(owners))
		tree_remove(metadata, "ownerReferences");
	server_put(api, c, tree);
}

/* Whether an object with owners may stay. */
static void
check_object(struct api *api, struct collection *collection, const struct object *changed)
{
	struct object *object = work_current(collection, changed);
	size_t count[3] = {0};

	if (!object || !object->owners || object->deleting)
		return;
	for (const cJSON *owner = object->owners->child; owner; owner = owner->next)
		count[owner_state(api, owner, object->namespace_)]++;
	if (!count[OWNER_THERE] && (count[OWNER_GONE] || count[OWNER_WAITS]))
		delete_object(api, collection, object, PROPAGATE_BACKGROUND);
	else if (count[OWNER_GONE])
		drop_references(api, collection, object, NULL);
}

static void
check_dependents(struct api *api, struct collection *collection, const struct object *owner)
{
	size_t count;
	struct found *list = dependents(api, owner->uid, &count);

	(void)collection;
	for (size_t i = 0; i < count; i++)
		check_object(api, list[i].collection, list[i].object);
	free_found(list, count);
}

static void
remove_finalizer(struct api *api, struct collection *collection, const struct object *object,
	const char *name)
{
	cJSON *tree = registry_parse(object), *metadata = tree_object(tree, "metadata"),
	      *list = tree_get(metadata, "finalizers");

	tree_each_safe(
		item, next, list) if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
		cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
	if (tree_empty(list))
		tree_remove(metadata, "finalizers");
	server_put(api, collection, tree);
}

static bool
blocks(const struct found *dependent, const char *uid)
{
	const struct object *current = work_current(dependent->collection, dependent->object);
	const cJSON *owner = current ? reference_to(current, uid) : NULL;

	return owner && json_bool(owner, "blockOwnerDeletion", false);
}

/* An owner under deletion by foreground or orphan. */
static void
check_owner(struct api *api, struct collection *collection, const struct object *changed)
{
	struct object *owner = work_current(collection, changed);
	struct found *list;
	bool wait = false;
	size_t count;

	if (!owner || !owner->deleting || !owner->finalizers)
		return;
	registry_ref(owner);
	list = dependents(api, owner->uid, &count);
	if (has_finalizer(owner, "orphan")) {
		for (size_t i = 0; i < count; i++)
			drop_references(api, list[i].collection, list[i].object, owner->uid);
		remove_finalizer(api, collection, owner, "orphan");
	} else if (has_finalizer(owner, "foregroundDeletion")) {
		for (size_t i = 0; i < count; i++) {
			check_object(api, list[i].collection, list[i].object);
			wait = wait || blocks(&list[i], owner->uid);
		}
		if (!wait)
			remove_finalizer(api, collection, owner, "foregroundDeletion");
	}
	free_found(list, count);
	registry_unref(owner);
}

/* A dependent is gone: its owners may have waited for that. */
static void
check_owners_of(struct api *api, struct collection *collection, const struct object *gone)
{
	(void)collection;
	for (const cJSON *owner = gone->owners ? gone->owners->child : NULL; owner;
		owner = owner->next) {
		struct collection *c;
		bool known;
		struct object *object = find_owner(api, owner, gone->namespace_, &c, &known);

		if (object)
			check_owner(api, c, object);
	}
}

/* Marks everything of a collection (in a namespace, or "" for all); true: nothing is left. */
static bool
clear(struct api *api, struct collection *collection, const char *namespace_)
{
	size_t start, end, count;
	struct object **items;

	registry_range(collection, namespace_, &start, &end);
	count = end - start;
	items = xcalloc(count + 1, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = registry_ref(collection->items[start + i]);
	for (size_t i = 0; i < count; i++)
		delete_object(api, collection, items[i], PROPAGATE_BACKGROUND);
	registry_snapshot_free(items, count);
	registry_range(collection, namespace_, &start, &end);
	return start == end;
}

static void
clear_namespace(struct api *api, struct collection *collection, const struct object *changed)
{
	struct object *object = work_current(collection, changed);
	bool empty = true;
	cJSON *tree;

	if (!object || !object->deleting)
		return;
	for (struct collection *c = registry_first_collection(api->store); c; c = c->next)
		if (c->namespaced && !clear(api, c, changed->name))
			empty = false;
	if (!empty || !(object = work_current(collection, changed)))
		return;
	tree = registry_parse(object);
	tree_remove(tree_object(tree, "spec"), "finalizers");
	server_put(api, collection, tree);
}

static void
clear_crd(struct api *api, struct collection *collection, const struct object *changed)
{
	struct object *object = work_current(collection, changed);
	const char *dot = strchr(changed->name, '.');
	char *plural = xstrndup(changed->name, dot ? (size_t)(dot - changed->name) : 0);
	struct resource *resource = dot ? kinds_find(&api->kinds, dot + 1, plural) : NULL;

	free(plural);
	if (!object || !object->deleting)
		return;
	if (resource)
		resource->terminating = true;
	if (!resource || resource->builtin || clear(api, resource->collection, ""))
		remove_finalizer(
			api, collection, object, "customresourcecleanup.apiextensions.k8s.io");
}

/* Something in a namespace, or of a CRD, is gone: the container may be waiting. */
static void
check_container(struct api *api, struct collection *collection, const struct object *gone)
{
	const struct resource *namespaces = kinds_find(&api->kinds, "", "namespaces");
	const struct resource *crds =
		kinds_find(&api->kinds, "apiextensions.k8s.io", "customresourcedefinitions");
	struct resource *resource = server_resource(api, collection);
	struct object *object = registry_find(namespaces->collection, "", gone->namespace_);
	char *name;

	if (object && object->deleting)
		clear_namespace(api, namespaces->collection, object);
	if (!resource || resource->builtin || !resource->terminating)
		return;
	name = xasprintf("%s.%s", resource->plural, resource->group);
	object = registry_find(crds->collection, "", name);
	free(name);
	if (object)
		clear_crd(api, crds->collection, object);
}

void
gc_changed(struct api *api, const struct event *event)
{
	struct collection *c = event->collection;
	struct object *after = event->after;

	if (event->type == EVENT_DELETED) {
		work_now(api, check_dependents, c, after);
		if (after->owners)
			work_now(api, check_owners_of, c, after);
		work_now(api, check_container, c, after);
		return;
	}
	if (after->owners && !(event->before && event->before->owners &&
				     tree_equal(event->before->owners, after->owners)))
		work_now(api, check_object, c, after);
	if (after->deleting && server_is(c, "", "namespaces"))
		work_now(api, clear_namespace, c, after);
	else if (after->deleting &&
		 server_is(c, "apiextensions.k8s.io", "customresourcedefinitions"))
		work_now(api, clear_crd, c, after);
	else if (after->deleting && after->finalizers)
		work_now(api, check_owner, c, after);
}
