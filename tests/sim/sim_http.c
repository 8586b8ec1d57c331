/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP of a simulated run: requests become calls of the development server's core after a latency, answers come in pieces cut anywhere, and
 * the network loses, delays and breaks what sim_faults says. What the controller under test asked for is counted in sim_traffic.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kube/http.h"
#include "common/memory.h"
#include "tests/sim/sim.h"

enum fate {
	FATE_GOOD,
	FATE_REFUSED,
	FATE_LOST_REQUEST,
	FATE_LOST_ANSWER,
	FATE_THROTTLED,
	FATE_FAILED,
	FATE_STUCK
};

struct http_request {
	struct http_client *client;
	struct http_request *previous, *next;
	struct http_callbacks callbacks;
	char *method, *path, *accept, *content_type, *body;
	size_t body_length;
	int64_t started_ns, timeout_ns;
	enum fate fate;
	struct loop_timer *timer;    /* the next step of this request */
	struct loop_timer *deadline; /* its timeout */
	struct loop_timer *trouble;  /* watches: once a second, what may go wrong */
	struct api_watch *watch;
	struct buf pending; /* of a watch: bytes that are on their way */
	bool ended;         /* the server has ended the watch */
	bool silent;        /* nothing comes any more */
	bool opened;        /* a watch: its headers were given out */
	bool busy;          /* in a callback of its consumer */
	bool cancelled;     /* by its consumer, during such a callback: freed behind it */
	struct api_response answer;
};

struct http_client {
	struct loop *loop;
	struct http_request *requests;
};

struct sim_faults sim_faults;
struct sim_traffic sim_traffic;

static struct {
	struct loop *loop;
	struct api *api;
	struct loop_timer *tick;
	struct sim_options options;
	void (*before)(const struct api_request *request);
	void (*after)(const struct api_request *request, const struct api_response *response);
} server;

/* --- the server's side --- */

static void
tick(void *data)
{
	int64_t next_ns = api_tick(server.api);

	(void)data;
	if (next_ns >= 0)
		loop_timer_set(server.tick, next_ns);
}

void
sim_http_server(struct loop *loop, struct api *api, const struct sim_options *options)
{
	loop_timer_free(server.tick);
	server.loop = loop;
	server.api = api;
	server.tick = api ? loop_timer_new(loop, tick, NULL) : NULL;
	server.options = options ? *options : (struct sim_options){0};
	sim_traffic = (struct sim_traffic){0};
}

void
sim_http_watch_writes(void (*before)(const struct api_request *request),
	void (*after)(const struct api_request *request, const struct api_response *response))
{
	server.before = before;
	server.after = after;
}

int
sim_call(const char *user, const char *method, const char *path, const char *content_type,
	const char *body, struct buf *ret_body)
{
	struct api_request request = {.method = method,
		.path = path,
		.content_type = content_type,
		.user_agent = user,
		.user = user,
		.body = body,
		.body_length = body ? strlen(body) : 0};
	struct api_response response = API_RESPONSE_INIT;

	api_handle(server.api, &request, &response);
	loop_timer_set(server.tick, 0);
	if (strcmp(method, "GET") != 0)
		sim_say("%s: %s %s %s -> %d", user, method, path, body ? body : "",
			response.status);
	if (ret_body) {
		buf_reset(ret_body);
		buf_add(ret_body, response.body.data, response.body.length);
	}
	int status = response.status;
	api_response_free(&response);
	return status;
}

static struct api_request
request_of(const struct http_request *request)
{
	return (struct api_request){.method = request->method,
		.path = request->path,
		.accept = request->accept,
		.content_type = request->content_type,
		.user_agent = "operatord",
		.user = "admin",
		.body = request->body,
		.body_length = request->body_length};
}

/* --- the life of a request --- */

static void
request_free(struct http_request *request)
{
	if (request->previous)
		request->previous->next = request->next;
	else
		request->client->requests = request->next;
	if (request->next)
		request->next->previous = request->previous;
	loop_timer_free(request->timer);
	loop_timer_free(request->deadline);
	loop_timer_free(request->trouble);
	if (request->watch)
		api_watch_free(request->watch);
	api_response_free(&request->answer);
	buf_free(&request->pending);
	free(request->method);
	free(request->path);
	free(request->accept);
	free(request->content_type);
	free(request->body);
	free(request);
	sim_traffic.in_flight--;
}

