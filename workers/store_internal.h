/* SPDX-License-Identifier: Apache-2.0 */
/* Between store.c (what is put and removed), store_region.c (where records stand) and store_read.c. Nobody else includes it. */
#ifndef WORKERS_STORE_INTERNAL_H
#define WORKERS_STORE_INTERNAL_H

#include <string.h>
#include <xxhash.h>

#include "workers/store.h"

#define UNIT        8u
#define STEP        65536u /* the region grows by this and a sixteenth of itself */
#define GARBAGE_MIN 65536u
#define BODY_MAX    (64u << 20)
#define TOMBSTONE   UINT32_MAX
#define TOMBSTONES  256u
#define INDEX_SLOTS 64u

enum { TEXT_NAMESPACE, TEXT_NAME, TEXT_UID, TEXT_VERSION, TEXT_OWNER, TEXT_CHILD, TEXTS };

struct record {
	uint64_t check;  /* of the text */
	uint32_t size;   /* of the record with this header, a multiple of UNIT */
	uint32_t length; /* of the body */
	uint32_t epoch, flags;
	uint64_t key, group;
	uint64_t own_version; /* resourceVersion of our last write, 0: none */
	int64_t generation;
	uint64_t fingerprint;
	uint64_t notes[STORE_NOTES];
	uint8_t live;
	uint8_t lengths[TEXTS];
	char text[]; /* each text and the body, NUL-terminated */
};

enum { BY_KEY, BY_GROUP, INDEXES };

struct index {
	uint32_t *slots;   /* offset / UNIT + 1; 0: empty */
	uint32_t n, taken; /* taken: with tombstones */
};

struct store {
	struct store_budget *budget;
	char *region;
	size_t mapped, end, garbage;
	size_t count;
	uint32_t epoch;
	struct index indexes[INDEXES];
	uint64_t gone[TOMBSTONES]; /* hashes of uids that were removed lately */
	unsigned gone_next;
};

static inline uint64_t
key_hash(const char *namespace_, size_t namespace_length, const char *name, size_t name_length)
{
	return XXH3_64bits_withSeed(name, name_length, XXH3_64bits(namespace_, namespace_length));
}

static inline struct record *
record_at(const struct store *store, size_t offset)
{
	return (struct record *)(void *)(store->region + offset);
}

static inline uint32_t
ref_of(const struct store *store, const struct record *record)
{
	return (uint32_t)((size_t)((const char *)record - store->region) / UNIT) + 1;
}

static inline struct record *
record_of(const struct store *store, uint32_t ref)
{
	return record_at(store, (size_t)(ref - 1) * UNIT);
}

static inline size_t
text_size(const struct record *record)
{
	size_t n = (size_t)record->length + 1;

	for (int i = 0; i < TEXTS; i++)
		n += record->lengths[i] + 1u;
	return n;
}

static inline uint64_t
record_check(const struct record *record)
{
	return XXH3_64bits_withSeed(record->text, text_size(record), record->length);
}

static inline const char *
record_text(const struct record *record, int which)
{
	const char *p = record->text;

	for (int i = 0; i < which; i++)
		p += record->lengths[i] + 1u;
	return p;
}

/* The next live record of the region; offset begins at 0. NULL at the end. */
static inline struct record *
next_record(const struct store *store, size_t *offset)
{
	while (*offset < store->end) {
		struct record *record = record_at(store, *offset);

		*offset += record->size;
		if (record->live)
			return record;
	}
	return NULL;
}

/* The region and its indexes. An entry of an index is a reference to a record. */
uint64_t store_index_hash(const struct record *record, int which);
void store_index_put(struct index *index, uint64_t hash, uint32_t ref);
void store_index_take(struct index *index, uint64_t hash, uint32_t ref);
void store_index_replace(struct index *index, uint64_t hash, uint32_t old, uint32_t new);
/* Room for one more entry in each index, and for `need` bytes at the end of the region; false: there is none. References may change. */
bool store_ready_indexes(struct store *store);
bool store_ready_room(struct store *store, size_t need);
/* Slides the live records together; every reference changes. Then gives memory back. */
void store_compact(struct store *store);
void store_shrink(struct store *store);

struct record *store_find(const struct store *store, const char *namespace_, const char *name);
/* Ends the process when the record is damaged. */
void store_fill_view(const struct record *record, struct store_view *ret);

#endif
