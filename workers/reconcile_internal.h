/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a reconcile share: reconcile.c (life), _parts.c (helpers), _children.c, _prune.c, _status.c. */
#ifndef WORKERS_RECONCILE_INTERNAL_H
#define WORKERS_RECONCILE_INTERNAL_H

#include "workers/plan.h"
#include "workers/reconcile.h"

struct prune_item {
	const struct kube_resource *kind;
	char *namespace_, *name, *uid, *id;
};

struct reconcile {
	struct engine *engine;
	struct queue_item *item;
	struct reconcile *next, *previous;
	const char *namespace_, *name; /* the item's */
	char uid[256], id[17];
	uint64_t version;
	int64_t generation, started_ns;
	uint32_t flags; /* of the object, when it was read */

	struct plan plan;
	size_t child; /* of the plan, the one that is looked at */
	enum child_need need;
	bool forced; /* nobody holds it back: fields of other managers are taken */
	struct prune_item *prunes;
	size_t n_prunes, prune;
	const char *prune_why;
	void (*after_prunes)(struct reconcile *r);
	cJSON *sent; /* the status patch under way */

	struct kube_request *request;
	struct throttle_waiter waiter;
	void (*then)(struct reconcile *r); /* with a token for one write */
	void (*after_patch)(struct reconcile *r),
		(*then_failed)(struct reconcile *r); /* of the finalizer */

	enum verdict verdict;
	char text[CONDITION_MESSAGE_MAX + 8]; /* more than fits, so that it is cut at a character */
	char waits_for[CONDITION_MESSAGE_MAX + 8]; /* a child that is not ready, "": none was seen yet */
	char drift[400]; /* what had been changed in the child, and by whom; "": not known */
	char fought[400];  /* a child that others change again and again, "": none */
	int64_t calm_ns;   /* when that may be over, from the time of the look */
	int64_t retry_after_ns, again_ns;
	unsigned writes, rereads;
	bool not_found;       /* the status write was answered with 404 */
	bool superseded;      /* the object changed meanwhile */
	bool status_rejected; /* the status was refused: only conditions are written */
	bool adding;          /* the finalizer; else it is taken off */
	bool leaving;         /* the object is under deletion */
	bool waits;     /* nothing failed: it is looked at again when what it waits for is there */
	bool finalized; /* the finalizer is off, the object goes */
	bool quiet;     /* an expected trouble, not worth a warning */
};

/* Of the configuration: the child that is looked at. */
size_t reconcile_child(const struct reconcile *r);
/* "Deployment ns/name" */
void reconcile_child_text(const struct reconcile *r, char *out, size_t n);
/* The child will be new when it is applied again. */
void reconcile_forget_applied(const struct reconcile *r);
/* With a token: applies the child that is looked at, then reconcile_next_child(). */
void reconcile_apply_child(struct reconcile *r);
void reconcile_next_child(struct reconcile *r);
/* Of a run without a failure: a fight over a child is one. */
void reconcile_tell_fight(struct reconcile *r);
/* reconcile_conflict.c: true: it is to be applied again, as r->forced says. Else a cause that is worse than the conflict may have been noted. */
bool reconcile_settle_conflict(
	struct reconcile *r, const struct kube_result *result, const char *what);
/* reconcile_replace.c: applies the child unless an object of its name is there; true: it is being deleted, to be made anew. */
void reconcile_look_first(struct reconcile *r);
bool reconcile_recreate(struct reconcile *r, const struct kube_result *result);
/* reconcile_ready.c: all that the child that is looked at depends on is ready. */
bool reconcile_may_apply(struct reconcile *r);
/* Of a run without a failure: it waits, if a child that is waited for is not ready. */
void reconcile_await(struct reconcile *r);
/* A token for one write: true when there is one now, else `then` is called once there is. */
bool reconcile_take_token(struct reconcile *r, void (*then)(struct reconcile *r));
/* Runs `then` with a token, at once or later. */
void reconcile_with_token(struct reconcile *r, void (*then)(struct reconcile *r));
/* Notes what is wrong; the first verdict stays, but VERDICT_UNAVAILABLE takes the place of any. */
void reconcile_fail(struct reconcile *r, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Notes a refused or failed write of what. True: the server is of no use now, end the run. */
bool reconcile_judge(struct reconcile *r, const struct kube_result *result, const char *what);
void reconcile_event(struct reconcile *r, bool warning, const char *reason, const char *action,
	const char *note);
/* The object is the same as at the start of the run, and not under deletion. */
bool reconcile_is_alive(const struct reconcile *r);
/* reconcile_prune.c: notes a child to delete; deletes what was noted ("Deleted ConfigMap x, WHY"), then goes on, failed or not. */
void reconcile_prune_add(struct reconcile *r, const struct child_ref *ref);
void reconcile_delete_children(
	struct reconcile *r, const char *why, void (*then)(struct reconcile *r));
/* Our finalizer: added where it is needed, then reconcile_children(); taken off where it is not needed any more, then reconcile_status(). */
void reconcile_finalizer_add(struct reconcile *r);
void reconcile_finalizer_drop(struct reconcile *r);
/* Taken off; failed() is called with the verdict when the server refuses. */
void reconcile_finalizer_remove(struct reconcile *r, void (*then)(struct reconcile *r),
	void (*failed)(struct reconcile *r));
/* Asks the server for the object as it is now; a request that can't be made ends the run. */
void reconcile_reread(struct reconcile *r, void (*answer)(void *r, const struct kube_result *result));
/* The next steps. */
void reconcile_delete(struct reconcile *r);
void reconcile_remove(struct reconcile *r);
void reconcile_children(struct reconcile *r);
void reconcile_prune(struct reconcile *r);
void reconcile_status(struct reconcile *r);
void reconcile_end(struct reconcile *r);
void reconcile_prunes_clear(struct reconcile *r);
/* The object as expressions see it; children is filled, to be freed after use. */
void reconcile_object(const struct reconcile *r, const struct store_view *view,
	struct buf *children, struct plan_object *ret);

#endif
