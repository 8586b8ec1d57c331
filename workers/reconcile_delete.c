/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run of an object under deletion that has our finalizer: its children that no garbage collector will find are deleted, waited for, and
 * then the finalizer is taken off. It is repeated until that is done, after a restart too; nothing is made meanwhile, so that a
 * namespace that is being deleted does not matter.
 *
 * What keeps it is said in the object's status when it takes more than a moment, and as FinalizerStuck when it takes longer than stuckAfter.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/config/duration.h"
#include "common/log.h"
#include "workers/reconcile_internal.h"

/* A deletion that is over sooner than this is not worth a status write. */
#define QUIET_NS (2 * NSEC_PER_SEC)
#define RECHECK_NS \
	(30 * NSEC_PER_SEC) /* what is waited for tells itself; this is for what is missed */
#define DOUBT_NS NSEC_PER_SEC

/* Since when it waits, as far as we know; by the server's word too, for that lasts over a restart. */
static int64_t
waited_ns(const struct leaving_object *object)
{
	int64_t here = clock_monotonic_ns() - object->since_ns, there = 0;

	if (object->deletion_s > 0)
		there = clock_wall_ns() - object->deletion_s * NSEC_PER_SEC;
	return there > here ? there : here;
}

static int64_t
earlier(int64_t a_ns, int64_t b_ns)
{
	if (a_ns <= 0)
		return b_ns;
	return b_ns <= 0 || a_ns < b_ns ? a_ns : b_ns;
}

static void
say_stuck(struct reconcile *r)
{
	char cause[sizeof(r->text)], limit[32];

	snprintf(cause, sizeof(cause), "%s", r->text);
	duration_format(limit, r->engine->config->stuck_after_ns);
	snprintf(r->text, sizeof(r->text), "its deletion has been waiting for more than %s: %.900s",
		limit, cause);
	r->verdict = VERDICT_FINALIZER_STUCK;
}

/* The finalizer stays for now; the text says why. */
static void
held(struct reconcile *r)
{
	struct leaving_object *object = leaving_find(&r->engine->leaving, r->uid);
	int64_t waited = object == NULL ? 0 : waited_ns(object);
	int64_t left = r->engine->config->stuck_after_ns - waited;

	if (object == NULL || r->verdict == VERDICT_UNAVAILABLE) {
		reconcile_end(r);
		return;
	}
	if (left <= 0)
		say_stuck(r);
	else
		r->again_ns = earlier(r->again_ns, left);
	if (waited >= QUIET_NS || left <= 0) {
		reconcile_status(r);
		return;
	}
	r->again_ns = earlier(r->again_ns, QUIET_NS - waited);
	reconcile_end(r);
}

static void
wait_for(struct reconcile *r, enum verdict verdict, int64_t again_ns, const char *why)
{
	r->waits = true;
	r->again_ns = earlier(r->again_ns, again_ns);
	reconcile_fail(r, verdict, "%s", why);
	held(r);
}

/* --- the children --- */

struct remaining {
	size_t n;
	char first[400];
};

static void
count_remaining(void *data, const struct child_ref *ref)
{
	struct remaining *remaining = data;

	if (remaining->n++ == 0)
		snprintf(remaining->first, sizeof(remaining->first), "%s %s%s%s", ref->kind->kind,
			ref->namespace_, *ref->namespace_ == '\0' ? "" : "/", ref->name);
}

static void
released(struct reconcile *r)
{
	r->finalized = true;
	reconcile_end(r);
}

static void
children_deleted(struct reconcile *r)
{
	struct remaining remaining = {0};
	char why[512];

	if (r->verdict != VERDICT_SUCCEEDED) {
		held(r);
		return;
	}
	children_each_held(r->engine->children, r->uid, count_remaining, &remaining);
	if (remaining.n == 0) {
		reconcile_finalizer_remove(r, released, held);
		return;
	}
	snprintf(why, sizeof(why),
		remaining.n == 1 ? "waiting for %s to be gone"
				 : "waiting for %s and %zu more to be gone",
		remaining.first, remaining.n - 1);
	wait_for(r, VERDICT_DELETING, RECHECK_NS, why);
}

static void
collect(void *data, const struct child_ref *ref)
{
	if (!ref->leaving)
		reconcile_prune_add(data, ref);
}

/* A kind that has not been served for so long has no objects: they went with its definition. */
static bool
given_up(struct reconcile *r, bool not_served)
{
	const struct leaving_object *object = leaving_find(&r->engine->leaving, r->uid);

	return not_served && object != NULL &&
	       clock_monotonic_ns() - object->since_ns >= r->engine->config->stuck_after_ns;
}

void
reconcile_delete(struct reconcile *r)
{
	const struct engine *engine = r->engine;
	char text[CONDITION_MESSAGE_MAX];
	struct store_view view;
	const char *cause;
	bool not_served = false;

	r->leaving = true;
	if (engine->config->paused || (r->flags & OBJECT_PAUSED) != 0) {
		wait_for(r, VERDICT_PAUSED, 0,
			engine->config->paused ? "the controller is paused by its configuration"
					       : "paused by the annotation operatord.io/paused");
		return;
	}
	if (mirror_get(engine->primary, r->namespace_, r->name, &view) &&
		quarantine_holds(engine->quarantine, &view, text, sizeof(text), &r->again_ns)) {
		wait_for(r, VERDICT_QUARANTINED, 0, text);
		return;
	}
	if (!children_held_known(engine->children, &cause, &not_served) &&
		!given_up(r, not_served)) {
		wait_for(r, VERDICT_DELETING, DOUBT_NS, cause);
		return;
	}
	children_each_held(engine->children, r->uid, collect, r);
	reconcile_delete_children(r, "with its owner", children_deleted);
}
