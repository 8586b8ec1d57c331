/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Create and update: what is common to POST, PUT and the patches.
 *
 * An object passes here in the form of the version asked for: metadata by the server, status kept apart, defaults,
 * checks, generation, managers, and only then conversion and the store. A write that changes nothing is not made.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/memory.h"
#include "common/yaml.h"
#include "devserver/admit.h"
#include "devserver/causes.h"
#include "devserver/managed.h"
#include "devserver/options.h"
#include "devserver/tree.h"
#include "devserver/write.h"

/* What a client can't set. */
static const char *const server_metadata[] = {"uid", "creationTimestamp", "generation",
	"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "name", "namespace"};

/* YAML for what says so, and for applies, whose type names it although most clients send JSON. */
static cJSON *
parse_body(const struct api_request *r, struct error *err)
{
	bool yaml = r->content_type && strstr(r->content_type, "yaml");
	struct yaml_place_error where = {0};
	cJSON *tree = json_parse(r->body, r->body_length, err);
	struct yaml_node *node;

	if (tree || !yaml)
		return tree;
	node = yaml_parse(r->body, r->body_length, &where);
	if (!node) {
		error_set(err, -EINVAL, "yaml: line %d: %s", where.line, where.text);
		return NULL;
	}
	tree = yaml_to_json(node);
	yaml_free(node);
	return tree;
}

static bool
type_is_served(struct call *call)
{
	const char *type = call->request->content_type;

	if (!type || call_is(call, "PATCH") || strstr(type, "json") || strstr(type, "yaml"))
		return true;
	return fail(call, 415, "UnsupportedMediaType", NULL,
		"the body of the request was in an unknown format - accepted media types include: "
		"application/json, "
		"application/yaml%s",
		strstr(type, "protobuf")
			? " (no protobuf: send a manifest, as kubectl apply -f does)"
			: "");
}

cJSON *
write_body(struct call *call)
{
	const struct api_request *r = call->request;
	struct error err = {0};
	cJSON *tree = NULL;

	if (!type_is_served(call))
		return NULL;
	if (r->body_length > API_BODY_MAX) {
		fail(call, 413, "RequestEntityTooLarge", NULL,
			"Request entity too large: limit is %d", API_BODY_MAX);
		return NULL;
	}
	if (r->body_length)
		tree = parse_body(r, &err);
	else
		error_set(&err, -EINVAL, "unexpected end of JSON input");
	if (!tree)
		fail_bad_request(call, "couldn't get version/kind; json parse error: %s", err.text);
	return tree;
}

static const char *
body_name(const cJSON *tree)
{
	return json_string(tree_get(tree, "metadata"), "name", "");
}

/* A custom resource says what it is; the kind of another is "invalid", as on the real server. */
static bool
check_kind(struct call *call, const cJSON *tree)
{
	const char *api_version = json_string(tree, "apiVersion", ""),
		   *kind = json_string(tree, "kind", "");
	const char *want = call->resource->kind;
	cJSON *causes;

	/* Clients of built-in kinds may leave both out. */
	if (call->resource->builtin && !*api_version)
		api_version = call->version->api_version;
	if (call->resource->builtin && !*kind)
		kind = want;
	if (!*kind)
		return fail_bad_request(call,
			"the object provided is unrecognized (must be of type %s): Object 'Kind' "
			"is missing",
			want);
	if (strcmp(api_version, call->version->api_version) != 0)
		return fail_bad_request(call,
			"the API version in the data (%s) does not match the expected API version "
			"(%s)",
			api_version, call->version->api_version);
	if (strcmp(kind, want) == 0)
		return true;
	if (call->resource->builtin)
		return fail_bad_request(call,
			"%s in version \"%s\" cannot be handled as a %s: unknown conversion", kind,
			call->version->name, want);
	causes = causes_add(
		NULL, CAUSE_INVALID, "kind", "Invalid value: \"%s\": must be %s", kind, want);
	return fail_invalid_kind(
		call, kind, json_string(tree_get(tree, "metadata"), "name", ""), causes);
}

/* apiVersion, kind, namespace and (when the path names one) name must agree with the path. */
static bool
check_identity(struct call *call, cJSON *tree)
{
	cJSON *metadata = tree_object(tree, "metadata");
	const char *namespace_ = json_string(metadata, "namespace", "");

	if (!check_kind(call, tree))
		return false;
	if (kinds_namespaced(call->resource) && *namespace_ &&
		strcmp(namespace_, call->namespace_) != 0)
		return fail_bad_request(call, "the namespace of the provided object does not match "
					      "the namespace sent on the request");
	if (call->name && *body_name(tree) && strcmp(body_name(tree), call->name) != 0)
		return fail_bad_request(call,
			"the name of the object (%s) does not match the name on the URL (%s)",
			body_name(tree), call->name);
	if (*call->namespace_)
		tree_set_string(metadata, "namespace", call->namespace_);
	else
		tree_remove(metadata, "namespace");
	return true;
}

/* generateName and five characters, as the real server does it. */
static void
generate_name(cJSON *metadata)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	const char *prefix = json_string(metadata, "generateName", "");
	char suffix[6] = "";
	char *name;

	if (*json_string(metadata, "name", "") || !*prefix)
		return;
	for (size_t i = 0; i < 5; i++)
		suffix[i] = letters[clock_random() % (sizeof(letters) - 1)];
	name = xasprintf("%.58s%s", prefix, suffix);
	tree_set_string(metadata, "name", name);
	free(name);
}

