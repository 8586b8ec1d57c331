/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/listwatch.h"
#include "common/kube/watch_lines.h"
#include "common/log.h"
#include "common/scoreboard.h"
#include "kube_fixture.h"

#define OBJECT(name, version)                                                    \
	"{\"apiVersion\":\"g/v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"" name \
	"\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" OBJECT(name, version) "}\n"
#define LIST(version, rest, items)                                                                 \
	"{\"kind\":\"XList\",\"apiVersion\":\"g/v1\",\"metadata\":{\"resourceVersion\":\"" version \
	"\"" rest "},\"items\":[" items "]}"
#define STATUS(code, reason)                                                                   \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"m\"," \
	"\"reason\":\"" reason "\",\"code\":" #code "}"
#define ERROR(code, reason) "{\"type\":\"ERROR\",\"object\":" STATUS(code, reason) "}\n"

/* Everything that happened, as words: "begin L:a synced up A:b down". */
struct probe {
	struct listwatch *lw;
	struct buf story;
	const char *wanted;
	const char *free_at; /* frees the watch when this word is told */
	struct kube_result trouble;
	int64_t delay_ns;
	int seen, troubles;
};

static struct loop *loop;
static struct https_server *server;
static struct kube *kube;
static struct probe probe;
static int log_lines;

static void
tell(struct probe *p, const char *what, const char *name, size_t length)
{
	buf_addf(&p->story, "%s%s%.*s", p->story.length > 0 ? " " : "", what, (int)length, name);
	if (p->free_at != NULL && strcmp(what, p->free_at) == 0) {
		listwatch_free(p->lw);
		p->lw = NULL;
	}
}

static void
on_begin(void *data)
{
	tell(data, "begin", "", 0);
}

static void
on_object(void *data, enum listwatch_event event, const char *bytes, size_t length,
	const struct json_object_info *info)
{
	static const char *const words[] = {"L:", "A:", "M:", "D:"};

	(void)length;
	tell(data, words[event], bytes + info->name.start, info->name.length);
}

static void
on_synced(void *data)
{
	tell(data, "synced", "", 0);
}

static void
on_health(void *data, bool healthy, const struct kube_result *result, int64_t delay_ns)
{
	struct probe *p = data;

	if (!healthy) {
		p->troubles++;
		p->trouble = *result;
		p->delay_ns = delay_ns;
	}
	tell(p, healthy ? "up" : "down", "", 0);
}

static void
on_seen(void *data)
{
	struct probe *p = data;

	p->seen++;
	if (p->free_at != NULL && strcmp(p->free_at, "seen") == 0) {
		listwatch_free(p->lw);
		p->lw = NULL;
	}
}

static void
count_line(enum log_level level, const char *line, void *data)
{
	(void)line;
	(void)data;
	log_lines += level <= LOG_LEVEL_WARN;
}

static void
setup(void)
{
	struct error err = {0};

	signal(SIGPIPE, SIG_IGN);
	loop = loop_new(false);
	server = https_server_new(NULL);
	kube = kube_new(loop, fixture_target(server), &err);
	ck_assert_ptr_nonnull(kube);
	probe = (struct probe){.story = BUF_INIT};
	log_lines = 0;
	log_capture(count_line, NULL);
	memset(scoreboard_mine()->slots, 0, sizeof(scoreboard_mine()->slots));
}

static void
teardown(void)
{
	listwatch_free(probe.lw);
	kube_free(kube);
	https_server_free(server);
	buf_free(&probe.story);
	loop_free(loop);
	log_capture(NULL, NULL);
}

static void
begin(struct listwatch_options options)
{
	const struct listwatch_callbacks callbacks = {.begin = on_begin,
		.object = on_object,
		.synced = on_synced,
		.health = on_health,
		.seen = on_seen,
		.data = &probe};

	options.resource = (struct kube_resource){.group = "g", .version = "v1", .plural = "xs"};
	options.primary = true;
	probe.lw = listwatch_new(loop, kube, &options, &callbacks);
	ck_assert_uint_eq(probe.story.length, 0);
}

static bool
story_ends(void *data)
{
	struct probe *p = data;
	size_t n = strlen(p->wanted);

	return p->story.length >= n && strcmp(p->story.data + p->story.length - n, p->wanted) == 0;
}

static void
expect_end(const char *wanted)
{
	probe.wanted = wanted;
	ck_assert_msg(fixture_until(loop, story_ends, &probe, 10000), "%s", probe.story.data);
}

