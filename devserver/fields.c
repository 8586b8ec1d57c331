/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of fields, and the two ways to get one: from a document, from the difference of two.
 *
 * The rules are those of structured-merge-diff, as seen from outside: an applied document owns its leaves, the items
 * of its keyed lists and the members of open maps; a change owns every node that it adds.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/fields.h"
#include "devserver/schema.h"
#include "devserver/tree.h"

enum shape { SHAPE_LEAF, SHAPE_MAP, SHAPE_LIST };

static enum shape
shape_of(const cJSON *value, const cJSON *schema)
{
	if (cJSON_IsObject(value))
		return schema_atomic_map(schema) ? SHAPE_LEAF : SHAPE_MAP;
	if (cJSON_IsArray(value))
		return schema_list_type(schema) == LIST_ATOMIC ? SHAPE_LEAF : SHAPE_LIST;
	return SHAPE_LEAF;
}

bool
fields_member(const cJSON *node)
{
	return !node->child || tree_get(node, ".");
}

static cJSON *
leaf(void)
{
	return cJSON_CreateObject();
}

/* Makes a node, perhaps NULL or without itself, hold itself. */
static cJSON *
with_self(cJSON *node)
{
	if (!node)
		return leaf();
	if (node->child && !tree_get(node, ".")) {
		cJSON *self = leaf();

		cJSON_AddItemToObject(node, ".", self);
		/* First, as the real server prints it. */
		cJSON_DetachItemViaPointer(node, self);
		cJSON_InsertItemInArray(node, 0, self);
	}
	return node;
}

/* Adds child under element to node, which is made when needed. */
static cJSON *
add(cJSON *node, const char *element, cJSON *child)
{
	if (!child)
		return node;
	if (!node)
		node = cJSON_CreateObject();
	cJSON_AddItemToObject(node, element, child);
	return node;
}

static char *
field_element(const char *key)
{
	return xasprintf("f:%s", key);
}

char *
fields_element(const cJSON *item, const cJSON *list_schema)
{
	const cJSON *keys = schema_list_keys(list_schema);
	struct buf out = BUF_INIT;
	cJSON *named;
	char *text;

	if (schema_list_type(list_schema) == LIST_SET) {
		buf_adds(&out, "v:");
		json_print_canonical(&out, item);
	} else {
		named = cJSON_CreateObject();
		for (const cJSON *key = keys ? keys->child : NULL; key; key = key->next) {
			const cJSON *value = tree_get(item, key->valuestring);
			const cJSON *property =
				schema_property(schema_items(list_schema), key->valuestring);

			if (!value)
				value = tree_get(property, "default");
			if (value)
				tree_set(named, key->valuestring, cJSON_Duplicate(value, true));
		}
		buf_adds(&out, "k:");
		json_print_canonical(&out, named);
		cJSON_Delete(named);
	}
	text = strcmp(out.data, "k:{}") == 0 ? NULL : xstrdup(out.data);
	buf_free(&out);
	return text;
}

const cJSON *
fields_schema(const cJSON *schema, const char *element)
{
	return element[0] == 'f' ? schema_child(schema, element + 2) : schema_items(schema);
}

cJSON *
fields_find(const cJSON *value, const char *element, const cJSON *schema)
{
	if (element[0] == 'f')
		return tree_get(value, element + 2);
	for (cJSON *item = cJSON_IsArray(value) ? value->child : NULL; item; item = item->next) {
		char *is = fields_element(item, schema);
		bool same = is && strcmp(is, element) == 0;

		free(is);
		if (same)
			return item;
	}
	return NULL;
}

cJSON *
fields_of(const cJSON *value, const cJSON *schema)
{
	enum shape shape = shape_of(value, schema);
	cJSON *node = NULL;

	if (shape == SHAPE_LEAF)
		return leaf();
	for (const cJSON *item = value->child; item; item = item->next) {
		char *element = shape == SHAPE_MAP ? field_element(item->string)
						   : fields_element(item, schema);
		cJSON *child;

		if (!element)
			continue;
		child = fields_of(item, fields_schema(schema, element));
		if (shape == SHAPE_LIST || cJSON_IsNull(item) ||
			(cJSON_IsObject(item) && !item->child) ||
			!schema_property(schema, item->string))
			child = with_self(child);
		node = add(node, element, child);
		free(element);
	}
	return node;
}

static void compare(const cJSON *before, const cJSON *after, const cJSON *schema,
	cJSON **ret_changed, cJSON **ret_removed);

static void
compare_leaf(const cJSON *before, const cJSON *after, cJSON **ret_changed, cJSON **ret_removed)
{
	if (!after)
		*ret_removed = leaf();
	else if (!before || !tree_equal(before, after))
		*ret_changed = leaf();
}

/* The members of one side; those that both have are compared when skip_common is false. */
static void
compare_members(const cJSON *from, const cJSON *other, const cJSON *schema, bool from_before,
	cJSON **changed, cJSON **removed)
{
	bool map = cJSON_IsObject(from);

	for (const cJSON *item = from ? from->child : NULL; item; item = item->next) {
		char *element = map ? field_element(item->string) : fields_element(item, schema);
		const cJSON *same = element ? fields_find(other, element, schema) : NULL;
		cJSON *below_changed = NULL, *below_removed = NULL;

		if (element && !(same && from_before)) {
			compare(from_before ? item : same, from_before ? same : item,
				fields_schema(schema, element), &below_changed, &below_removed);
			*changed = add(*changed, element, below_changed);
			*removed = add(*removed, element, below_removed);
		}
		free(element);
	}
}

