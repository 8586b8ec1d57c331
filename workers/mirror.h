/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One resource kept in view: discovered, then listed and watched, its objects in stores. A list of namespaces has a watch and a
 * store each, so that a new list of one sweeps only its own; more than MIRROR_WATCHES_MAX have one watch of all, if that is allowed,
 * and objects elsewhere are let go unread.
 *
 * It never gives up: a resource that is not served is looked for with growing delays, and again after the server stopped
 * serving it. What is wrong is one `trouble` in words, cleared by itself. Objects that find no room are left out, and a new list is made
 * later.
 */
#ifndef WORKERS_MIRROR_H
#define WORKERS_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/kube/client.h"
#include "common/kube/listwatch.h"
#include "common/kube/path.h"
#include "common/loop/loop.h"
#include "common/worker_state.h"
#include "workers/store.h"

#define MIRROR_WATCHES_MAX 10

struct mirror;

/* Callbacks come from the loop, never from inside the functions here, but for changed() and gone(), which mirror_put() and mirror_remove()
 * call as well. */
struct mirror_callbacks {
	/* The resource is known (again): its status subresource, scope and kind may differ from before. */
	void (*found)(void *data, const struct kube_resource *resource);
	/* Completes the entry of an object (owner, child, fingerprint, flags); false: not one to keep. */
	bool (*entry)(void *data, struct store_entry *entry);
	/* It was put, and is new or changed; not for the answers of our own writes. */
	void (*changed)(void *data, enum listwatch_event event, enum store_result result,
		const struct store_view *view);
	/* It is about to be removed. */
	void (*gone)(void *data, const struct store_view *view);
	/* A list was completed, and each namespace has one. */
	void (*synced)(void *data);
	/* Phase, trouble or freshness changed. */
	void (*health)(void *data);
	void *data;
};

struct mirror_options {
	struct kube_resource wanted; /* by plural, or by kind */
	const char *const
		*namespaces; /* n_namespaces, sorted, 0: all; not used for a cluster-scoped resource */
	size_t n_namespaces;
	const char *label_selector, *field_selector;
	bool keep_body; /* false: metadata only */
	bool primary;
	int64_t silence_ns, request_timeout_ns;
	struct store_budget *budget;
};

enum mirror_phase { MIRROR_DISCOVERING, MIRROR_LISTING, MIRROR_SYNCED };

/* Strings of options must outlive it. Starts at once. */
struct mirror *mirror_new(struct loop *loop, struct kube *kube,
	const struct mirror_options *options, const struct mirror_callbacks *callbacks);
void mirror_free(struct mirror *mirror);
/* NULL until discovered. */
const struct kube_resource *mirror_resource(const struct mirror *mirror);
/* SYNCED from the first complete list on, until the resource is no longer served. */
enum mirror_phase mirror_phase(const struct mirror *mirror);
/* Everything is known and fresh: each namespace is synced, its watch open, and no object was left out. What is not here does not exist. */
bool mirror_trusted(const struct mirror *mirror);
/* What is wrong: a state that is not one of the good ones, with the cause in words; WORKER_LIVE: nothing. */
enum worker_state mirror_trouble(const struct mirror *mirror, const char **ret_cause);
/* New lists, to be compared with what is known. */
void mirror_relist(struct mirror *mirror);

/* The answer of a write or read of one object, already judged as KUBE_OK. */
enum store_result mirror_put(
	struct mirror *mirror, const char *bytes, size_t length, enum store_origin origin);
bool mirror_get(const struct mirror *mirror, const char *namespace_, const char *name,
	struct store_view *ret);
bool mirror_get_uid(const struct mirror *mirror, const char *uid, struct store_view *ret);
void mirror_remove(
	struct mirror *mirror, const char *namespace_, const char *name, const char *uid);
void mirror_each(const struct mirror *mirror,
	void (*each)(void *data, const struct store_view *view), void *data);
void mirror_each_of(const struct mirror *mirror, const char *owner,
	void (*each)(void *data, const struct store_view *view), void *data);
void mirror_set_note(struct mirror *mirror, const char *namespace_, const char *name, unsigned note,
	uint64_t value);
void mirror_set_flags(struct mirror *mirror, const char *namespace_, const char *name,
	uint32_t clear, uint32_t set);
size_t mirror_count(const struct mirror *mirror);

#endif
