/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a reconcile, and its children. Bodies of children are kept from the plan to their apply; everything else is read anew from the store after
 * each wait.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

/* A server error (a webhook that fails, say) is retried this often before the object says so. */
#define SERVER_ERRORS_QUIET 3

/* --- helpers of all parts --- */

static void
on_token(void *data)
{
	struct reconcile *r = data;

	r->then(r);
}

bool
reconcile_take_token(struct reconcile *r, void (*then)(struct reconcile *r))
{
	r->then = then;
	r->waiter.go = on_token;
	r->waiter.data = r;
	return throttle_take(r->engine->throttle, &r->waiter);
}

void
reconcile_with_token(struct reconcile *r, void (*then)(struct reconcile *r))
{
	if (reconcile_take_token(r, then))
		then(r);
}

void
reconcile_fail(struct reconcile *r, enum verdict verdict, const char *format, ...)
{
	va_list args;

	if (r->verdict != VERDICT_SUCCEEDED && verdict != VERDICT_UNAVAILABLE)
		return;
	r->verdict = verdict;
	va_start(args, format);
	vsnprintf(r->text, sizeof(r->text), format, args);
	va_end(args);
	log_apply_mask(r->text);
}

static const struct {
	enum verdict verdict;
	bool ends;
} judgements[KUBE_OUTCOME_MAX] = {
	[KUBE_OK] = {VERDICT_SUCCEEDED, false},
	[KUBE_UNREACHABLE] = {VERDICT_UNAVAILABLE, true},
	[KUBE_UNAUTHORIZED] = {VERDICT_UNAVAILABLE, true},
	[KUBE_FORBIDDEN] = {VERDICT_FORBIDDEN, false},
	[KUBE_NOT_FOUND] = {VERDICT_APPLY_REJECTED, false},
	[KUBE_CONFLICT] = {VERDICT_UNAVAILABLE, true},
	[KUBE_EXPIRED] = {VERDICT_UNAVAILABLE, true},
	[KUBE_INVALID] = {VERDICT_APPLY_REJECTED, false},
	[KUBE_THROTTLED] = {VERDICT_UNAVAILABLE, true},
	[KUBE_SERVER_ERROR] = {VERDICT_UNAVAILABLE, true},
};

bool
reconcile_judge(struct reconcile *r, const struct kube_result *result, const char *what)
{
	enum verdict verdict = judgements[result->outcome].verdict;

	if (result->retry_after_ns > r->retry_after_ns)
		r->retry_after_ns = result->retry_after_ns;
	if (result->namespace_terminating) {
		r->quiet = true;
		reconcile_fail(r, VERDICT_UNAVAILABLE, "%s: %s", what, result->message);
		return true;
	}
	if (result->conflict) {
		reconcile_fail(r, VERDICT_APPLY_CONFLICT, "%s: another manager owns %s: %s", what,
			*result->cause_field == '\0' ? "a field" : result->cause_field,
			result->message);
		return false;
	}
	if (result->outcome == KUBE_SERVER_ERROR &&
		queue_item_failures(r->item) >= SERVER_ERRORS_QUIET) {
		reconcile_fail(r, VERDICT_APPLY_REJECTED, "%s: %s", what, result->message);
		return false;
	}
	reconcile_fail(r, verdict, "%s: %s", what, result->message);
	return judgements[result->outcome].ends;
}

void
reconcile_event(
	struct reconcile *r, bool warning, const char *reason, const char *action, const char *note)
{
	const struct event event = {
		.warning = warning,
		.resource = &r->engine->resource,
		.namespace_ = r->namespace_,
		.name = r->name,
		.uid = r->uid,
		.reason = reason,
		.action = action,
		.note = note,
		.reconcile_id = r->id,
	};

	events_post(r->engine->events, &event);
}

void
reconcile_object(const struct reconcile *r, const struct store_view *view, struct buf *children,
	struct plan_object *ret)
{
	*ret = (struct plan_object){.bytes = view->bytes,
		.length = view->length,
		.namespace_ = view->namespace_,
		.name = view->name,
		.uid = view->uid};
	children_value(r->engine->children, view->uid, children);
	if (children->failed)
		return;
	ret->children = children->data;
	ret->children_length = children->length;
}

/* --- the end --- */

