/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structural schemas: look-ups, pruning and defaulting by a simple walk. Checks are in validate.c.
 *
 * Recursion is bounded by the depth of the value, which common/json bounds.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/kinds.h"
#include "devserver/schema.h"
#include "devserver/tree.h"

const cJSON *
schema_property(const cJSON *schema, const char *key)
{
	return tree_get(tree_get(schema, "properties"), key);
}

const cJSON *
schema_child(const cJSON *schema, const char *key)
{
	const cJSON *found = schema_property(schema, key);
	const cJSON *rest = tree_get(schema, "additionalProperties");

	return found ? found : cJSON_IsObject(rest) ? rest : NULL;
}

const cJSON *
schema_items(const cJSON *schema)
{
	return tree_get(schema, "items");
}

enum list_type
schema_list_type(const cJSON *schema)
{
	const char *type = json_string(schema, "x-kubernetes-list-type", "atomic");

	return strcmp(type, "map") == 0   ? LIST_MAP
	       : strcmp(type, "set") == 0 ? LIST_SET
					  : LIST_ATOMIC;
}

const cJSON *
schema_list_keys(const cJSON *schema)
{
	return tree_get(schema, "x-kubernetes-list-map-keys");
}

bool
schema_atomic_map(const cJSON *schema)
{
	return strcmp(json_string(schema, "x-kubernetes-map-type", ""), "atomic") == 0;
}

bool
schema_declares(const cJSON *schema, const char *key)
{
	const cJSON *rest = tree_get(schema, "additionalProperties");

	return !schema || schema_property(schema, key) || (rest && !cJSON_IsFalse(rest)) ||
	       json_bool(schema, "x-kubernetes-preserve-unknown-fields", false);
}

static bool
is_embedded_field(const cJSON *schema, const char *key)
{
	return json_bool(schema, "x-kubernetes-embedded-resource", false) &&
	       (strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 ||
		       strcmp(key, "metadata") == 0);
}

/* path is the value's own, "" at the root. */
static void
prune(cJSON *value, const cJSON *schema, const char *path, struct buf *unknown)
{
	size_t index = 0;

	tree_each_safe(child, next, value)
	{
		char *below;

		if (cJSON_IsArray(value)) {
			below = xasprintf("%s[%zu]", path, index++);
			prune(child, schema_items(schema), below, unknown);
		} else if (below = xasprintf("%s%s%s", path, *path ? "." : "", child->string),
			schema_declares(schema, child->string)) {
			prune(child, schema_child(schema, child->string), below, unknown);
		} else if (!is_embedded_field(schema, child->string)) {
			if (unknown)
				buf_addf(unknown, "%s\n", below);
			cJSON_Delete(cJSON_DetachItemViaPointer(value, child));
		}
		free(below);
	}
}

void
schema_prune(cJSON *value, const cJSON *schema, struct buf *unknown)
{
	/* Without a schema there is nothing below to prune; the walk would end at once. */
	if (schema)
		prune(value, schema, "", unknown);
}

static void
default_member(cJSON *object, const cJSON *property)
{
	const cJSON *value = tree_get(property, "default");
	const cJSON *is = tree_get(object, property->string);

	if (!value || (is && !(cJSON_IsNull(is) && !json_bool(property, "nullable", false))))
		return;
	tree_set(object, property->string, cJSON_Duplicate(value, true));
}

void
schema_default(cJSON *value, const cJSON *schema)
{
	const cJSON *properties = tree_get(schema, "properties");

	if (!schema)
		return;
	if (cJSON_IsArray(value)) {
		for (cJSON *item = value->child; item; item = item->next)
			schema_default(item, schema_items(schema));
		return;
	}
	if (!cJSON_IsObject(value))
		return;
	for (const cJSON *p = properties ? properties->child : NULL; p; p = p->next)
		default_member(value, p);
	for (cJSON *child = value->child; child; child = child->next)
		schema_default(child, schema_child(schema, child->string));
}

void
schema_prune_nulls(cJSON *value, const cJSON *schema)
{
	tree_each_safe(child, next, value)
	{
		const cJSON *below = cJSON_IsArray(value) ? schema_items(schema)
							  : schema_child(schema, child->string);

		if (cJSON_IsNull(child) && cJSON_IsObject(value) && below &&
			tree_get(below, "type") && !json_bool(below, "nullable", false))
			cJSON_Delete(cJSON_DetachItemViaPointer(value, child));
		else
			schema_prune_nulls(child, below);
	}
}

bool
schema_always(const cJSON *schema)
{
	return json_bool(schema, "x-always", false);
}

static void
expand_fields(cJSON *schema, const char *fields)
{
	cJSON *properties = tree_object(schema, "properties"), *names = kinds_words(fields);

	for (const cJSON *name = names->child; name; name = name->next)
		if (!tree_get(properties, name->valuestring))
			tree_set(properties, name->valuestring,
				tree_literal("{\"x-kubernetes-preserve-unknown-fields\":true}"));
	cJSON_Delete(names);
	tree_set_string(schema, "type", "object");
}

/* The members of one schema that are shorthand. */
static void
expand_here(cJSON *schema)
{
	cJSON *fields = tree_take(schema, "x-fields"), *key = tree_take(schema, "x-key");

	if (tree_get(schema, "x-open")) {
		tree_remove(schema, "x-open");
		tree_set_string(schema, "type", "object");
		tree_set(schema, "x-kubernetes-preserve-unknown-fields", cJSON_CreateTrue());
	}
	if (cJSON_IsString(fields))
		expand_fields(schema, fields->valuestring);
	if (cJSON_IsString(key)) {
		tree_set_string(schema, "type", "array");
		tree_set_string(schema, "x-kubernetes-list-type", "map");
		tree_set(schema, "x-kubernetes-list-map-keys", kinds_words(key->valuestring));
	}
	cJSON_Delete(fields);
	cJSON_Delete(key);
}

void
schema_expand(cJSON *schema, const cJSON *definitions)
{
	if (cJSON_IsObject(schema))
		expand_here(schema);
	tree_each_safe(child, next, schema)
	{
		const char *name = json_string(child, "$ref", NULL);
		const cJSON *target = name ? tree_get(definitions, name) : NULL;

		if (target)
			tree_set(schema, child->string, cJSON_Duplicate(target, true));
		else
			schema_expand(child, definitions);
	}
}
