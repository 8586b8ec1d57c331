/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run of an object whose controller was removed from the configuration. onRemove: release takes our finalizer off and leaves the children as they are;
 * delete deletes them first, under the rules of every delete: only with everything known and fresh, only what carries all our labels and is
 * not retained, with the uid that was seen. What is paused keeps its children.
 */
#include "config.h"

#include "common/clock.h"
#include "workers/reconcile_internal.h"

#define DOUBT_NS NSEC_PER_SEC

static void
done(struct reconcile *r)
{
	struct engine *engine = r->engine;
	struct store_view view;

	if (mirror_get(engine->primary, r->namespace_, r->name, &view) &&
		(view.flags & OBJECT_REMOVE) != 0) {
		mirror_set_flags(engine->primary, r->namespace_, r->name, OBJECT_REMOVE, 0);
		engine->remove_left--;
	}
	reconcile_end(r);
}

static void
release(struct reconcile *r)
{
	if (r->verdict == VERDICT_SUCCEEDED)
		reconcile_finalizer_remove(r, done, reconcile_end);
	else
		reconcile_end(r);
}

static void
collect(void *data, const struct child_ref *ref)
{
	if (!ref->retained)
		reconcile_prune_add(data, ref);
}

void
reconcile_remove(struct reconcile *r)
{
	const struct engine *engine = r->engine;

	/* Its last write is the finalizer's: whatever changed meanwhile is nobody's concern any more. */
	r->leaving = true;
	if (engine->config->on_remove != CONFIG_REMOVE_DELETE || engine->config->paused ||
		(r->flags & OBJECT_PAUSED) != 0) {
		release(r);
		return;
	}
	if (!mirror_trusted(engine->primary) || !children_trusted(engine->children)) {
		r->waits = true;
		r->again_ns = DOUBT_NS;
		reconcile_fail(r, VERDICT_WAITING_FOR_CHILD,
			"not everything is known: nothing is deleted on a doubt");
		reconcile_end(r);
		return;
	}
	children_each_owned(engine->children, r->uid, collect, r);
	reconcile_delete_children(r, "for its controller was removed", release);
}
