/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kubernetes objects and watch lines say about themselves.
 *
 * One walk: only the top level, metadata and the annotations are looked into, the rest is validated and skipped. Keys are
 * compared as they read ("na\u006de" is name). Of a member given twice the last counts, as on the server, and it counts
 * whole: what an earlier metadata said is forgotten. A member of another type than the API's counts as absent. The ranges are
 * offsets into the caller's bytes; nothing is kept, nothing allocated.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "common/jsonscan.h"
#include "common/jsonscan_token.h"

#define LENGTH_MAX   (UINT32_C(1) << 31)
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

struct walk {
	const char *bytes;
	struct json_object_info *info;
};

struct field {
	const char *key;
	size_t length;
	char first; /* the first byte of a value of the right type; 0: any but null */
	size_t offset;
};

#define FIELD(key_, first_, member)                                           \
	{                                                                     \
		.key = (key_), .length = sizeof(key_) - 1, .first = (first_), \
		.offset = offsetof(struct json_object_info, member)           \
	}

static const struct field top_fields[] = {
	FIELD("apiVersion", '"', api_version),
	FIELD("kind", '"', kind),
	FIELD("spec", 0, spec),
	FIELD("status", 0, status),
	{0},
};

static const struct field metadata_fields[] = {
	FIELD("name", '"', name),
	FIELD("namespace", '"', namespace_),
	FIELD("uid", '"', uid),
	FIELD("resourceVersion", '"', resource_version),
	FIELD("labels", '{', labels),
	FIELD("ownerReferences", '[', owner_references),
	FIELD("finalizers", '[', finalizers),
	FIELD("deletionTimestamp", '"', deletion_timestamp),
	{0},
};

static struct json_range
range_of(const char *bytes, const char *from, const char *to)
{
	return (struct json_range){
		.start = (uint32_t)(from - bytes), .length = (uint32_t)(to - from)};
}

/* The range of the value in from..to as a field wants it: a string without quotes, nothing for a null or another type. */
static struct json_range
range_of_type(const char *bytes, const char *from, const char *to, char first)
{
	if (first ? *from != first : *from == 'n')
		return (struct json_range){0};
	return first == '"' ? range_of(bytes, from + 1, to - 1) : range_of(bytes, from, to);
}

static const char *
take_field(struct scan *s, const struct scan_key *key, const char *value, int levels,
	const struct walk *w, const struct field *fields)
{
	const char *behind = scan_value(s, value, levels);

	if (!behind || !key->text)
		return behind;
	for (const struct field *f = fields; f->key; f++) {
		if (f->length != key->length || memcmp(f->key, key->text, f->length) != 0)
			continue;
		*(struct json_range *)(void *)((char *)w->info + f->offset) =
			range_of_type(w->bytes, value, behind, f->first);
		break;
	}
	return behind;
}

/* An integer within int64, clamped to it; 0 for anything else. */
static int64_t
read_integer(const char *p, const char *end)
{
	bool negative = *p == '-';
	int64_t value = 0;

	for (p += negative; p < end; p++) {
		if (*p < '0' || *p > '9')
			return 0;
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, negative ? '0' - *p : *p - '0', &value))
			return negative ? INT64_MIN : INT64_MAX;
	}
	return value;
}

static const char *
annotation(struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	struct walk *w = data;
	const char *behind = scan_value(s, value, levels);

	if (behind && scan_key_is(key, LAST_APPLIED))
		w->info->last_applied = range_of(w->bytes, key->quote, behind);
	return behind;
}

static const char *
annotations(struct scan *s, const char *value, int levels, struct walk *w)
{
	const char *behind;

	w->info->annotations = w->info->last_applied = (struct json_range){0};
	if (*value != '{')
		return scan_value(s, value, levels);
	behind = scan_object(s, value, levels, annotation, w);
	if (behind)
		w->info->annotations = range_of(w->bytes, value, behind);
	return behind;
}