static void
unlink_and_free(struct reconcile *r)
{
	if (r->previous != NULL)
		r->previous->next = r->next;
	else
		r->engine->running = r->next;
	if (r->next != NULL)
		r->next->previous = r->previous;
	if (r->engine->probe == r)
		r->engine->probe = NULL;
	plan_clear(&r->plan);
	reconcile_prunes_clear(r);
	cJSON_Delete(r->sent);
	free(r);
}

/* The first time of a failure is said; repetitions are for debugging. */
static bool
is_new_failure(struct reconcile *r, const struct store_view *view)
{
	uint64_t hash =
		XXH3_64bits_withSeed(r->text, strlen(r->text), (uint64_t)r->verdict + 1) | 1;
	bool new = view->notes[OBJECT_NOTE_FAILURE] != hash;

	mirror_set_note(r->engine->primary, r->namespace_, r->name, OBJECT_NOTE_FAILURE, hash);
	return new;
}

static enum log_level
level_of(struct reconcile *r, const struct store_view *view)
{
	switch (r->verdict) {
	case VERDICT_SUCCEEDED:
	case VERDICT_PAUSED:
		mirror_set_note(r->engine->primary, r->namespace_, r->name, OBJECT_NOTE_FAILURE, 0);
		return r->writes > 0 ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
	case VERDICT_WAITING_FOR_CHILD:
		return is_new_failure(r, view) ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
	default:
		if (!is_new_failure(r, view) || r->quiet)
			return LOG_LEVEL_DEBUG;
		return LOG_LEVEL_WARN;
	}
}

static void
say(struct reconcile *r, enum log_level level)
{
	char generation[24], writes[16], duration[32];

	if (level > log_get_level())
		return;
	snprintf(generation, sizeof(generation), "%" PRId64, r->generation);
	snprintf(writes, sizeof(writes), "%u", r->writes);
	snprintf(duration, sizeof(duration), "%.6f",
		(double)(clock_monotonic_ns() - r->started_ns) / NSEC_PER_SEC);
	log_fields(level,
		LOG_FIELDS("namespace", *r->namespace_ == '\0' ? NULL : r->namespace_, "name",
			r->name, "generation", r->generation == 0 ? NULL : generation,
			"reconcileID", r->id, "reason",
			queue_reason_name(queue_item_reason(r->item)), "result",
			verdict_name(r->verdict), "writes", writes, "duration", duration),
		"%s",
		r->verdict == VERDICT_SUCCEEDED
			? r->superseded ? "changed meanwhile, running again" : "reconciled"
			: r->text);
}

static bool
is_failure(const struct reconcile *r)
{
	return r->verdict != VERDICT_SUCCEEDED && r->verdict != VERDICT_PAUSED &&
	       r->verdict != VERDICT_PRUNE_BLOCKED;
}

static const char *
result_of(const struct reconcile *r)
{
	if (is_failure(r))
		return "error";
	if (r->superseded)
		return "requeue";
	return r->again_ns > 0 ? "requeue_after" : "success";
}

static enum object_state
state_of(const struct reconcile *r)
{
	if (r->verdict == VERDICT_SUCCEEDED)
		return OBJECT_READY;
	if (r->verdict == VERDICT_PAUSED)
		return OBJECT_UNKNOWN;
	return verdict_stalled(r->verdict) ? OBJECT_FAILED : OBJECT_RECONCILING;
}

static void
count_run(const struct reconcile *r)
{
	metric_add(M_RECONCILE_TOTAL, metric_label_index(M_RECONCILE_TOTAL, 0, result_of(r)), 1);
	metric_add(M_RECONCILE_REASON_TOTAL,
		metric_label_index(
			M_RECONCILE_REASON_TOTAL, 0, queue_reason_name(queue_item_reason(r->item))),
		1);
	metric_observe(M_RECONCILE_TIME, 0, clock_monotonic_ns() - r->started_ns);
	if (is_failure(r))
		metric_add(M_RECONCILE_ERRORS_TOTAL, 0, 1);
}

static void
kick_held(void *data, const struct store_view *view)
{
	struct engine *engine = data;

	if ((view->flags & OBJECT_HELD) != 0)
		queue_kick(engine->queue, view->namespace_, view->name, REASON_TIMER);
}

/* The object was looked at for the first time since the start; the last of them decides about pruning. */
static void
note_seen(struct reconcile *r, const struct store_view *view)
{
	struct engine *engine = r->engine;

	if ((view->flags & OBJECT_INITIAL) == 0 || r->verdict == VERDICT_UNAVAILABLE ||
		r->superseded)
		return;
	mirror_set_flags(engine->primary, r->namespace_, r->name, OBJECT_INITIAL, 0);
	if (prune_gate_seen(&engine->gate))
		mirror_each(engine->primary, kick_held, engine);
}

