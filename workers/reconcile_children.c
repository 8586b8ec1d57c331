/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children, in the order of the configuration: each is compared with what is known of it, and applied if it is not as it should be. A child
 * that fails does not keep the others from being applied, unless the server is of no use at the moment. Bodies are kept from
 * the plan to their apply; everything else is read anew from the store after each wait.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/kube/names.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

/* How often a child that is fought over is looked at. */
#define FIGHT_LOOK_NS (5 * NSEC_PER_SEC)

size_t
reconcile_child(const struct reconcile *r)
{
	return r->plan.children[r->child].child;
}

void
reconcile_child_text(const struct reconcile *r, char *out, size_t n)
{
	const struct plan_child *child = &r->plan.children[r->child];

	snprintf(out, n, "%s %s%s%s", r->engine->config->children[reconcile_child(r)].kind, child->namespace_,
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
	uint64_t bits = applied_bits(r), bit = UINT64_C(1) << reconcile_child(r);

	if (((bits & bit) != 0) != applied)
		mirror_set_note(r->engine->primary, r->namespace_, r->name, OBJECT_NOTE_APPLIED,
			bits ^ bit);
}

void
reconcile_forget_applied(const struct reconcile *r)
{
	set_applied(r, false);
}

static void
child_event(struct reconcile *r, const char *reason, const char *why)
{
	char what[400], note[512];

	reconcile_child_text(r, what, sizeof(what));
	snprintf(note, sizeof(note), "%s %s%s%s", reason, what, why ? ": " : "", why ? why : "");
	reconcile_event(r, false, reason, "Apply", note);
	if (strcmp(reason, "Repaired") == 0)
		log_fields(LOG_LEVEL_INFO,
			LOG_FIELDS("namespace", *r->namespace_ == '\0' ? NULL : r->namespace_,
				"name", r->name, "reconcileID", r->id, "child",
				r->engine->config->children[reconcile_child(r)].id),
			"%s", note);
}

static void
child_applied(struct reconcile *r, const struct kube_result *result)
{
	bool was_applied = (applied_bits(r) >> reconcile_child(r) & 1) != 0;

	/* Of many under one id others may have been applied: this one is new unless one has gone. */
	if (r->engine->config->children[reconcile_child(r)].for_each != NULL &&
		queue_item_reason(r->item) != REASON_CHILD_DRIFT)
		was_applied = false;
	bool drift = r->need == CHILD_DRIFTED || (r->need == CHILD_MISSING && was_applied);

	children_applied(r->engine->children, reconcile_child(r), result->body, result->body_length,
		r->plan.children[r->child].hash, drift);
	set_applied(r, true);
	if (drift)
		child_event(r, "Repaired",
			r->need == CHILD_MISSING ? "it had been deleted"
			: r->drift[0] != '\0' ? r->drift
					       : "its fields had been changed");
	else if (result->status == 201)
		child_event(r, "Created", NULL);
	else if (r->need == CHILD_MISSING)
		child_event(r, "Adopted", "an object of this name was there");
}

void
reconcile_next_child(struct reconcile *r)
{
	r->child++;
	r->forced = false;
	r->drift[0] = '\0';
	reconcile_children(r);
}

static void
on_applied(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	char what[400];

	r->request = NULL;
	reconcile_child_text(r, what, sizeof(what));
	if (result->outcome == KUBE_OK) {
		child_applied(r, result);
	} else if (reconcile_settle_conflict(r, result, what)) {
		reconcile_with_token(r, reconcile_apply_child);
		return;
	} else if (reconcile_recreate(r, result)) {
		return;
	} else if (reconcile_judge(r, result, what)) {
		reconcile_end(r);
		return;
	}
	reconcile_next_child(r);
}

/* What is not known as ours, was changed by others or has fields that are theirs is asked for first: force would take it without a word. */
static bool
may_force(const struct reconcile *r)
{
	const struct config_child *config = &r->engine->config->children[reconcile_child(r)];

	return config->conflict == CONFIG_CONFLICT_FORCE &&
	       (r->forced || (r->need == CHILD_OUTDATED && config->n_create_only == 0));
}

void
reconcile_apply_child(struct reconcile *r)
{
	struct engine *engine = r->engine;
	const struct plan_child *child = &r->plan.children[r->child];
	const struct kube_resource *kind = children_kind(engine->children, reconcile_child(r));

	/* While waiting for the token the server may have stopped serving the kind. */
	if (kind != NULL)
		r->request = kube_apply(engine->kube, kind, child->namespace_, child->name,
			engine->field_manager, may_force(r), child->body, child->length, on_applied,
			r);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the apply could not be started");
		reconcile_end(r);
		return;
	}
	r->writes++;
	metric_add(M_CHILD_WRITES_TOTAL, metric_label_index(M_CHILD_WRITES_TOTAL, 0, "apply"), 1);
}

static void
note_fight(struct reconcile *r, const struct plan_child *child)
{
	if (r->fought[0] == '\0' && children_fought(r->engine->children, child->child,
					     child->namespace_, child->name, &r->calm_ns))
		reconcile_child_text(r, r->fought, sizeof(r->fought));
}

void
reconcile_tell_fight(struct reconcile *r)
{
	if (r->fought[0] == '\0' || r->verdict != VERDICT_SUCCEEDED)
		return;
	reconcile_fail(r, VERDICT_APPLY_CONFLICT,
		"%s is changed by others again and again: its repairs are slowed down; the Events "
		"say which field, and by whom",
		r->fought);
	r->waits = true;
	/* A change that is waited with is not looked at before this: no longer than a repair may wait. */
	r->again_ns = r->calm_ns < FIGHT_LOOK_NS ? r->calm_ns : FIGHT_LOOK_NS;
}

/* True if a write of this child is to be done. */
static bool
wants_apply(struct reconcile *r)
{
	const struct plan_child *child = &r->plan.children[r->child];
	const struct config_child *config = &r->engine->config->children[reconcile_child(r)];
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
	if (!children_usable(r->engine->children, reconcile_child(r), &verdict, &text)) {
		reconcile_fail(r, verdict, "%s %s: %s", config->kind, child->name, text);
		return false;
	}
	r->need = children_need(
		r->engine->children, reconcile_child(r), child->namespace_, child->name, child->hash);
	note_fight(r, child);
	if (r->need != CHILD_CURRENT && !reconcile_may_apply(r))
		return false;
	if (r->need == CHILD_LEAVING)
		reconcile_fail(r, VERDICT_WAITING_FOR_CHILD, "%s %s is being deleted", config->kind,
			child->name);
	return r->need != CHILD_CURRENT && r->need != CHILD_LEAVING;
}

void
reconcile_children(struct reconcile *r)
{
	/* What is made for an object that is gone would be left behind. */
	if (!reconcile_is_alive(r)) {
		r->verdict = VERDICT_SUCCEEDED;
		reconcile_end(r);
		return;
	}
	while (r->child < r->plan.n && !wants_apply(r))
		r->child++;
	if (r->child < r->plan.n && r->need == CHILD_MISSING &&
		!r->engine->config->children[reconcile_child(r)].adopt)
		reconcile_look_first(r);
	else if (r->child < r->plan.n)
		reconcile_with_token(r, reconcile_apply_child);
	else
		reconcile_prune(r);
}
