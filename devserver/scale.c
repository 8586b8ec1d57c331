/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale subresource: autoscaling/v1 Scale as a view of an object, by the paths of its version.
 *
 * Get, update and merge patch. The change is written as an update of the object.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/patch.h"
#include "devserver/scale.h"
#include "devserver/tree.h"
#include "devserver/write.h"

/* The value at ".a.b"; with make, its parents are made and *ret_key names the last member. */
static cJSON *
at_path(cJSON *tree, const char *path, bool make, char **ret_key)
{
	char *copy = xstrdup(path + (*path == '.')), *rest = copy, *key = strsep(&rest, ".");

	while (tree && rest) {
		tree = make ? tree_object(tree, key) : tree_get(tree, key);
		key = strsep(&rest, ".");
	}
	if (make)
		*ret_key = xstrdup(key);
	else
		tree = tree_get(tree, key);
	free(copy);
	return tree;
}

static cJSON *
view(const struct call *call, cJSON *tree)
{
	cJSON *scale = tree_literal("{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/"
				    "v1\",\"metadata\":{},\"spec\":{},\"status\":{}}");
	static const char *const metadata[] = {
		"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
	const cJSON *paths = call->version->scale;
	const cJSON *spec = at_path(tree, json_string(paths, "specReplicasPath", ""), false, NULL);
	const cJSON *status =
		at_path(tree, json_string(paths, "statusReplicasPath", ""), false, NULL);

	for (size_t i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
		tree_copy_member(
			tree_object(scale, "metadata"), tree_get(tree, "metadata"), metadata[i]);
	if (cJSON_IsNumber(spec))
		tree_set(tree_object(scale, "spec"), "replicas", cJSON_Duplicate(spec, true));
	tree_set(tree_object(scale, "status"), "replicas",
		cJSON_IsNumber(status) ? cJSON_Duplicate(status, true) : cJSON_CreateNumber(0));
	return scale;
}

/* The Scale that the request wants; NULL: answered. */
static cJSON *
wanted(struct call *call, const cJSON *scale)
{
	const char *type = call->request->content_type ? call->request->content_type : "";
	cJSON *body, *copy;

	if (call_is(call, "PATCH") && strncmp(type, "application/merge-patch+json", 28) != 0 &&
		strncmp(type, "application/strategic-merge-patch+json", 38) != 0) {
		fail(call, 415, "UnsupportedMediaType", cJSON_CreateObject(),
			"scale takes application/merge-patch+json");
		return NULL;
	}
	body = write_body(call);
	if (!body || call_is(call, "PUT"))
		return body;
	copy = cJSON_Duplicate(scale, true);
	patch_merge(copy, body);
	cJSON_Delete(body);
	return copy;
}

static void
change(struct call *call, struct object *stored, cJSON *tree, const cJSON *scale)
{
	cJSON *want = wanted(call, scale), *after, *at, *result;
	const cJSON *replicas = json_get(want, "spec", "replicas", NULL);
	char *key;

	if (!want)
		return;
	after = cJSON_Duplicate(tree, true);
	at = at_path(after, json_string(call->version->scale, "specReplicasPath", ""), true, &key);
	tree_set(at, key, replicas ? cJSON_Duplicate(replicas, true) : cJSON_CreateNumber(0));
	tree_copy_member(
		tree_object(after, "metadata"), tree_get(want, "metadata"), "resourceVersion");
	free(key);
	cJSON_Delete(want);
	if (!write_replace(call, stored, tree, after, false, &result))
		return;
	want = view(call, result);
	call_reply(call, 200, want);
	cJSON_Delete(want);
	cJSON_Delete(result);
}

void
scale_handle(struct call *call)
{
	struct object *stored =
		registry_find(call->resource->collection, call->namespace_, call->name);
	cJSON *tree, *scale;

	if (!stored) {
		fail_not_found(call);
		return;
	}
	tree = registry_parse(stored);
	convert_out(tree, call->version);
	scale = view(call, tree);
	if (call_is(call, "GET"))
		call_reply(call, 200, scale);
	else if (call_is(call, "PUT") || call_is(call, "PATCH"))
		change(call, stored, tree, scale);
	else
		fail_method(call);
	cJSON_Delete(scale);
	cJSON_Delete(tree);
}
