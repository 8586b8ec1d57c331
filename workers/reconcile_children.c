/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children, in the order of the configuration: each is compared with what is known of it, and applied if it is not as it should be. A child
 * that fails does not keep the others from being applied, unless the server is of no use at the moment. Bodies are kept from
 * the plan to their apply; everything else is read anew from the store after each wait.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/kube/names.h"
#include "common/kube/write.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

size_t
reconcile_child(const struct reconcile *r)
{
	return r->plan.children[r->child].child;
}

static void
child_text(const struct reconcile *r, char *out, size_t n)
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

static void
child_event(struct reconcile *r, const char *reason, const char *why)
{
	char what[400], note[512];

	child_text(r, what, sizeof(what));
	snprintf(note, sizeof(note), "%s %s%s%s", reason, what, why ? ": " : "", why ? why : "");
	reconcile_event(r, false, reason, "Apply", note);
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
						 : "its fields had been changed");
	else if (result->status == 201)
		child_event(r, "Created", NULL);
	else if (r->need == CHILD_MISSING)
		child_event(r, "Adopted", "an object of this name was there");
}

/* --- conflicts --- */

/* What another installation, or another controller of this one, manages is not ours to take; what a controller left that is configured no more is. */
static bool
may_take_from(const struct reconcile *r, const char *manager)
{
	char own[300];
	int n = snprintf(
		own, sizeof(own), "%s%s/", FIELD_MANAGER_PREFIX, r->engine->config->instance);

	if (strncmp(manager, FIELD_MANAGER_PREFIX, strlen(FIELD_MANAGER_PREFIX)) != 0 ||
		strcmp(manager, r->engine->field_manager) == 0)
		return true;
	if (strncmp(manager, own, (size_t)n) != 0 || r->engine->controllers == NULL)
		return false;
	for (size_t i = 0; r->engine->controllers[i] != NULL; i++)
		if (strcmp(r->engine->controllers[i], manager + n) == 0)
			return false;
	return true;
}

/* The first manager in the causes of a conflict whose fields may not be taken, into out; the server writes: conflict with "MANAGER" using ... */
static bool
holder(const struct reconcile *r, const struct kube_result *result, char *out, size_t size)
{
	cJSON *status = json_parse(result->body, result->body_length, NULL);
	const cJSON *cause, *causes = json_get(status, "details", "causes", NULL);
	bool found = false;

	cJSON_ArrayForEach(cause, causes)
	{
		const char *start = strchr(json_string(cause, "message", ""), '"');

		if (found || start == NULL)
			continue;
		snprintf(out, size, "%.*s", (int)strcspn(start + 1, "\""), start + 1);
		found = !may_take_from(r, out);
	}
	cJSON_Delete(status);
	return found;
}

static void apply_child(struct reconcile *r);

/* Of a conflict at the first apply, which takes nothing by force: true when it is settled, or will be. */
static bool
settle_conflict(struct reconcile *r, const struct kube_result *result)
{
	char manager[160], what[400];

	if (!result->conflict || r->forced ||
		r->engine->config->children[reconcile_child(r)].conflict != CONFIG_CONFLICT_FORCE)
		return false;
	if (!holder(r, result, manager, sizeof(manager))) {
		r->forced = true;
		reconcile_with_token(r, apply_child);
		return true;
	}
	child_text(r, what, sizeof(what));
	reconcile_fail(r, VERDICT_APPLY_CONFLICT,
		"%s is managed by %s and is not taken from it: give one of the two another name",
		what, manager);
	return false;
}

static void
on_applied(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	char what[400];

	r->request = NULL;
	if (result->outcome == KUBE_OK) {
		child_applied(r, result);
	} else if (settle_conflict(r, result)) {
		return;
	} else {
		child_text(r, what, sizeof(what));
		if (reconcile_judge(r, result, what)) {
			reconcile_end(r);
			return;
		}
	}
	r->child++;
	r->forced = false;
	reconcile_children(r);
}

static void
apply_child(struct reconcile *r)
{
	struct engine *engine = r->engine;
	const struct plan_child *child = &r->plan.children[r->child];
	const struct kube_resource *kind = children_kind(engine->children, reconcile_child(r));
	/* What is not known as ours is asked for first: force would take it from another operatord without a word. */
	bool force = engine->config->children[reconcile_child(r)].conflict == CONFIG_CONFLICT_FORCE &&
		     (r->forced || r->need != CHILD_MISSING);

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
	if (r->child < r->plan.n)
		reconcile_with_token(r, apply_child);
	else
		reconcile_prune(r);
}
