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

static uint64_t
hash_range(uint64_t hash, const char *bytes, size_t start, size_t end)
{
	return end > start ? XXH3_64bits_withSeed(bytes + start, end - start, hash) : hash;
}

/* All but metadata and status, then labels and annotations. 0 stands for "unknown" in the queue. */
static uint64_t
version_of(const char *bytes, size_t length, const struct json_object_info *info)
{
	struct json_range first = info->metadata, second = info->status;
	uint64_t hash = 0;

	if (second.length > 0 && second.start < first.start) {
		first = info->status;
		second = info->metadata;
	}
	hash = hash_range(hash, bytes, 0, first.start);
	if (second.length == 0)
		second = (struct json_range){.start = first.start + first.length};
	hash = hash_range(hash, bytes, first.start + first.length, second.start);
	hash = hash_range(hash, bytes, second.start + second.length, length);
	hash = hash_range(
		hash, bytes, info->labels.start, info->labels.start + info->labels.length);
	hash = hash_range(hash, bytes, info->annotations.start,
		info->annotations.start + info->annotations.length);
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