static const char *
managed_fields_member(
	struct scan *s, const struct scan_key *key, const char *value, int levels, struct walk *w)
{
	const char *behind = scan_value(s, value, levels);

	if (behind) {
		w->info->managed_fields = range_of_type(w->bytes, value, behind, '[');
		w->info->managed_member = range_of(w->bytes, key->quote, behind);
	}
	return behind;
}

static const char *
metadata_member(
	struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	struct walk *w = data;
	const char *behind;

	if (value < s->end) {
		if (scan_key_is(key, "annotations"))
			return annotations(s, value, levels, w);
		if (scan_key_is(key, "managedFields"))
			return managed_fields_member(s, key, value, levels, w);
		if (scan_key_is(key, "generation")) {
			behind = scan_value(s, value, levels);
			if (behind)
				w->info->generation = read_integer(value, behind);
			return behind;
		}
	}
	return take_field(s, key, value, levels, w, metadata_fields);
}

static const char *
metadata(struct scan *s, const char *value, int levels, struct walk *w)
{
	struct json_object_info *info = w->info;
	const char *behind;

	/* What an earlier metadata said is void. */
	*info = (struct json_object_info){.api_version = info->api_version,
		.kind = info->kind,
		.spec = info->spec,
		.status = info->status};
	if (*value != '{')
		return scan_value(s, value, levels);
	behind = scan_object(s, value, levels, metadata_member, w);
	if (behind)
		info->metadata = range_of(w->bytes, value, behind);
	return behind;
}

static const char *
top_member(struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	if (value < s->end && scan_key_is(key, "metadata"))
		return metadata(s, value, levels, data);
	return take_field(s, key, value, levels, data, top_fields);
}

/* Walks the one object that the bytes must be. */
static bool
scan_whole(const char *bytes, size_t length, scan_member_fn *member, void *data)
{
	struct scan s = {.end = bytes + length};
	const char *p;

	if (length > LENGTH_MAX)
		return false;
	p = scan_object(&s, scan_space(&s, bytes), JSON_DEPTH_MAX, member, data);
	return p && scan_space(&s, p) == s.end;
}

bool
jsonscan_object(const char *bytes, size_t length, struct json_object_info *ret)
{
	struct json_object_info info = {0};
	struct walk w = {.bytes = bytes, .info = &info};

	if (!scan_whole(bytes, length, top_member, &w))
		return false;
	*ret = info;
	return true;
}

/* --- watch lines and single members ------------------------------------------------ */

struct event {
	const char *bytes;
	struct json_range type, object;
};

static const char *
event_member(struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	struct event *e = data;
	const char *behind = scan_value(s, value, levels);

	if (!behind)
		return NULL;
	if (scan_key_is(key, "type"))
		e->type = range_of_type(e->bytes, value, behind, '"');
	else if (scan_key_is(key, "object"))
		e->object = range_of_type(e->bytes, value, behind, '{');
	return behind;
}

bool
jsonscan_event(const char *bytes, size_t length, struct json_range *ret_type,
	struct json_range *ret_object)
{
	struct event e = {.bytes = bytes};

	if (!scan_whole(bytes, length, event_member, &e) || !e.type.length || !e.object.length)
		return false;
	*ret_type = e.type;
	*ret_object = e.object;
	return true;
}

struct wanted {
	const char *bytes, *key;
	struct json_range value;
};

static const char *
wanted_member(struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	struct wanted *w = data;
	const char *behind = scan_value(s, value, levels);

	if (behind && scan_key_is(key, w->key))
		w->value = range_of(w->bytes, value, behind);
	return behind;
}

bool
jsonscan_member(const char *bytes, size_t length, const char *key, struct json_range *ret_value)
{
	struct wanted w = {.bytes = bytes, .key = key};

	if (!scan_whole(bytes, length, wanted_member, &w) || !w.value.length)
		return false;
	*ret_value = w.value;
	return true;
}
