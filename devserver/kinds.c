/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of served resources.
 *
 * Owns the resources and the definitions; collections are the store's. Look-ups walk a short list: some fifty kinds.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/kinds.h"
#include "devserver/schema.h"
#include "devserver/tree.h"

char *
kinds_api_version(const char *group, const char *version)
{
	return *group ? xasprintf("%s/%s", group, version) : xstrdup(version);
}

cJSON *
kinds_words(const char *words)
{
	cJSON *list = cJSON_CreateArray();

	while (words && *words) {
		size_t length = strcspn(words, ",");
		char *word = xstrndup(words, length);

		cJSON_AddItemToArray(list, cJSON_CreateString(word));
		free(word);
		words += length + (words[length] == ',');
	}
	return list;
}

/* "Ready|string|.a.b;..." as additionalPrinterColumns. */
static cJSON *
parse_columns(const char *text)
{
	cJSON *list = cJSON_CreateArray();

	while (text && *text) {
		size_t length = strcspn(text, ";"), name = strcspn(text, "|");
		size_t type = strcspn(text + name + 1, "|");
		char *part[3] = {xstrndup(text, name), xstrndup(text + name + 1, type),
			xstrndup(text + name + type + 2, length - name - type - 2)};
		cJSON *column = cJSON_CreateObject();

		tree_set_string(column, "name", part[0]);
		tree_set_string(column, "type", part[1]);
		tree_set_string(column, "jsonPath", part[2]);
		cJSON_AddItemToArray(list, column);
		for (size_t i = 0; i < 3; i++)
			free(part[i]);
		text += length + (text[length] == ';');
	}
	return list;
}

static char *
lower(const char *text)
{
	char *copy = xstrdup(text);

	for (char *p = copy; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	return copy;
}

static struct resource *
builtin_resource(struct kinds *kinds, struct store *store, const struct builtin *row)
{
	struct resource *r = xcalloc(1, sizeof(*r));
	struct version *v = xcalloc(1, sizeof(*v));
	bool namespaced = row->flags & KIND_NAMESPACED;

	r->group = xstrdup(row->group);
	r->plural = xstrdup(row->plural);
	r->singular = lower(row->kind);
	r->kind = xstrdup(row->kind);
	r->list_kind = xasprintf("%sList", row->kind);
	r->short_names = kinds_words(row->short_names);
	r->categories = kinds_words(row->flags & KIND_ALL ? "all" : NULL);
	/* The two spellings of Events are one collection. */
	r->collection = registry_collection(
		store, row->flags & KIND_NEW_EVENT ? "" : row->group, row->plural, namespaced);
	r->builtin = row;
	r->flags = row->flags;
	r->versions = v;
	r->version_count = 1;
	v->resource = r;
	v->name = xstrdup(row->version);
	v->api_version = kinds_api_version(row->group, row->version);
	v->schema = tree_get(kinds->definitions, row->schema ? row->schema : "object");
	v->columns = parse_columns(row->columns);
	v->fields = kinds_words(row->fields);
	v->served = true;
	v->status = row->flags & KIND_STATUS;
	if (row->flags & KIND_SCALE)
		v->scale = tree_literal("{\"specReplicasPath\":\".spec.replicas\","
					"\"statusReplicasPath\":\".status.replicas\"}");
	return r;
}

/* Names refer to earlier ones only. */
static cJSON *
read_definitions(void)
{
	cJSON *definitions = cJSON_CreateObject();

	for (const struct builtin_schema *s = builtin_schemas; s->name; s++) {
		char *text = xstrdup(s->text);

		for (char *p = text; *p; p++)
			if (*p == '\'')
				*p = '"';
		tree_set(definitions, s->name, tree_literal(text));
		schema_expand(tree_get(definitions, s->name), definitions);
		free(text);
	}
	return definitions;
}

void
kinds_open(struct kinds *kinds, struct store *store)
{
	*kinds = (struct kinds){.definitions = read_definitions()};
	kinds->last = &kinds->first;
	for (size_t i = 0; i < builtin_count; i++)
		kinds_add(kinds, builtin_resource(kinds, store, &builtin_kinds[i]));
}

void
kinds_add(struct kinds *kinds, struct resource *resource)
{
	resource->next = NULL;
	*kinds->last = resource;
	kinds->last = &resource->next;
}

void
kinds_remove(struct kinds *kinds, struct resource *resource)
{
	struct resource **at = &kinds->first;

	while (*at && *at != resource)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = resource->next;
	if (kinds->last == &resource->next)
		kinds->last = at;
	kinds_resource_free(resource);
}

void
kinds_resource_free(struct resource *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->version_count; i++) {
		struct version *v = &r->versions[i];

		if (!r->builtin)
			cJSON_Delete(v->schema);
		cJSON_Delete(v->columns);
		cJSON_Delete(v->fields);
		cJSON_Delete(v->scale);
		free(v->name);
		free(v->api_version);
	}
	free(r->versions);
	cJSON_Delete(r->short_names);
	cJSON_Delete(r->categories);
	free(r->group);
	free(r->plural);
	free(r->singular);
	free(r->kind);
	free(r->list_kind);
	free(r);
}

void
kinds_close(struct kinds *kinds)
{
	struct resource *r, *next;

	for (r = kinds->first; r; r = next) {
		next = r->next;
		kinds_resource_free(r);
	}
	cJSON_Delete(kinds->definitions);
	*kinds = (struct kinds){0};
}

struct resource *
kinds_find(const struct kinds *kinds, const char *group, const char *plural)
{
	struct resource *r;

	for (r = kinds->first; r; r = r->next)
		if (strcmp(r->plural, plural) == 0 && strcmp(r->group, group) == 0)
			return r;
	return NULL;
}

struct version *
kinds_version(const struct resource *resource, const char *version)
{
	for (size_t i = 0; i < resource->version_count; i++)
		if (resource->versions[i].served &&
			strcmp(resource->versions[i].name, version) == 0)
			return &resource->versions[i];
	return NULL;
}

struct version *
kinds_by_kind(const struct kinds *kinds, const char *api_version, const char *kind)
{
	struct resource *r;

	for (r = kinds->first; r; r = r->next) {
		if (strcmp(r->kind, kind) != 0)
			continue;
		for (size_t i = 0; i < r->version_count; i++)
			if (strcmp(r->versions[i].api_version, api_version) == 0)
				return &r->versions[i];
	}
	return NULL;
}

bool
kinds_namespaced(const struct resource *resource)
{
	return resource->flags & KIND_NAMESPACED;
}