static void
finish(struct http_request *request, int transport, int status, bool complete,
	int64_t retry_after_ns)
{
	struct http_callbacks callbacks = request->callbacks;
	struct http_result result = {.transport = transport,
		.complete = complete,
		.status = status,
		.retry_after_ns = retry_after_ns,
		.text = transport ? strerror(-transport) : "",
		.warning = request->answer.warnings.length ? request->answer.warnings.data : NULL,
		.duration_ns = clock_monotonic_ns() - request->started_ns};
	char *warning = result.warning ? xstrdup(result.warning) : NULL;

	result.warning = warning;
	sim_say("%s %s -> %d %s", request->method, request->path, status, result.text);
	request_free(request);
	callbacks.done(callbacks.data, &result);
	free(warning);
}

/* Gives bytes out in pieces cut anywhere; false when the consumer has had enough (then the request has ended). */
static bool
give(struct http_request *request, const char *bytes, size_t length)
{
	while (length > 0) {
		size_t piece = sim_chance(300) ? 1 + (size_t)sim_below(length) : length;
		request->busy = true;
		int enough =
			request->callbacks.body
				? request->callbacks.body(request->callbacks.data, bytes, piece)
				: 0;
		request->busy = false;
		if (request->cancelled) {
			request_free(request);
			return false;
		}
		if (enough) {
			finish(request, -ECANCELED, request->answer.status, false, 0);
			return false;
		}
		bytes += piece;
		length -= piece;
	}
	return true;
}

/* Tells of the headers; false when the consumer cancelled (then the request is gone). */
static bool
give_headers(struct http_request *request, int status, const char *content_type)
{
	if (!request->callbacks.headers)
		return true;
	request->busy = true;
	request->callbacks.headers(request->callbacks.data, status, content_type);
	request->busy = false;
	if (request->cancelled)
		request_free(request);
	else
		return true;
	return false;
}

static void
answer(struct http_request *request, int status, const char *content_type, const char *body,
	size_t length, int64_t retry_after_ns)
{
	request->answer.status = status;
	if (give_headers(request, status, content_type) && give(request, body, length))
		finish(request, 0, status, true, retry_after_ns);
}

static void
answer_status(struct http_request *request, int status, const char *reason, int64_t retry_after_ns)
{
	char body[256];
	int n = snprintf(body, sizeof(body),
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":"
		"\"simulated\",\"reason\":\"%s\",\"code\":%d}",
		reason, status);

	answer(request, status, "application/json", body, (size_t)n, retry_after_ns);
}

static void
on_line(void *data, const char *bytes, size_t length)
{
	struct http_request *request = data;

	if (request->silent)
		return;
	if (server.options.plant == PLANT_MISSED_DELETE && length > 17 &&
		memcmp(bytes, "{\"type\":\"DELETED\"", 17) == 0)
		return;
	if (server.options.plant == PLANT_MISSED_CHANGE && length > 18 &&
		memcmp(bytes, "{\"type\":\"MODIFIED\"", 18) == 0 && sim_chance(100))
		return;
	if (server.options.plant == PLANT_NO_BOOKMARK && length > 18 &&
		memcmp(bytes, "{\"type\":\"BOOKMARK\"", 18) == 0)
		return;
	buf_add(&request->pending, bytes, length);
	if (request->opened && !loop_timer_active(request->timer))
		loop_timer_set(request->timer, (int64_t)sim_below(20) * NSEC_PER_MSEC);
}

static void
on_end(void *data)
{
	struct http_request *request = data;

	request->ended = true;
	if (request->opened && !loop_timer_active(request->timer))
		loop_timer_set(request->timer, 0);
}

/* A watch's bytes arrive; then its end, if it has ended. */
static void
deliver(struct http_request *request)
{
	struct buf bytes = request->pending;

	request->pending = BUF_INIT;
	bool going = give(request, bytes.data, bytes.length);
	buf_free(&bytes);
	if (going && request->ended)
		finish(request, 0, 200, true, 0);
}

