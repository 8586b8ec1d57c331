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
#include "devserver/typed.h"
#include "devserver/write.h"

static void
fail_strict(struct call *call, const char *what)
{
	const struct resource *r = call->resource;

	if (r->builtin)
		fail_bad_request(call,
			"%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
			r->kind, call->version->name, r->kind, what);
	else
		fail_bad_request(call, "strict decoding error: %s", what);
}

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
		fail_strict(call, text.data);
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

/* A wrong type in what the server itself decodes: the request can't be read, other than a value that is wrong. */
static bool
check_decoding(struct call *call, const cJSON *causes)
{
	for (const cJSON *cause = causes ? causes->child : NULL; cause; cause = cause->next) {
		const char *field = json_string(cause, "field", "");

		if (strcmp(json_string(cause, "reason", ""), CAUSE_TYPE) == 0 &&
			(call->resource->builtin || strncmp(field, "metadata", 8) == 0))
			return fail_bad_request(call,
				"%s in version \"%s\" cannot be handled as a %s: json: %s: %s",
				call->resource->kind, call->version->name, call->resource->kind,
				field, json_string(cause, "message", ""));
	}
	return true;
}

/* The words for built-in kinds: "must be", where the schemas of custom resources say "X in body should be". */
static void
reword(cJSON *causes)
{
	for (cJSON *cause = causes->child; cause; cause = cause->next) {
		const char *text = json_string(cause, "message", ""), *value = strstr(text, ": ");
		const char *end = strstr(text, " in body should be ");
		struct buf new = BUF_INIT;

		value = value ? strstr(value + 2, ": ") : NULL;
		if (!value || !end)
			continue;
		buf_add(&new, text, (size_t)(value - text));
		buf_addf(&new, ": must be %s", end + strlen(" in body should be "));
		tree_set_string(cause, "message", new.data);
		buf_free(&new);
	}
}

/* NULL, or why the object may not be. */
static cJSON *
check(const struct call *call, const cJSON *tree, const cJSON *before)
{
	const struct builtin *builtin = call->resource->builtin;
	cJSON *causes = names_check(tree, call->resource);

	if (!causes)
		causes = schema_validate(tree, call->version->schema);
	if (causes && builtin)
		reword(causes);
	if (!causes && builtin && builtin->check)
		causes = builtin->check(tree, before);
	return causes;
}

bool
admit(struct call *call, cJSON *tree, const cJSON *before)
{
	const struct builtin *builtin = call->resource->builtin;
	bool apply =
		call->request->content_type && strstr(call->request->content_type, "apply-patch");
	cJSON *causes;

	tree_set_string(tree, "apiVersion", call->version->api_version);
	tree_set_string(tree, "kind", call->resource->kind);
	if (builtin)
		tree_drop_nulls(tree);
	if (!prune(call, tree))
		return false;
	schema_default(tree, call->version->schema);
	/* Nulls that an apply leaves are refused, those in a document are taken as absent. */
	if (!builtin && !apply)
		schema_prune_nulls(tree, call->version->schema);
	if (builtin && builtin->defaults)
		builtin->defaults(tree, before);
	causes = check(call, tree, before);
	if (!check_decoding(call, causes)) {
		cJSON_Delete(causes);
		return false;
	}
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
admit_typed(struct call *call, const cJSON *config)
{
	struct buf problem = BUF_INIT;
	bool good;

	if (!tree_empty(json_get(config, "metadata", "managedFields", NULL)))
		return fail_bad_request(call, "metadata.managedFields must be nil");
	good = typed_check(config, call->version->schema, &problem) ||
	       fail_internal(call, "failed to create typed patch object (%s/%s; %s, Kind=%s): %s",
		       json_string(tree_get(config, "metadata"), "namespace", ""), call->name,
		       json_string(config, "apiVersion", ""), json_string(config, "kind", ""),
		       problem.data);
	buf_free(&problem);
	return good;
}

void
admit_apply(struct call *call, cJSON *config)
{
	if (call->resource->builtin)
		tree_drop_nulls(config);
	else
		tree_drop_nulls(tree_object(config, "metadata"));
	if (call->subresource)
		keep_only_status(config);
	else if (call->version->status)
		tree_remove(config, "status");
}

static bool
run_json_patch(struct call *call, cJSON *tree, const cJSON *patch)
{
	struct error err = {0};

	if (!cJSON_IsArray(patch))
		return fail_bad_request(
			call, "error decoding patch: a JSON patch is a list of operations");
	return patch_json(tree, patch, &err) == 0 ||
	       fail(call, 422, "Invalid", cJSON_CreateObject(),
		       "the server rejected our request due to an error in our request");
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
		return fail(call, 415, "UnsupportedMediaType", NULL,
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
