/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where records stand: one anonymous mapping, and two hash indexes of 32-bit references into it, by namespace and name, and by owner (of
 * an object without owner: by its own uid). References count in units of 8 bytes, which allows 32 GiB.
 *
 * The region grows by mremap(2) in small steps; what is given up is closed by sliding the live records together. When there is no memory, or the
 * budget is used up, everything stays as it was.
 */
#include "config.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "common/memory.h"
#include "workers/store_internal.h"

uint64_t
store_index_hash(const struct record *record, int which)
{
	return which == BY_KEY ? record->key : record->group;
}

void
store_index_put(struct index *index, uint64_t hash, uint32_t ref)
{
	uint32_t i = (uint32_t)hash & (index->n - 1);

	while (index->slots[i] != 0)
		i = (i + 1) & (index->n - 1);
	index->slots[i] = ref;
	index->taken++;
}

void
store_index_take(struct index *index, uint64_t hash, uint32_t ref)
{
	uint32_t i = (uint32_t)hash & (index->n - 1);

	for (; index->slots[i] != 0; i = (i + 1) & (index->n - 1)) {
		if (index->slots[i] == ref) {
			index->slots[i] = TOMBSTONE;
			return;
		}
	}
}

void
store_index_replace(struct index *index, uint64_t hash, uint32_t old, uint32_t new)
{
	uint32_t i = (uint32_t)hash & (index->n - 1);

	for (; index->slots[i] != 0; i = (i + 1) & (index->n - 1)) {
		if (index->slots[i] == old) {
			index->slots[i] = new;
			return;
		}
	}
}

static void
fill_indexes(struct store *store)
{
	struct record *record;
	size_t offset = 0;

	for (int i = 0; i < INDEXES; i++) {
		memset(store->indexes[i].slots, 0, store->indexes[i].n * sizeof(uint32_t));
		store->indexes[i].taken = 0;
	}
	while ((record = next_record(store, &offset)) != NULL)
		for (int i = 0; i < INDEXES; i++)
			store_index_put(&store->indexes[i], store_index_hash(record, i),
				ref_of(store, record));
}

static bool
within_budget(const struct store *store, size_t more)
{
	const struct store_budget *budget = store->budget;

	return budget->limit == 0 ||
	       (budget->used <= budget->limit && more <= budget->limit - budget->used);
}

/* Room for one more entry in each index; a crowded one is filled anew, larger when it is the live entries that crowd it. */
bool
store_ready_indexes(struct store *store)
{
	struct index *key = &store->indexes[BY_KEY], *group = &store->indexes[BY_GROUP];
	uint32_t n = key->n;
	uint32_t *slots[INDEXES];
	size_t more;

	if (key->taken + 1 < key->n / 4 * 3 && group->taken + 1 < group->n / 4 * 3)
		return true;
	while (store->count + 1 >= n / 2)
		n *= 2;
	if (n == key->n) {
		fill_indexes(store);
		return true;
	}
	more = (size_t)(n - key->n) * sizeof(uint32_t) * INDEXES;
	if (!within_budget(store, more))
		return false;
	for (int i = 0; i < INDEXES; i++) {
		slots[i] = calloc(n, sizeof(uint32_t));
		if (slots[i] == NULL) {
			if (i > 0)
				free(slots[0]);
			return false;
		}
	}
	for (int i = 0; i < INDEXES; i++) {
		free(store->indexes[i].slots);
		store->indexes[i] = (struct index){.slots = slots[i], .n = n};
	}
	store->budget->used += more;
	fill_indexes(store);
	return true;
}

/* --- the region --- */

void
store_compact(struct store *store)
{
	size_t from = 0, to = 0;

	while (from < store->end) {
		struct record *record = record_at(store, from);
		size_t size = record->size;

		if (record->live) {
			if (from != to)
				memmove(store->region + to, store->region + from, size);
			to += size;
		}
		from += size;
	}
	store->end = to;
	store->garbage = 0;
	fill_indexes(store);
}

/* Gives back what compaction freed, but for one step. */
void
store_shrink(struct store *store)
{
	size_t want = (store->end + STEP + store->end / 16) / STEP * STEP + STEP;
	char *region;

	if (want + 4 * (size_t)STEP > store->mapped)
		return;
	region = mremap(store->region, store->mapped, want, MREMAP_MAYMOVE);
	if (region == MAP_FAILED)
		return;
	store->budget->used -= store->mapped - want;
	store->region = region;
	store->mapped = want;
}

bool
store_ready_room(struct store *store, size_t need)
{
	size_t want;
	char *region;

	if (store->garbage > GARBAGE_MIN && store->garbage > store->end / 10) {
		store_compact(store);
		store_shrink(store);
	}
	if (need <= store->mapped - store->end)
		return true;
	want = (store->end + need + store->end / 16) / STEP * STEP + STEP;
	if (want / UNIT >= TOMBSTONE || !within_budget(store, want - store->mapped)) {
		if (store->garbage < need)
			return false;
		store_compact(store);
		return need <= store->mapped - store->end;
	}
	region = mremap(store->region, store->mapped, want, MREMAP_MAYMOVE);
	if (region == MAP_FAILED)
		return false;
	store->budget->used += want - store->mapped;
	store->region = region;
	store->mapped = want;
	return true;
}

struct store *
store_new(struct store_budget *budget)
{
	struct store *store = xcalloc(1, sizeof(*store));

	store->budget = budget;
	store->mapped = STEP;
	store->region = mmap(
		NULL, store->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (store->region == MAP_FAILED) {
		free(store);
		return NULL;
	}
	for (int i = 0; i < INDEXES; i++) {
		store->indexes[i].n = INDEX_SLOTS;
		store->indexes[i].slots = xcalloc(INDEX_SLOTS, sizeof(uint32_t));
	}
	budget->used += store_bytes(store);
	return store;
}

void
store_free(struct store *store)
{
	if (store == NULL)
		return;
	store->budget->used -= store_bytes(store);
	for (int i = 0; i < INDEXES; i++)
		free(store->indexes[i].slots);
	munmap(store->region, store->mapped);
	free(store);
}
