/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: replay from the history, then changes as they are made.
 *
 * A watch owns its call (path, query, selectors) and is owned by whoever asked for it, who frees it. A line is printed
 * once for all plain watches of a version. An object that starts or stops matching the selectors arrives as ADDED or
 * DELETED. Bookmarks come only to watches whose resource has changed since the last line, as from the real server.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/memory.h"
#include "devserver/options.h"
#include "devserver/read.h"
#include "devserver/render.h"
#include "devserver/selectors.h"
#include "devserver/tree.h"
#include "devserver/watch.h"

#define TIMEOUT_MIN_S 1800 /* the real server's default, up to twice of it */

struct api_watch {
	struct api *api;
	struct call call;
	const struct collection *collection;
	struct selectors *selectors;
	uint64_t revision; /* of the last line or bookmark */
	int64_t bookmark_due, end_due;
	bool bookmarks, told_columns, ended, told_end;
	void (*line)(void *data, const char *bytes, size_t length);
	void (*end)(void *data);
	void *data;
	struct api_watch *next;
};

/* One printed line, kept for the next watch that wants the same. */
struct line {
	struct buf text;
	const struct version *version;
	const struct object *object;
	const char *type;
};

static void
send(struct api_watch *w, struct line *line, const char *type, const struct object *object)
{
	bool plain = w->call.form == FORM_OBJECT;

	w->revision = object->revision;
	if (!(plain && line->version == w->call.version && line->object == object &&
		    strcmp(line->type, type) == 0)) {
		buf_reset(&line->text);
		buf_addf(&line->text, "{\"type\":\"%s\",\"object\":", type);
		render_object(&line->text, &w->call, object, !w->told_columns);
		buf_adds(&line->text, "}\n");
		w->told_columns = true;
		line->version = plain ? w->call.version : NULL;
		line->object = object;
		line->type = type;
	}
	if (!line->text.failed)
		w->line(w->data, line->text.data, line->text.length);
}

static void
send_text(struct api_watch *w, struct buf *text)
{
	buf_addc(text, '\n');
	w->line(w->data, text->data, text->length);
	buf_free(text);
}

static void
send_error(struct api_watch *w, int code, const char *reason, const char *message)
{
	cJSON *status = status_tree(code, reason, message, NULL);
	struct buf text = BUF_INIT;

	buf_adds(&text, "{\"type\":\"ERROR\",\"object\":");
	json_print(&text, status);
	buf_addc(&text, '}');
	send_text(w, &text);
	cJSON_Delete(status);
	w->ended = true;
	w->api->watch_due = 0;
}