static void
finish_object(struct reconcile *r)
{
	struct store_view view;

	if (!mirror_get(r->engine->primary, r->namespace_, r->name, &view) ||
		strcmp(view.uid, r->uid) != 0) {
		say(r, LOG_LEVEL_DEBUG);
		return;
	}
	if (r->verdict != VERDICT_UNAVAILABLE && !r->superseded &&
		(view.flags & OBJECT_DELETING) == 0)
		object_count(&r->engine->counts, r->engine->primary, &view, state_of(r));
	say(r, level_of(r, &view));
	note_seen(r, &view);
}

void
reconcile_end(struct reconcile *r)
{
	struct engine *engine = r->engine;
	struct queue_item *item = r->item;
	char namespace_[256], name[256];
	int64_t again = r->again_ns;

	finish_object(r);
	count_run(r);
	snprintf(namespace_, sizeof(namespace_), "%s", r->namespace_);
	snprintf(name, sizeof(name), "%s", r->name);
	if (is_failure(r) && !r->superseded)
		queue_retry(engine->queue, item, r->version, r->retry_after_ns);
	else
		queue_done(engine->queue, item);
	if (again > 0)
		queue_add_after(engine->queue, namespace_, name, REASON_TIMER, again);
	unlink_and_free(r);
	if (engine->ended != NULL)
		engine->ended(engine->data);
}

void
reconcile_cancel_all(struct engine *engine)
{
	while (engine->running != NULL) {
		struct reconcile *r = engine->running;

		throttle_cancel(engine->throttle, &r->waiter);
		if (r->request != NULL)
			kube_cancel(r->request);
		unlink_and_free(r);
	}
}

/* --- children --- */

static void next_child(struct reconcile *r);

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
	next_child(r);
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

static void
next_child(struct reconcile *r)
{
	while (r->child < r->plan.n && !wants_apply(r))
		r->child++;
	if (r->child < r->plan.n)
		reconcile_with_token(r, apply_child);
	else
		reconcile_prune(r);
}

/* --- the start --- */

static void
make_plan(struct reconcile *r, const struct store_view *view)
{
	struct engine *engine = r->engine;
	const struct kube_resource *kinds[CONFIG_CHILDREN_MAX];
	struct buf children = BUF_INIT_LIMIT(64u << 20);
	struct plan_object object;

	for (size_t i = 0; i < engine->config->n_children; i++)
		kinds[i] = children_kind(engine->children, i);
	scoreboard_enter(r->namespace_, r->name);
	reconcile_object(r, view, &children, &object);
	plan_children(&engine->planner, &object, kinds, &r->plan);
	scoreboard_leave();
	buf_free(&children);
}

static struct reconcile *
new_reconcile(struct engine *engine, struct queue_item *item, const struct store_view *view)
{
	struct reconcile *r = xcalloc(1, sizeof(*r));

	r->engine = engine;
	r->item = item;
	r->namespace_ = queue_item_namespace(item);
	r->name = queue_item_name(item);
	snprintf(r->uid, sizeof(r->uid), "%s", view->uid);
	snprintf(r->id, sizeof(r->id), "%016" PRIx64, clock_random());
	r->version = view->fingerprint;
	r->generation = view->generation;
	r->flags = view->flags;
	r->started_ns = clock_monotonic_ns();
	r->next = engine->running;
	if (r->next != NULL)
		r->next->previous = r;
	engine->running = r;
	return r;
}

void
reconcile_start(struct engine *engine, struct queue_item *item)
{
	struct store_view view;
	struct reconcile *r;

	/* Gone, or on its way out: its children go by their owner references. */
	if (!mirror_get(
		    engine->primary, queue_item_namespace(item), queue_item_name(item), &view) ||
		(view.flags & OBJECT_DELETING) != 0) {
		queue_done(engine->queue, item);
		if (engine->ended != NULL)
			engine->ended(engine->data);
		return;
	}
	r = new_reconcile(engine, item, &view);
	if (engine->config->paused || (view.flags & OBJECT_PAUSED) != 0) {
		reconcile_fail(r, VERDICT_PAUSED, "%s",
			engine->config->paused ? "the controller is paused by its configuration"
					       : "paused by the annotation operatord.io/paused");
		reconcile_status(r);
		return;
	}
	make_plan(r, &view);
	next_child(r);
}
