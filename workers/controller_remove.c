/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller that was removed from the configuration lets go of its objects: they are marked when all are known, each is run once more
 * (reconcile_remove.c), with the delays and bounds of any run, and when none is left it is drained. Objects that come later have nothing of ours.
 */
#include "config.h"

#include "common/log.h"
#include "workers/controller_internal.h"

static void
count(void *data, const struct store_view *view)
{
	if ((view->flags & OBJECT_FINALIZER) != 0)
		++*(size_t *)data;
}

static void
mark(void *data, const struct store_view *view)
{
	struct controller *c = data;
	struct engine *engine = &c->engine;

	if (engine->config->on_remove != CONFIG_REMOVE_DELETE &&
		(view->flags & OBJECT_FINALIZER) == 0)
		return;
	mirror_set_flags(engine->primary, view->namespace_, view->name, 0, OBJECT_REMOVE);
	engine->remove_left++;
}

static void
kick(void *data, const struct store_view *view)
{
	struct controller *c = data;

	if ((view->flags & OBJECT_REMOVE) != 0)
		queue_kick(c->engine.queue, view->namespace_, view->name, REASON_RELOAD);
}

static void
end_if_done(struct controller *c)
{
	if (controller_removed(c) && queue_running(c->engine.queue) == 0)
		loop_timer_set(c->drained, 0);
}

bool
controller_removed(const struct controller *c)
{
	return c->engine.removing && c->marked && c->engine.remove_left == 0;
}

void
controller_remove_go_on(struct controller *c)
{
	struct engine *engine = &c->engine;

	/* A run that began before may still give its object a finalizer. */
	if (!engine->removing || c->marked || c->draining || !c->first_synced ||
		mirror_phase(engine->primary) != MIRROR_SYNCED || queue_running(engine->queue) > 0)
		return;
	c->marked = true;
	mirror_each(engine->primary, mark, c);
	log_info("%s: %zu objects of %s to let go of",
		engine->config->on_remove == CONFIG_REMOVE_DELETE ? "onRemove: delete"
								  : "onRemove: release",
		engine->remove_left, engine->resource.plural);
	mirror_each(engine->primary, kick, c);
	controller_health(c);
	end_if_done(c);
}

void
controller_remove_gone(struct controller *c, const struct store_view *view)
{
	if ((view->flags & OBJECT_REMOVE) == 0)
		return;
	c->engine.remove_left--;
	end_if_done(c);
}

void
controller_remove_cut(const struct controller *c)
{
	const struct engine *engine = &c->engine;
	size_t held = 0;

	if (!engine->removing || controller_removed(c))
		return;
	mirror_each(engine->primary, count, &held);
	if (!c->first_synced)
		log_warn("ended before the objects of %s were known: they keep their finalizers "
			 "and children; operatorctl release takes finalizers off",
			engine->config->resource.plural);
	else
		log_warn("ended before all objects of %s were let go of: %zu have the finalizer "
			 "%s; operatorctl release takes it off",
			engine->resource.plural, held, engine->finalizer);
}

void
controller_remove(struct controller *c)
{
	struct engine *engine = &c->engine;

	if (engine->removing || c->draining)
		return;
	if (engine->config->on_remove == CONFIG_REMOVE_KEEP) {
		controller_drain(c);
		return;
	}
	engine->removing = true;
	controller_health(c);
	controller_remove_go_on(c);
}