static bool
check_namespace(struct call *call, const char *name)
{
	const struct resource *namespaces = kinds_find(&call->api->kinds, "", "namespaces");
	const struct object *found;
	cJSON *details, *causes;
	char *why;

	if (!kinds_namespaced(call->resource))
		return true;
	found = registry_find(namespaces->collection, "", call->namespace_);
	if (!found) {
		details = cJSON_CreateObject();
		tree_set_string(details, "name", call->namespace_);
		tree_set_string(details, "kind", "namespaces");
		return fail(call, 404, "NotFound", details, "namespaces \"%s\" not found",
			call->namespace_);
	}
	if (!found->deleting)
		return true;
	causes = causes_add(NULL, "NamespaceTerminating", "metadata.namespace",
		"namespace %s is being terminated", call->namespace_);
	why = xasprintf(
		"unable to create new content in namespace %s because it is being terminated",
		call->namespace_);
	fail_forbidden(call, name, causes, why);
	free(why);
	return false;
}

static void
new_metadata(cJSON *tree, const struct resource *resource)
{
	cJSON *metadata = tree_object(tree, "metadata");
	char text[40];

	tree_remove(metadata, "deletionTimestamp");
	tree_remove(metadata, "deletionGracePeriodSeconds");
	tree_remove(metadata, "resourceVersion");
	tree_remove(metadata, "selfLink");
	tree_remove(metadata, "generation");
	if (!resource->builtin || resource->flags & KIND_GENERATION)
		tree_set_int(metadata, "generation", 1);
	server_uuid(text);
	tree_set_string(metadata, "uid", text);
	server_time(text, 0);
	tree_set_string(metadata, "creationTimestamp", text);
}

static bool
dry_run(const struct call *call)
{
	const char *value = call_parameter(call, "dryRun");

	return value && strcmp(value, "All") == 0;
}

/* What the server itself sets, which nobody owns. */
static void
prepare(const struct call *call, cJSON *tree, const cJSON *before)
{
	const struct builtin *builtin = call->resource->builtin;

	if (builtin && builtin->prepare)
		builtin->prepare(tree, before);
}

/* Everything between a checked body and the store. The tree stays the caller's. */
static bool
prepare_create(struct call *call, cJSON *tree, bool applied)
{
	struct manager manager = {call_manager(call), NULL, call->version, NULL};
	char now[32];

	if (!applied && *json_string(tree_get(tree, "metadata"), "resourceVersion", ""))
		return fail_internal(
			call, "resourceVersion should not be set on objects to be created");
	new_metadata(tree, call->resource);
	if (call->version->status)
		tree_remove(tree, "status");
	if (!admit(call, tree, NULL))
		return false;
	server_time(now, 0);
	manager.time = now;
	if (!applied)
		managed_update(NULL, tree, &manager);
	prepare(call, tree, NULL);
	return true;
}