static void
compare(const cJSON *before, const cJSON *after, const cJSON *schema, cJSON **ret_changed,
	cJSON **ret_removed)
{
	enum shape left = before ? shape_of(before, schema) : SHAPE_LEAF,
		   right = after ? shape_of(after, schema) : SHAPE_LEAF;

	*ret_changed = *ret_removed = NULL;
	if ((before && after && left != right) || (tree_empty(before) && tree_empty(after)) ||
		(left == SHAPE_LEAF && right == SHAPE_LEAF)) {
		compare_leaf(before, after, ret_changed, ret_removed);
		return;
	}
	compare_members(after, before, schema, false, ret_changed, ret_removed);
	compare_members(before, after, schema, true, ret_changed, ret_removed);
	if (!before && !schema_always(schema))
		*ret_changed = with_self(*ret_changed);
	if (!after)
		*ret_removed = with_self(*ret_removed);
}

void
fields_compare(const cJSON *before, const cJSON *after, const cJSON *schema, cJSON **ret_changed,
	cJSON **ret_removed)
{
	cJSON *nothing = before ? NULL : cJSON_CreateObject();

	compare(before ? before : nothing, after, schema, ret_changed, ret_removed);
	/* Of two equal empty documents, compare() would name the root. */
	cJSON_Delete(nothing);
}

enum set_operation { SET_UNION, SET_SUBTRACT, SET_INTERSECT };

static bool
decide(enum set_operation operation, bool a, bool b)
{
	return operation == SET_UNION ? a || b : operation == SET_SUBTRACT ? a && !b : a && b;
}

static cJSON *
combine(const cJSON *a, const cJSON *b, enum set_operation operation)
{
	bool self = decide(operation, a && fields_member(a), b && fields_member(b));
	cJSON *node = NULL;

	for (const cJSON *child = a ? a->child : NULL; child; child = child->next)
		if (strcmp(child->string, ".") != 0)
			node = add(node, child->string,
				combine(child, tree_get(b, child->string), operation));
	for (const cJSON *child = b ? b->child : NULL; child; child = child->next)
		if (strcmp(child->string, ".") != 0 && !tree_get(a, child->string))
			node = add(node, child->string, combine(NULL, child, operation));
	return self ? with_self(node) : node;
}

/* The root itself is in no set. */
static cJSON *
combine_sets(const cJSON *a, const cJSON *b, enum set_operation operation)
{
	cJSON *set = combine(tree_empty(a) ? NULL : a, tree_empty(b) ? NULL : b, operation);

	if (set && !set->child) {
		cJSON_Delete(set);
		return NULL;
	}
	return set;
}

cJSON *
fields_union(const cJSON *a, const cJSON *b)
{
	return combine_sets(a, b, SET_UNION);
}

cJSON *
fields_subtract(const cJSON *a, const cJSON *b)
{
	return combine_sets(a, b, SET_SUBTRACT);
}

cJSON *
fields_intersect(const cJSON *a, const cJSON *b)
{
	return combine_sets(a, b, SET_INTERSECT);
}

static cJSON *
null_if_empty(cJSON *set)
{
	if (set && !set->child) {
		cJSON_Delete(set);
		return NULL;
	}
	return set;
}

cJSON *
fields_strip_server(cJSON *set)
{
	static const char *const metadata[] = {".", "f:name", "f:namespace", "f:creationTimestamp",
		"f:selfLink", "f:uid", "f:clusterName", "f:generation", "f:managedFields",
		"f:resourceVersion"};
	cJSON *node = tree_get(set, "f:metadata");

	for (size_t i = 0; node && i < sizeof(metadata) / sizeof(metadata[0]); i++)
		tree_remove(node, metadata[i]);
	if (node && !node->child)
		tree_remove(set, "f:metadata");
	if (set) {
		tree_remove(set, ".");
		tree_remove(set, "f:apiVersion");
		tree_remove(set, "f:kind");
	}
	return null_if_empty(set);
}

static void
add_element_text(struct buf *out, const char *element)
{
	cJSON *keys;

	switch (element[0]) {
	case 'f':
		buf_addf(out, ".%s", element + 2);
		return;
	case 'v':
		buf_addf(out, "[=%s]", element + 2);
		return;
	default:
		keys = tree_literal(element + 2);
		buf_addc(out, '[');
		for (const cJSON *key = keys ? keys->child : NULL; key; key = key->next) {
			buf_addf(out, "%s%s=", key == keys->child ? "" : ",", key->string);
			json_print(out, key);
		}
		buf_addc(out, ']');
		cJSON_Delete(keys);
	}
}

static void
each(const cJSON *node, struct buf *path, void (*call)(void *data, const char *text), void *data)
{
	size_t length = path->length;

	if (length && fields_member(node))
		call(data, path->data);
	for (const cJSON *child = node->child; child; child = child->next) {
		if (strcmp(child->string, ".") == 0)
			continue;
		add_element_text(path, child->string);
		each(child, path, call, data);
		path->length = length;
		path->data[length] = '\0';
	}
}

void
fields_each(const cJSON *set, void (*path)(void *data, const char *text), void *data)
{
	struct buf text = BUF_INIT;

	buf_reserve(&text, 64);
	if (set)
		each(set, &text, path, data);
	buf_free(&text);
}
