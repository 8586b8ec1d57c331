/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes children that are no longer wanted. Never on a doubt: only when everything was rendered and applied, every watch is fresh, all our labels match, and
 * with the uid that was seen as precondition.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kube/write.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

#define NOT_FRESH_RETRY_NS NSEC_PER_SEC
#define PRUNES_MAX         1000u /* of one run; the rest is left to the next */

static void next_prune(struct reconcile *r);

void
reconcile_prunes_clear(struct reconcile *r)
{
	for (size_t i = 0; i < r->n_prunes; i++) {
		free(r->prunes[i].namespace_);
		free(r->prunes[i].name);
		free(r->prunes[i].uid);
		free(r->prunes[i].id);
	}
	free(r->prunes);
	r->prunes = NULL;
	r->n_prunes = 0;
}

/* One object may be seen through two versions of its group. */
static bool
is_kind(const struct kube_resource *a, const struct kube_resource *b)
{
	return a != NULL && b != NULL && strcmp(a->group, b->group) == 0 &&
	       strcmp(a->kind, b->kind) == 0;
}

static bool
is_wanted(const struct reconcile *r, const struct child_ref *ref)
{
	for (size_t i = 0; i < r->plan.n; i++) {
		const struct plan_child *child = &r->plan.children[i];

		if (child->what == PLAN_APPLY &&
			is_kind(children_kind(r->engine->children, child->child), ref->kind) &&
			strcmp(child->namespace_, ref->namespace_) == 0 &&
			strcmp(child->name, ref->name) == 0)
			return true;
	}
	return false;
}

void
reconcile_prune_add(struct reconcile *r, const struct child_ref *ref)
{
	if (r->n_prunes == PRUNES_MAX)
		return;
	r->prunes = xreallocarray(r->prunes, r->n_prunes + 1, sizeof(struct prune_item));
	r->prunes[r->n_prunes++] = (struct prune_item){.kind = ref->kind,
		.namespace_ = xstrdup(ref->namespace_),
		.name = xstrdup(ref->name),
		.uid = xstrdup(ref->uid),
		.id = xstrdup(ref->id)};
}

static void
collect(void *data, const struct child_ref *ref)
{
	struct reconcile *r = data;

	if (!is_wanted(r, ref) && !ref->retained)
		reconcile_prune_add(r, ref);
}

static void
on_deleted(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	const struct prune_item *item = &r->prunes[r->prune];
	char what[400], note[448];

	r->request = NULL;
	snprintf(what, sizeof(what), "%s %s%s%s", item->kind->kind, item->namespace_,
		*item->namespace_ == '\0' ? "" : "/", item->name);
	if (result->outcome == KUBE_OK) {
		children_deleting(r->engine->children, item->kind, item->namespace_, item->name);
		snprintf(note, sizeof(note), "Deleted %s, %s", what, r->prune_why);
		reconcile_event(r, false, "Deleted", "Delete", note);
	} else if (result->outcome != KUBE_NOT_FOUND && result->outcome != KUBE_CONFLICT &&
		   reconcile_judge(r, result, what)) {
		/* 404: gone already; 409: another object has the name now. Both are done. */
		reconcile_end(r);
		return;
	}
	r->prune++;
	next_prune(r);
}

static void
delete_child(struct reconcile *r)
{
	const struct prune_item *item = &r->prunes[r->prune];

	r->request = kube_delete(r->engine->kube, item->kind, item->namespace_, item->name,
		item->uid, on_deleted, r);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the delete could not be started");
		reconcile_end(r);
		return;
	}
	r->writes++;
	metric_add(M_CHILD_WRITES_TOTAL, metric_label_index(M_CHILD_WRITES_TOTAL, 0, "delete"), 1);
}

static void
next_prune(struct reconcile *r)
{
	if (r->prune < r->n_prunes)
		reconcile_with_token(r, delete_child);
	else
		r->after_prunes(r);
}

void
reconcile_delete_children(struct reconcile *r, const char *why, void (*then)(struct reconcile *r))
{
	r->prune_why = why;
	r->after_prunes = then;
	next_prune(r);
}

static void
pruned(struct reconcile *r)
{
	if (r->prune > 0 && r->verdict == VERDICT_SUCCEEDED)
		mirror_set_flags(r->engine->primary, r->namespace_, r->name, OBJECT_HELD, 0);
	reconcile_finalizer_drop(r);
}

static bool
is_fresh(const struct engine *engine)
{
	return mirror_trusted(engine->primary) && children_trusted(engine->children);
}

static void
ask_gate(struct reconcile *r)
{
	struct engine *engine = r->engine;
	bool initial = (r->flags & OBJECT_INITIAL) != 0, held = (r->flags & OBJECT_HELD) != 0;

	switch (prune_gate_ask(&engine->gate, initial, held, r->n_prunes)) {
	case PRUNE_GO:
		if (is_fresh(engine)) {
			reconcile_delete_children(r, "which is no longer wanted", pruned);
			return;
		}
		r->again_ns = NOT_FRESH_RETRY_NS;
		break;
	case PRUNE_HOLD:
		/* It runs again once that is decided, and then says how it stands. */
		mirror_set_flags(engine->primary, r->namespace_, r->name, 0, OBJECT_HELD);
		reconcile_end(r);
		return;
	case PRUNE_BLOCKED:
		reconcile_fail(r, VERDICT_PRUNE_BLOCKED,
			"this start would delete %zu children that are no longer wanted, more than "
			"prune.max (%zu): raise it to go on",
			engine->gate.counted, engine->gate.max);
		break;
	}
	reconcile_status(r);
}

void
reconcile_prune(struct reconcile *r)
{
	if (r->waits_for[0] != '\0')
		reconcile_await(r);
	if (r->verdict != VERDICT_SUCCEEDED || !r->plan.complete) {
		reconcile_status(r);
		return;
	}
	children_each_owned(r->engine->children, r->uid, collect, r);
	if (r->n_prunes == 0) {
		mirror_set_flags(r->engine->primary, r->namespace_, r->name, OBJECT_HELD, 0);
		reconcile_finalizer_drop(r);
	} else {
		ask_gate(r);
	}
}
