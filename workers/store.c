/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is put, replaced and removed. A record is written straight from the bytes that came to the end of the region, then moved into the place of
 * the version before where it fits: no copy on the way. When there is no room the caller gets STORE_FULL, and the store
 * stays as it was.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "workers/store_internal.h"

struct names {
	char text[TEXTS][256];
	size_t length[TEXTS];
};

static bool
copy_name(struct names *names, int which, const char *bytes, const struct json_range *range)
{
	if (range->length > 255 || memchr(bytes + range->start, '\\', range->length) != NULL)
		return false;
	memcpy(names->text[which], bytes + range->start, range->length);
	names->text[which][range->length] = '\0';
	names->length[which] = range->length;
	return true;
}

static bool
copy_word(struct names *names, int which, const char *word)
{
	size_t n = word == NULL ? 0 : strlen(word);

	if (n > 255)
		return false;
	memcpy(names->text[which], word == NULL ? "" : word, n + 1);
	names->length[which] = n;
	return true;
}

static bool
read_names(const struct store_entry *entry, struct names *names)
{
	const struct json_object_info *info = entry->info;

	return info->name.length > 0 && entry->length <= BODY_MAX &&
	       copy_name(names, TEXT_NAMESPACE, entry->bytes, &info->namespace_) &&
	       copy_name(names, TEXT_NAME, entry->bytes, &info->name) &&
	       copy_name(names, TEXT_UID, entry->bytes, &info->uid) &&
	       copy_name(names, TEXT_VERSION, entry->bytes, &info->resource_version) &&
	       copy_word(names, TEXT_OWNER, entry->owner) &&
	       copy_word(names, TEXT_CHILD, entry->child);
}

static bool
version_number(const char *text, uint64_t *ret)
{
	uint64_t n = 0;

	if (*text == '\0' || strlen(text) > 19)
		return false;
	for (; *text != '\0'; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		n = n * 10 + (uint64_t)(*text - '0');
	}
	*ret = n;
	return true;
}

int
store_compare_versions(const char *a, const char *b)
{
	uint64_t x, y;

	if (!version_number(a, &x) || !version_number(b, &y))
		return 0;
	return x < y ? -1 : x > y;
}

bool
store_was_removed(const struct store *store, const char *uid)
{
	uint64_t hash = XXH3_64bits(uid, strlen(uid));

	for (unsigned i = 0; i < TOMBSTONES; i++)
		if (store->gone[i] == hash)
			return true;
	return false;
}

static bool
same_uid(const struct record *record, const struct names *names)
{
	return strcmp(record_text(record, TEXT_UID), names->text[TEXT_UID]) == 0;
}

/*
 * Whether the version is one that must not replace what is known (old may be NULL). A uid never comes back once its object is gone, but an
 * object that stopped matching a selector may match again: the server's word is taken then, an answer to a write is not.
 */
static bool
is_stale(const struct store *store, const struct record *old, const struct names *names,
	enum store_origin origin)
{
	uint64_t version;

	if (old == NULL)
		return origin == STORE_FROM_WRITE &&
		       store_was_removed(store, names->text[TEXT_UID]);
	if (!same_uid(old, names))
		return store_was_removed(store, names->text[TEXT_UID]);
	if (origin == STORE_FROM_WRITE)
		return store_compare_versions(
			       names->text[TEXT_VERSION], record_text(old, TEXT_VERSION)) < 0;
	return version_number(names->text[TEXT_VERSION], &version) && version < old->own_version;
}

/* Writes the record at the end of the region, not yet counted or indexed; there is room. */
static struct record *
write_tail(struct store *store, const struct store_entry *entry, const struct names *names)
{
	struct record *record = record_at(store, store->end);
	char *p = record->text;
	size_t size;

	memset(record, 0, offsetof(struct record, text));
	for (int i = 0; i < TEXTS; i++) {
		memcpy(p, names->text[i], names->length[i] + 1);
		p += names->length[i] + 1;
		record->lengths[i] = (uint8_t)names->length[i];
	}
	if (entry->keep_body)
		record->length =
			(uint32_t)jsonscan_strip(entry->bytes, entry->length, entry->info, p);
	p[record->length] = '\0';
	size = offsetof(struct record, text) + text_size(record);
	record->size = (uint32_t)((size + UNIT - 1) / UNIT * UNIT);
	record->check = record_check(record);
	record->live = 1;
	record->epoch = store->epoch;
	record->generation = entry->info->generation;
	record->fingerprint = entry->fingerprint;
	record->flags = entry->flags & STORE_FLAGS_OBSERVED;
	record->key = key_hash(names->text[TEXT_NAMESPACE], names->length[TEXT_NAMESPACE],
		names->text[TEXT_NAME], names->length[TEXT_NAME]);
	if (names->length[TEXT_OWNER] > 0)
		record->group = XXH3_64bits(names->text[TEXT_OWNER], names->length[TEXT_OWNER]);
	else
		record->group = XXH3_64bits(names->text[TEXT_UID], names->length[TEXT_UID]);
	return record;
}

/* What outlives a version. */
static void
inherit(struct record *new, const struct record *old)
{
	memcpy(new->notes, old->notes, sizeof(new->notes));
	new->flags |= old->flags & ~STORE_FLAGS_OBSERVED;
	new->own_version = old->own_version;
}

