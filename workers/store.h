/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects a worker knows, as bytes in one growable region.
 *
 * An object is one record: names, versions, the JSON without managedFields and last-applied-configuration, and a few numbers
 * of the caller. Records are addressed by offset, so that the region may move; each holds its length and a hash of its text, which
 * is compared at each read: a damaged one ends the process, which is started again with a fresh list. An update is written in
 * place where it fits; what is given up is closed by sliding the records together once a tenth is garbage, so that growth needs no
 * second copy.
 *
 * What is not its job: asking the server, judging who owns what.
 * Views are valid until the next call that is not a getter. Callbacks must not put or remove.
 */
#ifndef WORKERS_STORE_H
#define WORKERS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/jsonscan.h"

struct store;

/* Shared by the stores of one worker: bytes of their regions and indexes. */
struct store_budget {
	size_t limit; /* 0: none */
	size_t used;
};

enum store_origin {
	STORE_FROM_SERVER, /* list or watch */
	STORE_FROM_WRITE   /* the answer of our own write: nothing older is taken from then on */
};

enum store_result {
	STORE_NEW, /* was not there, or was there with another uid */
	STORE_CHANGED,
	STORE_SAME,   /* the version is known: only marked as seen */
	STORE_STALE,  /* older than our own write, or deleted meanwhile: only marked as seen */
	STORE_FULL,   /* no room: what was there is kept */
	STORE_REFUSED /* names out of the bounds of Kubernetes */
};

enum { STORE_NOTES = 3 };

/* Flags below this mask are replaced at each put, those above are kept for the life of a uid. */
#define STORE_FLAGS_OBSERVED 0xffffu

struct store_entry {
	const char *bytes; /* the object and what jsonscan_object() said about it */
	size_t length;
	const struct json_object_info *info;
	bool keep_body; /* false: names, versions and numbers only */
	const char *
		owner; /* NULL or "": none; the uid of the object that it belongs to, at most 255 bytes */
	const char *child; /* NULL or "": none; a word of the caller, at most 255 bytes */
	uint64_t fingerprint;
	uint32_t flags; /* within STORE_FLAGS_OBSERVED */
};

struct store_view {
	const char *namespace_, *name, *uid, *resource_version, *owner,
		*child;    /* NUL-terminated, never NULL */
	const char *bytes; /* NUL-terminated; "" without a body */
	size_t length;
	int64_t generation;
	uint64_t fingerprint;
	uint64_t notes[STORE_NOTES]; /* 0 until set; kept across versions of one uid */
	uint32_t flags;
};

struct store *store_new(struct store_budget *budget);
void store_free(struct store *store);
enum store_result store_put(
	struct store *store, const struct store_entry *entry, enum store_origin origin);
bool store_get(const struct store *store, const char *namespace_, const char *name,
	struct store_view *ret);
bool store_get_uid(const struct store *store, const char *uid, struct store_view *ret);
/* Removes it if it has this uid (NULL: any). A later answer to a write for that uid is not taken. */
bool store_remove(struct store *store, const char *namespace_, const char *name, const char *uid);
/* True if an object with this uid was removed lately (among the last 256). */
bool store_was_removed(const struct store *store, const char *uid);
/* Sets the caller's numbers; false when there is no such object. */
bool store_set_note(struct store *store, const char *namespace_, const char *name, unsigned note,
	uint64_t value);
/* Clears and sets flags, observed ones too (they last until the next put). */
bool store_set_flags(struct store *store, const char *namespace_, const char *name, uint32_t clear,
	uint32_t set);

/* Mark and sweep: what is not put between the two calls is removed, each announced first. */
void store_begin(struct store *store);
void store_sweep(
	struct store *store, void (*gone)(void *data, const struct store_view *view), void *data);
void store_each(const struct store *store, void (*each)(void *data, const struct store_view *view),
	void *data);
/* Each object with this owner. */
void store_each_of(const struct store *store, const char *owner,
	void (*each)(void *data, const struct store_view *view), void *data);
size_t store_count(const struct store *store);
/* Bytes of region and indexes. */
size_t store_bytes(const struct store *store);
/* Walks everything and compares hashes and indexes: false when something is damaged. For tests. */
bool store_sound(const struct store *store);

/* -1, 0, 1 when both are numbers (as resourceVersions are in practice); 0 when they can't be compared. */
int store_compare_versions(const char *a, const char *b);

#endif