/* Stores tree (taken) and answers 201. */
static void
finish_create(struct call *call, cJSON *tree)
{
	const struct object *object;

	if (dry_run(call)) {
		call_reply(call, 201, tree);
		cJSON_Delete(tree);
		return;
	}
	convert_in(tree, call->version);
	object = registry_put(call->api->store, call->resource->collection, tree);
	if (!object) {
		fail_internal(call, "out of memory");
		return;
	}
	tree = registry_parse(object);
	convert_out(tree, call->version);
	call_reply(call, 201, tree);
	cJSON_Delete(tree);
}

/* Creates what the tree (taken) says, which has passed check_identity(). */
static void
create(struct call *call, cJSON *tree, bool applied)
{
	cJSON *metadata = tree_object(tree, "metadata");
	const char *name;

	generate_name(metadata);
	name = json_string(metadata, "name", "");
	if (!check_namespace(call, name))
		goto out;
	if (call->resource->terminating) {
		fail(call, 405, "MethodNotAllowed", NULL,
			"create not allowed while custom resource definition is terminating");
		goto out;
	}
	if (!prepare_create(call, tree, applied))
		goto out;
	name = json_string(tree_get(tree, "metadata"), "name", "");
	if (registry_find(call->resource->collection, call->namespace_, name)) {
		fail_exists(call, name);
		goto out;
	}
	finish_create(call, tree);
	return;
out:
	cJSON_Delete(tree);
}

void
write_create(struct call *call)
{
	cJSON *tree;

	if (!options_check_write(call, false) || !(tree = write_body(call)))
		return;
	if (!cJSON_IsObject(tree) || !check_identity(call, tree)) {
		if (!cJSON_IsObject(tree))
			fail_bad_request(call, "the body is not an object");
		cJSON_Delete(tree);
		return;
	}
	if (call->resource->flags & KIND_ANSWER) {
		call->resource->builtin->defaults(tree, NULL);
		call_reply(call, 201, tree);
		cJSON_Delete(tree);
		return;
	}
	create(call, tree, false);
}

static bool
same_but(const cJSON *a, const cJSON *b, bool with_status)
{
	cJSON *left = cJSON_Duplicate(a, true), *right = cJSON_Duplicate(b, true);
	bool same;

	tree_remove(left, "metadata");
	tree_remove(right, "metadata");
	if (!with_status) {
		tree_remove(left, "status");
		tree_remove(right, "status");
	}
	same = tree_equal(left, right);
	cJSON_Delete(left);
	cJSON_Delete(right);
	return same;
}

static bool
has_string(const cJSON *list, const char *text)
{
	for (const cJSON *item = list ? list->child : NULL; item; item = item->next)
		if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
			return true;
	return false;
}

/* What is being deleted takes no new finalizers. */
static bool
check_finalizers(struct call *call, const cJSON *before, const cJSON *after)
{
	const cJSON *had = json_get(before, "metadata", "finalizers", NULL);
	const cJSON *has = json_get(after, "metadata", "finalizers", NULL);

	if (!json_get(before, "metadata", "deletionTimestamp", NULL))
		return true;
	for (const cJSON *item = has ? has->child : NULL; item; item = item->next)
		if (cJSON_IsString(item) && !has_string(had, item->valuestring))
			return fail_invalid(call,
				json_string(tree_get(before, "metadata"), "name", ""),
				causes_add(NULL, CAUSE_FORBIDDEN, "metadata.finalizers",
					"Forbidden: no new finalizers can be added if the object "
					"is being deleted, "
					"found new finalizers []string{\"%s\"}",
					item->valuestring));
	return true;
}

static void
count_generation(const struct call *call, const cJSON *before, cJSON *after)
{
	int64_t generation = json_int(tree_get(before, "metadata"), "generation", 0);

	if (call->resource->builtin && !(call->resource->flags & KIND_GENERATION))
		return;
	if (!same_but(before, after, !call->version->status))
		tree_set_int(tree_object(after, "metadata"), "generation", generation + 1);
}

