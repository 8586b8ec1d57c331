/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of tasks, one request of each under way at a time: GET, then the patch with its resourceVersion, where a conflict leads back to the GET; or one
 * DELETE after the other. The DELETEs follow the rules of all: our labels, the uid that was seen, and everything known and fresh.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/finalizer.h"
#include "workers/reconcile_internal.h"
#include "workers/releases.h"

static const struct backoff_policy policy = {
	.first_ns = 100 * NSEC_PER_MSEC, .max_ns = 60 * NSEC_PER_SEC, .factor = 2, .jitter = 0.2};

struct release {
	struct releases *releases;
	struct release *next;
	char *namespace_, *name, *uid;
	struct kube_request *request;
	struct loop_timer *timer;
	struct backoff backoff;
	/* the child whose DELETE is under way */
	const struct kube_resource *child_kind;
	char child_namespace[256], child_name[256];
	bool leaving; /* it was under deletion when it was seen last */
	bool gone;    /* the server has it no more: its children are next */
};

struct releases {
	struct engine *engine;
	struct release *first;
};

static void
end(struct release *release)
{
	struct release **at = &release->releases->first;

	while (*at != release)
		at = &(*at)->next;
	*at = release->next;
	if (release->request != NULL)
		kube_cancel(release->request);
	loop_timer_free(release->timer);
	free(release->namespace_);
	free(release->name);
	free(release->uid);
	free(release);
}

/* Freed from its timer, not from the callback of its own request. */
static void
end_later(struct release *release)
{
	free(release->uid);
	release->uid = NULL;
	loop_timer_set(release->timer, 0);
}

static void
again(struct release *release, const struct kube_result *result)
{
	int64_t delay =
		backoff_next(&release->backoff, &policy, clock_monotonic_ns(), clock_random());

	if (result != NULL && result->outcome != KUBE_CONFLICT)
		log_fields(release->backoff.failures == 1 ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
			LOG_FIELDS("namespace",
				*release->namespace_ == '\0' ? NULL : release->namespace_, "name",
				release->name),
			"it left without waiting, and what it leaves could not be cleared yet: %s",
			result->message);
	if (result != NULL && result->retry_after_ns > delay)
		delay = result->retry_after_ns;
	loop_timer_set(release->timer, delay);
}

static void
on_patched(void *data, const struct kube_result *result)
{
	struct release *release = data;

	release->request = NULL;
	if (result->outcome == KUBE_OK)
		log_fields(LOG_LEVEL_INFO,
			LOG_FIELDS("namespace",
				*release->namespace_ == '\0' ? NULL : release->namespace_, "name",
				release->name),
			"it matches the selector no more: finalizer taken off, children kept");
	if (result->outcome == KUBE_OK || result->outcome == KUBE_NOT_FOUND)
		end_later(release);
	else
		again(release, result);
}

/* --- the children of one that is gone --- */

static void clear_children(struct release *release);

static void
on_deleted(void *data, const struct kube_result *result)
{
	struct release *release = data;

	release->request = NULL;
	if (result->outcome == KUBE_OK || result->outcome == KUBE_NOT_FOUND ||
		result->outcome == KUBE_CONFLICT)
		clear_children(release);
	else
		again(release, result);
}

static void
delete_first(void *data, const struct child_ref *ref)
{
	struct release *release = data;
	const struct engine *engine = release->releases->engine;

	if (ref->leaving || release->request != NULL)
		return;
	log_fields(LOG_LEVEL_INFO,
		LOG_FIELDS("namespace", *release->namespace_ == '\0' ? NULL : release->namespace_,
			"name", release->name),
		"it is gone without having waited: deleting its %s %s%s%s", ref->kind->kind,
		ref->namespace_, *ref->namespace_ == '\0' ? "" : "/", ref->name);
	release->request = kube_delete(
		engine->kube, ref->kind, ref->namespace_, ref->name, ref->uid, on_deleted, release);
	if (release->request == NULL)
		return;
	snprintf(release->child_namespace, sizeof(release->child_namespace), "%s", ref->namespace_);
	snprintf(release->child_name, sizeof(release->child_name), "%s", ref->name);
	release->child_kind = ref->kind;
	metric_add(M_CHILD_WRITES_TOTAL, metric_label_index(M_CHILD_WRITES_TOTAL, 0, "delete"), 1);
}

