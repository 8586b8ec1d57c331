/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delete: at once, or by a deletionTimestamp when finalizers have a say.
 *
 * The garbage collector (gc.c) acts on what is removed or marked here; a Namespace and a CRD are marked until their
 * content is gone (their finalizers are the server's own).
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/causes.h"
#include "devserver/options.h"
#include "devserver/render.h"
#include "devserver/selectors.h"
#include "devserver/tree.h"
#include "devserver/write.h"

static void
add_finalizer(cJSON *metadata, const char *name)
{
	cJSON *list = tree_array(metadata, "finalizers");

	for (const cJSON *item = list->child; item; item = item->next)
		if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
			return;
	cJSON_AddItemToArray(list, cJSON_CreateString(name));
}

/* What waits for the content of the object to go before the object does. */
static bool
prepare(cJSON *tree, const struct collection *collection, enum propagation propagation)
{
	cJSON *metadata = tree_object(tree, "metadata");

	if (propagation == PROPAGATE_FOREGROUND)
		add_finalizer(metadata, "foregroundDeletion");
	if (propagation == PROPAGATE_ORPHAN)
		add_finalizer(metadata, "orphan");
	if (server_is(collection, "apiextensions.k8s.io", "customresourcedefinitions"))
		add_finalizer(metadata, "customresourcecleanup.apiextensions.k8s.io");
	if (server_is(collection, "", "namespaces"))
		tree_set_string(tree_object(tree, "status"), "phase", "Terminating");
	return !tree_empty(tree_get(metadata, "finalizers")) ||
	       !tree_empty(json_get(tree, "spec", "finalizers", NULL));
}

bool
delete_object(struct api *api, struct collection *collection, struct object *object,
	enum propagation propagation)
{
	cJSON *tree, *metadata;
	char now[32];

	if (object->deleting)
		return false;
	tree = registry_parse(object);
	if (!prepare(tree, collection, propagation)) {
		cJSON_Delete(tree);
		registry_remove(api->store, collection, object);
		return true;
	}
	metadata = tree_object(tree, "metadata");
	server_time(now, 0);
	tree_set_string(metadata, "deletionTimestamp", now);
	if (!server_is(collection, "", "namespaces"))
		tree_set_int(metadata, "deletionGracePeriodSeconds", 0);
	if (tree_get(metadata, "generation"))
		tree_set_int(metadata, "generation", json_int(metadata, "generation", 0) + 1);
	server_put(api, collection, tree);
	return false;
}

bool
delete_if_done(struct api *api, struct collection *collection, struct object *object)
{
	cJSON *tree;
	bool content;

	if (!object->deleting || object->finalizers)
		return false;
	tree = registry_parse(object);
	content = !tree_empty(json_get(tree, "spec", "finalizers", NULL)) &&
		  server_is(collection, "", "namespaces");
	cJSON_Delete(tree);
	if (!content)
		registry_remove(api->store, collection, object);
	return !content;
}

struct options {
	enum propagation propagation;
	char *uid, *resource_version;
	bool dry_run;
};

static bool
read_propagation(struct call *call, struct options *options, const char *policy)
{
	static const char *const words[] = {"Background", "Foreground", "Orphan"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(policy, words[i]) == 0) {
			options->propagation = (enum propagation)i;
			return true;
		}
	return options_fail(call, "DeleteOptions",
		causes_add(NULL, CAUSE_ENUM, "propagationPolicy",
			"Unsupported value: \"%s\": supported values: \"Foreground\", "
			"\"Background\", \"Orphan\", \"nil\"",
			policy));
}

/* From the query, then the body. free_options() in any case. */
static bool
read_options(struct call *call, struct options *options)
{
	const char *policy = call_parameter(call, "propagationPolicy"),
		   *dry = call_parameter(call, "dryRun");
	cJSON *body = NULL;
	bool good;

	*options = (struct options){.dry_run = dry && strcmp(dry, "All") == 0};
	if (!options_check_write(call, false) ||
		(call->request->body_length && !(body = write_body(call))))
		return false;
	if (!policy)
		policy = json_string(body, "propagationPolicy",
			json_bool(body, "orphanDependents", false) ? "Orphan" : "Background");
	good = read_propagation(call, options, policy);
	options->uid = xstrdup(json_string(tree_get(body, "preconditions"), "uid", ""));
	options->resource_version =
		xstrdup(json_string(tree_get(body, "preconditions"), "resourceVersion", ""));
	if (!tree_empty(tree_get(body, "dryRun")))
		options->dry_run = true;
	cJSON_Delete(body);
	return good;
}

static void
free_options(struct options *options)
{
	free(options->uid);
	free(options->resource_version);
}

static bool
check_preconditions(struct call *call, const struct options *options, const struct object *object)
{
	const struct resource *r = call->resource;
	bool uid = *options->uid && strcmp(options->uid, object->uid) != 0;
	const char *field = uid ? "UID" : "ResourceVersion",
		   *asked = uid ? options->uid : options->resource_version;
	char version[24];
	cJSON *details;

	snprintf(version, sizeof(version), "%llu", (unsigned long long)object->revision);
	if (!uid &&
		(!*options->resource_version || strcmp(options->resource_version, version) == 0))
		return true;
	details = cJSON_CreateObject();
	tree_set_string(details, "name", object->name);
	if (*r->group)
		tree_set_string(details, "group", r->group);
	tree_set_string(details, "kind", r->kind);
	return fail(call, 409, "Conflict", details,
		"Operation cannot be fulfilled on %s%s%s \"%s\": the %s in the precondition (%s) "
		"does not match the %s in "
		"record (%s). The object might have been %s",
		r->kind, *r->group ? "." : "", r->group, object->name, field, asked, field,
		uid ? object->uid : version, uid ? "deleted and then recreated" : "modified");
}

static void
reply_gone(struct call *call, const struct object *object)
{
	cJSON *status = cJSON_CreateObject(), *details;

	tree_set_string(status, "kind", "Status");
	tree_set_string(status, "apiVersion", "v1");
	tree_set(status, "metadata", cJSON_CreateObject());
	tree_set_string(status, "status", "Success");
	details = tree_object(status, "details");
	tree_set_string(details, "name", object->name);
	if (*call->resource->group)
		tree_set_string(details, "group", call->resource->group);
	tree_set_string(details, "kind", call->resource->plural);
	tree_set_string(details, "uid", object->uid);
	call_reply(call, 200, status);
	cJSON_Delete(status);
}

static void
reply_deleted(struct call *call, const struct object *object)
{
	if (call->resource->flags & KIND_SHOW_DELETED)
		render_reply(call, 200, object);
	else
		reply_gone(call, object);
}

void
write_delete(struct call *call)
{
	struct collection *collection = call->resource->collection;
	struct object *object = registry_find(collection, call->namespace_, call->name);
	struct options options;

	if (!object) {
		fail_not_found(call);
		return;
	}
	registry_ref(object);
	if (!read_options(call, &options) || !check_preconditions(call, &options, object))
		goto out;
	if (options.dry_run || delete_object(call->api, collection, object, options.propagation))
		reply_deleted(call, object);
	else
		render_reply(call, 200, registry_find(collection, call->namespace_, call->name));
out:
	registry_unref(object);
	free_options(&options);
}

void
write_delete_collection(struct call *call)
{
	struct collection *collection = call->resource->collection;
	struct error err = {0};
	struct selectors *selectors = selectors_new(call_parameter(call, "labelSelector"),
		call_parameter(call, "fieldSelector"), call->version, &err);
	struct object **items;
	struct options options;
	size_t start, end, count;

	if (!selectors) {
		fail_bad_request(call, "%s", err.text);
		return;
	}
	if (!read_options(call, &options)) {
		selectors_free(selectors);
		free_options(&options);
		return;
	}
	registry_range(collection, call->namespace_, &start, &end);
	count = end - start;
	items = xcalloc(count + 1, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = registry_ref(collection->items[start + i]);
	for (size_t i = 0; i < count; i++)
		if (!options.dry_run && selectors_match(selectors, items[i]))
			delete_object(call->api, collection, items[i], options.propagation);
	render_list(call, items, count);
	registry_snapshot_free(items, count);
	selectors_free(selectors);
	free_options(&options);
}