static void
send_bookmark(struct api_watch *w, uint64_t revision, bool initial_end)
{
	static const char *const kinds[] = {NULL, "PartialObjectMetadata", "Table"};
	const char *kind =
		w->call.form == FORM_OBJECT ? w->call.resource->kind : kinds[w->call.form];
	struct buf text = BUF_INIT;

	buf_addf(&text,
		"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s\","
		"\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}",
		kind, w->call.form == FORM_OBJECT ? w->call.version->api_version : "meta.k8s.io/v1",
		revision,
		initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	if (w->call.form == FORM_TABLE)
		buf_adds(&text, ",\"columnDefinitions\":null,\"rows\":[]");
	buf_adds(&text, "}}");
	send_text(w, &text);
	w->revision = revision;
}

static bool
matches(const struct api_watch *w, const struct object *object)
{
	return object &&
	       (!*w->call.namespace_ || strcmp(object->namespace_, w->call.namespace_) == 0) &&
	       (!w->call.name || strcmp(object->name, w->call.name) == 0) &&
	       selectors_match(w->selectors, object);
}

static void
deliver(struct api_watch *w, struct line *line, const struct event *event)
{
	bool before, after;
	struct object *last;

	if (w->ended || event->collection != w->collection || event->revision <= w->revision)
		return;
	before = matches(w, event->before);
	after = event->type != EVENT_DELETED && matches(w, event->after);
	if (before && after) {
		send(w, line, "MODIFIED", event->after);
	} else if (after) {
		send(w, line, "ADDED", event->after);
	} else if (before && event->type == EVENT_DELETED) {
		send(w, line, "DELETED", event->after);
	} else if (before) {
		/* Stopped matching: its last matching state, as of this change. */
		last = registry_at(event->before, event->revision);
		send(w, line, "DELETED", last);
		line->version = NULL;
		registry_unref(last);
	}
}

void
watch_changed(struct api *api, const struct event *event)
{
	struct line line = {.text = BUF_INIT};

	for (struct api_watch *w = api->watches; w; w = w->next)
		deliver(w, &line, event);
	buf_free(&line.text);
}

static void
send_state(struct api_watch *w)
{
	struct line line = {.text = BUF_INIT};
	size_t start, end;

	registry_range(w->collection, w->call.namespace_, &start, &end);
	for (size_t i = start; i < end; i++)
		if (matches(w, w->collection->items[i]))
			send(w, &line, "ADDED", w->collection->items[i]);
	w->revision = registry_revision(w->api->store);
	buf_free(&line.text);
}

static void
replay(struct api_watch *w, uint64_t revision)
{
	struct line line = {.text = BUF_INIT};
	size_t first, count;
	char *text;

	w->revision = revision;
	if (!registry_since(w->api->store, revision, &first, &count)) {
		text = xasprintf("too old resource version: %" PRIu64 " (%" PRIu64 ")", revision,
			registry_revision(w->api->store));
		send_error(w, 410, "Expired", text);
		free(text);
		return;
	}
	for (size_t i = 0; i < count; i++)
		deliver(w, &line, registry_event(w->api->store, first + i));
	buf_free(&line.text);
}

static int64_t
timeout_ns(const struct call *call)
{
	const char *text = call_parameter(call, "timeoutSeconds");
	int64_t seconds = text ? strtoll(text, NULL, 10) : 0;

	if (seconds <= 0)
		seconds = TIMEOUT_MIN_S + (int64_t)(clock_random() % TIMEOUT_MIN_S);
	return (seconds > 86400 ? 86400 : seconds) * NSEC_PER_SEC;
}

static void
begin(struct api_watch *w, uint64_t asked, bool initial)
{
	if (initial || !asked)
		send_state(w);
	else
		replay(w, asked);
	if (initial)
		send_bookmark(w, w->revision, true);
}

struct api_watch *
watch_start(struct call *call, void (*line)(void *data, const char *bytes, size_t length),
	void (*end)(void *data), void *data)
{
	bool initial = call_flag(call, "sendInitialEvents");
	int64_t now = clock_monotonic_ns();
	struct error err = {0};
	struct selectors *selectors;
	struct api_watch *w;
	uint64_t asked;

	if (!options_check_watch(call) || !read_version(call, &asked))
		return NULL;
	selectors = selectors_new(call_parameter(call, "labelSelector"),
		call_parameter(call, "fieldSelector"), call->version, &err);
	if (!selectors) {
		fail_bad_request(call, "%s", err.text);
		return NULL;
	}
	w = xcalloc(1, sizeof(*w));
	*w = (struct api_watch){.api = call->api,
		.call = *call,
		.collection = call->resource->collection,
		.selectors = selectors,
		.bookmarks = call_flag(call, "allowWatchBookmarks"),
		.line = line,
		.end = end,
		.data = data};
	w->call.request = NULL;
	call->response->status = 200;
	call->response->content_type = "application/json";
	w->call.response = NULL;
	w->end_due = now + timeout_ns(&w->call);
	w->bookmark_due = now + call->api->options.bookmark_ns;
	w->next = call->api->watches;
	call->api->watches = w;
	call->api->watch_due = 0;
	begin(w, asked, initial);
	return w;
}

void
api_watch_free(struct api_watch *watch)
{
	struct api_watch **at;

	if (!watch)
		return;
	for (at = &watch->api->watches; *at && *at != watch; at = &(*at)->next)
		;
	if (*at)
		*at = watch->next;
	selectors_free(watch->selectors);
	call_free(&watch->call);
	free(watch);
}

void
watch_end_resource(struct api *api, const struct resource *resource)
{
	for (struct api_watch *w = api->watches; w; w = w->next)
		if (w->call.resource == resource)
			w->ended = true;
	api->watch_due = 0;
}

static int64_t
tick_one(struct api_watch *w, int64_t now)
{
	if (!w->ended && now >= w->end_due)
		w->ended = true;
	if (w->ended)
		return now;
	if (now >= w->bookmark_due) {
		/* All up to now was sent. Whatever else changed, too, is what a compaction will be measured by. */
		uint64_t revision = registry_revision(w->api->store);
		if (w->bookmarks && revision > w->revision)
			send_bookmark(w, revision, false);
		w->bookmark_due = now + w->api->options.bookmark_ns;
	}
	return w->end_due < w->bookmark_due ? w->end_due : w->bookmark_due;
}

int64_t
watch_tick(struct api *api)
{
	int64_t now = clock_monotonic_ns(), due = -1;
	struct api_watch *next;

	if (!api->watches)
		return -1;
	if (api->watch_due > now)
		return api->watch_due - now;
	for (struct api_watch *w = api->watches; w; w = next) {
		int64_t at = tick_one(w, now);

		next = w->next; /* the owner may free it in end() */
		if (w->ended) {
			if (!w->told_end) {
				w->told_end = true;
				w->end(w->data);
			}
		} else if (due < 0 || at < due) {
			due = at;
		}
	}
	api->watch_due = due < 0 ? INT64_MAX : due;
	return due < 0 ? -1 : due - now;
}
