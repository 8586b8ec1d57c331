/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch: lines to events, events to the owner, and what the end of a watch means. The version of the last event or bookmark is
 * where the next watch goes on.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/kube/judge.h"
#include "common/kube/listwatch_internal.h"
#include "common/log.h"
#include "common/scoreboard.h"

#define ACCEPT_METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define TIMEOUT_SECONDS 300 /* and up to as many more by chance */
#define SHORT_NS        NSEC_PER_SEC
#define STEADY_NS       (10 * NSEC_PER_SEC) /* a watch that was open for so long stood */
#define SPACING_NS \
	(100 * NSEC_PER_MSEC) /* between the openings of watches that the server closes at once */
#define ERROR_EVENTS_MAX 5    /* ERROR events from one version until it is given up for a list */
#define LINE_SHOWN_MAX   80

enum verdict { GO_ON = 0, STOP = 1 };

static const struct {
	const char *type, *metric;
	enum listwatch_event event;
} types[] = {
	{"ADDED", "added", LISTWATCH_ADDED},
	{"MODIFIED", "modified", LISTWATCH_MODIFIED},
	{"DELETED", "deleted", LISTWATCH_DELETED},
};

static void
close_watch(struct listwatch *lw)
{
	kube_cancel(lw->request);
	lw->request = NULL;
	lw->open = false;
	loop_timer_clear(lw->silence);
}

static void
note_sign_of_life(struct listwatch *lw)
{
	loop_timer_set(lw->silence, lw->options.silence_ns);
	if (lw->options.primary)
		scoreboard_mine()->watch_seen_ns = clock_monotonic_ns();
	if (lw->callbacks.seen != NULL)
		lw->callbacks.seen(lw->callbacks.data);
}

/* --- Lines ---------------------------------------------------------------------- */

static int
malformed(struct listwatch *lw, const char *bytes, size_t length)
{
	struct kube_result result;
	char shown[LINE_SHOWN_MAX + 1];
	size_t n = 0;

	for (; n < length && n < LINE_SHOWN_MAX; n++)
		shown[n] = bytes[n] >= ' ' && bytes[n] < 0x7f ? bytes[n] : '?';
	shown[n] = '\0';
	listwatch_count(lw, M_WATCH_EVENTS_TOTAL, "malformed");
	listwatch_count(lw, M_WATCH_RESTARTS_TOTAL, "malformed");
	close_watch(lw);
	listwatch_result(&result, KUBE_SERVER_ERROR,
		"watch: a line of %zu bytes is no event, listing anew: %s", length, shown);
	log_apply_mask(result.message);
	listwatch_relist(lw, &result);
	return STOP;
}

static int
error_event(struct listwatch *lw, const char *object, size_t length)
{
	struct kube_result result = {.outcome = KUBE_SERVER_ERROR, .body = ""};
	struct buf path = BUF_INIT;

	listwatch_count(lw, M_WATCH_EVENTS_TOTAL, "error");
	close_watch(lw);
	(void)kube_judge_body(&result, object, length);
	if (result.outcome == KUBE_EXPIRED || strcmp(result.reason, "Expired") == 0) {
		listwatch_expired(lw, &result);
		return STOP;
	}
	listwatch_count(lw, M_WATCH_RESTARTS_TOTAL, "error");
	listwatch_path(lw, &path);
	kube_judge_explain(&result, "WATCH", path.data);
	buf_free(&path);
	if ((result.outcome == KUBE_THROTTLED || result.outcome == KUBE_SERVER_ERROR) &&
		++lw->error_events < ERROR_EVENTS_MAX)
		listwatch_trouble(lw, STEP_WATCH, &result);
	else {
		lw->synced = false;
		lw->error_events = 0;
		listwatch_trouble(lw, STEP_LIST, &result);
	}
	return STOP;
}

static void
take_version(struct listwatch *lw, const char *object, const struct json_object_info *info)
{
	struct json_range v = info->resource_version;

	lw->error_events = 0;
	lw->events = true;
	if (v.length > 0 && v.length < sizeof(lw->version)) {
		memcpy(lw->version, object + v.start, v.length);
		lw->version[v.length] = '\0';
	}
}

static void
unknown_event(struct listwatch *lw, const char *type, size_t length)
{
	char name[400];

	listwatch_count(lw, M_WATCH_EVENTS_TOTAL, "unknown");
	if (lw->unknown_said)
		return;
	lw->unknown_said = true;
	listwatch_name(lw, name);
	log_warn("%s: the server sends watch events of a type that is not known here, \"%.*s\"; "
		 "they are ignored",
		name, (int)(length > 40 ? 40 : length), type);
}

static bool
equals(const char *bytes, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(bytes, text, n) == 0;
}

static int
on_line(void *data, const char *bytes, size_t length)
{
	struct listwatch *lw = data;
	struct json_range type, object;
	struct json_object_info info;
	const char *t, *o;

	if (!jsonscan_event(bytes, length, &type, &object) ||
		object.length > lw->options.object_limit)
		return malformed(lw, bytes, length);
	t = bytes + type.start;
	o = bytes + object.start;
	if (equals(t, type.length, "ERROR"))
		return error_event(lw, o, object.length);
	if (!jsonscan_object(o, object.length, &info))
		return malformed(lw, bytes, length);
	take_version(lw, o, &info);
	if (equals(t, type.length, "BOOKMARK")) {
		listwatch_count(lw, M_WATCH_EVENTS_TOTAL, "bookmark");
		return GO_ON;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!equals(t, type.length, types[i].type))
			continue;
		listwatch_count(lw, M_WATCH_EVENTS_TOTAL, types[i].metric);
		lw->callbacks.object(lw->callbacks.data, types[i].event, o, object.length, &info);
		return lw->dead ? STOP : GO_ON;
	}
	unknown_event(lw, t, type.length);
	return GO_ON;
}

