/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge patch, JSON patch, strategic merge patch on trees.
 *
 * The target is the caller's and changes in place. The order that $setElementOrder asks for is not kept: it says
 * nothing about what the list holds.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/patch.h"
#include "devserver/schema.h"
#include "devserver/tree.h"

void
patch_merge(cJSON *target, const cJSON *patch)
{
	for (const cJSON *item = patch->child; item; item = item->next) {
		if (cJSON_IsNull(item))
			tree_remove(target, item->string);
		else if (cJSON_IsObject(item))
			patch_merge(tree_object(target, item->string), item);
		else
			tree_set(target, item->string, cJSON_Duplicate(item, true));
	}
}

/* The next token of a JSON pointer, unescaped; free(). NULL at the end. */
static char *
pointer_token(const char **pointer)
{
	size_t length;
	char *token, *out;

	if (**pointer != '/')
		return NULL;
	length = strcspn(++*pointer, "/");
	token = out = xstrndup(*pointer, length);
	*pointer += length;
	for (const char *p = token; *p; p++, out++) {
		*out = *p;
		if (*p == '~' && (p[1] == '0' || p[1] == '1'))
			*out = *++p == '0' ? '~' : '/';
	}
	*out = '\0';
	return token;
}

static int
array_index(const cJSON *array, const char *token)
{
	char *end;
	long index = strtol(token, &end, 10);

	if (strcmp(token, "-") == 0)
		return cJSON_GetArraySize(array);
	return *end || end == token || index < 0 || index > cJSON_GetArraySize(array) ? -1
										      : (int)index;
}

static cJSON *
step(cJSON *at, const char *token)
{
	if (cJSON_IsArray(at))
		return array_index(at, token) < 0 ? NULL
						  : cJSON_GetArrayItem(at, array_index(at, token));
	return tree_get(at, token);
}

/* The container that the pointer's last token is in, and that token (free()). */
static cJSON *
walk(cJSON *at, const char *pointer, char **ret_last)
{
	char *token = pointer_token(&pointer), *next;

	while (at && token && (next = pointer_token(&pointer))) {
		at = step(at, token);
		free(token);
		token = next;
	}
	if (!at || !token) {
		free(token);
		return NULL;
	}
	*ret_last = token;
	return at;
}

/* cJSON_InsertItemInArray() of Debian 12 fails everywhere but at 0: append, then move what follows behind it. */
static void
insert_item(cJSON *array, int index, cJSON *item)
{
	int behind = cJSON_GetArraySize(array) - index;

	cJSON_AddItemToArray(array, item);
	for (int i = 0; i < behind; i++)
		cJSON_AddItemToArray(array, cJSON_DetachItemFromArray(array, index));
}

static int
put(cJSON *target, const char *pointer, cJSON *value, bool replace)
{
	char *last = NULL;
	cJSON *at = walk(target, pointer, &last);
	int result = -ENOENT;

	if (!at || (replace && !step(at, last)))
		goto out;
	if (cJSON_IsObject(at)) {
		tree_set(at, last, cJSON_Duplicate(value, true));
		result = 0;
	} else if (cJSON_IsArray(at) && array_index(at, last) >= 0) {
		int index = array_index(at, last);
		cJSON *copy = cJSON_Duplicate(value, true);

		if (replace)
			cJSON_ReplaceItemInArray(at, index, copy);
		else
			insert_item(at, index, copy);
		result = 0;
	}
out:
	free(last);
	return result;
}

/* Takes the value out; NULL when there is none. */
static cJSON *
take_out(cJSON *target, const char *pointer)
{
	char *last = NULL;
	cJSON *at = walk(target, pointer, &last),
	      *value = at ? cJSON_DetachItemViaPointer(at, step(at, last)) : NULL;

	free(last);
	return value;
}

static const cJSON *
look_up(cJSON *target, const char *pointer)
{
	char *last = NULL;
	cJSON *at = walk(target, pointer, &last), *value = at ? step(at, last) : NULL;

	free(last);
	return *pointer ? value : target;
}

static int
one_operation(cJSON *target, const cJSON *operation)
{
	const char *op = json_string(operation, "op", ""),
		   *path = json_string(operation, "path", NULL);
	const char *from = json_string(operation, "from", NULL);
	cJSON *value = tree_get(operation, "value"), *moved;
	int result;

	if (!path)
		return -EINVAL;
	if (strcmp(op, "add") == 0)
		return value ? put(target, path, value, false) : -EINVAL;
	if (strcmp(op, "replace") == 0)
		return value ? put(target, path, value, true) : -EINVAL;
	if (strcmp(op, "test") == 0)
		return look_up(target, path) && tree_equal(look_up(target, path), value) ? 0
											 : -ENOENT;
	if (strcmp(op, "remove") != 0 && !from)
		return -EINVAL;
	if (strcmp(op, "copy") == 0)
		moved = look_up(target, from) ? cJSON_Duplicate(look_up(target, from), true) : NULL;
	else if (strcmp(op, "move") == 0 || strcmp(op, "remove") == 0)
		moved = take_out(target, *op == 'm' ? from : path);
	else
		return -EINVAL;
	if (!moved)
		return -ENOENT;
	result = *op == 'r' ? 0 : put(target, path, moved, false);
	cJSON_Delete(moved);
	return result;
}

