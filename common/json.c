/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control documents as cJSON trees: the strict way in, and the getters. json_print.c is the way out, json_wrap.c what lets
 * values through that cJSON can't hold.
 *
 * The bytes are checked by our own grammar before cJSON sees them, so that it can only fail for want of memory. Of a key given
 * twice the last counts, as on the server. The caller owns the tree.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/jsonscan_token.h"

/* --- duplicate keys --------------------------------------------------------------- */

struct member {
	cJSON *node;
	size_t index;
};

static int
compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->node->string, y->node->string);

	return order ? order : x->index < y->index ? -1 : 1;
}

/* Removes all but the last of equal keys of one object; false: no memory. */
static bool
keep_last(cJSON *object)
{
	struct member *members;
	size_t n = 0;

	if (!object->child || !object->child->next)
		return true;
	members = calloc((size_t)cJSON_GetArraySize(object), sizeof(*members));
	if (!members)
		return false;
	for (cJSON *node = object->child; node; node = node->next, n++)
		members[n] = (struct member){.node = node, .index = n};
	qsort(members, n, sizeof(*members), compare_members);
	for (size_t i = 1; i < n; i++)
		if (strcmp(members[i - 1].node->string, members[i].node->string) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(object, members[i - 1].node));
	free(members);
	return true;
}

/* Recursion is bounded by JSON_DEPTH_MAX. */
static bool
keep_last_everywhere(cJSON *value)
{
	if (cJSON_IsObject(value) && !keep_last(value))
		return false;
	if (cJSON_IsObject(value) || cJSON_IsArray(value))
		for (cJSON *node = value->child; node; node = node->next)
			if (!keep_last_everywhere(node))
				return false;
	return true;
}

/* --- parsing ---------------------------------------------------------------------- */

static bool
check(const char *bytes, size_t length, size_t mark, struct error *err)
{
	struct scan s = {.end = bytes + length};

	if (scan_document(&s, bytes + mark, JSON_DEPTH_MAX))
		return true;
	error_set(err, -EBADMSG, "not valid JSON at byte %zu of %zu: %s",
		(size_t)(s.bad - bytes) + 1, length, s.why);
	return false;
}

cJSON *
json_parse(const char *bytes, size_t length, struct error *err)
{
	size_t mark = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	struct buf wrapped = BUF_INIT;
	cJSON *value = NULL;

	if (!check(bytes, length, mark, err))
		return NULL;
	bytes += mark;
	length -= mark;
	if (json_wrap(&wrapped, bytes, length)) {
		bytes = wrapped.data;
		length = wrapped.length;
	}
	if (!wrapped.failed)
		value = cJSON_ParseWithLength(bytes, length);
	buf_free(&wrapped);
	if (value && keep_last_everywhere(value))
		return value;
	cJSON_Delete(value);
	error_set(err, -ENOMEM, "no memory for %zu bytes of JSON", length);
	return NULL;
}

/* --- getters ---------------------------------------------------------------------- */

const cJSON *
json_get(const cJSON *object, ...)
{
	va_list keys;
	const char *key;

	va_start(keys, object);
	while (object && (key = va_arg(keys, const char *)))
		object = cJSON_GetObjectItemCaseSensitive(object, key);
	va_end(keys);
	return object;
}

const char *
json_string(const cJSON *object, const char *key, const char *fallback)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(value) && !json_wrapped_number(value->valuestring)
		       ? value->valuestring
		       : fallback;
}

int64_t
json_int(const cJSON *object, const char *key, int64_t fallback)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
	const char *text;
	char *end;
	long long number;

	if (cJSON_IsNumber(value)) {
		double d = value->valuedouble;

		return d >= (double)INT64_MIN && d < -(double)INT64_MIN && d == floor(d)
			       ? (int64_t)d
			       : fallback;
	}
	text = cJSON_IsString(value) ? json_wrapped_number(value->valuestring) : NULL;
	if (!text)
		return fallback;
	errno = 0;
	number = strtoll(text, &end, 10);
	return errno || *end ? fallback : number;
}

bool
json_bool(const cJSON *object, const char *key, bool fallback)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsBool(value) ? cJSON_IsTrue(value) : fallback;
}
