/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery, in the old form and in the aggregated one, and the paths that tell about the server itself.
 *
 * Built from the registry at each request.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "devserver/discovery.h"
#include "devserver/tree.h"

#define VERSION_TEXT                                                                            \
	"{\"major\":\"1\",\"minor\":\"32\",\"gitVersion\":\"v1.32.0+operatord-devserver\","     \
	"\"gitCommit\":\"\","                                                                   \
	"\"gitTreeState\":\"clean\",\"buildDate\":\"1970-01-01T00:00:00Z\",\"goVersion\":\"\"," \
	"\"compiler\":\"\","                                                                    \
	"\"platform\":\"linux\"}"

static const char all_verbs[] = "[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\","
				"\"patch\",\"update\",\"watch\"]";

static cJSON *
verbs(const struct resource *r)
{
	return tree_literal(r->flags & KIND_ANSWER ? "[\"create\"]" : all_verbs);
}

static bool
in_group_version(const struct resource *r, const char *group, const char *version)
{
	return strcmp(r->group, group) == 0 && kinds_version(r, version);
}

/* Group versions in the order of the registry, each once: {"apps": ["v1"]}. */
static cJSON *
all_groups(const struct api *api)
{
	cJSON *groups = cJSON_CreateObject();

	for (const struct resource *r = api->kinds.first; r; r = r->next) {
		for (size_t i = 0; i < r->version_count; i++) {
			cJSON *list, *item;

			if (!r->versions[i].served)
				continue;
			list = tree_array(groups, r->group);
			for (item = list->child;
				item && strcmp(item->valuestring, r->versions[i].name) != 0;
				item = item->next)
				;
			if (!item)
				cJSON_AddItemToArray(list, cJSON_CreateString(r->versions[i].name));
		}
	}
	return groups;
}

static cJSON *
group_version(const char *group, const char *version)
{
	char *text = kinds_api_version(group, version);
	cJSON *entry = cJSON_CreateObject();

	tree_set_string(entry, "groupVersion", text);
	tree_set_string(entry, "version", version);
	free(text);
	return entry;
}

static cJSON *
group_entry(const cJSON *versions)
{
	cJSON *entry = cJSON_CreateObject(), *list;

	tree_set_string(entry, "name", versions->string);
	list = tree_array(entry, "versions");
	for (const cJSON *v = versions->child; v; v = v->next)
		cJSON_AddItemToArray(list, group_version(versions->string, v->valuestring));
	tree_set(entry, "preferredVersion",
		group_version(versions->string, versions->child->valuestring));
	return entry;
}

static cJSON *
document(const char *kind, const char *api_version)
{
	cJSON *tree = cJSON_CreateObject();

	tree_set_string(tree, "kind", kind);
	tree_set_string(tree, "apiVersion", api_version);
	return tree;
}

static void
reply(struct call *call, cJSON *tree)
{
	call_reply(call, 200, tree);
	cJSON_Delete(tree);
}

static void
old_list(cJSON *list, const struct resource *r, const struct version *v)
{
	static const char *const subresources[] = {"status", "scale"};
	cJSON *entry = cJSON_CreateObject();

	tree_set_string(entry, "name", r->plural);
	tree_set_string(entry, "singularName", r->singular);
	tree_set(entry, "namespaced", cJSON_CreateBool(kinds_namespaced(r)));
	tree_set_string(entry, "kind", r->kind);
	tree_set(entry, "verbs", verbs(r));
	if (!tree_empty(r->short_names))
		tree_set(entry, "shortNames", cJSON_Duplicate(r->short_names, true));
	if (!tree_empty(r->categories))
		tree_set(entry, "categories", cJSON_Duplicate(r->categories, true));
	cJSON_AddItemToArray(list, entry);
	for (size_t i = 0; i < 2; i++) {
		struct buf name = BUF_INIT;

		if (!(i ? v->scale != NULL : v->status))
			continue;
		buf_addf(&name, "%s/%s", r->plural, subresources[i]);
		entry = cJSON_CreateObject();
		tree_set_string(entry, "name", name.data);
		tree_set_string(entry, "singularName", "");
		tree_set(entry, "namespaced", cJSON_CreateBool(kinds_namespaced(r)));
		if (i) {
			tree_set_string(entry, "group", "autoscaling");
			tree_set_string(entry, "version", "v1");
		}
		tree_set_string(entry, "kind", i ? "Scale" : r->kind);
		tree_set(entry, "verbs", tree_literal("[\"get\",\"patch\",\"update\"]"));
		cJSON_AddItemToArray(list, entry);
		buf_free(&name);
	}
}

static bool
resource_list(struct call *call, const char *group, const char *version)
{
	char *text = kinds_api_version(group, version);
	cJSON *tree = document("APIResourceList", "v1"), *list = tree_array(tree, "resources");

	tree_set_string(tree, "groupVersion", text);
	free(text);
	for (const struct resource *r = call->api->kinds.first; r; r = r->next)
		if (in_group_version(r, group, version))
			old_list(list, r, kinds_version(r, version));
	if (list->child) {
		reply(call, tree);
		return true;
	}
	cJSON_Delete(tree);
	if (*group)
		call_reply_text(call, 404, "404 page not found\n");
	else
		fail_no_path(call);
	return true;
}

static cJSON *
response_kind(const char *group, const char *version, const char *kind)
{
	cJSON *entry = cJSON_CreateObject();

	tree_set_string(entry, "group", group);
	tree_set_string(entry, "version", version);
	tree_set_string(entry, "kind", kind);
	return entry;
}

