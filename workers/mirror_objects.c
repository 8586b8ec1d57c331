/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a mirror: putting and removing with announcement, and access by name, uid and owner over all its namespaces. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "workers/mirror_internal.h"

/* An object that found no room is asked for again after this. */
#define OVER_LIMIT_RETRY_NS (30 * NSEC_PER_SEC)

void
mirror_names_of(const char *bytes, const struct json_object_info *info, char namespace_[256],
	char name[256])
{
	snprintf(namespace_, 256, "%.*s", (int)info->namespace_.length,
		bytes + info->namespace_.start);
	snprintf(name, 256, "%.*s", (int)info->name.length, bytes + info->name.start);
}

static int
by_text(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

bool
mirror_wants(const struct mirror *mirror, const char *namespace_)
{
	return !mirror->wide ||
	       bsearch(namespace_, mirror->options.namespaces, mirror->options.n_namespaces,
		       sizeof(char *), by_text) != NULL;
}

void
mirror_part_take_away(
	struct mirror_part *part, const char *namespace_, const char *name, const char *uid)
{
	struct mirror *mirror = part->mirror;
	struct store_view view;

	if (!store_get(part->store, namespace_, name, &view) ||
		(uid != NULL && strcmp(view.uid, uid) != 0))
		return;
	mirror->callbacks.gone(mirror->callbacks.data, &view);
	store_remove(part->store, namespace_, name, uid);
}

/* An object made anew under the same name: the end of the old one comes first. */
static void
end_former(struct mirror_part *part, const char *namespace_, const char *name, const char *bytes,
	const struct json_object_info *info)
{
	struct store_view view;
	char uid[256];

	if (!store_get(part->store, namespace_, name, &view))
		return;
	snprintf(uid, sizeof(uid), "%.*s", (int)info->uid.length, bytes + info->uid.start);
	if (strcmp(view.uid, uid) != 0 && !store_was_removed(part->store, uid))
		mirror_part_take_away(part, namespace_, name, NULL);
}

static enum store_result
put(struct mirror_part *part, enum listwatch_event event, const char *bytes, size_t length,
	const struct json_object_info *info, enum store_origin origin)
{
	struct mirror *mirror = part->mirror;
	struct store_entry entry = {.bytes = bytes,
		.length = length,
		.info = info,
		.keep_body = mirror->options.keep_body};
	enum store_result result;
	struct store_view view;
	char namespace_[256], name[256];

	mirror_names_of(bytes, info, namespace_, name);
	if (!mirror_wants(mirror, namespace_) ||
		!mirror->callbacks.entry(mirror->callbacks.data, &entry))
		return STORE_REFUSED;
	end_former(part, namespace_, name, bytes, info);
	result = store_put(part->store, &entry, origin);
	if ((result != STORE_NEW && result != STORE_CHANGED) || origin == STORE_FROM_WRITE)
		return result;
	if (store_get(part->store, namespace_, name, &view))
		mirror->callbacks.changed(mirror->callbacks.data, event, result, &view);
	return result;
}

/* No room: an older version must not stay, since it would be acted on. */
static void
leave_out(struct mirror_part *part, const char *namespace_, const char *name)
{
	bool first = !part->left_out;

	part->left_out = true;
	mirror_part_take_away(part, namespace_, name, NULL);
	if (!first)
		return;
	loop_timer_set(part->mirror->relist, OVER_LIMIT_RETRY_NS);
	part->mirror->callbacks.health(part->mirror->callbacks.data);
}

enum store_result
mirror_part_put(struct mirror_part *part, enum listwatch_event event, const char *bytes,
	size_t length, const struct json_object_info *info, enum store_origin origin)
{
	enum store_result result = put(part, event, bytes, length, info, origin);
	char namespace_[256], name[256];

	if (result == STORE_FULL) {
		mirror_names_of(bytes, info, namespace_, name);
		leave_out(part, namespace_, name);
	}
	return result;
}

static struct mirror_part *
part_of(const struct mirror *mirror, const char *namespace_)
{
	for (size_t i = 0; i < mirror->n_parts; i++)
		if (mirror->parts[i].namespace_ == NULL ||
			strcmp(mirror->parts[i].namespace_, namespace_) == 0)
			return &mirror->parts[i];
	return NULL;
}

enum store_result
mirror_put(struct mirror *mirror, const char *bytes, size_t length, enum store_origin origin)
{
	struct json_object_info info;
	char namespace_[256], name[256];
	struct mirror_part *part;

	if (!jsonscan_object(bytes, length, &info))
		return STORE_REFUSED;
	mirror_names_of(bytes, &info, namespace_, name);
	part = part_of(mirror, namespace_);
	if (part == NULL)
		return STORE_REFUSED;
	return mirror_part_put(part, LISTWATCH_MODIFIED, bytes, length, &info, origin);
}

bool
mirror_get(const struct mirror *mirror, const char *namespace_, const char *name,
	struct store_view *ret)
{
	struct mirror_part *part = part_of(mirror, namespace_);

	return part != NULL && store_get(part->store, namespace_, name, ret);
}

bool
mirror_get_uid(const struct mirror *mirror, const char *uid, struct store_view *ret)
{
	for (size_t i = 0; i < mirror->n_parts; i++)
		if (store_get_uid(mirror->parts[i].store, uid, ret))
			return true;
	return false;
}

void
mirror_remove(struct mirror *mirror, const char *namespace_, const char *name, const char *uid)
{
	struct mirror_part *part = part_of(mirror, namespace_);

	if (part != NULL)
		mirror_part_take_away(part, namespace_, name, uid);
}

void
mirror_each(const struct mirror *mirror, void (*each)(void *data, const struct store_view *view),
	void *data)
{
	for (size_t i = 0; i < mirror->n_parts; i++)
		store_each(mirror->parts[i].store, each, data);
}

void
mirror_each_of(const struct mirror *mirror, const char *owner,
	void (*each)(void *data, const struct store_view *view), void *data)
{
	for (size_t i = 0; i < mirror->n_parts; i++)
		store_each_of(mirror->parts[i].store, owner, each, data);
}

void
mirror_set_note(struct mirror *mirror, const char *namespace_, const char *name, unsigned note,
	uint64_t value)
{
	struct mirror_part *part = part_of(mirror, namespace_);

	if (part != NULL)
		store_set_note(part->store, namespace_, name, note, value);
}

void
mirror_set_flags(struct mirror *mirror, const char *namespace_, const char *name, uint32_t clear,
	uint32_t set)
{
	struct mirror_part *part = part_of(mirror, namespace_);

	if (part != NULL)
		store_set_flags(part->store, namespace_, name, clear, set);
}

size_t
mirror_count(const struct mirror *mirror)
{
	size_t n = 0;

	for (size_t i = 0; i < mirror->n_parts; i++)
		n += store_count(mirror->parts[i].store);
	return n;
}
