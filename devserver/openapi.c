/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents: enough for clients to see which parameters a kind's patch takes (kubectl asks before it leaves
 * validation to the server) and to explain the schemas of custom resources.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/discovery.h"
#include "devserver/tree.h"

static cJSON *
new_document(void)
{
	return tree_literal("{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":"
			    "\"v1.32.0\"},\"paths\":{},"
			    "\"components\":{\"schemas\":{}}}");
}

static cJSON *
gvk(const struct resource *r, const struct version *v)
{
	cJSON *entry = cJSON_CreateObject();

	tree_set_string(entry, "group", r->group);
	tree_set_string(entry, "version", v->name);
	tree_set_string(entry, "kind", r->kind);
	return entry;
}

static void
add_path(cJSON *document, const struct resource *r, const struct version *v)
{
	char *path = xasprintf("/%s/%s/%s%s/{name}", *r->group ? "apis" : "api", v->api_version,
		kinds_namespaced(r) ? "namespaces/{namespace}/" : "", r->plural);
	cJSON *patch = tree_literal(
		"{\"responses\":{\"200\":{\"description\":\"OK\"}},\"parameters\":["
		"{\"name\":\"dryRun\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
		"{\"name\":\"fieldManager\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
		"{\"name\":\"fieldValidation\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
		"{\"name\":\"force\",\"in\":\"query\",\"schema\":{\"type\":\"boolean\"}}]}");

	tree_set_string(patch, "x-kubernetes-action", "patch");
	tree_set(patch, "x-kubernetes-group-version-kind", gvk(r, v));
	tree_set(tree_object(tree_object(document, "paths"), path), "patch", patch);
	free(path);
}

static void
add_schema(cJSON *document, const struct resource *r, const struct version *v)
{
	cJSON *schemas = tree_object(tree_object(document, "components"), "schemas");
	cJSON *schema = v->schema ? cJSON_Duplicate(v->schema, true)
				  : tree_literal("{\"type\":\"object\"}");
	char *name = xasprintf("%s.%s.%s", *r->group ? r->group : "core", v->name, r->kind);

	cJSON_AddItemToArray(tree_array(schema, "x-kubernetes-group-version-kind"), gvk(r, v));
	tree_set(schemas, name, schema);
	free(name);
}

static bool
one_group_version(struct call *call, const char *group, const char *version)
{
	cJSON *document = new_document();
	bool found = false;

	for (const struct resource *r = call->api->kinds.first; r; r = r->next) {
		const struct version *v =
			strcmp(r->group, group) == 0 ? kinds_version(r, version) : NULL;

		if (!v)
			continue;
		add_path(document, r, v);
		add_schema(document, r, v);
		found = true;
	}
	if (found)
		call_reply(call, 200, document);
	cJSON_Delete(document);
	return found;
}

static void
index_document(struct call *call)
{
	cJSON *document = cJSON_CreateObject(), *paths = tree_object(document, "paths");

	for (const struct resource *r = call->api->kinds.first; r; r = r->next)
		for (size_t i = 0; i < r->version_count; i++) {
			char *key = xasprintf(
				"%s/%s", *r->group ? "apis" : "api", r->versions[i].api_version);
			char *url = xasprintf("/openapi/v3/%s", key);

			if (r->versions[i].served)
				tree_set_string(tree_object(paths, key), "serverRelativeURL", url);
			free(key);
			free(url);
		}
	call_reply(call, 200, document);
	cJSON_Delete(document);
}

void
openapi_handle(struct call *call)
{
	const char *accept = call->request->accept;
	char **s = call->segment;
	cJSON *empty;

	if (call->segments == 2 && strcmp(s[1], "v3") == 0) {
		index_document(call);
	} else if (call->segments == 2 && strcmp(s[1], "v2") == 0) {
		/* Clients that take protobuf alone go on without this document. */
		if (accept && strstr(accept, "protobuf") && !strstr(accept, "json")) {
			call_reply_text(call, 406, "only JSON is served\n");
			return;
		}
		empty = tree_literal("{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\","
				     "\"version\":\"v1.32.0\"},\"paths\":{},"
				     "\"definitions\":{}}");
		call_reply(call, 200, empty);
		cJSON_Delete(empty);
	} else if (call->segments == 4 && strcmp(s[2], "api") == 0 &&
		   one_group_version(call, "", s[3])) {
		return;
	} else if (call->segments == 5 && strcmp(s[2], "apis") == 0 &&
		   one_group_version(call, s[3], s[4])) {
		return;
	} else {
		call_reply_text(call, 404, "404 page not found\n");
	}
}
