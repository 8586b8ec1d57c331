/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing cJSON documents.
 *
 * Does not parse or print (common/json). The document owns what is put into it. An allocation that fails inside
 * cJSON leaves the member out, as cJSON itself does; bodies are bounded, so this ends in an incomplete answer and
 * not in a wrong address.
 */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "common/buf.h"
#include "devserver/tree.h"

cJSON *
tree_get(const cJSON *object, const char *key)
{
	return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

cJSON *
tree_find(const cJSON *object, ...)
{
	va_list args;
	const char *key;

	va_start(args, object);
	while (object && (key = va_arg(args, const char *)))
		object = tree_get(object, key);
	va_end(args);
	return (cJSON *)object;
}

void
tree_set(cJSON *object, const char *key, cJSON *value)
{
	if (!value)
		tree_remove(object, key);
	else if (tree_get(object, key))
		cJSON_ReplaceItemInObjectCaseSensitive(object, key, value);
	else
		cJSON_AddItemToObject(object, key, value);
}

cJSON *
tree_object(cJSON *object, const char *key)
{
	cJSON *found = tree_get(object, key);

	if (cJSON_IsObject(found))
		return found;
	found = cJSON_CreateObject();
	tree_set(object, key, found);
	return found;
}

cJSON *
tree_array(cJSON *object, const char *key)
{
	cJSON *found = tree_get(object, key);

	if (cJSON_IsArray(found))
		return found;
	found = cJSON_CreateArray();
	tree_set(object, key, found);
	return found;
}

void
tree_set_string(cJSON *object, const char *key, const char *text)
{
	tree_set(object, key, cJSON_CreateString(text));
}

void
tree_set_int(cJSON *object, const char *key, int64_t value)
{
	tree_set(object, key, cJSON_CreateNumber((double)value));
}

void
tree_remove(cJSON *object, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
}

cJSON *
tree_take(cJSON *object, const char *key)
{
	return cJSON_DetachItemFromObjectCaseSensitive(object, key);
}

void
tree_copy_member(cJSON *to, const cJSON *from, const char *key)
{
	const cJSON *value = tree_get(from, key);

	tree_set(to, key, value ? cJSON_Duplicate(value, true) : NULL);
}

bool
tree_empty(const cJSON *value)
{
	return !value || ((cJSON_IsObject(value) || cJSON_IsArray(value)) && !value->child);
}

bool
tree_equal(const cJSON *a, const cJSON *b)
{
	struct buf left = BUF_INIT, right = BUF_INIT;
	bool equal;

	if (!a || !b)
		return a == b;
	json_print_canonical(&left, a);
	json_print_canonical(&right, b);
	equal = !left.failed && !right.failed && left.length == right.length &&
		memcmp(left.data, right.data, left.length) == 0;
	buf_free(&left);
	buf_free(&right);
	return equal;
}

void
tree_drop_nulls(cJSON *value)
{
	tree_each_safe(child, next, value)
	{
		if (cJSON_IsNull(child) && cJSON_IsObject(value))
			cJSON_Delete(cJSON_DetachItemViaPointer(value, child));
		else
			tree_drop_nulls(child);
	}
}

/* U+E000 "n": how common/json keeps a number that a double can't hold. */
static const char wrapped_number[] = "\xee\x80\x80n";

bool
tree_is_number(const cJSON *value)
{
	return cJSON_IsNumber(value) ||
	       (cJSON_IsString(value) && strncmp(value->valuestring, wrapped_number, 4) == 0);
}

bool
tree_is_integer(const cJSON *value)
{
	if (cJSON_IsNumber(value))
		return floor(value->valuedouble) == value->valuedouble;
	return tree_is_number(value) && !strpbrk(value->valuestring + 4, ".eE");
}

cJSON *
tree_literal(const char *json)
{
	return json_parse(json, strlen(json), NULL);
}
