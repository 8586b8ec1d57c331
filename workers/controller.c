/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wires the parts: what the primary watch and the children's watches say becomes entries of the queue, the queue's turns become reconciles,
 * and the health of the watches becomes the worker's state (the table `rules`).
 *
 * The queue is open while the objects are known and each kind of child is synced or known to be in trouble.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kube/names.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/controller_internal.h"
#include "workers/finalizer.h"
#include "workers/reconcile.h"

void
controller_health(struct controller *c)
{
	struct engine *engine = &c->engine;

	/* Called while the parts are being made, too. */
	if (engine->primary == NULL || engine->children == NULL)
		return;
	queue_open(engine->queue, !c->draining && (!engine->removing || c->marked) &&
					  c->first_synced &&
					  mirror_phase(engine->primary) == MIRROR_SYNCED &&
					  children_settled(engine->children));
	controller_set_state(c);
}

static void
on_health(void *data)
{
	controller_health(data);
}

/* --- the objects --- */

static void
on_found(void *data, const struct kube_resource *resource)
{
	struct controller *c = data;

	c->engine.resource = *resource;
	/* Its definition was made anew, if this is not the start: what its schema keeps is found out again. */
	status_paths_clear(c->engine.paths);
	c->engine.probed = false;
}

static bool
on_entry(void *data, struct store_entry *entry)
{
	const struct controller *c = data;

	object_entry(entry);
	if (finalizer_held(entry->bytes, entry->info, c->engine.finalizer))
		entry->flags |= OBJECT_FINALIZER;
	return true;
}

static enum queue_reason
reason_of(enum listwatch_event event, enum store_result result)
{
	if (event == LISTWATCH_LISTED)
		return result == STORE_NEW ? REASON_LIST : REASON_MODIFIED;
	return event == LISTWATCH_ADDED ? REASON_ADDED : REASON_MODIFIED;
}

/* Its deletion waits for us from now on: what it failed for before, and the delay for that, count no more. */
static bool
begins_to_leave(struct engine *engine, const struct store_view *view)
{
	if ((view->flags & OBJECT_DELETING) != 0 && (view->flags & OBJECT_FINALIZER) != 0)
		return leaving_add(&engine->leaving, view->uid, view->bytes, view->length);
	leaving_remove(&engine->leaving, view->uid);
	return false;
}

static void
on_changed(void *data, enum listwatch_event event, enum store_result result,
	const struct store_view *view)
{
	struct controller *c = data;
	struct engine *engine = &c->engine;

	if ((view->flags & OBJECT_DELETING) != 0)
		object_count(&engine->counts, engine->primary, view, OBJECT_LEAVING);
	else if (result == STORE_NEW)
		object_count(&engine->counts, engine->primary, view, OBJECT_UNKNOWN);
	if (result == STORE_NEW && !c->first_synced) {
		mirror_set_flags(engine->primary, view->namespace_, view->name, 0, OBJECT_INITIAL);
		prune_gate_expect(&engine->gate);
	}
	if (begins_to_leave(engine, view))
		queue_kick(engine->queue, view->namespace_, view->name, reason_of(event, result));
	else
		queue_add(engine->queue, view->namespace_, view->name, reason_of(event, result),
			view->fingerprint);
}

static void
kick_held(void *data, const struct store_view *view)
{
	struct controller *c = data;

	if ((view->flags & OBJECT_HELD) != 0)
		queue_kick(c->engine.queue, view->namespace_, view->name, REASON_TIMER);
}

static void
on_cured(void *data, const char *namespace_, const char *name)
{
	struct controller *c = data;

	if (c->callbacks.cured != NULL)
		c->callbacks.cured(c->callbacks.data, namespace_, name);
}

static bool
has_selector(const struct config_controller *config)
{
	return config->selector != NULL || config->field_selector != NULL;
}

static void
on_gone(void *data, const struct store_view *view)
{
	struct controller *c = data;
	struct engine *engine = &c->engine;

	object_count(&engine->counts, engine->primary, view, OBJECT_UNCOUNTED);
	controller_remove_gone(c, view);
	/* Under deletion it went by our doing, or by that of whoever took our finalizer off; but a selector may have lost it. */
	if ((view->flags & OBJECT_FINALIZER) != 0 &&
		((view->flags & OBJECT_DELETING) == 0 || has_selector(engine->config)))
		releases_add(c->releases, view);
	leaving_remove(&engine->leaving, view->uid);
	queue_forget(engine->queue, view->namespace_, view->name);
	if (quarantine_leave(engine->quarantine, view->namespace_, view->name))
		on_cured(c, view->namespace_, view->name);
	if ((view->flags & OBJECT_INITIAL) != 0 && prune_gate_seen(&engine->gate))
		mirror_each(engine->primary, kick_held, c);
}

