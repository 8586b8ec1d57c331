/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One anonymous mapping of records, and two hash indexes of 32-bit references into it: by namespace and name, and by owner (of an
 * object without owner: by its own uid). References count in units of 8 bytes, which allows 32 GiB.
 *
 * The region grows by mremap(2) in small steps, and the tail is written straight from the bytes that came: no copy on the way.
 * On failure to grow the caller gets STORE_FULL and the store stays as it was.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "common/log.h"
#include "common/memory.h"
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

struct names {
	char text[TEXTS][256];
	size_t length[TEXTS];
};

static uint64_t
key_hash(const char *namespace_, size_t namespace_length, const char *name, size_t name_length)
{
	return XXH3_64bits_withSeed(name, name_length, XXH3_64bits(namespace_, namespace_length));
}

static struct record *
record_at(const struct store *store, size_t offset)
{
	return (struct record *)(void *)(store->region + offset);
}

static uint32_t
ref_of(const struct store *store, const struct record *record)
{
	return (uint32_t)((size_t)((const char *)record - store->region) / UNIT) + 1;
}

static struct record *
record_of(const struct store *store, uint32_t ref)
{
	return record_at(store, (size_t)(ref - 1) * UNIT);
}

static size_t
text_size(const struct record *record)
{
	size_t n = (size_t)record->length + 1;

	for (int i = 0; i < TEXTS; i++)
		n += record->lengths[i] + 1u;
	return n;
}

static uint64_t
record_check(const struct record *record)
{
	return XXH3_64bits_withSeed(record->text, text_size(record), record->length);
}

static const char *
record_text(const struct record *record, int which)
{
	const char *p = record->text;

	for (int i = 0; i < which; i++)
		p += record->lengths[i] + 1u;
	return p;
}

/* --- indexes --- */

static uint64_t
index_hash(const struct record *record, int which)
{
	return which == BY_KEY ? record->key : record->group;
}

static void
index_put(struct index *index, uint64_t hash, uint32_t ref)
{
	uint32_t i = (uint32_t)hash & (index->n - 1);

	while (index->slots[i] != 0)
		i = (i + 1) & (index->n - 1);
	index->slots[i] = ref;
	index->taken++;
}

static void
index_take(struct index *index, uint64_t hash, uint32_t ref)
{
	uint32_t i = (uint32_t)hash & (index->n - 1);

	for (; index->slots[i] != 0; i = (i + 1) & (index->n - 1)) {
		if (index->slots[i] == ref) {
			index->slots[i] = TOMBSTONE;
			return;
		}
	}
}

static void
index_replace(struct index *index, uint64_t hash, uint32_t old, uint32_t new)
{
	uint32_t i = (uint32_t)hash & (index->n - 1);

	for (; index->slots[i] != 0; i = (i + 1) & (index->n - 1)) {
		if (index->slots[i] == old) {
			index->slots[i] = new;
			return;
		}
	}
}

/* Calls for each live record in order of the region. */
static struct record *
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
			index_put(&store->indexes[i], index_hash(record, i), ref_of(store, record));
}

static bool
within_budget(const struct store *store, size_t more)
{
	const struct store_budget *budget = store->budget;

	return budget->limit == 0 ||
	       (budget->used <= budget->limit && more <= budget->limit - budget->used);
}

/* Room for one more entry in each index; a crowded one is filled anew, larger when it is the live entries that crowd it. */
static bool
ready_indexes(struct store *store)
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

/* Slides the live records together; every reference changes. */
static void
compact(struct store *store)
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
static void
shrink(struct store *store)
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

static bool
ready_room(struct store *store, size_t need)
{
	size_t want;
	char *region;

	if (store->garbage > GARBAGE_MIN && store->garbage > store->end / 10) {
		compact(store);
		shrink(store);
	}
	if (need <= store->mapped - store->end)
		return true;
	want = (store->end + need + store->end / 16) / STEP * STEP + STEP;
	if (want / UNIT >= TOMBSTONE || !within_budget(store, want - store->mapped)) {
		if (store->garbage < need)
			return false;
		compact(store);
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

/* --- reading --- */

static struct record *
find(const struct store *store, const char *namespace_, const char *name)
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

static void
view(const struct record *record, struct store_view *ret)
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
	struct record *record = find(store, namespace_, name);

	if (record == NULL)
		return false;
	view(record, ret);
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
			view(record, ret);
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
		view(record, &v);
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
		view(record, &v);
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

/* --- writing --- */

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
			index_take(&store->indexes[BY_GROUP], old->group, old_ref);
			index_put(&store->indexes[BY_GROUP], new->group, old_ref);
		}
		memcpy(old, new, new->size);
		old->size = size;
		return;
	}
	index_replace(&store->indexes[BY_KEY], old->key, old_ref, ref_of(store, new));
	index_take(&store->indexes[BY_GROUP], old->group, old_ref);
	index_put(&store->indexes[BY_GROUP], new->group, ref_of(store, new));
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
	record = find(store, names->text[TEXT_NAMESPACE], names->text[TEXT_NAME]);
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
	old = find(store, names.text[TEXT_NAMESPACE], names.text[TEXT_NAME]);
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
	if (!ready_indexes(store) || !ready_room(store, most))
		return STORE_FULL;
	/* Making room may have moved everything. */
	old = find(store, names.text[TEXT_NAMESPACE], names.text[TEXT_NAME]);
	new = write_tail(store, entry, &names);
	if (old != NULL) {
		result = put_known(store, old, new, &names);
	} else {
		for (int i = 0; i < INDEXES; i++)
			index_put(&store->indexes[i], index_hash(new, i), ref_of(store, new));
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
		index_take(&store->indexes[i], index_hash(record, i), ref_of(store, record));
	record->live = 0;
	store->garbage += record->size;
	store->count--;
}

bool
store_remove(struct store *store, const char *namespace_, const char *name, const char *uid)
{
	struct record *record = find(store, namespace_, name);

	if (record == NULL || (uid != NULL && strcmp(record_text(record, TEXT_UID), uid) != 0))
		return false;
	kill_record(store, record);
	return true;
}

bool
store_set_note(struct store *store, const char *namespace_, const char *name, unsigned note,
	uint64_t value)
{
	struct record *record = find(store, namespace_, name);

	if (record == NULL || note >= STORE_NOTES)
		return false;
	record->notes[note] = value;
	return true;
}

bool
store_set_flags(
	struct store *store, const char *namespace_, const char *name, uint32_t clear, uint32_t set)
{
	struct record *record = find(store, namespace_, name);

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
		view(record, &v);
		if (gone != NULL)
			gone(data, &v);
		kill_record(store, record);
	}
	if (store->garbage > GARBAGE_MIN && store->garbage > store->end / 10)
		compact(store);
	shrink(store);
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
		else if (find(store, record_text(record, TEXT_NAMESPACE),
				 record_text(record, TEXT_NAME)) != record)
			return false;
		else
			live++;
		offset += record->size;
	}
	return live == store->count && garbage == store->garbage;
}
