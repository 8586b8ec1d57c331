/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children, in the order of the configuration: each is compared with what is known of it, and applied if it is not as it should be. A child
 * that fails does not keep the others from being applied, unless the server is of no use at the moment. Bodies are kept from
 * the plan to their apply; everything else is read anew from the store after each wait.
 */
#include "config.h"

#include <stdio.h>

#include "common/kube/write.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

static void
child_text(const struct reconcile *r, char *out, size_t n)
{
	const struct plan_child *child = &r->plan.children[r->child];

	snprintf(out, n, "%s %s%s%s", r->engine->config->children[r->child].kind, child->namespace_,
		*child->namespace_ == '\0' ? "" : "/", child->name);
}

static uint64_t
applied_bits(const struct reconcile *r)
{
	struct store_view view;

	return mirror_get(r->engine->primary, r->namespace_, r->name, &view)
		       ? view.notes[OBJECT_NOTE_APPLIED]
		       : 0;
}

static void
set_applied(const struct reconcile *r, bool applied)
{
	uint64_t bits = applied_bits(r), bit = UINT64_C(1) << r->child;

	if (((bits & bit) != 0) != applied)
		mirror_set_note(r->engine->primary, r->namespace_, r->name, OBJECT_NOTE_APPLIED,
			bits ^ bit);
}

static void
child_applied(struct reconcile *r, const struct kube_result *result)
{
	bool was_applied = (applied_bits(r) >> r->child & 1) != 0;
	bool drift = r->need == CHILD_DRIFTED || (r->need == CHILD_MISSING && was_applied);
	char what[400], note[448];

	children_applied(r->engine->children, r->child, result->body, result->body_length,
		r->plan.children[r->child].hash, drift);
	set_applied(r, true);
	if (result->status != 201)
		return;
	child_text(r, what, sizeof(what));
	snprintf(note, sizeof(note), "Created %s", what);
	reconcile_event(r, false, "Created", "Apply", note);
}

static void
on_applied(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	char what[400];

	r->request = NULL;
	if (result->outcome == KUBE_OK) {
		child_applied(r, result);
	} else {
		child_text(r, what, sizeof(what));
		if (reconcile_judge(r, result, what)) {
			reconcile_end(r);
			return;
		}
	}
	r->child++;
	reconcile_children(r);
}

static void
apply_child(struct reconcile *r)
{
	struct engine *engine = r->engine;
	const struct plan_child *child = &r->plan.children[r->child];
	const struct kube_resource *kind = children_kind(engine->children, r->child);
	bool force = engine->config->children[r->child].conflict == CONFIG_CONFLICT_FORCE;

	/* While waiting for the token the server may have stopped serving the kind. */
	if (kind != NULL)
		r->request = kube_apply(engine->kube, kind, child->namespace_, child->name,
			engine->field_manager, force, child->body, child->length, on_applied, r);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the apply could not be started");
		reconcile_end(r);
		return;
	}
	r->writes++;
	metric_add(M_CHILD_WRITES_TOTAL, metric_label_index(M_CHILD_WRITES_TOTAL, 0, "apply"), 1);
}

/* True if a write of this child is to be done. */
static bool
wants_apply(struct reconcile *r)
{
	const struct plan_child *child = &r->plan.children[r->child];
	const struct config_child *config = &r->engine->config->children[r->child];
	enum verdict verdict;
	const char *text;

	switch (child->what) {
	case PLAN_FAILED:
		reconcile_fail(r, child->verdict, "%s", child->text);
		return false;
	case PLAN_ABSENT:
		set_applied(r, false);
		return false;
	case PLAN_APPLY:
		break;
	}
	if (!children_usable(r->engine->children, r->child, &verdict, &text)) {
		reconcile_fail(r, verdict, "%s %s: %s", config->kind, child->name, text);
		return false;
	}
	r->need = children_need(
		r->engine->children, r->child, child->namespace_, child->name, child->hash);
	if (r->need == CHILD_LEAVING)
		reconcile_fail(r, VERDICT_WAITING_FOR_CHILD, "%s %s is being deleted", config->kind,
			child->name);
	return r->need != CHILD_CURRENT && r->need != CHILD_LEAVING;
}

void
reconcile_children(struct reconcile *r)
{
	while (r->child < r->plan.n && !wants_apply(r))
		r->child++;
	if (r->child < r->plan.n)
		reconcile_with_token(r, apply_child);
	else
		reconcile_prune(r);
}
