/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up, walking and checking. Changes nothing. */
#include "config.h"

#include <stdlib.h>

#include "common/log.h"
#include "workers/store_internal.h"

struct record *
store_find(const struct store *store, const char *namespace_, const char *name)
{
	size_t nn = strlen(namespace_), n = strlen(name);
	uint64_t hash = key_hash(namespace_, nn, name, n);
	const struct index *index = &store->indexes[BY_KEY];

	for (uint32_t i = (uint32_t)hash & (index->n - 1); index->slots[i] != 0;
		i = (i + 1) & (index->n - 1)) {
		struct record *record;

		if (index->slots[i] == TOMBSTONE)
			continue;
		record = record_of(store, index->slots[i]);
		if (record->key == hash && record->lengths[TEXT_NAMESPACE] == nn &&
			record->lengths[TEXT_NAME] == n &&
			memcmp(record_text(record, TEXT_NAMESPACE), namespace_, nn) == 0 &&
			memcmp(record_text(record, TEXT_NAME), name, n) == 0)
			return record;
	}
	return NULL;
}

void
store_fill_view(const struct record *record, struct store_view *ret)
{
	if (record->check != record_check(record)) {
		log_error("an object in memory is damaged; ending, to begin with a fresh list");
		abort();
	}
	ret->namespace_ = record_text(record, TEXT_NAMESPACE);
	ret->name = record_text(record, TEXT_NAME);
	ret->uid = record_text(record, TEXT_UID);
	ret->resource_version = record_text(record, TEXT_VERSION);
	ret->owner = record_text(record, TEXT_OWNER);
	ret->child = record_text(record, TEXT_CHILD);
	ret->bytes = record_text(record, TEXTS);
	ret->length = record->length;
	ret->generation = record->generation;
	ret->fingerprint = record->fingerprint;
	ret->flags = record->flags;
	memcpy(ret->notes, record->notes, sizeof(ret->notes));
}

bool
store_get(
	const struct store *store, const char *namespace_, const char *name, struct store_view *ret)
{
	struct record *record = store_find(store, namespace_, name);

	if (record == NULL)
		return false;
	store_fill_view(record, ret);
	return true;
}

bool
store_get_uid(const struct store *store, const char *uid, struct store_view *ret)
{
	uint64_t hash = XXH3_64bits(uid, strlen(uid));
	const struct index *index = &store->indexes[BY_GROUP];

	for (uint32_t i = (uint32_t)hash & (index->n - 1); index->slots[i] != 0;
		i = (i + 1) & (index->n - 1)) {
		const struct record *record;

		if (index->slots[i] == TOMBSTONE)
			continue;
		record = record_of(store, index->slots[i]);
		if (record->group == hash && record->lengths[TEXT_OWNER] == 0 &&
			strcmp(record_text(record, TEXT_UID), uid) == 0) {
			store_fill_view(record, ret);
			return true;
		}
	}
	return false;
}

void
store_each_of(const struct store *store, const char *owner,
	void (*each)(void *data, const struct store_view *view), void *data)
{
	uint64_t hash = XXH3_64bits(owner, strlen(owner));
	const struct index *index = &store->indexes[BY_GROUP];

	for (uint32_t i = (uint32_t)hash & (index->n - 1); index->slots[i] != 0;
		i = (i + 1) & (index->n - 1)) {
		const struct record *record;
		struct store_view v;

		if (index->slots[i] == TOMBSTONE)
			continue;
		record = record_of(store, index->slots[i]);
		if (record->group != hash || strcmp(record_text(record, TEXT_OWNER), owner) != 0)
			continue;
		store_fill_view(record, &v);
		each(data, &v);
	}
}

void
store_each(const struct store *store, void (*each)(void *data, const struct store_view *view),
	void *data)
{
	const struct record *record;
	struct store_view v;
	size_t offset = 0;

	while ((record = next_record(store, &offset)) != NULL) {
		store_fill_view(record, &v);
		each(data, &v);
	}
}

size_t
store_count(const struct store *store)
{
	return store->count;
}

size_t
store_bytes(const struct store *store)
{
	return store->mapped + store->indexes[BY_KEY].n * sizeof(uint32_t) * INDEXES;
}

static bool
record_sound(const struct store *store, size_t offset, const struct record *record)
{
	return record->size % UNIT == 0 && record->size >= offsetof(struct record, text) &&
	       record->size <= store->end - offset &&
	       (!record->live ||
		       (offsetof(struct record, text) + text_size(record) <= record->size &&
			       record->check == record_check(record)));
}

bool
store_sound(const struct store *store)
{
	size_t live = 0, garbage = 0, offset = 0;

	while (offset < store->end) {
		const struct record *record = record_at(store, offset);

		if (!record_sound(store, offset, record))
			return false;
		if (!record->live)
			garbage += record->size;
		else if (store_find(store, record_text(record, TEXT_NAMESPACE),
				 record_text(record, TEXT_NAME)) != record)
			return false;
		else
			live++;
		offset += record->size;
	}
	return live == store->count && garbage == store->garbage;
}