static void
add_resync(void *data, const struct store_view *view)
{
	struct controller *c = data;

	queue_add(c->engine.queue, view->namespace_, view->name, REASON_RESYNC, 0);
}

static void
on_synced(void *data)
{
	struct controller *c = data;

	if (!c->first_synced) {
		c->first_synced = true;
		prune_gate_listed(&c->engine.gate);
		log_info("%zu objects of %s known", mirror_count(c->engine.primary),
			c->engine.resource.plural);
	}
	controller_remove_go_on(c);
	if (c->resyncing)
		mirror_each(c->engine.primary, add_resync, c);
	c->resyncing = false;
}

/* --- the children --- */

static bool
reads_child(void *data, size_t child)
{
	const struct controller *c = data;

	return c->engine.config->children[child].awaited ||
	       c->engine.config->children[child].n_create_only > 0 ||
	       planner_reads_child(&c->engine.planner, child);
}

static void
on_child_changed(void *data, const char *owner_uid, enum queue_reason reason, int64_t delay_ns)
{
	struct controller *c = data;
	struct store_view owner;

	if (!mirror_get_uid(c->engine.primary, owner_uid, &owner) ||
		((owner.flags & OBJECT_DELETING) != 0 && (owner.flags & OBJECT_FINALIZER) == 0))
		return;
	if (delay_ns > 0)
		queue_add_after(c->engine.queue, owner.namespace_, owner.name, reason, delay_ns);
	else
		queue_kick(c->engine.queue, owner.namespace_, owner.name, reason);
}

static void
kick_failed(void *data, const struct store_view *view)
{
	struct controller *c = data;

	if (view->notes[OBJECT_NOTE_FAILURE] != 0)
		queue_kick(c->engine.queue, view->namespace_, view->name, REASON_TIMER);
}

static void
on_child_usable(void *data)
{
	struct controller *c = data;

	if (c->engine.primary != NULL)
		mirror_each(c->engine.primary, kick_failed, c);
}

/* --- runs --- */

static void
on_run(void *data, struct queue_item *item)
{
	struct controller *c = data;

	reconcile_start(&c->engine, item);
}

static void
on_ended(void *data)
{
	struct controller *c = data;

	controller_remove_go_on(c);
	if ((c->draining || controller_removed(c)) && queue_running(c->engine.queue) == 0)
		loop_timer_set(c->drained, 0);
}

static void
on_drained(void *data)
{
	struct controller *c = data;

	c->callbacks.drained(c->callbacks.data);
}

/* Within a tenth of the period, so that controllers do not list together. */
static void
set_resync(struct controller *c)
{
	int64_t period = c->engine.config->resync_ns;

	if (period > 0)
		loop_timer_set(
			c->resync, period - period / 10 +
					   (int64_t)(clock_random() % (uint64_t)(period / 5 + 1)));
}

static void
on_resync(void *data)
{
	struct controller *c = data;

	c->resyncing = true;
	children_relist(c->engine.children);
	mirror_relist(c->engine.primary);
	set_resync(c);
}

/* --- life --- */

static void
make_primary(struct controller *c, struct loop *loop, struct kube *kube)
{
	const struct config_controller *config = c->engine.config;
	const struct mirror_options options = {
		.wanted = config->resource,
		.namespaces = (const char *const *)config->namespaces,
		.n_namespaces = config->n_namespaces,
		.label_selector = config->selector,
		.field_selector = config->field_selector,
		.keep_body = true,
		.primary = true,
		.silence_ns = config->watch_silence_ns,
		.request_timeout_ns = config->request_timeout_ns,
		.budget = &c->engine.budget,
	};
	const struct mirror_callbacks callbacks = {
		on_found, on_entry, on_changed, on_gone, on_synced, on_health, c};

	c->engine.primary = mirror_new(loop, kube, &options, &callbacks);
}

