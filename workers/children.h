/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of a controller's objects: each kind of child is one mirror of what carries our instance and controller labels.
 *
 * Kinds whose body no expression reads are watched as metadata only. Drift is seen in the child's own metadata: the fields that
 * our field manager holds (managedFields, fieldsV1 of our Apply entry) are not those that the answer to our last apply
 * named, or the child is gone. Status writes, server defaults and spelling do not touch that entry.
 *
 * A kind that can't be discovered or listed is in trouble of its own; the other kinds go on.
 */
#ifndef WORKERS_CHILDREN_H
#define WORKERS_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buf.h"
#include "common/config/config.h"
#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "common/worker_state.h"
#include "workers/conditions.h"
#include "workers/planner.h"
#include "workers/queue.h"
#include "workers/store.h"

struct children;

struct children_options {
	const struct config_controller *config;
	const char *const *former_kinds; /* "apps/v1 Deployment", NULL at the end; their troubles are not this controller's */
	bool (*reads)(void *data, size_t child); /* an expression reads this child's body, or its readiness is asked */
	const char *field_manager;
	struct store_budget *budget;
	/* A child of the object with this uid changed in a way that it must be reconciled for, after a delay when it is repaired again and again. */
	void (*changed)(
		void *data, const char *owner_uid, enum queue_reason reason, int64_t delay_ns);
	/* A kind became usable that was not: objects that failed for it may go on. */
	void (*usable)(void *data);
	/* Phase, trouble or freshness of a kind changed. */
	void (*health)(void *data);
	void *data;
};

struct children *children_new(
	struct loop *loop, struct kube *kube, const struct children_options *options);
void children_free(struct children *children);
/* Each kind is synced, or known to be in trouble: reconciles may begin. */
bool children_settled(const struct children *children);
bool children_synced(const struct children *children);
/* Each kind is known and fresh: what is not here does not exist. */
bool children_trusted(const struct children *children);
/* The first kind's trouble, as mirror_trouble(). */
enum worker_state children_trouble(const struct children *children, const char **ret_cause);
/* What child i of the configuration is on the server; NULL: not known. */
const struct kube_resource *children_kind(const struct children *children, size_t child);
/* True if child i can be reconciled; else why not. */
bool children_usable(const struct children *children, size_t child, enum verdict *ret_verdict,
	const char **ret_text);
void children_relist(struct children *children);
size_t children_count(const struct children *children);

/* What apply has to know about one child. */
enum child_need {
	CHILD_CURRENT,  /* as our last apply left it */
	CHILD_MISSING,  /* not there */
	CHILD_DRIFTED,  /* someone changed fields that we hold */
	CHILD_OUTDATED, /* other content is wanted, or it was not applied since our start */
	CHILD_LEAVING   /* it is being deleted: wait for the end */
};
/* What is known of it; false: it is not there. */
bool children_view(const struct children *children, size_t child, const char *namespace_,
	const char *name, struct store_view *ret);
/* The same for a plan (planner.h), if it is of this owner. */
bool children_live(const struct children *children, size_t child, const char *owner_uid,
	const char *namespace_, const char *name, struct plan_live *ret);
enum child_need children_need(const struct children *children, size_t child, const char *namespace_,
	const char *name, uint64_t hash);
/* It is changed by others and repaired again and again; ret_calm_ns: from now, when that is over unless it goes on. */
bool children_fought(const struct children *children, size_t child, const char *namespace_,
	const char *name, int64_t *ret_calm_ns);
/* Takes the answer of an apply of content with this hash. drift: it repaired something. */
void children_applied(struct children *children, size_t child, const char *body, size_t length,
	uint64_t hash, bool drift);

/* One that may be pruned: it carries all our labels for this owner and is not being deleted. */
struct child_ref {
	const struct kube_resource *kind;
	const char *namespace_, *name, *uid, *id;
	bool retained; /* it stays, wanted or not */
	bool leaving;  /* it is being deleted; children_each_held() only */
};
void children_each_owned(const struct children *children, const char *owner_uid,
	void (*each)(void *data, const struct child_ref *ref), void *data);
/*
 * Those that go with their owner by our doing: all our labels, no owner reference for the garbage collector to follow, and neither retained
 * nor owned by nobody; those that are being deleted already too.
 */
void children_each_held(const struct children *children, const char *owner_uid,
	void (*each)(void *data, const struct child_ref *ref), void *data);
/* All that children_each_held() has to know is known and fresh. Else cause says what is not; not_served: the server serves no such kind. */
bool children_held_known(
	const struct children *children, const char **ret_cause, bool *ret_not_served);
/* A delete was accepted: it is not asked for again. */
void children_deleting(struct children *children, const struct kube_resource *kind,
	const char *namespace_, const char *name);
/* $children of an owner, for expressions: appends {"deploy":{...},"svc":null}. */
void children_value(const struct children *children, const char *owner_uid, struct buf *out);

#endif