int
patch_json(cJSON *target, const cJSON *operations, struct error *err)
{
	if (!cJSON_IsArray(operations))
		return error_set(err, -EINVAL,
			"json: cannot unmarshal object into Go value of type jsonpatch.Patch");
	for (const cJSON *operation = operations->child; operation; operation = operation->next) {
		int result = one_operation(target, operation);

		if (result)
			return error_set(err, result,
				"%s operation does not apply: doc is missing path: %s: missing "
				"value",
				json_string(operation, "op", "unknown"),
				json_string(operation, "path", ""));
	}
	return 0;
}

static cJSON *
find_by_key(const cJSON *list, const char *key, const cJSON *value)
{
	for (cJSON *item = list->child; item; item = item->next)
		if (tree_get(item, key) && tree_equal(tree_get(item, key), value))
			return item;
	return NULL;
}

static void
strategic_item(cJSON *list, const cJSON *item, const char *key, const cJSON *schema)
{
	cJSON *same = find_by_key(list, key, tree_get(item, key));
	const char *directive = json_string(item, "$patch", "");

	if (strcmp(directive, "delete") == 0) {
		cJSON_Delete(cJSON_DetachItemViaPointer(list, same));
		return;
	}
	if (!same) {
		same = cJSON_CreateObject();
		cJSON_AddItemToArray(list, same);
	}
	patch_strategic(same, item, schema);
}

static bool
has_value(const cJSON *list, const cJSON *value)
{
	for (const cJSON *item = list->child; item; item = item->next)
		if (tree_equal(item, value))
			return true;
	return false;
}

static void
strategic_list(cJSON *list, const cJSON *patch, const cJSON *schema)
{
	const cJSON *keys = schema_list_keys(schema);
	const char *key = keys && keys->child ? keys->child->valuestring : NULL;

	for (const cJSON *item = patch->child; item; item = item->next)
		if (cJSON_IsObject(item) && tree_get(item, "$patch") &&
			strcmp(json_string(item, "$patch", ""), "replace") == 0)
			while (list->child)
				cJSON_Delete(cJSON_DetachItemViaPointer(list, list->child));
	for (const cJSON *item = patch->child; item; item = item->next) {
		if (key && cJSON_IsObject(item) && tree_get(item, key))
			strategic_item(list, item, key, schema_items(schema));
		else if (!key && !has_value(list, item))
			cJSON_AddItemToArray(list, cJSON_Duplicate(item, true));
	}
}

static void
delete_values(cJSON *target, const char *name, const cJSON *values)
{
	cJSON *list = tree_get(target, name);

	if (cJSON_IsArray(list))
		tree_each_safe(item, next, list) if (has_value(values, item))
			cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
}

static void
retain_keys(cJSON *target, const cJSON *keys)
{
	cJSON name = {.type = cJSON_String};

	tree_each_safe(item, next, target)
	{
		name.valuestring = item->string;
		if (!has_value(keys, &name))
			cJSON_Delete(cJSON_DetachItemViaPointer(target, item));
	}
}

/* $patch and its like; true: done with this member. */
static bool
directive(cJSON *target, const cJSON *item)
{
	static const char delete_from[] = "$deleteFromPrimitiveList/";

	if (item->string[0] != '$')
		return false;
	if (strncmp(item->string, delete_from, sizeof(delete_from) - 1) == 0)
		delete_values(target, item->string + sizeof(delete_from) - 1, item);
	else if (strcmp(item->string, "$retainKeys") == 0)
		retain_keys(target, item);
	return true;
}

static void
strategic_member(cJSON *target, const cJSON *item, const cJSON *schema)
{
	bool merges = schema_list_type(schema) != LIST_ATOMIC;

	if (directive(target, item))
		return;
	if (cJSON_IsNull(item))
		tree_remove(target, item->string);
	else if (cJSON_IsObject(item) && strcmp(json_string(item, "$patch", ""), "delete") == 0)
		tree_remove(target, item->string);
	else if (cJSON_IsObject(item))
		patch_strategic(tree_object(target, item->string), item, schema);
	else if (cJSON_IsArray(item) && merges)
		strategic_list(tree_array(target, item->string), item, schema);
	else
		tree_set(target, item->string, cJSON_Duplicate(item, true));
}

void
patch_strategic(cJSON *target, const cJSON *patch, const cJSON *schema)
{
	if (strcmp(json_string(patch, "$patch", ""), "replace") == 0)
		while (target->child)
			cJSON_Delete(cJSON_DetachItemViaPointer(target, target->child));
	for (const cJSON *item = patch->child; item; item = item->next)
		strategic_member(target, item, schema_child(schema, item->string));
}
