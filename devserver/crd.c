/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions.
 *
 * A CRD is served once it is established, which happens right after the request that wrote it. A changed spec replaces
 * the resource and ends its watches, as the real server does. Conversion webhooks are refused; CEL rules are kept but not
 * evaluated, with a warning to the client.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/causes.h"
#include "devserver/crd.h"
#include "devserver/tree.h"
#include "devserver/watch.h"

void
default_crd(cJSON *object, const cJSON *old)
{
	cJSON *names = tree_object(tree_object(object, "spec"), "names");
	const char *kind = json_string(names, "kind", "");
	char *text = xasprintf("%sList", kind);

	(void)old;
	if (*kind && !tree_get(names, "listKind"))
		tree_set_string(names, "listKind", text);
	for (char *p = text; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	text[strlen(kind)] = '\0';
	if (*kind && !tree_get(names, "singular"))
		tree_set_string(names, "singular", text);
	free(text);
}

void
prepare_crd(cJSON *object, const cJSON *old)
{
	cJSON *status = tree_object(object, "status"),
	      *stored = tree_array(status, "storedVersions");
	const cJSON *versions = json_get(object, "spec", "versions", NULL);

	if (old)
		return;
	for (const cJSON *v = versions ? versions->child : NULL; v; v = v->next)
		if (json_bool(v, "storage", false))
			cJSON_AddItemToArray(
				stored, cJSON_CreateString(json_string(v, "name", "")));
	tree_array(status, "conditions");
	tree_set(status, "acceptedNames", tree_literal("{\"plural\":\"\",\"kind\":\"\"}"));
}

/* Structural: every part says its type. */
static cJSON *
check_structural(cJSON *causes, const cJSON *schema, const char *path, const char *what)
{
	const cJSON *properties = tree_get(schema, "properties"),
		    *items = tree_get(schema, "items");
	const cJSON *rest = tree_get(schema, "additionalProperties");
	char *below;

	if (!tree_get(schema, "type") && !json_bool(schema, "x-kubernetes-int-or-string", false) &&
		!json_bool(schema, "x-kubernetes-preserve-unknown-fields", false)) {
		below = xasprintf("%s.type", path);
		causes = causes_add(causes, CAUSE_REQUIRED, below,
			"Required value: must not be empty %s", what);
		free(below);
	}
	for (const cJSON *p = properties ? properties->child : NULL; p; p = p->next) {
		below = xasprintf("%s.properties[%s]", path, p->string);
		causes = check_structural(causes, p, below, "for specified object fields");
		free(below);
	}
	if (cJSON_IsObject(rest)) {
		below = xasprintf("%s.additionalProperties", path);
		causes = check_structural(causes, rest, below, "for specified object fields");
		free(below);
	}
	if (cJSON_IsObject(items)) {
		below = xasprintf("%s.items", path);
		causes = check_structural(causes, items, below, "for specified array items");
		free(below);
	}
	return causes;
}

static cJSON *
check_version(cJSON *causes, const cJSON *version, size_t index, bool only)
{
	const cJSON *schema = json_get(version, "schema", "openAPIV3Schema", NULL);
	char *field = xasprintf("spec.versions[%zu].schema.openAPIV3Schema", index);
	const char *path = only ? "spec.validation.openAPIV3Schema" : field;
	struct buf type = BUF_INIT;

	if (!cJSON_IsObject(schema)) {
		causes = causes_add(causes, CAUSE_REQUIRED, field, "Required value");
	} else if (tree_get(schema, "type") &&
		   strcmp(json_string(schema, "type", ""), "object") != 0) {
		buf_addf(&type, "%s.type", path);
		causes = causes_add(causes, CAUSE_INVALID, type.data,
			"Invalid value: \"%s\": must be object at the root",
			json_string(schema, "type", ""));
	} else {
		causes = check_structural(causes, schema, path, "at the root");
	}
	buf_free(&type);
	free(field);
	return causes;
}

static cJSON *
check_versions(cJSON *causes, const cJSON *versions)
{
	bool only = versions && versions->child && !versions->child->next;
	size_t index = 0, storage = 0;

	for (const cJSON *v = versions ? versions->child : NULL; v; v = v->next) {
		storage += json_bool(v, "storage", false);
		causes = check_version(causes, v, index++, only);
	}
	if (storage != 1)
		causes = causes_add(causes, CAUSE_INVALID, "spec.versions",
			"Invalid value: must have exactly one version marked as storage version");
	return causes;
}

cJSON *
check_crd(const cJSON *object, const cJSON *old)
{
	const cJSON *spec = tree_get(object, "spec");
	const char *group = json_string(spec, "group", ""),
		   *plural = json_string(tree_get(spec, "names"), "plural", "");
	const char *name = json_string(tree_get(object, "metadata"), "name", "");
	const char *strategy = json_string(tree_get(spec, "conversion"), "strategy", "None");
	char *want = xasprintf("%s.%s", plural, group);
	cJSON *causes = NULL;

	(void)old;
	if (strcmp(name, want) != 0)
		causes = causes_add(causes, CAUSE_INVALID, "metadata.name",
			"Invalid value: \"%s\": must be spec.names.plural+\".\"+spec.group", name);
	if (!strchr(group, '.'))
		causes = causes_add(causes, CAUSE_INVALID, "spec.group",
			"Invalid value: \"%s\": should be a domain with at least one dot", group);
	if (strcmp(strategy, "None") != 0)
		causes = causes_add(causes, CAUSE_ENUM, "spec.conversion.strategy",
			"Unsupported value: \"%s\": supported values of the development server: "
			"\"None\"",
			strategy);
	free(want);
	return check_versions(causes, tree_get(spec, "versions"));
}

static bool
has_rules(const cJSON *schema)
{
	for (const cJSON *child = schema ? schema->child : NULL; child; child = child->next)
		if ((child->string && strcmp(child->string, "x-kubernetes-validations") == 0) ||
			has_rules(child))
			return true;
	return false;
}

void
crd_warn(struct call *call, const cJSON *object)
{
	if (has_rules(json_get(object, "spec", "versions", NULL)))
		call_warn(call, "x-kubernetes-validations: this development server does not "
				"evaluate CEL rules");
}

static cJSON *
root_schema(const struct api *api, const cJSON *crd_version)
{
	cJSON *schema =
		cJSON_Duplicate(json_get(crd_version, "schema", "openAPIV3Schema", NULL), true);
	cJSON *properties = tree_object(schema, "properties");

	tree_set(properties, "apiVersion", tree_literal("{\"type\":\"string\"}"));
	tree_set(properties, "kind", tree_literal("{\"type\":\"string\"}"));
	tree_set(properties, "metadata",
		cJSON_Duplicate(tree_get(api->kinds.definitions, "meta"), true));
	return schema;
}

static void
fill_version(const struct api *api, struct resource *r, struct version *v, const cJSON *crd_version)
{
	const cJSON *fields = tree_get(crd_version, "selectableFields");

	v->resource = r;
	v->name = xstrdup(json_string(crd_version, "name", ""));
	v->api_version = kinds_api_version(r->group, v->name);
	v->served = json_bool(crd_version, "served", false);
	v->status = json_get(crd_version, "subresources", "status", NULL);
	v->schema = root_schema(api, crd_version);
	v->columns = cJSON_Duplicate(tree_get(crd_version, "additionalPrinterColumns"), true);
	v->scale = cJSON_Duplicate(json_get(crd_version, "subresources", "scale", NULL), true);
	v->fields = cJSON_CreateArray();
	for (const cJSON *field = fields ? fields->child : NULL; field; field = field->next) {
		const char *path = json_string(field, "jsonPath", "");

		cJSON_AddItemToArray(v->fields, cJSON_CreateString(path + (*path == '.')));
	}
}

/* The storage version comes first. */
static void
fill_versions(const struct api *api, struct resource *r, const cJSON *versions)
{
	r->versions = xcalloc((size_t)cJSON_GetArraySize(versions) + 1, sizeof(*r->versions));
	for (int storage = 1; storage >= 0; storage--)
		for (const cJSON *v = versions->child; v; v = v->next)
			if (json_bool(v, "storage", false) == storage)
				fill_version(api, r, &r->versions[r->version_count++], v);
}

static struct resource *
build(const struct api *api, const cJSON *crd)
{
	const cJSON *spec = tree_get(crd, "spec"), *names = tree_get(spec, "names");
	struct resource *r = xcalloc(1, sizeof(*r));
	bool namespaced = strcmp(json_string(spec, "scope", ""), "Namespaced") == 0;

	r->group = xstrdup(json_string(spec, "group", ""));
	r->plural = xstrdup(json_string(names, "plural", ""));
	r->singular = xstrdup(json_string(names, "singular", ""));
	r->kind = xstrdup(json_string(names, "kind", ""));
	r->list_kind = xstrdup(json_string(names, "listKind", ""));
	r->short_names = cJSON_Duplicate(tree_get(names, "shortNames"), true);
	r->categories = cJSON_Duplicate(tree_get(names, "categories"), true);
	r->flags = namespaced ? KIND_NAMESPACED : 0;
	r->collection = registry_collection(api->store, r->group, r->plural, namespaced);
	fill_versions(api, r, tree_get(spec, "versions"));
	return r;
}

static const struct resource *
conflicting(const struct api *api, const struct resource *r)
{
	for (const struct resource *other = api->kinds.first; other; other = other->next)
		if (strcmp(other->group, r->group) == 0 && strcmp(other->plural, r->plural) != 0 &&
			strcmp(other->kind, r->kind) == 0)
			return other;
	return NULL;
}

static void
set_condition(cJSON *status, const char *type, bool on, const char *reason, const char *message)
{
	cJSON *list = tree_array(status, "conditions"), *c = list->child;
	char now[32];

	while (c && strcmp(json_string(c, "type", ""), type) != 0)
		c = c->next;
	if (!c) {
		c = cJSON_CreateObject();
		cJSON_AddItemToArray(list, c);
	}
	if (strcmp(json_string(c, "status", ""), on ? "True" : "False") == 0)
		return;
	server_time(now, 0);
	tree_set_string(c, "type", type);
	tree_set_string(c, "status", on ? "True" : "False");
	tree_set_string(c, "lastTransitionTime", now);
	tree_set_string(c, "reason", reason);
	tree_set_string(c, "message", message);
}

static void
write_status(
	struct api *api, struct collection *collection, cJSON *crd, const struct resource *conflict)
{
	cJSON *before = cJSON_Duplicate(crd, true), *status = tree_object(crd, "status");

	if (conflict) {
		set_condition(status, "NamesAccepted", false, "KindConflict",
			"the kind is already in use");
		set_condition(
			status, "Established", false, "NotAccepted", "not all names are accepted");
	} else {
		tree_set(status, "acceptedNames",
			cJSON_Duplicate(json_get(crd, "spec", "names", NULL), true));
		set_condition(status, "NamesAccepted", true, "NoConflicts", "no conflicts found");
		set_condition(status, "Established", true, "InitialNamesAccepted",
			"the initial names have been accepted");
	}
	if (tree_equal(before, crd))
		cJSON_Delete(crd);
	else
		server_put(api, collection, crd);
	cJSON_Delete(before);
}

static void
remove_resource(struct api *api, const char *crd_name)
{
	const char *dot = strchr(crd_name, '.');
	char *plural = xstrndup(crd_name, dot ? (size_t)(dot - crd_name) : 0);
	struct resource *old = dot ? kinds_find(&api->kinds, dot + 1, plural) : NULL;

	free(plural);
	if (!old || old->builtin)
		return;
	watch_end_resource(api, old);
	kinds_remove(&api->kinds, old);
}

static void
establish(struct api *api, struct collection *collection, const struct object *changed)
{
	struct object *object = work_current(collection, changed);
	struct resource *resource;
	const struct resource *conflict;
	cJSON *crd;

	if (!object)
		return;
	crd = registry_parse(object);
	resource = build(api, crd);
	conflict = conflicting(api, resource);
	resource->terminating = object->deleting;
	remove_resource(api, object->name);
	if (conflict)
		kinds_resource_free(resource);
	else
		kinds_add(&api->kinds, resource);
	write_status(api, collection, crd, conflict);
}

static void
retire(struct api *api, struct collection *collection, const struct object *gone)
{
	if (!registry_find(collection, "", gone->name))
		remove_resource(api, gone->name);
}

static bool
same_spec(const struct object *a, const struct object *b)
{
	cJSON *left = registry_parse(a), *right = registry_parse(b);
	bool same = tree_equal(tree_get(left, "spec"), tree_get(right, "spec"));

	cJSON_Delete(left);
	cJSON_Delete(right);
	return same;
}

void
crd_changed(struct api *api, const struct event *event)
{
	if (!server_is(event->collection, "apiextensions.k8s.io", "customresourcedefinitions"))
		return;
	if (event->type == EVENT_DELETED)
		work_now(api, retire, event->collection, event->after);
	else if (!event->before || !same_spec(event->before, event->after))
		work_now(api, establish, event->collection, event->after);
}