static bool
is_status(const struct call *call)
{
	return call->subresource && strcmp(call->subresource, "status") == 0;
}

/* What each endpoint may not touch comes from before. */
static void
keep_apart(const struct call *call, const cJSON *before, cJSON *after)
{
	cJSON *managed, *metadata;

	if (!is_status(call)) {
		if (call->version->status)
			tree_copy_member(after, before, "status");
		return;
	}
	managed = cJSON_Duplicate(json_get(after, "metadata", "managedFields", NULL), true);
	tree_each_safe(item, next, after) if (strcmp(item->string, "status") != 0)
		cJSON_Delete(cJSON_DetachItemViaPointer(after, item));
	for (const cJSON *item = before->child; item; item = item->next)
		if (strcmp(item->string, "status") != 0)
			tree_copy_member(after, before, item->string);
	metadata = tree_object(after, "metadata");
	tree_set(metadata, "managedFields", managed);
}

/* The uid in an update of another object. */
static bool
fail_uid(struct call *call, const char *name, const char *asked, const char *is)
{
	char *why;

	if (!call_is(call, "PUT"))
		return fail_invalid(call, name,
			causes_add(NULL, CAUSE_INVALID, "metadata.uid",
				"Invalid value: \"%s\": field is immutable", asked));
	why = xasprintf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s/%s, "
			"ResourceVersion: 0, "
			"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in "
			"object meta: %s",
		call->resource->plural, call->namespace_, name, asked, is);
	fail_conflict(call, name, why);
	free(why);
	return false;
}

static bool
check_versions(struct call *call, const cJSON *before, const cJSON *after)
{
	const cJSON *is = tree_get(before, "metadata"), *asked = tree_get(after, "metadata");
	const char *version = json_string(asked, "resourceVersion", ""),
		   *uid = json_string(asked, "uid", "");
	const char *name = json_string(is, "name", "");
	char *end;

	(void)strtoull(version, &end, 10);
	if (*end)
		return fail_internal(
			call, "strconv.ParseUint: parsing \"%s\": invalid syntax", version);
	if (!*version && !call->resource->builtin && call_is(call, "PUT"))
		return fail_invalid_kind(call, call->resource->plural, name,
			causes_add(NULL, CAUSE_INVALID, "metadata.resourceVersion",
				"Invalid value: 0: must be specified for an update"));
	if (*version && strcmp(version, "0") != 0 &&
		strcmp(version, json_string(is, "resourceVersion", "")) != 0)
		return fail_conflict(call, name, NULL);
	if (*uid && strcmp(uid, json_string(is, "uid", "")) != 0)
		return fail_uid(call, name, uid, json_string(is, "uid", ""));
	return true;
}

bool
write_replace(struct call *call, struct object *stored, const cJSON *before, cJSON *after,
	bool applied, cJSON **ret)
{
	struct manager manager = {
		call_manager(call), is_status(call) ? "status" : NULL, call->version, NULL};
	struct collection *collection = call->resource->collection;
	char now[32];

	if (!check_versions(call, before, after))
		goto fail;
	for (size_t i = 0; i < sizeof(server_metadata) / sizeof(server_metadata[0]); i++)
		tree_copy_member(tree_object(after, "metadata"), tree_get(before, "metadata"),
			server_metadata[i]);
	tree_copy_member(
		tree_object(after, "metadata"), tree_get(before, "metadata"), "resourceVersion");
	keep_apart(call, before, after);
	if (!admit(call, after, before) || !check_finalizers(call, before, after))
		goto fail;
	count_generation(call, before, after);
	server_time(now, 0);
	manager.time = now;
	if (!applied)
		managed_update(before, after, &manager);
	prepare(call, after, before);
	if (!tree_equal(before, after) && !dry_run(call)) {
		convert_in(after, call->version);
		/* stored is gone with the next line unless the history holds it, which it does. */
		stored = registry_put(call->api->store, collection, after);
		if (!stored)
			return fail_internal(call, "out of memory");
		after = registry_parse(stored);
		convert_out(after, call->version);
		delete_if_done(call->api, collection, stored);
	}
	*ret = after;
	return true;
fail:
	cJSON_Delete(after);
	return false;
}

