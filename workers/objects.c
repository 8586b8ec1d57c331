/* SPDX-License-Identifier: Apache-2.0 */
/* Reads marks out of an object's bytes when it is stored; keeps nothing but the counts it is given. */
#include "config.h"

#include <string.h>
#include <xxhash.h>

#include "common/jsonscan.h"
#include "common/kube/names.h"
#include "common/scoreboard.h"
#include "workers/member.h"
#include "workers/objects.h"

#define COUNT_SHIFT 24
#define COUNT_MASK  (7u << COUNT_SHIFT)

static const char *
skip_space(const char *p, const char *end)
{
	while (p < end &&
		(*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == ',' || *p == ':'))
		p++;
	return p;
}

static bool
is_left_out(const char *key, size_t n)
{
	return (n == strlen("\"metadata\"") && memcmp(key, "\"metadata\"", n) == 0) ||
	       (n == strlen("\"status\"") && memcmp(key, "\"status\"", n) == 0);
}

/* The sum over the members but metadata and status: neither order nor the presence of those two matters. */
static uint64_t
hash_members(const char *bytes, size_t length)
{
	const char *end = bytes + length, *p = memchr(bytes, '{', length);
	uint64_t sum = 0;

	if (p == NULL)
		return 0;
	for (p = skip_space(p + 1, end); p < end && *p == '"'; p = skip_space(p, end)) {
		const char *key = p, *behind = jsonscan_skip(p, end), *value;

		if (behind == NULL)
			break;
		value = skip_space(behind, end);
		p = jsonscan_skip(value, end);
		if (p == NULL)
			break;
		if (!is_left_out(key, (size_t)(behind - key)))
			sum += XXH3_64bits_withSeed(value, (size_t)(p - value),
				XXH3_64bits(key, (size_t)(behind - key)));
	}
	return sum;
}

/* All but metadata and status, then labels and annotations. 0 stands for "unknown" in the queue. */
static uint64_t
version_of(const char *bytes, size_t length, const struct json_object_info *info)
{
	uint64_t hash = hash_members(bytes, length);

	hash = XXH3_64bits_withSeed(bytes + info->labels.start, info->labels.length, hash);
	hash = XXH3_64bits_withSeed(
		bytes + info->annotations.start, info->annotations.length, hash);
	return hash == 0 ? 1 : hash;
}

void
object_entry(struct store_entry *entry)
{
	const struct json_object_info *info = entry->info;

	entry->fingerprint = version_of(entry->bytes, entry->length, info);
	if (info->deletion_timestamp.length > 0)
		entry->flags |= OBJECT_DELETING;
	if (member_is(entry->bytes, &info->annotations, ANNOTATION_PAUSED, "true"))
		entry->flags |= OBJECT_PAUSED;
}

static void
show(const struct object_counts *counts)
{
	static const char *const names[OBJECT_STATES] = {
		[OBJECT_READY] = "ready",
		[OBJECT_RECONCILING] = "reconciling",
		[OBJECT_FAILED] = "failed",
		[OBJECT_LEAVING] = "deleting",
		[OBJECT_UNKNOWN] = "unknown",
	};

	for (int i = OBJECT_UNCOUNTED + 1; i < OBJECT_STATES; i++)
		metric_set(M_OBJECTS, metric_label_index(M_OBJECTS, 0, names[i]), counts->n[i]);
}

void
object_count(struct object_counts *counts, struct mirror *mirror, const struct store_view *view,
	enum object_state state)
{
	unsigned old = (view->flags & COUNT_MASK) >> COUNT_SHIFT;

	if (old == (unsigned)state)
		return;
	if (old != OBJECT_UNCOUNTED && old < OBJECT_STATES)
		counts->n[old]--;
	if (state != OBJECT_UNCOUNTED)
		counts->n[state]++;
	mirror_set_flags(
		mirror, view->namespace_, view->name, COUNT_MASK, (uint32_t)state << COUNT_SHIFT);
	show(counts);
}

bool
object_is(const char *bytes, size_t length, const char *uid)
{
	struct json_object_info info;

	return jsonscan_object(bytes, length, &info) && info.uid.length == strlen(uid) &&
	       memcmp(bytes + info.uid.start, uid, info.uid.length) == 0;
}
