/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of an applied document against its schema: undeclared fields, wrong types, list items without or with the
 * same keys. The first problem ends it. Bounds and enums are validate.c's, on the result.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "devserver/fields.h"
#include "devserver/schema.h"
#include "devserver/tree.h"
#include "devserver/typed.h"

static bool check(const cJSON *value, const cJSON *schema, struct buf *path, struct buf *problem);

static bool
wrong(struct buf *problem, const struct buf *path, const char *expected, const char *what)
{
	buf_addf(problem, "%s: %s%s", path->length ? path->data : ".", expected, what);
	return false;
}

static const char *
type_of(const cJSON *value)
{
	if (tree_is_number(value))
		return "number";
	if (cJSON_IsBool(value))
		return "boolean";
	return cJSON_IsString(value) ? "string" : cJSON_IsArray(value) ? "list" : "map";
}

static bool
check_type(const cJSON *value, const cJSON *schema, const struct buf *path, struct buf *problem)
{
	static const char *const types[][3] = {
		{"integer", "number", "expected numeric (int or float), got "},
		{"number", "number", "expected numeric (int or float), got "},
		{"string", "string", "expected string, got "},
		{"boolean", "boolean", "expected boolean, got "},
		{"array", "list", "expected list, got "}, {"object", "map", "expected map, got "}};
	const char *want = json_string(schema, "type", ""), *is = type_of(value);

	if (cJSON_IsNull(value))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(want, types[i][0]) == 0 && strcmp(is, types[i][1]) != 0)
			return wrong(problem, path, types[i][2], is);
	return true;
}

static void
add_element(struct buf *out, const char *element)
{
	cJSON *keys;

	if (element[0] == 'v') {
		buf_addf(out, "[=%s]", element + 2);
		return;
	}
	keys = tree_literal(element + 2);
	for (const cJSON *key = keys ? keys->child : NULL; key; key = key->next) {
		buf_addf(out, "%s%s=", key == keys->child ? "[" : ",", key->string);
		json_print(out, key);
	}
	buf_addc(out, ']');
	cJSON_Delete(keys);
}

static bool
no_keys(const cJSON *schema, const struct buf *path, size_t index, struct buf *problem)
{
	buf_addf(problem,
		"%s: element %zu: associative list with keys has an element that omits all key "
		"fields ",
		path->data, index);
	json_print(problem, schema_list_keys(schema));
	buf_adds(problem, " (and doesn't have default values for any key fields)");
	return false;
}

static bool
check_items(const cJSON *value, const cJSON *schema, struct buf *path, struct buf *problem)
{
	bool keyed = schema_list_type(schema) != LIST_ATOMIC, good = true;
	cJSON *seen = cJSON_CreateObject();
	size_t length = path->length, index = 0;

	for (const cJSON *item = value->child; good && item; item = item->next, index++) {
		char *element = keyed ? fields_element(item, schema) : NULL;

		if (keyed && !element) {
			good = no_keys(schema, path, index, problem);
		} else if (keyed && tree_get(seen, element)) {
			buf_addf(problem, "%s: duplicate entries for key ", path->data);
			add_element(problem, element);
			good = false;
		} else {
			if (keyed) {
				tree_set(seen, element, cJSON_CreateTrue());
				add_element(path, element);
			} else {
				buf_addf(path, "[%zu]", index);
			}
			good = check(item, schema_items(schema), path, problem);
			path->length = length;
			path->data[length] = '\0';
		}
		free(element);
	}
	cJSON_Delete(seen);
	return good;
}

static bool
check(const cJSON *value, const cJSON *schema, struct buf *path, struct buf *problem)
{
	size_t length = path->length;
	bool good = true;

	if (!schema)
		return true;
	if (!check_type(value, schema, path, problem))
		return false;
	if (cJSON_IsArray(value))
		return check_items(value, schema, path, problem);
	for (const cJSON *child = cJSON_IsObject(value) ? value->child : NULL; good && child;
		child = child->next) {
		buf_addf(path, ".%s", child->string);
		if (schema_declares(schema, child->string))
			good = check(child, schema_child(schema, child->string), path, problem);
		else
			good = wrong(problem, path, "field not declared in schema", "");
		path->length = length;
		path->data[length] = '\0';
	}
	return good;
}

bool
typed_check(const cJSON *value, const cJSON *schema, struct buf *problem)
{
	struct buf path = BUF_INIT;
	bool good;

	buf_reserve(&path, 64);
	good = check(value, schema, &path, problem);
	buf_free(&path);
	return good;
}
