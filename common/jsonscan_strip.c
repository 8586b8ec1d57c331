/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managedFields and kubectl's last-applied-configuration: leaving them out of an object's bytes, and finding the fields of one manager.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "common/jsonscan.h"
#include "common/jsonscan_token.h"

/* --- stripping ---------------------------------------------------------------------- */

static bool
is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Widens the range of a member by the comma that goes with it: the one behind, else the one before. */
static struct json_range
with_comma(const char *bytes, struct json_range member)
{
	uint32_t from = member.start, to = member.start + member.length, p = to;

	/* A member stands in an object: its brackets end both loops. */
	while (is_space(bytes[p]))
		p++;
	if (bytes[p] == ',') {
		to = p + 1;
	} else {
		for (p = from - 1; is_space(bytes[p]); p--)
			;
		if (bytes[p] == ',')
			from = p;
	}
	return (struct json_range){.start = from, .length = to - from};
}

size_t
jsonscan_strip(const char *bytes, size_t length, const struct json_object_info *info, char *out)
{
	struct json_range cut[2] = {info->last_applied, info->managed_member};
	size_t at = 0, written = 0;

	if (cut[1].start < cut[0].start) {
		cut[0] = info->managed_member;
		cut[1] = info->last_applied;
	}
	for (int i = 0; i < 2; i++) {
		if (cut[i].length == 0)
			continue;
		cut[i] = with_comma(bytes, cut[i]);
		memcpy(out + written, bytes + at, cut[i].start - at);
		written += cut[i].start - at;
		at = (size_t)cut[i].start + cut[i].length;
	}
	memcpy(out + written, bytes + at, length - at);
	return written + length - at;
}

/* --- managedFields ------------------------------------------------------------------ */

/* The longest name of a manager on the server is 128 bytes. */
#define MANAGER_MAX 128

struct entry {
	const char *bytes, *manager;
	bool ours, apply, subresource;
	struct json_range fields;
};

static bool
string_is(const char *value, const char *behind, const char *text)
{
	char room[6 * MANAGER_MAX];
	size_t n;

	if (*value != '"')
		return false;
	n = (size_t)(behind - value) - 2;
	if (n > sizeof(room))
		return false;
	n = jsonscan_unescape(value + 1, n, room);
	return n == strlen(text) && memcmp(room, text, n) == 0;
}

static const char *
entry_member(struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	struct entry *e = data;
	const char *behind = scan_value(s, value, levels);

	if (!behind)
		return NULL;
	if (scan_key_is(key, "manager"))
		e->ours = string_is(value, behind, e->manager);
	else if (scan_key_is(key, "operation"))
		e->apply = string_is(value, behind, "Apply");
	else if (scan_key_is(key, "subresource"))
		e->subresource = *value == '"' && !string_is(value, behind, "");
	else if (scan_key_is(key, "fieldsV1"))
		e->fields = *value == '{' ? (struct json_range){(uint32_t)(value - e->bytes),
						    (uint32_t)(behind - value)}
					  : (struct json_range){0};
	return behind;
}

bool
jsonscan_fields_of(
	const char *bytes, size_t length, const char *manager, struct json_range *ret_fields)
{
	struct scan s = {.end = bytes + length};
	const char *p = scan_space(&s, bytes);

	if (length > UINT32_MAX || p == s.end || *p != '[')
		return false;
	do {
		struct entry e = {.bytes = bytes, .manager = manager};

		p = scan_object(&s, scan_space(&s, p + 1), JSON_DEPTH_MAX - 1, entry_member, &e);
		if (!p)
			return false;
		if (e.ours && e.apply && !e.subresource && e.fields.length) {
			*ret_fields = e.fields;
			return true;
		}
		p = scan_space(&s, p);
	} while (p < s.end && *p == ',');
	return false;
}