/* Once a second: does this watch break, end, fall silent? */
static void
trouble(void *data)
{
	static const char garbage[] = "{\"type\":\"MODI\n";
	struct http_request *request = data;

	loop_timer_set(request->trouble, NSEC_PER_SEC);
	if (request->silent)
		return;
	if (sim_chance(sim_faults.compaction))
		api_compact(server.api);
	if (sim_faults.outage || sim_chance(sim_faults.cut_watch)) {
		size_t half = request->pending.length / 2;
		struct buf bytes = request->pending;
		request->pending = BUF_INIT;
		if (give(request, bytes.data, half))
			finish(request, -ECONNRESET, 200, false, 0);
		buf_free(&bytes);
	} else if (sim_chance(sim_faults.end_watch)) {
		request->ended = true;
		loop_timer_set(request->timer, 0);
	} else if (sim_chance(sim_faults.silent_watch)) {
		sim_say("the watch falls silent: %s", request->path);
		request->silent = true;
		buf_reset(&request->pending);
		loop_timer_clear(request->timer);
	} else if (sim_chance(sim_faults.garbage)) {
		on_line(request, garbage, sizeof(garbage) - 1);
	}
}

static void
open_watch(struct http_request *request)
{
	struct api_request asked = request_of(request);

	request->watch = api_watch(server.api, &asked, on_line, on_end, request, &request->answer);
	loop_timer_set(server.tick, 0);
	if (!request->watch) {
		struct buf body = request->answer.body;
		request->answer.body = BUF_INIT;
		answer(request, request->answer.status, "application/json", body.data, body.length,
			0);
		buf_free(&body);
		return;
	}
	sim_say("watch open: %s", request->path);
	request->opened = true;
	loop_timer_clear(request->deadline);
	loop_timer_set(request->trouble, NSEC_PER_SEC);
	if (give_headers(request, 200, "application/json"))
		loop_timer_set(request->timer, 0);
}

/* The server answers; writes are shown to whoever watches them. */
static void
handle(struct http_request *request, const struct api_request *asked)
{
	bool write = strcmp(asked->method, "GET") != 0;

	if (write && server.before)
		server.before(asked);
	if (write && server.options.plant == PLANT_LOST_WRITE && sim_chance(100)) {
		/* The answer of a read stands in for the one of the write that was not done. */
		struct api_request read = *asked;
		read.method = "GET";
		read.body = NULL;
		read.body_length = 0;
		api_handle(server.api, &read, &request->answer);
	} else {
		api_handle(server.api, asked, &request->answer);
	}
	if (write && server.after)
		server.after(asked, &request->answer);
}

/* The request reaches the server, or does not. */
static void
arrive(struct http_request *request)
{
	struct api_request asked = request_of(request);

	switch (request->fate) {
	case FATE_REFUSED:
		finish(request, -ECONNREFUSED, 0, false, 0);
		return;
	case FATE_LOST_REQUEST:
		finish(request, -ECONNRESET, 0, false, 0);
		return;
	case FATE_THROTTLED:
		answer_status(request, 429, "TooManyRequests", NSEC_PER_SEC);
		return;
	case FATE_FAILED:
		answer_status(request, 500, "InternalError", 0);
		return;
	case FATE_STUCK:
		return; /* the deadline ends it */
	case FATE_GOOD:
	case FATE_LOST_ANSWER:
		break;
	}
	if (api_is_watch(&asked)) {
		open_watch(request);
		return;
	}
	handle(request, &asked);
	loop_timer_set(server.tick, 0);
	if (request->fate == FATE_LOST_ANSWER) {
		finish(request, -ECONNRESET, 0, false, 0);
		return;
	}
	struct buf body = request->answer.body;
	request->answer.body = BUF_INIT;
	answer(request, request->answer.status, request->answer.content_type, body.data,
		body.length, 0);
	buf_free(&body);
}

static void
step(void *data)
{
	struct http_request *request = data;

	if (request->opened)
		deliver(request);
	else
		arrive(request);
}

static void
too_late(void *data)
{
	finish(data, -ETIMEDOUT, 0, false, 0);
}