/* A run that began while it was there may still make one. */
static bool
runs(const struct release *release)
{
	for (const struct reconcile *r = release->releases->engine->running; r != NULL; r = r->next)
		if (strcmp(r->uid, release->uid) == 0)
			return true;
	return false;
}

static void
clear_children(struct release *release)
{
	const struct engine *engine = release->releases->engine;
	const char *cause;
	bool not_served;

	if (release->child_kind != NULL)
		children_deleting(engine->children, release->child_kind, release->child_namespace,
			release->child_name);
	release->child_kind = NULL;
	if (runs(release) || !children_held_known(engine->children, &cause, &not_served)) {
		again(release, NULL);
		return;
	}
	children_each_held(engine->children, release->uid, delete_first, release);
	if (release->request == NULL)
		end_later(release);
}

/* --- the object --- */

static void
on_read(void *data, const struct kube_result *result)
{
	struct release *release = data;
	const struct engine *engine = release->releases->engine;
	struct buf body = BUF_INIT;

	release->request = NULL;
	if (result->outcome == KUBE_NOT_FOUND ||
		(result->outcome == KUBE_OK && !object_is(result->body, result->body_length, release->uid))) {
		release->gone = true;
		if (release->leaving)
			end_later(release);
		else
			clear_children(release);
		return;
	}
	/* Without a selector it can't have stopped to match: our view is behind. */
	if (result->outcome != KUBE_OK ||
		(engine->config->selector == NULL && engine->config->field_selector == NULL)) {
		again(release, result->outcome == KUBE_OK ? NULL : result);
		return;
	}
	if (!finalizer_remove_patch(&body, result->body, result->body_length, engine->finalizer)) {
		buf_free(&body);
		end_later(release);
		return;
	}
	if (!body.failed)
		release->request = kube_merge_patch(engine->kube, &engine->resource,
			release->namespace_, release->name, NULL, engine->field_manager, body.data,
			body.length, on_patched, release);
	buf_free(&body);
	if (release->request == NULL)
		again(release, NULL);
}

static void
on_timer(void *data)
{
	struct release *release = data;
	const struct engine *engine = release->releases->engine;
	struct store_view view;

	/* Done; or it matches again, and is ours as before. */
	if (release->uid == NULL ||
		(mirror_get(engine->primary, release->namespace_, release->name, &view) &&
			strcmp(view.uid, release->uid) == 0)) {
		end(release);
		return;
	}
	if (release->gone) {
		clear_children(release);
		return;
	}
	/* Objects leave our view for want of memory too: then it may match as before. */
	if (!mirror_trusted(engine->primary)) {
		again(release, NULL);
		return;
	}
	release->request = kube_get(engine->kube, &engine->resource, release->namespace_,
		release->name, NULL, on_read, release);
	if (release->request == NULL)
		again(release, NULL);
}

struct releases *
releases_new(struct engine *engine)
{
	struct releases *releases = xcalloc(1, sizeof(*releases));

	releases->engine = engine;
	return releases;
}

void
releases_free(struct releases *releases)
{
	size_t n = 0;

	if (releases == NULL)
		return;
	for (; releases->first != NULL; end(releases->first))
		n += releases->first->uid != NULL;
	if (n > 0)
		log_warn("%zu objects left without waiting, and what they leave is not cleared: "
			 "finalizers %s, which operatorctl release takes off, or children",
			n, releases->engine->finalizer);
	free(releases);
}

void
releases_add(struct releases *releases, const struct store_view *view)
{
	struct release *release = xcalloc(1, sizeof(*release));

	release->releases = releases;
	release->namespace_ = xstrdup(view->namespace_);
	release->name = xstrdup(view->name);
	release->uid = xstrdup(view->uid);
	release->leaving = (view->flags & OBJECT_DELETING) != 0;
	release->timer = loop_timer_new(releases->engine->loop, on_timer, release);
	release->next = releases->first;
	releases->first = release;
	loop_timer_set(release->timer, 0);
}
