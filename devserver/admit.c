/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: unknown fields, defaults, checks; patches of the body.
 *
 * Built-in kinds are open (builtin.c): their unknown fields are kept. Those of custom resources are pruned, and told or
 * refused as fieldValidation asks.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include "devserver/admit.h"
#include "devserver/causes.h"
#include "devserver/crd.h"
#include "devserver/names.h"
#include "devserver/patch.h"
#include "devserver/schema.h"
#include "devserver/tree.h"
#include "devserver/write.h"

/* paths: one per line. */
static bool
report_unknown(struct call *call, struct buf *paths)
{
	const char *mode = call_parameter(call, "fieldValidation");
	bool strict = mode && strcmp(mode, "Strict") == 0,
	     quiet = mode && strcmp(mode, "Ignore") == 0;
	struct buf text = BUF_INIT;

	for (char *rest = paths->data, *path; !quiet && (path = strsep(&rest, "\n")) && *path;) {
		if (strict)
			buf_addf(&text, "%sunknown field \"%s\"", text.length ? ", " : "", path);
		else
			call_warn(call, "unknown field \"%s\"", path);
	}
	if (text.length)
		fail_bad_request(call, "strict decoding error: %s", text.data);
	strict = text.length;
	buf_free(&text);
	return !strict;
}

static bool
prune(struct call *call, cJSON *tree)
{
	struct buf unknown = BUF_INIT;
	bool result = true;

	schema_prune(tree, call->version->schema, &unknown);
	if (unknown.length)
		result = report_unknown(call, &unknown);
	buf_free(&unknown);
	return result;
}

bool
admit(struct call *call, cJSON *tree, const cJSON *before)
{
	const struct builtin *builtin = call->resource->builtin;
	cJSON *causes;

	tree_set_string(tree, "apiVersion", call->version->api_version);
	tree_set_string(tree, "kind", call->resource->kind);
	if (builtin)
		tree_drop_nulls(tree);
	else if (!prune(call, tree))
		return false;
	schema_default(tree, call->version->schema);
	if (builtin && builtin->defaults)
		builtin->defaults(tree, before);
	causes = names_check(tree, call->resource);
	if (!causes)
		causes = schema_validate(tree, call->version->schema);
	if (!causes && builtin && builtin->check)
		causes = builtin->check(tree);
	if (!causes && server_is(call->resource->collection, "apiextensions.k8s.io",
			       "customresourcedefinitions"))
		crd_warn(call, tree);
	return !causes ||
	       fail_invalid(call, json_string(tree_get(tree, "metadata"), "name", ""), causes);
}

static void
keep_only_status(cJSON *config)
{
	tree_each_safe(item, next, config) if (strcmp(item->string, "status") != 0 &&
					       strcmp(item->string, "metadata") != 0 &&
					       strcmp(item->string, "apiVersion") != 0 &&
					       strcmp(item->string, "kind") != 0)
		cJSON_Delete(cJSON_DetachItemViaPointer(config, item));
	tree_each_safe(item, next,
		tree_object(config, "metadata")) if (strcmp(item->string, "name") != 0 &&
						     strcmp(item->string, "namespace") != 0 &&
						     strcmp(item->string, "uid") != 0 &&
						     strcmp(item->string, "resourceVersion") != 0)
		cJSON_Delete(cJSON_DetachItemViaPointer(tree_object(config, "metadata"), item));
}

bool
admit_apply(struct call *call, cJSON *config)
{
	cJSON *copy = cJSON_Duplicate(config, true);
	struct buf unknown = BUF_INIT;
	bool result = true;

	if (!tree_empty(json_get(config, "metadata", "managedFields", NULL))) {
		cJSON_Delete(copy);
		return fail_bad_request(call, "metadata.managedFields must be nil");
	}
	schema_prune(copy, call->version->schema, &unknown);
	cJSON_Delete(copy);
	if (unknown.length) {
		unknown.data[strcspn(unknown.data, "\n")] = '\0';
		result = fail_internal(call,
			"failed to create typed patch object (%s/%s; %s, Kind=%s): .%s: field not "
			"declared in schema",
			call->namespace_, call->name, call->version->api_version,
			call->resource->kind, unknown.data);
	}
	buf_free(&unknown);
	tree_drop_nulls(config);
	if (call->subresource)
		keep_only_status(config);
	else if (call->version->status)
		tree_remove(config, "status");
	return result;
}

static bool
run_json_patch(struct call *call, cJSON *tree, const cJSON *patch)
{
	struct error err = {0};

	switch (patch_json(tree, patch, &err)) {
	case 0:
		return true;
	case -ENOENT:
		return fail(call, 422, "Invalid", cJSON_CreateObject(),
			"the server rejected our request due to an error in our request");
	default:
		return fail_bad_request(call, "%s", err.text);
	}
}

bool
admit_patch(struct call *call, const char *type, cJSON *tree)
{
	bool json = strncmp(type, "application/json-patch+json", 27) == 0;
	bool strategic = strncmp(type, "application/strategic-merge-patch+json", 38) == 0;
	bool result = true;
	cJSON *patch;

	if ((strategic && !call->resource->builtin) ||
		(!json && !strategic && strncmp(type, "application/merge-patch+json", 28) != 0))
		return fail(call, 415, "UnsupportedMediaType", cJSON_CreateObject(),
			"the body of the request was in an unknown format - accepted media types "
			"include: "
			"application/json-patch+json, application/merge-patch+json, "
			"application/apply-patch+yaml");
	patch = write_body(call);
	if (!patch)
		return false;
	if (json)
		result = run_json_patch(call, tree, patch);
	else if (!cJSON_IsObject(patch))
		result = fail_bad_request(call, "the patch is not an object");
	else if (strategic)
		patch_strategic(tree, patch, call->version->schema);
	else
		patch_merge(tree, patch);
	cJSON_Delete(patch);
	if (result && !cJSON_IsObject(tree_get(tree, "metadata")))
		result = fail_bad_request(call, "metadata must be an object");
	return result;
}
