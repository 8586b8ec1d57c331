/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a reconcile: its start and its end.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/kube/write.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

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
	case VERDICT_DELETING:
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
			verdict_name(r->verdict), "writes", writes, "duration", duration,
			"credentials",
			r->verdict == VERDICT_FORBIDDEN
				? kube_credentials_source(r->engine->kube, KUBE_FORBIDDEN)
				: NULL),
		"%s",
		r->verdict == VERDICT_SUCCEEDED
			? r->superseded  ? "changed meanwhile, running again"
			  : r->finalized ? "all that it had is gone: finalizer removed"
					 : "reconciled"
			: r->text);
}

static bool
is_failure(const struct reconcile *r)
{
	return r->verdict != VERDICT_SUCCEEDED && r->verdict != VERDICT_PAUSED && !r->waits &&
	       r->verdict != VERDICT_PRUNE_BLOCKED && r->verdict != VERDICT_QUARANTINED;
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

/* It got over its object, whatever came of it. */
static void
leave_quarantine(const struct reconcile *r)
{
	struct engine *engine = r->engine;

	if (r->verdict == VERDICT_PAUSED || r->verdict == VERDICT_QUARANTINED ||
		r->verdict == VERDICT_UNAVAILABLE || r->superseded)
		return;
	if (quarantine_leave(engine->quarantine, r->namespace_, r->name) && engine->cured != NULL)
		engine->cured(engine->data, r->namespace_, r->name);
}

void
reconcile_reread(struct reconcile *r, void (*answer)(void *r, const struct kube_result *result))
{
	struct engine *engine = r->engine;

	r->request = kube_get(
		engine->kube, &engine->resource, r->namespace_, r->name, NULL, answer, r);
	if (r->request != NULL)
		return;
	reconcile_fail(r, VERDICT_UNAVAILABLE, "the object could not be read again");
	reconcile_end(r);
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
	leave_quarantine(r);
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

/* --- the start --- */

static bool
live_child(void *data, size_t child, const char *namespace_, const char *name,
	struct plan_live *ret)
{
	const struct reconcile *r = data;

	return children_live(r->engine->children, child, r->uid, namespace_, name, ret);
}

static void
make_plan(struct reconcile *r, const struct store_view *view)
{
	struct engine *engine = r->engine;
	const struct kube_resource *kinds[CONFIG_CHILDREN_MAX];
	struct buf children = BUF_INIT_LIMIT(64u << 20);
	struct plan_object object;

	for (size_t i = 0; i < engine->config->n_children; i++)
		kinds[i] = children_kind(engine->children, i);
	scoreboard_enter(r->namespace_, r->name, r->version);
	reconcile_object(r, view, &children, &object);
	object.live = live_child;
	object.live_data = r;
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

/* On its way out without us: its children go by their owner references. It has nothing more to say about pruning. */
static bool
is_left_alone(struct engine *engine, const struct store_view *view)
{
	if ((view->flags & OBJECT_DELETING) == 0 || (view->flags & OBJECT_FINALIZER) != 0)
		return false;
	if ((view->flags & OBJECT_INITIAL) != 0) {
		mirror_set_flags(engine->primary, view->namespace_, view->name, OBJECT_INITIAL, 0);
		if (prune_gate_seen(&engine->gate))
			mirror_each(engine->primary, kick_held, engine);
	}
	return true;
}

void
reconcile_start(struct engine *engine, struct queue_item *item)
{
	struct store_view view;
	struct reconcile *r;
	char text[CONDITION_MESSAGE_MAX];

	if (!mirror_get(
		    engine->primary, queue_item_namespace(item), queue_item_name(item), &view) ||
		(engine->removing ? (view.flags & OBJECT_REMOVE) == 0
				  : is_left_alone(engine, &view))) {
		queue_done(engine->queue, item);
		if (engine->ended != NULL)
			engine->ended(engine->data);
		return;
	}
	r = new_reconcile(engine, item, &view);
	if (engine->removing) {
		reconcile_remove(r);
		return;
	}
	if ((view.flags & OBJECT_DELETING) != 0) {
		reconcile_delete(r);
		return;
	}
	if (engine->config->paused || (view.flags & OBJECT_PAUSED) != 0) {
		reconcile_fail(r, VERDICT_PAUSED, "%s",
			engine->config->paused ? "the controller is paused by its configuration"
					       : "paused by the annotation operatord.io/paused");
		reconcile_status(r);
		return;
	}
	if (quarantine_holds(engine->quarantine, &view, text, sizeof(text), &r->again_ns)) {
		reconcile_fail(r, VERDICT_QUARANTINED, "%s", text);
		reconcile_status(r);
		return;
	}
	make_plan(r, &view);
	reconcile_finalizer_add(r);
}