/* Waits for the nth request (from 0) whose line holds match. */
struct waiting {
	const char *match;
	int n;
};

static bool
has_come(void *data)
{
	struct waiting *w = data;

	return https_server_count(server, w->match) > w->n;
}

static struct https_request
expect_request(const char *match, int n)
{
	struct waiting w = {match, n};
	struct https_request r = {0};

	ck_assert_msg(fixture_until(loop, has_come, &w, 10000), "no %d of %s; %s", n, match,
		probe.story.data);
	ck_assert(https_server_request(server, match, n, &r));
	return r;
}

static void
serve(const char *match, int times, int status, const char *body, size_t chunk, enum https_end end)
{
	https_server_rule(server, &(struct https_rule){.match = match,
					  .times = times,
					  .status = status,
					  .body = body,
					  .chunk = chunk,
					  .end = end});
}

static uint64_t
counted(enum metric_id id, const char *label)
{
	return scoreboard_mine()
		->slots[metric_offset(id) + (label == NULL ? 0 : metric_label_index(id, 0, label))];
}

START_TEST(test_pages)
{
	struct https_request r;

	serve("continue=next", 0, 200, LIST("10", "", OBJECT("c", "3")), 7, HTTPS_KEEP);
	serve("limit=500", 0, 200,
		LIST("10", ",\"continue\":\"next\",\"remainingItemCount\":1",
			OBJECT("a", "1") "," OBJECT("b", "2")),
		1, HTTPS_KEEP);
	serve("watch=1", 0, 200,
		EVENT("ADDED", "d", "11") EVENT("MODIFIED", "d", "12") EVENT("DELETED", "a", "13"),
		1000, HTTPS_STALL);
	begin((struct listwatch_options){.namespace_ = "n",
		.label_selector = "a=b",
		.field_selector = "c=d",
		.metadata_only = true});
	expect_end("D:a");
	ck_assert_str_eq(probe.story.data, "begin L:a L:b L:c synced up A:d M:d D:a");
	ck_assert(listwatch_synced(probe.lw) && listwatch_live(probe.lw));
	ck_assert_int_gt(probe.seen, 0);
	r = expect_request("limit=500", 0);
	ck_assert_str_eq(r.line,
		"GET /apis/g/v1/namespaces/n/xs?labelSelector=a%3Db&fieldSelector=c%3Dd&limit=500");
	ck_assert_ptr_nonnull(strstr(r.headers,
		"Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n"));
	r = expect_request("watch=1", 0);
	ck_assert_ptr_nonnull(
		strstr(r.line, "labelSelector=a%3Db&fieldSelector=c%3Dd&watch=1&"
			       "allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds="));
	ck_assert_int_ge(atoi(strstr(r.line, "timeoutSeconds=") + 15), 300);
	ck_assert_int_le(atoi(strstr(r.line, "timeoutSeconds=") + 15), 600);
	ck_assert_ptr_nonnull(strstr(r.headers,
		"Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1\r\n"));
	ck_assert_uint_eq(counted(M_LISTS_TOTAL, NULL), 1);
	ck_assert_uint_eq(counted(M_WATCH_EVENTS_TOTAL, "modified"), 1);
}
END_TEST