static void
reply_replace(
	struct call *call, struct object *stored, const cJSON *before, cJSON *after, bool applied)
{
	cJSON *result;

	if (!write_replace(call, stored, before, after, applied, &result))
		return;
	call_reply(call, 200, result);
	cJSON_Delete(result);
}

static struct object *
find(struct call *call)
{
	return registry_find(call->resource->collection, call->namespace_, call->name);
}

void
write_update(struct call *call)
{
	struct object *stored = find(call);
	cJSON *after, *before;

	if (!options_check_write(call, false) || !(after = write_body(call)))
		return;
	if (!cJSON_IsObject(after)) {
		fail_bad_request(call, "the body is not an object");
		goto out;
	}
	if (!check_identity(call, after))
		goto out;
	if (!*body_name(after)) {
		fail_bad_request(call,
			"the name of the object (%s based on URL) was undeterminable: name must be "
			"provided",
			call->name);
		goto out;
	}
	if (!stored && call->resource->flags & KIND_CREATE_ON_UPDATE && !call->subresource) {
		create(call, after, false);
		return;
	}
	if (!stored) {
		fail_not_found(call);
		goto out;
	}
	before = registry_parse(stored);
	convert_out(before, call->version);
	reply_replace(call, stored, before, after, false);
	cJSON_Delete(before);
	return;
out:
	cJSON_Delete(after);
}

static void
apply(struct call *call, cJSON *config)
{
	struct manager manager = {call_parameter(call, "fieldManager"),
		is_status(call) ? "status" : NULL, call->version, NULL};
	struct object *stored = find(call);
	cJSON *before = NULL, *after, *causes = NULL, *details;
	char now[32], *message = NULL;

	server_time(now, 0);
	manager.time = now;
	admit_apply(call, config);
	if (!stored && call->subresource) {
		fail_not_found(call);
		return;
	}
	if (stored) {
		before = registry_parse(stored);
		convert_out(before, call->version);
	}
	after = managed_apply(
		before, config, &manager, call_flag(call, "force"), &causes, &message);
	if (!after) {
		details = cJSON_CreateObject();
		tree_set(details, "causes", causes);
		fail(call, 409, "Conflict", details, "%s", message);
	} else if (stored) {
		tree_copy_member(tree_object(after, "metadata"), tree_get(config, "metadata"),
			"resourceVersion");
		tree_copy_member(
			tree_object(after, "metadata"), tree_get(config, "metadata"), "uid");
		reply_replace(call, stored, before, after, true);
	} else {
		create(call, after, true);
	}
	free(message);
	cJSON_Delete(before);
}

static void
patch_apply(struct call *call)
{
	cJSON *config;

	if (!options_check_write(call, true) || !(config = write_body(call)))
		return;
	if (!cJSON_IsObject(config))
		fail_bad_request(call, "the body is not an object");
	else if (!*json_string(config, "kind", ""))
		fail_bad_request(call, "invalid object type: /, Kind=");
	else if (admit_typed(call, config) && check_identity(call, config)) {
		tree_set_string(tree_object(config, "metadata"), "name", call->name);
		apply(call, config);
	}
	cJSON_Delete(config);
}

void
write_patch(struct call *call)
{
	const char *type = call->request->content_type ? call->request->content_type : "";
	struct object *stored;
	cJSON *before, *after;

	if (strncmp(type, "application/apply-patch+yaml", 28) == 0) {
		patch_apply(call);
		return;
	}
	if (!options_check_write(call, false))
		return;
	stored = find(call);
	if (!stored) {
		fail_not_found(call);
		return;
	}
	before = registry_parse(stored);
	convert_out(before, call->version);
	after = cJSON_Duplicate(before, true);
	if (admit_patch(call, type, after) && check_identity(call, after))
		reply_replace(call, stored, before, after, false);
	else
		cJSON_Delete(after);
	cJSON_Delete(before);
}
