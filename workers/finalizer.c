/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the bytes of metadata.finalizers, an array of strings; one that is damaged has none of ours and is left alone. */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "common/kube/names.h"
#include "common/memory.h"
#include "workers/finalizer.h"

char *
finalizer_name(const char *instance, const char *controller)
{
	return xasprintf(FINALIZER_PREFIX "%s.%s", instance, controller);
}

/* The next string of the array at *p, without quotes; false: there is none. */
static bool
next(const char **p, const char *end, const char **ret, size_t *ret_length)
{
	const char *start, *behind;

	while (*p < end && strchr(" \t\r\n,[", **p) != NULL)
		(*p)++;
	if (*p >= end || **p != '"')
		return false;
	start = *p;
	behind = jsonscan_skip(start, end);
	if (behind == NULL)
		return false;
	*p = behind;
	*ret = start + 1;
	*ret_length = (size_t)(behind - start) - 2;
	return true;
}

struct match {
	const char *text;
	bool prefix; /* else the whole name */
};

static bool
matches(const struct match *match, const char *text, size_t length)
{
	size_t n = strlen(match->text);

	return (match->prefix ? length >= n : length == n) && memcmp(text, match->text, n) == 0;
}

static bool
holds(const char *bytes, const struct json_object_info *info, const struct match *match)
{
	const char *p = bytes + info->finalizers.start, *end = p + info->finalizers.length, *text;
	size_t length;

	while (next(&p, end, &text, &length))
		if (matches(match, text, length))
			return true;
	return false;
}

bool
finalizer_held(const char *bytes, const struct json_object_info *info, const char *name)
{
	return holds(bytes, info, &(struct match){name, false});
}

static void
begin(struct buf *out, const char *bytes, const struct json_object_info *info)
{
	buf_adds(out, "{\"metadata\":{\"resourceVersion\":\"");
	buf_add(out, bytes + info->resource_version.start, info->resource_version.length);
	buf_adds(out, "\",\"finalizers\":[");
}

/* All that do not match; removed, when not NULL, gets those that do. Returns how many were put. */
static size_t
put_others(struct buf *out, const char *bytes, const struct json_object_info *info,
	const struct match *match, struct buf *removed)
{
	const char *p = bytes + info->finalizers.start, *end = p + info->finalizers.length, *text;
	size_t length, n = 0;

	while (next(&p, end, &text, &length)) {
		if (!matches(match, text, length)) {
			buf_adds(out, n++ == 0 ? "\"" : ",\"");
			buf_add(out, text, length);
			buf_addc(out, '"');
		} else if (removed != NULL) {
			buf_adds(removed, removed->length == 0 ? "" : ",");
			buf_add(removed, text, length);
		}
	}
	return n;
}

bool
finalizer_add_patch(struct buf *out, const char *bytes, size_t length, const char *name)
{
	const struct match match = {name, false};
	struct json_object_info info;

	if (!jsonscan_object(bytes, length, &info) || info.deletion_timestamp.length > 0 ||
		holds(bytes, &info, &match))
		return false;
	begin(out, bytes, &info);
	if (put_others(out, bytes, &info, &match, NULL) > 0)
		buf_addc(out, ',');
	json_put_string(out, name, strlen(name));
	buf_adds(out, "]}}");
	return true;
}

static bool
remove_patch(struct buf *out, const char *bytes, size_t length, const struct match *match,
	struct buf *removed)
{
	struct json_object_info info;

	if (!jsonscan_object(bytes, length, &info) || !holds(bytes, &info, match))
		return false;
	begin(out, bytes, &info);
	put_others(out, bytes, &info, match, removed);
	buf_adds(out, "]}}");
	return true;
}

bool
finalizer_remove_patch(struct buf *out, const char *bytes, size_t length, const char *name)
{
	return remove_patch(out, bytes, length, &(struct match){name, false}, NULL);
}

bool
finalizer_remove_all_patch(struct buf *out, const char *bytes, size_t length, const char *prefix,
	struct buf *ret_removed)
{
	return remove_patch(out, bytes, length, &(struct match){prefix, true}, ret_removed);
}