static void
make_children(
	struct controller *c, struct loop *loop, struct kube *kube, const char *const *former_kinds)
{
	const struct children_options options = {
		.config = c->engine.config,
		.former_kinds = former_kinds,
		.reads = reads_child,
		.field_manager = c->engine.field_manager,
		.budget = &c->engine.budget,
		.changed = on_child_changed,
		.usable = on_child_usable,
		.health = on_health,
		.data = c,
	};

	c->engine.children = children_new(loop, kube, &options);
}

/* What the store may take of limits.memory: the rest is for the program itself, TLS and what is under way. */
static size_t
budget_of(int64_t memory_limit)
{
	const int64_t own = 8 << 20;

	if (memory_limit <= 0)
		return 0;
	return (size_t)(memory_limit > 2 * own ? memory_limit - own : memory_limit / 2);
}

static void
make_engine(struct controller *c, struct loop *loop, struct kube *kube)
{
	struct engine *engine = &c->engine;
	const struct config_controller *config = engine->config;
	const struct queue_options options = {
		config->concurrency, config->retry_min_ns, config->retry_max_ns};

	engine->loop = loop;
	engine->kube = kube;
	engine->field_manager =
		xasprintf(FIELD_MANAGER_PREFIX "%s/%s", config->instance, config->name);
	engine->finalizer = finalizer_name(config->instance, config->name);
	engine->budget.limit = budget_of(config->memory_limit);
	engine->gate.max = config->prune_max;
	engine->paths = status_paths_new();
	engine->throttle = throttle_new(loop, config->writes_per_second, config->writes_burst);
	engine->events = events_new(kube, config->instance, config->name);
	engine->queue = queue_new(loop, &options, on_run, c);
	engine->ended = on_ended;
	engine->cured = on_cured;
	engine->data = c;
}

struct controller *
controller_new(struct loop *loop, struct kube *kube, const struct controller_options *options,
	const struct controller_callbacks *callbacks, struct error *err)
{
	const struct config_controller *config = options->config;
	struct controller *c = xcalloc(1, sizeof(*c));

	c->callbacks = *callbacks;
	c->state = WORKER_STARTING;
	c->engine.config = config;
	c->engine.controllers = options->controllers;
	c->engine.quarantine = quarantine_new(options->suspects, options->n_suspects);
	c->engine.resource = config->resource;
	if (planner_init(&c->engine.planner, config, &c->engine.resource, err) < 0) {
		quarantine_free(c->engine.quarantine);
		free(c);
		return NULL;
	}
	make_engine(c, loop, kube);
	c->resync = loop_timer_new(loop, on_resync, c);
	c->releases = releases_new(&c->engine);
	c->drained = loop_timer_new(loop, on_drained, c);
	make_primary(c, loop, kube);
	make_children(c, loop, kube, options->former_kinds);
	set_resync(c);
	on_health(c); /* a server that never answers is being asked all the same */
	return c;
}

void
controller_free(struct controller *c)
{
	if (c == NULL)
		return;
	reconcile_cancel_all(&c->engine);
	releases_free(c->releases);
	mirror_free(c->engine.primary);
	children_free(c->engine.children);
	events_free(c->engine.events);
	queue_free(c->engine.queue);
	quarantine_free(c->engine.quarantine);
	throttle_free(c->engine.throttle);
	status_paths_free(c->engine.paths);
	planner_clear(&c->engine.planner);
	loop_timer_free(c->resync);
	loop_timer_free(c->drained);
	leaving_clear(&c->engine.leaving);
	free(c->engine.field_manager);
	free(c->engine.finalizer);
	free(c);
}

void
controller_drain(struct controller *c)
{
	if (c->draining)
		return;
	c->draining = true;
	controller_remove_cut(c);
	on_health(c);
	if (queue_running(c->engine.queue) == 0)
		loop_timer_set(c->drained, 0);
}

void
controller_measure(const struct controller *c)
{
	queue_measure(c->engine.queue);
	metric_set(M_OLDEST_DELETION, 0, (uint64_t)leaving_oldest(&c->engine.leaving));
	metric_set(M_STORE_BYTES, 0, c->engine.budget.used);
	metric_set(M_LOG_DROPPED_TOTAL, 0, log_dropped());
	metric_set(M_LOG_REPEATED_TOTAL, 0, log_repeated());
}
