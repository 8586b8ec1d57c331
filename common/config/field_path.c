/* SPDX-License-Identifier: Apache-2.0 */
/* Parses paths, and follows them through trees. Keeps nothing. */
#include <config.h> /* of the build, not the one beside this file */

#include <stdio.h>
#include <string.h>

#include "common/config/field_path.h"

/* The bytes of the step at text, its brackets and quotes left off; the length of all of it, 0: it is none. */
static size_t
step(const char *text, const char **ret_start, size_t *ret_length)
{
	const char *end;

	if (strncmp(text, "[\"", 2) != 0) {
		*ret_start = text;
		*ret_length = strcspn(text, ".[");
		return memchr(text, '"', *ret_length) || strcspn(text, "]*${} ") < *ret_length
			       ? 0
			       : *ret_length;
	}
	*ret_start = text + 2;
	end = strstr(text + 2, "\"]");
	*ret_length = end ? (size_t)(end - text) - 2 : 0;
	return *ret_length ? *ret_length + 4 : 0;
}

bool
field_path_parse(const char *text, struct field_path *ret)
{
	char *to = ret->text, *limit = ret->text + sizeof ret->text;

	ret->n = 0;
	while (*text) {
		const char *start;
		size_t length, all = step(text, &start, &length);

		if (!all || ret->n == FIELD_STEPS_MAX || (size_t)(limit - to) <= length)
			return false;
		memcpy(to, start, length);
		to[length] = '\0';
		ret->steps[ret->n++] = to;
		to += length + 1;
		text += all;
		if (*text == '.' && (text[1] == '\0' || text[1] == '['))
			return false;
		if (*text && *text != '.' && *text != '[')
			return false;
		text += *text == '.';
	}
	return ret->n > 0;
}

const cJSON *
field_path_get(const cJSON *object, const struct field_path *path)
{
	for (size_t i = 0; i < path->n && object; i++)
		object = cJSON_IsObject(object)
				 ? cJSON_GetObjectItemCaseSensitive(object, path->steps[i])
				 : NULL;
	return object;
}

static void
remove_step(cJSON *object, const struct field_path *path, size_t i)
{
	cJSON *inner = cJSON_IsObject(object)
			       ? cJSON_GetObjectItemCaseSensitive(object, path->steps[i])
			       : NULL;

	if (!inner)
		return;
	if (i + 1 < path->n) {
		bool held = inner->child != NULL;

		remove_step(inner, path, i + 1);
		if (!held || inner->child || !cJSON_IsObject(inner))
			return;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(object, path->steps[i]);
}

void
field_path_remove(cJSON *object, const struct field_path *path)
{
	remove_step(object, path, 0);
}

void
field_path_set(cJSON *object, const struct field_path *path, const cJSON *value)
{
	for (size_t i = 0; i + 1 < path->n; i++) {
		cJSON *inner = cJSON_GetObjectItemCaseSensitive(object, path->steps[i]);

		if (!cJSON_IsObject(inner)) {
			cJSON_DeleteItemFromObjectCaseSensitive(object, path->steps[i]);
			inner = cJSON_AddObjectToObject(object, path->steps[i]);
		}
		object = inner;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(object, path->steps[path->n - 1]);
	cJSON_AddItemToObject(object, path->steps[path->n - 1], cJSON_Duplicate(value, true));
}

bool
field_path_is(const struct field_path *path, const char *field)
{
	for (size_t i = 0; i < path->n; i++) {
		size_t n = strlen(path->steps[i]);

		if (*field++ != '.' || strncmp(field, path->steps[i], n) != 0)
			return false;
		field += n;
	}
	return !*field || *field == '.' || *field == '[';
}

bool
field_path_held(const struct field_path *path, const cJSON *fields)
{
	for (size_t i = 0; i < path->n && fields; i++) {
		char key[FIELD_PATH_MAX + 2];

		snprintf(key, sizeof key, "f:%s", path->steps[i]);
		fields = cJSON_GetObjectItemCaseSensitive(fields, key);
	}
	return fields != NULL;
}