static void
add_subresource(cJSON *entry, const char *name, cJSON *kind)
{
	cJSON *sub = cJSON_CreateObject();

	tree_set_string(sub, "subresource", name);
	tree_set(sub, "responseKind", kind);
	tree_set(sub, "verbs", tree_literal("[\"get\",\"patch\",\"update\"]"));
	cJSON_AddItemToArray(tree_array(entry, "subresources"), sub);
}

static cJSON *
new_entry(const struct resource *r, const struct version *v)
{
	cJSON *entry = cJSON_CreateObject();

	tree_set_string(entry, "resource", r->plural);
	tree_set(entry, "responseKind", response_kind(r->group, v->name, r->kind));
	tree_set_string(entry, "scope", kinds_namespaced(r) ? "Namespaced" : "Cluster");
	tree_set_string(entry, "singularResource", r->singular);
	tree_set(entry, "verbs", verbs(r));
	if (!tree_empty(r->short_names))
		tree_set(entry, "shortNames", cJSON_Duplicate(r->short_names, true));
	if (!tree_empty(r->categories))
		tree_set(entry, "categories", cJSON_Duplicate(r->categories, true));
	if (v->status)
		add_subresource(entry, "status", response_kind(r->group, v->name, r->kind));
	if (v->scale)
		add_subresource(entry, "scale", response_kind("autoscaling", "v1", "Scale"));
	return entry;
}

static cJSON *
new_group(const struct api *api, const cJSON *versions)
{
	cJSON *group = cJSON_CreateObject(), *list;

	tree_set_string(tree_object(group, "metadata"), "name", versions->string);
	list = tree_array(group, "versions");
	for (const cJSON *v = versions->child; v; v = v->next) {
		cJSON *version = cJSON_CreateObject(),
		      *resources = tree_array(version, "resources");

		tree_set_string(version, "version", v->valuestring);
		tree_set_string(version, "freshness", "Current");
		for (const struct resource *r = api->kinds.first; r; r = r->next)
			if (in_group_version(r, versions->string, v->valuestring))
				cJSON_AddItemToArray(
					resources, new_entry(r, kinds_version(r, v->valuestring)));
		cJSON_AddItemToArray(list, version);
	}
	return group;
}

/* core: the one group of /api; else all others. */
static void
aggregated(struct call *call, bool core)
{
	cJSON *tree = document("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"), *items,
	      *groups = all_groups(call->api);

	tree_object(tree, "metadata");
	items = tree_array(tree, "items");
	for (const cJSON *group = groups->child; group; group = group->next)
		if (!*group->string == core)
			cJSON_AddItemToArray(items, new_group(call->api, group));
	cJSON_Delete(groups);
	reply(call, tree);
	call->response->content_type =
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
}

static void
old_groups(struct call *call, bool core)
{
	cJSON *tree, *groups;

	if (core) {
		reply(call, tree_literal("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
					 "\"serverAddressByClientCIDRs\":"
					 "[{\"clientCIDR\":\"0.0.0.0/"
					 "0\",\"serverAddress\":\"127.0.0.1\"}]}"));
		return;
	}
	tree = document("APIGroupList", "v1");
	groups = all_groups(call->api);
	for (const cJSON *group = groups->child; group; group = group->next)
		if (*group->string)
			cJSON_AddItemToArray(tree_array(tree, "groups"), group_entry(group));
	cJSON_Delete(groups);
	reply(call, tree);
}

static bool
one_group(struct call *call, const char *name)
{
	cJSON *groups = all_groups(call->api),
	      *entry = *name && tree_get(groups, name) ? group_entry(tree_get(groups, name)) : NULL;

	cJSON_Delete(groups);
	if (!entry) {
		call_reply_text(call, 404, "404 page not found\n");
		return true;
	}
	tree_set_string(entry, "kind", "APIGroup");
	tree_set_string(entry, "apiVersion", "v1");
	reply(call, entry);
	return true;
}

static bool
wants_aggregated(const struct call *call)
{
	const char *accept = call->request->accept;

	return accept && strstr(accept, "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

static bool
about_server(struct call *call)
{
	const char *first = call->segments ? call->segment[0] : "";

	if (strcmp(first, "version") == 0)
		reply(call, tree_literal(VERSION_TEXT));
	else if (strcmp(first, "healthz") == 0 || strcmp(first, "livez") == 0 ||
		 strcmp(first, "readyz") == 0)
		call_reply_text(call, 200, "ok");
	else if (strcmp(first, "openapi") == 0)
		openapi_handle(call);
	else if (!call->segments)
		reply(call, tree_literal("{\"paths\":[\"/api\",\"/apis\",\"/healthz\",\"/"
					 "livez\",\"/openapi/v2\",\"/openapi/v3\",\"/readyz\","
					 "\"/version\"]}"));
	else
		return false;
	return true;
}

bool
discovery_handle(struct call *call)
{
	const char *first = call->segments ? call->segment[0] : "";
	bool core = strcmp(first, "api") == 0;

	if (!core && strcmp(first, "apis") != 0)
		return about_server(call);
	if (call->segments == 1 && wants_aggregated(call))
		aggregated(call, core);
	else if (call->segments == 1)
		old_groups(call, core);
	else if (call->segments == 2)
		return core ? resource_list(call, "", call->segment[1])
			    : one_group(call, call->segment[1]);
	else if (call->segments == 3 && !core)
		return resource_list(call, call->segment[1], call->segment[2]);
	else
		return false;
	return true;
}