static enum fate
draw_fate(void)
{
	if (sim_faults.outage || sim_chance(sim_faults.refused))
		return FATE_REFUSED;
	if (sim_chance(sim_faults.lost_request))
		return FATE_LOST_REQUEST;
	if (sim_chance(sim_faults.lost_answer))
		return FATE_LOST_ANSWER;
	if (sim_chance(sim_faults.throttled))
		return FATE_THROTTLED;
	if (sim_chance(sim_faults.failed))
		return FATE_FAILED;
	if (sim_chance(sim_faults.slow / 4))
		return FATE_STUCK;
	return FATE_GOOD;
}

/* Path without its query, for telling whether two requests are about one thing. */
static size_t
path_length(const char *path)
{
	return strcspn(path, "?");
}

static void
count(const struct http_request *request)
{
	bool write = strcmp(request->method, "GET") != 0;

	sim_traffic.requests++;
	sim_traffic.in_flight++;
	sim_traffic.writes += write;
	sim_traffic.deletes += strcmp(request->method, "DELETE") == 0;
	if (!write) {
		bool watch = strstr(request->path, "watch=") != NULL;
		sim_traffic.watches += watch;
		sim_traffic.lists += !watch && strstr(request->path, "limit=") != NULL;
		return;
	}
	if (strcmp(request->method, "POST") == 0)
		return; /* Events */
	size_t length = path_length(request->path);
	for (const struct http_request *other = request->client->requests; other;
		other = other->next) {
		if (other != request && strcmp(other->method, "GET") != 0 &&
			path_length(other->path) == length &&
			strncmp(other->path, request->path, length) == 0)
			sim_traffic.double_writes++;
	}
}

static char *
copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* The path, with the size of a list's page lowered when the run wants small pages. */
static char *
copy_path(const char *path)
{
	static const char asked[] = "limit=500";
	const char *at = server.options.page ? strstr(path, asked) : NULL;

	if (!at)
		return xstrdup(path);
	return xasprintf("%.*slimit=%u%s", (int)(at - path), path, server.options.page,
		at + sizeof(asked) - 1);
}

struct http_request *
http_start(struct http_client *client, const struct http_call *call,
	const struct http_callbacks *callbacks)
{
	struct http_request *request = xcalloc(1, sizeof(*request));

	*request = (struct http_request){.client = client,
		.next = client->requests,
		.callbacks = *callbacks,
		.method = copy(call->method),
		.path = copy_path(call->path),
		.accept = copy(call->accept),
		.content_type = copy(call->content_type),
		.body = call->body ? xstrndup(call->body, call->body_length) : NULL,
		.body_length = call->body_length,
		.started_ns = clock_monotonic_ns(),
		.timeout_ns = call->timeout_ns ? call->timeout_ns : 30 * NSEC_PER_SEC,
		.fate = draw_fate(),
		.pending = BUF_INIT,
		.answer = API_RESPONSE_INIT};
	if (client->requests)
		client->requests->previous = request;
	client->requests = request;
	request->timer = loop_timer_new(client->loop, step, request);
	request->deadline = loop_timer_new(client->loop, too_late, request);
	request->trouble = loop_timer_new(client->loop, trouble, request);
	count(request);
	int64_t latency_ns = 1 + (int64_t)sim_below(5 * NSEC_PER_MSEC);
	if (sim_chance(sim_faults.slow))
		latency_ns += (int64_t)sim_below(8 * NSEC_PER_SEC);
	loop_timer_set(request->timer, latency_ns);
	loop_timer_set(request->deadline, request->timeout_ns);
	return request;
}

void
http_cancel(struct http_request *request)
{
	if (!request)
		return;
	if (request->busy)
		request->cancelled = true;
	else
		request_free(request);
}

struct http_client *
http_client_new(struct loop *loop, const struct kube_target *target, struct error *err)
{
	struct http_client *client = xcalloc(1, sizeof(*client));

	(void)target;
	(void)err;
	client->loop = loop;
	return client;
}

void
http_client_free(struct http_client *client)
{
	if (!client)
		return;
	while (client->requests)
		http_cancel(client->requests);
	free(client);
}

void
http_client_fresh_connections(struct http_client *client)
{
	(void)client;
}
