/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our finalizer on the object of a run: added before the first thing is made that only we can remove, taken off when nothing of that is left. The
 * patch is made from the object as the store has it and carries its resourceVersion: after a 409 the object is read again. An object
 * under deletion takes no finalizer: then the run ends, and another one deletes.
 */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "workers/finalizer.h"
#include "workers/reconcile_internal.h"

#define REREADS_MAX        8
#define NOT_FRESH_RETRY_NS NSEC_PER_SEC

static void patch(struct reconcile *r);

/* --- what is needed --- */

/* Work that deletion will need. Another kind of it (a hook, say) is one more line here and a step in reconcile_delete.c. */
static bool
needs_finalizer(const struct reconcile *r)
{
	const struct config_child *children = r->engine->config->children;

	for (size_t i = 0; i < r->plan.n; i++) {
		const struct plan_child *child = &r->plan.children[i];

		if (child->what == PLAN_APPLY &&
			children[child->child].owner == CONFIG_OWNER_FINALIZER)
			return true;
	}
	return false;
}

static void
note_held(void *data, const struct child_ref *ref)
{
	(void)ref;
	*(bool *)data = true;
}

static bool
nothing_held(struct reconcile *r)
{
	const char *cause;
	bool held = false, not_served;

	/* Nobody says when that changes: it is looked at again. */
	if (!children_held_known(r->engine->children, &cause, &not_served)) {
		r->again_ns = NOT_FRESH_RETRY_NS;
		return false;
	}
	children_each_held(r->engine->children, r->uid, note_held, &held);
	return !held;
}

/* --- the write --- */

static void
gone(struct reconcile *r)
{
	r->verdict = VERDICT_SUCCEEDED;
	reconcile_end(r);
}

static void
patched(struct reconcile *r)
{
	struct store_view view;

	r->rereads = 0;
	if (!r->adding)
		leaving_remove(&r->engine->leaving, r->uid);
	/* Of an object under deletion this was the last step, and its end may be known already. */
	if (!r->leaving &&
		(!mirror_get(r->engine->primary, r->namespace_, r->name, &view) ||
			strcmp(view.uid, r->uid) != 0 || view.fingerprint != r->version)) {
		r->superseded = true;
		reconcile_end(r);
		return;
	}
	r->after_patch(r);
}

static void
on_reread(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;

	r->request = NULL;
	if (result->outcome == KUBE_NOT_FOUND) {
		gone(r);
		return;
	}
	if (result->outcome != KUBE_OK) {
		reconcile_judge(r, result, "finalizer");
		reconcile_end(r);
		return;
	}
	mirror_put(r->engine->primary, result->body, result->body_length, STORE_FROM_SERVER);
	patch(r);
}

static void
on_patched(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;

	r->request = NULL;
	switch (result->outcome) {
	case KUBE_OK:
		mirror_put(r->engine->primary, result->body, result->body_length, STORE_FROM_WRITE);
		patched(r);
		return;
	case KUBE_NOT_FOUND:
		gone(r);
		return;
	case KUBE_CONFLICT:
	case KUBE_INVALID:
		/* It changed; or its deletion began, and the server says so before it looks at the version. */
		if (++r->rereads <= (result->outcome == KUBE_CONFLICT ? REREADS_MAX : 1)) {
			reconcile_reread(r, on_reread);
			return;
		}
		r->quiet = result->outcome == KUBE_CONFLICT;
		break;
	default:
		break;
	}
	if (reconcile_judge(r, result, "finalizer"))
		reconcile_end(r);
	else
		r->then_failed(r);
}

static void
write_patch(struct reconcile *r)
{
	struct engine *engine = r->engine;
	struct buf body = BUF_INIT;
	struct store_view view;
	bool todo;

	if (!mirror_get(engine->primary, r->namespace_, r->name, &view) ||
		strcmp(view.uid, r->uid) != 0) {
		gone(r);
		return;
	}
	todo = r->adding
		       ? finalizer_add_patch(&body, view.bytes, view.length, engine->finalizer)
		       : finalizer_remove_patch(&body, view.bytes, view.length, engine->finalizer);
	if (!todo) {
		buf_free(&body);
		if (r->adding && (view.flags & OBJECT_DELETING) != 0)
			gone(r);
		else
			patched(r);
		return;
	}
	if (!body.failed)
		r->request =
			kube_merge_patch(engine->kube, &engine->resource, r->namespace_, r->name,
				NULL, engine->field_manager, body.data, body.length, on_patched, r);
	buf_free(&body);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the finalizer could not be written");
		reconcile_end(r);
		return;
	}
	r->writes++;
}

static void
patch(struct reconcile *r)
{
	reconcile_with_token(r, write_patch);
}

static void
start(struct reconcile *r, bool add, void (*then)(struct reconcile *r),
	void (*failed)(struct reconcile *r))
{
	r->adding = add;
	r->after_patch = then;
	r->then_failed = failed;
	patch(r);
}

/* --- the steps --- */

void
reconcile_finalizer_add(struct reconcile *r)
{
	if ((r->flags & OBJECT_FINALIZER) == 0 && needs_finalizer(r))
		start(r, true, reconcile_children, reconcile_status);
	else
		reconcile_children(r);
}

void
reconcile_finalizer_drop(struct reconcile *r)
{
	struct store_view view;

	if (r->verdict == VERDICT_SUCCEEDED && r->plan.complete &&
		mirror_get(r->engine->primary, r->namespace_, r->name, &view) &&
		(view.flags & OBJECT_FINALIZER) != 0 && !needs_finalizer(r) && nothing_held(r))
		start(r, false, reconcile_status, reconcile_status);
	else
		reconcile_status(r);
}

void
reconcile_finalizer_remove(
	struct reconcile *r, void (*then)(struct reconcile *r), void (*failed)(struct reconcile *r))
{
	start(r, false, then, failed);
}