/* Puts the record that stands at the tail in the place of old: into it where it fits, else behind all others. */
static void
replace(struct store *store, struct record *old, struct record *new)
{
	uint32_t old_ref = ref_of(store, old);

	if (old->size >= new->size && old->size - new->size <= new->size / 8 + 64) {
		uint32_t size = old->size;

		if (old->group != new->group) {
			store_index_take(&store->indexes[BY_GROUP], old->group, old_ref);
			store_index_put(&store->indexes[BY_GROUP], new->group, old_ref);
		}
		memcpy(old, new, new->size);
		old->size = size;
		return;
	}
	store_index_replace(&store->indexes[BY_KEY], old->key, old_ref, ref_of(store, new));
	store_index_take(&store->indexes[BY_GROUP], old->group, old_ref);
	store_index_put(&store->indexes[BY_GROUP], new->group, ref_of(store, new));
	old->live = 0;
	store->garbage += old->size;
	store->end += new->size;
}

static enum store_result
put_known(struct store *store, struct record *old, struct record *new, const struct names *names)
{
	bool same = same_uid(old, names);

	if (same)
		inherit(new, old);
	replace(store, old, new);
	return same ? STORE_CHANGED : STORE_NEW;
}

static void
note_own_version(struct store *store, const struct names *names, enum store_origin origin)
{
	struct record *record;
	uint64_t version;

	if (origin != STORE_FROM_WRITE || !version_number(names->text[TEXT_VERSION], &version))
		return;
	record = store_find(store, names->text[TEXT_NAMESPACE], names->text[TEXT_NAME]);
	if (record != NULL && version > record->own_version)
		record->own_version = version;
}

enum store_result
store_put(struct store *store, const struct store_entry *entry, enum store_origin origin)
{
	struct names names;
	struct record *old, *new;
	enum store_result result;
	size_t most;

	if (!read_names(entry, &names))
		return STORE_REFUSED;
	old = store_find(store, names.text[TEXT_NAMESPACE], names.text[TEXT_NAME]);
	if (old != NULL)
		old->epoch = store->epoch;
	if (is_stale(store, old, &names, origin))
		return STORE_STALE;
	if (old != NULL && same_uid(old, &names) && names.length[TEXT_VERSION] > 0 &&
		strcmp(record_text(old, TEXT_VERSION), names.text[TEXT_VERSION]) == 0) {
		note_own_version(store, &names, origin);
		return STORE_SAME;
	}
	most = offsetof(struct record, text) + (entry->keep_body ? entry->length : 0) +
	       TEXTS * 256 + 2 * UNIT;
	if (!store_ready_indexes(store) || !store_ready_room(store, most))
		return STORE_FULL;
	/* Making room may have moved everything. */
	old = store_find(store, names.text[TEXT_NAMESPACE], names.text[TEXT_NAME]);
	new = write_tail(store, entry, &names);
	if (old != NULL) {
		result = put_known(store, old, new, &names);
	} else {
		for (int i = 0; i < INDEXES; i++)
			store_index_put(
				&store->indexes[i], store_index_hash(new, i), ref_of(store, new));
		store->end += new->size;
		store->count++;
		result = STORE_NEW;
	}
	note_own_version(store, &names, origin);
	return result;
}

static void
kill_record(struct store *store, struct record *record)
{
	const char *uid = record_text(record, TEXT_UID);

	store->gone[store->gone_next++ % TOMBSTONES] = XXH3_64bits(uid, strlen(uid));
	for (int i = 0; i < INDEXES; i++)
		store_index_take(
			&store->indexes[i], store_index_hash(record, i), ref_of(store, record));
	record->live = 0;
	store->garbage += record->size;
	store->count--;
}

bool
store_remove(struct store *store, const char *namespace_, const char *name, const char *uid)
{
	struct record *record = store_find(store, namespace_, name);

	if (record == NULL || (uid != NULL && strcmp(record_text(record, TEXT_UID), uid) != 0))
		return false;
	kill_record(store, record);
	return true;
}

bool
store_set_note(struct store *store, const char *namespace_, const char *name, unsigned note,
	uint64_t value)
{
	struct record *record = store_find(store, namespace_, name);

	if (record == NULL || note >= STORE_NOTES)
		return false;
	record->notes[note] = value;
	return true;
}

bool
store_set_flags(
	struct store *store, const char *namespace_, const char *name, uint32_t clear, uint32_t set)
{
	struct record *record = store_find(store, namespace_, name);

	if (record == NULL)
		return false;
	record->flags = (record->flags & ~clear) | set;
	return true;
}

void
store_begin(struct store *store)
{
	store->epoch++;
}

void
store_sweep(
	struct store *store, void (*gone)(void *data, const struct store_view *view), void *data)
{
	struct record *record;
	struct store_view v;
	size_t offset = 0;

	while ((record = next_record(store, &offset)) != NULL) {
		if (record->epoch == store->epoch)
			continue;
		store_fill_view(record, &v);
		if (gone != NULL)
			gone(data, &v);
		kill_record(store, record);
	}
	if (store->garbage > GARBAGE_MIN && store->garbage > store->end / 10)
		store_compact(store);
	store_shrink(store);
}
