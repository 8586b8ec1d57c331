/* SPDX-License-Identifier: Apache-2.0 */
/* A list of tasks, one request of each under way at a time: GET, then the patch with its resourceVersion; a conflict leads back to the GET. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "common/memory.h"
#include "workers/finalizer.h"
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
			"it matches the selector no more, and its finalizer could not be taken "
			"off yet: %s",
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

/* True if there is something of ours on this very object. */
static bool
make_patch(const struct release *release, const struct kube_result *result, struct buf *body)
{
	struct json_object_info info;

	return jsonscan_object(result->body, result->body_length, &info) &&
	       info.uid.length == strlen(release->uid) &&
	       memcmp(result->body + info.uid.start, release->uid, info.uid.length) == 0 &&
	       finalizer_remove_patch(body, result->body, result->body_length,
		       release->releases->engine->finalizer);
}

static void
on_read(void *data, const struct kube_result *result)
{
	struct release *release = data;
	const struct engine *engine = release->releases->engine;
	struct buf body = BUF_INIT;

	release->request = NULL;
	if (result->outcome != KUBE_OK && result->outcome != KUBE_NOT_FOUND) {
		again(release, result);
		return;
	}
	if (result->outcome == KUBE_NOT_FOUND || !make_patch(release, result, &body)) {
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
		log_warn("%zu objects match the selector no more and still have the finalizer %s: "
			 "operatorctl release takes it off",
			n, releases->engine->finalizer);
	free(releases);
}

void
releases_add(struct releases *releases, const char *namespace_, const char *name, const char *uid)
{
	struct release *release = xcalloc(1, sizeof(*release));

	release->releases = releases;
	release->namespace_ = xstrdup(namespace_);
	release->name = xstrdup(name);
	release->uid = xstrdup(uid);
	release->timer = loop_timer_new(releases->engine->loop, on_timer, release);
	release->next = releases->first;
	releases->first = release;
	loop_timer_set(release->timer, 0);
}
