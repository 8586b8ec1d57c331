/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two small tables of fixed size, in which the oldest makes room, remember what was posted lately: one by object, one by object, reason and note.
 * They hold hashes only: a collision drops one Event.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/kube/names.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/conditions.h"
#include "workers/events.h"

#define TABLE     256u
#define UNDER_WAY 32u
#define WINDOW_NS (300 * NSEC_PER_SEC)
#define BURST     25.0

struct seen {
	uint64_t hash; /* 0: free */
	int64_t at_ns;
	double tokens;
};

struct post {
	struct events *events;
	struct kube_request *request;
};

struct events {
	struct kube *kube;
	char *instance, *controller;
	struct seen objects[TABLE], notes[TABLE];
	struct post posts[UNDER_WAY];
	bool failing; /* said already */
};

/* The entry of a hash; a new one (the oldest's place) has at_ns 0. */
static struct seen *
find(struct seen *table, uint64_t hash)
{
	struct seen *oldest = &table[0];

	for (unsigned i = 0; i < TABLE; i++) {
		if (table[i].hash == hash)
			return &table[i];
		if (table[i].at_ns < oldest->at_ns)
			oldest = &table[i];
	}
	*oldest = (struct seen){.hash = hash};
	return oldest;
}

static bool
is_repeated(struct events *events, const struct event *event, int64_t now)
{
	uint64_t hash = XXH3_64bits(event->uid, strlen(event->uid));
	struct seen *seen;

	hash = XXH3_64bits_withSeed(event->reason, strlen(event->reason), hash);
	hash = XXH3_64bits_withSeed(event->note, strlen(event->note), hash) | 1;
	seen = find(events->notes, hash);
	if (seen->at_ns != 0 && now - seen->at_ns < WINDOW_NS)
		return true;
	seen->at_ns = now;
	return false;
}

static bool
is_too_much(struct events *events, const struct event *event, int64_t now)
{
	struct seen *seen = find(events->objects, XXH3_64bits(event->uid, strlen(event->uid)) | 1);

	if (seen->at_ns == 0)
		seen->tokens = BURST;
	else
		seen->tokens += (double)(now - seen->at_ns) / WINDOW_NS;
	seen->at_ns = now;
	if (seen->tokens > BURST)
		seen->tokens = BURST;
	if (seen->tokens < 1)
		return true;
	seen->tokens -= 1;
	return false;
}

static void
count(const char *result)
{
	metric_add(M_EVENTS_TOTAL, metric_label_index(M_EVENTS_TOTAL, 0, result), 1);
}

static void
on_posted(void *data, const struct kube_result *result)
{
	struct post *post = data;
	struct events *events = post->events;

	post->request = NULL;
	if (result->outcome == KUBE_OK) {
		events->failing = false;
		count("posted");
		return;
	}
	count("failed");
	if (!events->failing && !result->namespace_terminating)
		log_fields(LOG_LEVEL_WARN,
			LOG_FIELDS("credentials",
				kube_credentials_source(events->kube, result->outcome)),
			"Events can't be posted: %s", result->message);
	events->failing = true;
}

static void
put_metadata(struct buf *out, const struct event *event)
{
	char name[320];

	snprintf(name, sizeof(name), "%.230s.%016llx", event->name,
		(unsigned long long)clock_random());
	buf_adds(out,
		"{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\":");
	json_put_string(out, name, strlen(name));
	buf_adds(out, ",\"namespace\":");
	json_put_string(out, *event->namespace_ == '\0' ? "default" : event->namespace_,
		*event->namespace_ == '\0' ? strlen("default") : strlen(event->namespace_));
	buf_adds(out, ",\"annotations\":{\"" ANNOTATION_RECONCILE_ID "\":");
	json_put_string(out, event->reconcile_id, strlen(event->reconcile_id));
	buf_adds(out, "}}");
}

static void
put_member(struct buf *out, const char *key, const char *value)
{
	buf_addf(out, ",\"%s\":", key);
	json_put_string(out, value, strlen(value));
}

static void
put_regarding(struct buf *out, const struct event *event)
{
	char api_version[320];

	kube_api_version(api_version, event->resource);
	buf_adds(out, ",\"regarding\":{\"apiVersion\":");
	json_put_string(out, api_version, strlen(api_version));
	put_member(out, "kind", event->resource->kind);
	put_member(out, "name", event->name);
	put_member(out, "uid", event->uid);
	if (*event->namespace_ != '\0')
		put_member(out, "namespace", event->namespace_);
	buf_addc(out, '}');
}

static void
put_event(struct buf *out, const struct events *events, const struct event *event)
{
	char now[32], reporter[160];

	put_metadata(out, event);
	clock_format_rfc3339(now, clock_wall_ns(), 6);
	put_member(out, "eventTime", now);
	put_member(out, "type", event->warning ? "Warning" : "Normal");
	put_member(out, "reason", event->reason);
	put_member(out, "action", event->action);
	snprintf(reporter, sizeof(reporter), REPORTING_CONTROLLER "%s", events->controller);
	put_member(out, "reportingController", reporter);
	snprintf(reporter, sizeof(reporter), "operatord-%.100s", events->instance);
	put_member(out, "reportingInstance", reporter);
	buf_adds(out, ",\"note\":");
	json_put_string(out, event->note, conditions_cut(event->note, EVENT_NOTE_MAX));
	put_regarding(out, event);
	buf_addc(out, '}');
}

static struct post *
free_post(struct events *events)
{
	for (unsigned i = 0; i < UNDER_WAY; i++)
		if (events->posts[i].request == NULL)
			return &events->posts[i];
	return NULL;
}

void
events_post(struct events *events, const struct event *event)
{
	static const struct kube_resource resource = {.group = "events.k8s.io",
		.version = "v1",
		.plural = "events",
		.kind = "Event",
		.namespaced = true};
	struct post *post = free_post(events);
	int64_t now = clock_monotonic_ns();
	struct buf body = BUF_INIT;

	if (is_repeated(events, event, now) || post == NULL || is_too_much(events, event, now)) {
		count("dropped");
		return;
	}
	put_event(&body, events, event);
	post->events = events;
	if (!body.failed)
		post->request = kube_create(events->kube, &resource,
			*event->namespace_ == '\0' ? "default" : event->namespace_, body.data,
			body.length, on_posted, post);
	if (post->request == NULL)
		count("failed");
	buf_free(&body);
}

struct events *
events_new(struct kube *kube, const char *instance, const char *controller)
{
	struct events *events = xcalloc(1, sizeof(*events));

	events->kube = kube;
	events->instance = xstrdup(instance);
	events->controller = xstrdup(controller);
	return events;
}

void
events_free(struct events *events)
{
	if (events == NULL)
		return;
	for (unsigned i = 0; i < UNDER_WAY; i++)
		if (events->posts[i].request != NULL)
			kube_cancel(events->posts[i].request);
	free(events->instance);
	free(events->controller);
	free(events);
}