/* --- The stream --------------------------------------------------------------------- */

static void
on_opened(void *data)
{
	struct listwatch *lw = data;
	char name[400];

	listwatch_enter(lw);
	lw->open = true;
	lw->opened_ns = clock_monotonic_ns();
	lw->events = false;
	backoff_good(&lw->backoff, &listwatch_backoff, lw->opened_ns);
	if (lw->complained) {
		lw->complained = false;
		listwatch_name(lw, name);
		log_debug("%s: the watch is open again", name);
	}
	note_sign_of_life(lw);
	if (!lw->dead)
		lw->callbacks.health(lw->callbacks.data, true, NULL, 0);
	listwatch_leave(lw);
}

static int
on_body(void *data, const char *bytes, size_t length)
{
	struct listwatch *lw = data;
	int r;

	listwatch_enter(lw);
	note_sign_of_life(lw);
	r = lw->dead ? STOP : watch_lines_feed(&lw->lines, bytes, length, on_line, lw);
	if (r < 0 && !lw->dead)
		(void)malformed(lw, "", 0);
	r = r != 0 || lw->dead ? -1 : 0;
	listwatch_leave(lw);
	return r;
}

/* Closed as it should be: on from the last version. Servers that close at once are not asked in a tight loop. */
static void
on_closed(struct listwatch *lw)
{
	int64_t lasted = clock_monotonic_ns() - lw->opened_ns;
	struct kube_result result;

	listwatch_count(lw, M_WATCH_RESTARTS_TOTAL, "closed");
	if (watch_lines_end(&lw->lines, on_line, lw) != 0)
		return;
	if (lasted >= SHORT_NS || lw->events) {
		listwatch_next(lw, STEP_WATCH, lasted < SPACING_NS ? SPACING_NS - lasted : 0);
		return;
	}
	listwatch_result(&result, KUBE_SERVER_ERROR, "watch: the server at %s closes it at once",
		kube_host(lw->kube));
	listwatch_trouble(lw, STEP_WATCH, &result);
}

static void
on_failed(struct listwatch *lw, const struct kube_result *result, bool was_open)
{
	bool steady = clock_monotonic_ns() - lw->opened_ns >= STEADY_NS;

	if (result->outcome == KUBE_EXPIRED) {
		listwatch_expired(lw, result);
		return;
	}
	listwatch_count(lw, M_WATCH_RESTARTS_TOTAL, "error");
	/*
	 * Cut while it ran: connections break, and only if the next one fails too there is something to say. One that had lasted is
	 * no repetition, however often it happens: what cuts idle connections each minute must not leave the watch blind for half of it.
	 */
	if (was_open && result->outcome == KUBE_UNREACHABLE &&
		(steady || !listwatch_troubled(lw))) {
		if (!steady)
			(void)listwatch_failed(lw, result);
		listwatch_next(lw, STEP_WATCH, SPACING_NS);
		return;
	}
	/* The resource itself may have gone and come back as another, or the version is not one: only a list can tell. */
	if (result->outcome == KUBE_NOT_FOUND || result->outcome == KUBE_INVALID) {
		lw->synced = false;
		listwatch_trouble(lw, STEP_LIST, result);
		return;
	}
	listwatch_trouble(lw, STEP_WATCH, result);
}

static void
on_done(void *data, const struct kube_result *result)
{
	struct listwatch *lw = data;
	bool was_open = lw->open;

	listwatch_enter(lw);
	lw->request = NULL;
	lw->open = false;
	loop_timer_clear(lw->silence);
	if (result->outcome == KUBE_OK)
		on_closed(lw);
	else
		on_failed(lw, result, was_open);
	listwatch_leave(lw);
}

void
listwatch_watch_start(struct listwatch *lw)
{
	const struct kube_stream_callbacks callbacks = {
		.opened = on_opened, .body = on_body, .done = on_done, .data = lw};
	struct kube_call call = {
		.method = "GET", .accept = lw->options.metadata_only ? ACCEPT_METADATA : NULL};
	struct kube_result result;
	struct buf path = BUF_INIT;
	char seconds[24];

	watch_lines_reset(&lw->lines);
	snprintf(seconds, sizeof(seconds), "%u",
		TIMEOUT_SECONDS + (unsigned)(clock_random() % (TIMEOUT_SECONDS + 1)));
	listwatch_path(lw, &path);
	kube_path_query(&path, "watch", "1");
	kube_path_query(&path, "allowWatchBookmarks", "true");
	kube_path_query(&path, "resourceVersion", lw->version);
	kube_path_query(&path, "timeoutSeconds", seconds);
	call.path = path.data;
	if (!path.failed)
		lw->request = kube_stream(lw->kube, &call, true, &callbacks);
	buf_free(&path);
	if (lw->request == NULL) {
		listwatch_result(&result, KUBE_SERVER_ERROR, "watch: out of memory");
		listwatch_trouble(lw, STEP_WATCH, &result);
	}
}
