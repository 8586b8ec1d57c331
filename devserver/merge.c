/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-side apply: merging an applied document in, and removing what was given up.
 *
 * Ownership is decided by managed.c; here are only documents and sets. Items keep their order, new ones come last.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "devserver/fields.h"
#include "devserver/merge.h"
#include "devserver/schema.h"
#include "devserver/tree.h"

static bool
is_key(const cJSON *list_schema, const char *name)
{
	const cJSON *keys =
		schema_list_type(list_schema) == LIST_MAP ? schema_list_keys(list_schema) : NULL;

	for (const cJSON *key = keys ? keys->child : NULL; key; key = key->next)
		if (strcmp(key->valuestring, name) == 0)
			return true;
	return false;
}

static void
merge_list(cJSON *live, const cJSON *config, const cJSON *schema)
{
	for (const cJSON *item = config->child; item; item = item->next) {
		char *element = fields_element(item, schema);
		cJSON *same = element ? fields_find(live, element, schema) : NULL;
		const cJSON *below = schema_items(schema);

		free(element);
		if (!same)
			cJSON_AddItemToArray(live, cJSON_Duplicate(item, true));
		else if (cJSON_IsObject(same) && cJSON_IsObject(item) && !schema_atomic_map(below))
			merge_apply(same, item, below);
		else
			cJSON_ReplaceItemViaPointer(live, same, cJSON_Duplicate(item, true));
	}
}

void
merge_apply(cJSON *live, const cJSON *config, const cJSON *schema)
{
	for (const cJSON *item = config->child; item; item = item->next) {
		const cJSON *below = schema_child(schema, item->string);
		cJSON *same = tree_get(live, item->string);

		if (cJSON_IsObject(same) && cJSON_IsObject(item) && !schema_atomic_map(below))
			merge_apply(same, item, below);
		else if (cJSON_IsArray(same) && cJSON_IsArray(item) &&
			 schema_list_type(below) != LIST_ATOMIC)
			merge_list(same, item, below);
		else
			tree_set(live, item->string, cJSON_Duplicate(item, true));
	}
}

static void remove_fields(cJSON *live, const cJSON *last, const cJSON *owned, const cJSON *schema,
	const cJSON *list_schema);

/* What loses all it had becomes null, as on the real server. */
static void
remove_below(cJSON *live, cJSON *value, const cJSON *last, const cJSON *owned, const cJSON *schema,
	const cJSON *list_schema)
{
	bool empty = !value->child;

	remove_fields(value, last, owned, schema, list_schema);
	if (!empty && (cJSON_IsObject(value) || cJSON_IsArray(value)) && !value->child) {
		if (value->string)
			tree_set(live, value->string, cJSON_CreateNull());
		else
			cJSON_ReplaceItemViaPointer(live, value, cJSON_CreateNull());
	}
}

/* list_schema: of the list that live is an item of, whose keys stay; NULL elsewhere. */
static void
remove_fields(cJSON *live, const cJSON *last, const cJSON *owned, const cJSON *schema,
	const cJSON *list_schema)
{
	for (const cJSON *node = last->child; node; node = node->next) {
		const char *element = node->string;
		const cJSON *kept = tree_get(owned, element), *below;
		cJSON *value;

		if (strcmp(element, ".") == 0 || !(value = fields_find(live, element, schema)))
			continue;
		below = fields_schema(schema, element);
		if (kept || !(fields_member(node) ||
				    (element[0] == 'f' && schema_property(schema, element + 2))))
			remove_below(
				live, value, node, kept, below, element[0] == 'f' ? NULL : schema);
		else if (!(element[0] == 'f' && is_key(list_schema, element + 2)))
			cJSON_Delete(cJSON_DetachItemViaPointer(live, value));
	}
}

void
merge_remove(cJSON *live, const cJSON *last, const cJSON *owned, const cJSON *schema)
{
	if (last)
		remove_fields(live, last, owned, schema, NULL);
}