/* E49, E51: any chunking gives the same events; an empty line is none */
START_TEST(test_chunks)
{
	static const size_t sizes[] = {1, 2, 3, 7, 64, 150, 1000};

	serve("limit", 0, 200, LIST("10", "", ""), sizes[_i], HTTPS_KEEP);
	serve("watch", 0, 200,
		EVENT("ADDED", "a", "11") "\n" EVENT("ADDED", "b", "12") "\r\n" EVENT(
			"ADDED", "c", "13"),
		sizes[_i], HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("A:c");
	ck_assert_str_eq(probe.story.data, "begin synced up A:a A:b A:c");
}
END_TEST

static int
join_line(void *data, const char *bytes, size_t length)
{
	buf_addf(data, "<%.*s>", (int)length, bytes);
	return 0;
}

START_TEST(test_every_cut)
{
	static const char text[] = "one\n\ntwo\r\n  \nthree four\nfive";
	size_t n = strlen(text);

	for (size_t a = 0; a <= n; a++) {
		for (size_t b = a; b <= n; b++) {
			struct watch_lines lines;
			struct buf out = BUF_INIT;

			watch_lines_init(&lines, 64);
			ck_assert_int_eq(watch_lines_feed(&lines, text, a, join_line, &out), 0);
			ck_assert_int_eq(
				watch_lines_feed(&lines, text + a, b - a, join_line, &out), 0);
			ck_assert_int_eq(
				watch_lines_feed(&lines, text + b, n - b, join_line, &out), 0);
			ck_assert_str_eq(out.data, "<one><two><three four>");
			ck_assert_int_eq(watch_lines_end(&lines, join_line, &out), 0);
			ck_assert_str_eq(out.data, "<one><two><three four><five>");
			watch_lines_free(&lines);
			buf_free(&out);
		}
	}
}
END_TEST

START_TEST(test_line_bound)
{
	struct watch_lines lines;
	struct buf out = BUF_INIT;

	watch_lines_init(&lines, 4);
	ck_assert_int_eq(watch_lines_feed(&lines, "1234\n", 5, join_line, &out), 0);
	ck_assert_int_eq(watch_lines_feed(&lines, "12345\n", 6, join_line, &out), -EFBIG);
	ck_assert_int_eq(watch_lines_feed(&lines, "123", 3, join_line, &out), 0);
	ck_assert_int_eq(watch_lines_feed(&lines, "45", 2, join_line, &out), -EFBIG);
	ck_assert_str_eq(out.data, "<1234>");
	watch_lines_free(&lines);
	buf_free(&out);
}
END_TEST

/* E53, E55: in the stream; or 410 as the answer of the watch */
START_TEST(test_expired)
{
	serve("limit", 1, 200, LIST("10", "", OBJECT("a", "1")), 0, HTTPS_KEEP);
	serve("limit", 0, 200, LIST("20", "", OBJECT("b", "2")), 0, HTTPS_KEEP);
	if (_i == 0)
		serve("resourceVersion=10&", 0, 200, ERROR(410, "Expired"), 1000, HTTPS_KEEP);
	else if (_i == 1)
		serve("resourceVersion=10&", 0, 200, ERROR(500, "Expired"), 1000, HTTPS_STALL);
	else
		serve("resourceVersion=10&", 0, 410, STATUS(410, "Gone"), 0, HTTPS_KEEP);
	serve("resourceVersion=20&", 0, 200, EVENT("ADDED", "c", "21"), 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("A:c");
	ck_assert_str_eq(probe.story.data, _i == 2 ? "begin L:a synced begin L:b synced up A:c"
						   : "begin L:a synced up begin L:b synced up A:c");
	ck_assert_int_eq(https_server_count(server, "resourceVersion=10&"), 1);
	ck_assert_int_eq(https_server_count(server, "limit"), 2);
	ck_assert_int_eq(log_lines, 0);
	ck_assert_uint_eq(counted(M_WATCH_RESTARTS_TOTAL, "expired"), 1);
}
END_TEST

/* E55: a list that gives the refused version again is not watched from */
START_TEST(test_refused_again)
{
	serve("limit", 2, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("limit", 0, 200, LIST("11", "", ""), 0, HTTPS_KEEP);
	serve("resourceVersion=10&", 0, 200, ERROR(410, "Expired"), 1000, HTTPS_KEEP);
	serve("resourceVersion=11&", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("begin synced up");
	ck_assert_int_eq(https_server_count(server, "resourceVersion=10&"), 1);
}
END_TEST

/* E57, E75: a clean end resumes from the last event or bookmark, with no list and no warning */
START_TEST(test_closed)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("resourceVersion=10&", 1, 200,
		_i == 0 ? EVENT("ADDED", "a", "11") EVENT("ADDED", "b", "12")
			: EVENT("ADDED", "a", "11") EVENT("BOOKMARK", "", "900"),
		1000, HTTPS_CLOSE);
	serve("watch", 0, 200, EVENT("ADDED", "c", "901"), 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("A:c");
	ck_assert_ptr_nonnull(strstr(expect_request("watch", 1).line,
		_i == 0 ? "resourceVersion=12&" : "resourceVersion=900&"));
	ck_assert_str_eq(probe.story.data,
		_i == 0 ? "begin synced up A:a A:b up A:c" : "begin synced up A:a up A:c");
	ck_assert_int_eq(https_server_count(server, "limit"), 1);
	ck_assert_int_eq(log_lines, 0);
	ck_assert_uint_eq(counted(M_WATCH_RESTARTS_TOTAL, "closed"), 1);
}
END_TEST

/* A server that closes at once is not asked in a tight loop. */
START_TEST(test_closed_at_once)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("watch", 0, 200, _i == 0 ? "" : EVENT("ADDED", "a", "11"), 1000, HTTPS_KEEP);
	begin((struct listwatch_options){0});
	fixture_run(loop, 1000);
	ck_assert_int_ge(https_server_count(server, "watch"), 1);
	ck_assert_int_le(https_server_count(server, "watch"), _i == 0 ? 4 : 11);
	ck_assert_int_eq(https_server_count(server, "limit"), 1);
}
END_TEST

/* E59: a token that expired in the middle, or that this server can't read, begins anew, without what the server offers instead */
static const int bad_tokens[] = {410, 400, 404, 500};

START_TEST(test_page_expired)
{
	serve("continue", 1, bad_tokens[_i],
		"{\"kind\":\"Status\",\"metadata\":{\"continue\":\"other\"}}",
		0, HTTPS_KEEP);
	serve("continue=next2", 0, 200, LIST("20", "", OBJECT("b", "2")), 0, HTTPS_KEEP);
	serve("limit", 1, 200, LIST("10", ",\"continue\":\"next\"", OBJECT("a", "1")), 0,
		HTTPS_KEEP);
	serve("limit", 0, 200, LIST("20", ",\"continue\":\"next2\"", OBJECT("a", "1")), 0,
		HTTPS_KEEP);
	serve("watch", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("up");
	ck_assert_str_eq(probe.story.data, "begin L:a begin L:a L:b synced up");
	ck_assert_ptr_nonnull(strstr(expect_request("watch", 0).line, "resourceVersion=20&"));
	ck_assert_int_eq(https_server_count(server, "continue=other"), 0);
}
END_TEST

/* A page that is cut is asked for again, not the whole list. */
START_TEST(test_page_cut)
{
	serve("continue=next", 1, 200, LIST("10", "", OBJECT("b", "2") "," OBJECT("c", "3")), 20,
		HTTPS_CUT);
	serve("continue=next", 0, 200, LIST("10", "", OBJECT("b", "2") "," OBJECT("c", "3")), 0,
		HTTPS_KEEP);
	serve("limit", 0, 200, LIST("10", ",\"continue\":\"next\"", OBJECT("a", "1")), 0,
		HTTPS_KEEP);
	serve("watch", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("up");
	ck_assert_str_eq(probe.story.data, "begin L:a L:b L:c down L:b L:c synced up");
}
END_TEST

/* E61, E63: silence is answered by a fresh connection, from the last version, and no list */
START_TEST(test_silent)
{
	struct https_request first, second;

	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("resourceVersion=10&", 0, 200, EVENT("ADDED", "a", "11"), 1000, HTTPS_STALL);
	serve("watch", 0, 200, EVENT("ADDED", "b", "12"), 1000, HTTPS_STALL);
	begin((struct listwatch_options){.silence_ns = 200 * NSEC_PER_MSEC});
	expect_end("A:b");
	first = expect_request("watch", 0);
	second = expect_request("watch", 1);
	ck_assert_ptr_nonnull(strstr(second.line, "resourceVersion=11&"));
	ck_assert_int_ne(first.connection, second.connection);
	ck_assert_str_eq(probe.story.data, "begin synced up A:a up A:b");
	ck_assert_int_eq(https_server_count(server, "limit"), 1);
	ck_assert_uint_ge(counted(M_WATCH_RESTARTS_TOTAL, "silent"), 1);
}
END_TEST

/* E67: 429 as an answer and in the stream: later, from the same version, no list */
START_TEST(test_throttled)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	if (_i == 0)
		https_server_rule(server, &(struct https_rule){.match = "watch",
						  .times = 1,
						  .status = 429,
						  .headers = "Retry-After: 1\r\n",
						  .body = STATUS(429, "TooManyRequests")});
	else
		serve("watch", 1, 200, ERROR(429, "TooManyRequests"), 1000, HTTPS_STALL);
	serve("watch", 0, 200, EVENT("ADDED", "a", "11"), 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("A:a");
	ck_assert_int_eq(probe.trouble.outcome, KUBE_THROTTLED);
	ck_assert_int_ge(probe.delay_ns, _i == 0 ? NSEC_PER_SEC : 300 * NSEC_PER_MSEC);
	ck_assert_ptr_nonnull(strstr(expect_request("watch", 1).line, "resourceVersion=10&"));
	ck_assert_int_eq(https_server_count(server, "limit"), 1);
	ck_assert_int_eq(probe.troubles, 1);
}
END_TEST

/* E69: failures of the first list */
START_TEST(test_first_list_fails)
{
	serve("limit", 2, 0, NULL, 0, HTTPS_RESET); /* a GET is sent twice */
	serve("limit", 1, 500, STATUS(500, "InternalError"), 0, HTTPS_KEEP);
	serve("limit", 0, 200, LIST("10", "", OBJECT("a", "1")), 0, HTTPS_KEEP);
	serve("watch", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("up");
	ck_assert_str_eq(probe.story.data, "down down begin L:a synced up");
}
END_TEST

START_TEST(test_no_list)
{
	static const char *const bodies[] = {"<html>", "{}", "{\"items\":[",
		"{\"metadata\":{},\"items\":[]}", "{\"items\":[5]}"};

	serve("limit", 1, 200, bodies[_i], 0, HTTPS_KEEP);
	serve("limit", 0, 200, LIST("10", "", OBJECT("a", "1")), 0, HTTPS_KEEP);
	serve("watch", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("up");
	ck_assert_str_eq(probe.story.data, "begin down begin L:a synced up");
}
END_TEST

/* E71: access is taken away: backs off, says so, comes back */
START_TEST(test_forbidden)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("watch", 2, 403, STATUS(403, "Forbidden"), 0, HTTPS_KEEP);
	serve("watch", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("down");
	ck_assert_int_eq(probe.trouble.outcome, KUBE_FORBIDDEN);
	ck_assert(!listwatch_live(probe.lw));
	expect_end("up");
	ck_assert_int_eq(probe.troubles, 2);
	ck_assert_int_eq(https_server_count(server, "limit"), 1);
	ck_assert(listwatch_live(probe.lw));
}
END_TEST

/* E73, E239: without the CRD the delays grow and the log stays short */
START_TEST(test_missing)
{
	serve("limit", 0, 404, "404 page not found", 0, HTTPS_KEEP);
	begin((struct listwatch_options){0});
	fixture_run(loop, 4000);
	ck_assert_int_eq(probe.trouble.outcome, KUBE_NOT_FOUND);
	ck_assert_int_ge(probe.troubles, 2);
	ck_assert_int_le(probe.troubles, 5);
	ck_assert_int_le(log_lines, 3);
	ck_assert_int_ge(log_lines, 1);
	ck_assert_ptr_nonnull(strstr(probe.trouble.message, "/apis/g/v1/xs"));
}
END_TEST

/* Lines that are no events: dropped, counted, listed anew; what follows in the same bytes is not handled */
static const char *const bad_lines[] = {
	"rubbish\n",
	"{\"type\":\"ADDED\"}\n",
	"{\"type\":\"ADDED\",\"object\":5}\n",
	"{\"type\":\"ADDED\",\"object\":{}}x\n",
	"[]\n",
	"{\"type\":\"ADDED\",\"object\":{\"a\":01}}\n",
	EVENT("ADDED",
		"0123456789012345678901234567890123456789012345678901234567890123456789012345678901"
		"234567890123456789",
		"5"),
};

START_TEST(test_malformed)
{
	char body[1024];

	snprintf(body, sizeof(body), "%s%s%s", EVENT("ADDED", "a", "11"), bad_lines[_i],
		EVENT("ADDED", "b", "12"));
	serve("limit", 1, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("limit", 0, 200, LIST("20", "", ""), 0, HTTPS_KEEP);
	serve("resourceVersion=10&", 0, 200, body, 1000, HTTPS_STALL);
	serve("resourceVersion=20&", 0, 200, EVENT("ADDED", "c", "21"), 1000, HTTPS_STALL);
	begin((struct listwatch_options){.object_limit = 120});
	expect_end("A:c");
	ck_assert_str_eq(probe.story.data, "begin synced up A:a begin synced up A:c");
	ck_assert_uint_eq(counted(M_WATCH_EVENTS_TOTAL, "malformed"), 1);
	ck_assert_uint_eq(counted(M_WATCH_RESTARTS_TOTAL, "malformed"), 1);
	ck_assert_int_eq(log_lines, 1);
}
END_TEST

START_TEST(test_unknown_type)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("watch", 0, 200,
		EVENT("MOVED", "a", "11") EVENT("MOVED", "a", "12") EVENT("ADDED", "b", "13"), 1000,
		HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("A:b");
	ck_assert_str_eq(probe.story.data, "begin synced up A:b");
	ck_assert_uint_eq(counted(M_WATCH_EVENTS_TOTAL, "unknown"), 2);
	ck_assert_int_eq(log_lines, 1);
}
END_TEST

/* Cut in the middle of an event: it comes again from the last version; connections break, so nothing is told */
START_TEST(test_cut)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("watch", 1, 200, EVENT("ADDED", "a", "11") "{\"type\":\"ADDED\",\"obj", 1000,
		_i == 0 ? HTTPS_CUT : HTTPS_RESET);
	serve("watch", 0, 200, EVENT("ADDED", "b", "12"), 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("A:b");
	ck_assert_ptr_nonnull(strstr(expect_request("watch", 1).line, "resourceVersion=11&"));
	ck_assert_str_eq(probe.story.data, "begin synced up A:a up A:b");
	ck_assert_int_eq(log_lines, 0);
}
END_TEST

/* The resource is gone and another has its name: only a list can tell */
START_TEST(test_watch_not_found)
{
	serve("limit", 0, 200, LIST("10", "", ""), 0, HTTPS_KEEP);
	serve("watch", 1, 404, "404 page not found", 0, HTTPS_KEEP);
	serve("watch", 0, 200, "", 1000, HTTPS_STALL);
	begin((struct listwatch_options){0});
	expect_end("up");
	ck_assert_str_eq(probe.story.data, "begin synced down begin synced up");
}
END_TEST

START_TEST(test_same_page_again)
{
	serve("limit", 0, 200, LIST("10", ",\"continue\":\"next\"", ""), 0, HTTPS_KEEP);
	begin((struct listwatch_options){0});
	expect_end("down");
	ck_assert_int_eq(https_server_count(server, "limit"), 2);
}
END_TEST

static const char *const frees[] = {"begin", "L:", "synced", "up", "seen", "A:", "down"};

START_TEST(test_free)
{
	const char *last;

	serve("limit", 0, 200, LIST("10", "", OBJECT("a", "1") "," OBJECT("b", "2")), 0,
		HTTPS_KEEP);
	serve("watch", 0, 200, EVENT("ADDED", "c", "11") EVENT("ADDED", "d", "12") ERROR(429, "x"),
		1000, HTTPS_STALL);
	probe.free_at = frees[_i];
	begin((struct listwatch_options){0});
	fixture_run(loop, 300);
	ck_assert_ptr_null(probe.lw);
	/* and nothing was told after that */
	last = strrchr(probe.story.data, ' ');
	last = last != NULL ? last + 1 : probe.story.data;
	if (strcmp(frees[_i], "seen") != 0)
		ck_assert_msg(
			strncmp(last, frees[_i], strlen(frees[_i])) == 0, "%s", probe.story.data);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("listwatch");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_pages);
	tcase_add_loop_test(tc, test_chunks, 0, 7);
	tcase_add_test(tc, test_every_cut);
	tcase_add_test(tc, test_line_bound);
	tcase_add_loop_test(tc, test_expired, 0, 3);
	tcase_add_test(tc, test_refused_again);
	tcase_add_loop_test(tc, test_closed, 0, 2);
	tcase_add_loop_test(tc, test_closed_at_once, 0, 2);
	tcase_add_loop_test(tc, test_page_expired, 0, COUNT(bad_tokens));
	tcase_add_test(tc, test_page_cut);
	tcase_add_test(tc, test_silent);
	tcase_add_loop_test(tc, test_throttled, 0, 2);
	tcase_add_test(tc, test_first_list_fails);
	tcase_add_loop_test(tc, test_no_list, 0, 5);
	tcase_add_test(tc, test_forbidden);
	tcase_add_test(tc, test_missing);
	tcase_add_loop_test(tc, test_malformed, 0, COUNT(bad_lines));
	tcase_add_test(tc, test_unknown_type);
	tcase_add_loop_test(tc, test_cut, 0, 2);
	tcase_add_test(tc, test_watch_not_found);
	tcase_add_test(tc, test_same_page_again);
	tcase_add_loop_test(tc, test_free, 0, COUNT(frees));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
