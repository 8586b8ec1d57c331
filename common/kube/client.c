/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as values. Between the owner and common/kube/http: adds the credentials, renews them once when they are refused,
 * collects answers within their bound and judges them.
 *
 * Owners may cancel and free from any callback. So nothing of a request is touched once its owner was called, except in done,
 * before which it is taken off every list.
 *
 * Certificates that changed get a new HTTP client; the old one lives until its last request ends.
 *
 * Requests for which there is no credential yet wait in client_wait.c.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/client.h"
#include "common/kube/client_internal.h"
#include "common/kube/judge.h"
#include "common/kube/url.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "common/scoreboard.h"

#define TIMEOUT_NS      (30 * NSEC_PER_SEC)
#define BODY_MAX        ((size_t)16 << 20)
#define FAILED_BODY_MAX ((size_t)64 << 10) /* of an answer that is no success, in a stream */

static const char *const outcome_names[KUBE_OUTCOME_MAX] = {
	[KUBE_OK] = "ok",
	[KUBE_UNREACHABLE] = "unreachable",
	[KUBE_UNAUTHORIZED] = "unauthorized",
	[KUBE_FORBIDDEN] = "forbidden",
	[KUBE_NOT_FOUND] = "not found",
	[KUBE_CONFLICT] = "conflict",
	[KUBE_EXPIRED] = "expired",
	[KUBE_INVALID] = "invalid",
	[KUBE_THROTTLED] = "throttled",
	[KUBE_SERVER_ERROR] = "server error",
};

const char *
kube_outcome_name(enum kube_outcome outcome)
{
	return outcome >= 0 && outcome < KUBE_OUTCOME_MAX ? outcome_names[outcome] : "unknown";
}

/* --- Identities ------------------------------------------------------------- */

static struct identity *
identity_new(struct kube *kube, struct error *err)
{
	struct identity *identity;
	struct http_client *http = http_client_new(kube->loop, kube->target, err);

	if (http == NULL)
		return NULL;
	identity = xcalloc(1, sizeof(*identity));
	identity->http = http;
	return identity;
}

static void
identity_free(struct identity *identity)
{
	if (identity == NULL)
		return;
	http_client_free(identity->http);
	free(identity);
}

/* A request is done with its identity, which goes if it is an old one and this was the last. */
static void
leave_identity(struct kube_request *r)
{
	struct identity *identity = r->identity;

	r->identity = NULL;
	if (identity != NULL && --identity->uses == 0 && identity != r->kube->identity)
		identity_free(identity);
}

void
kube_renew_identity(struct kube *kube, const char *what)
{
	struct error err = {0};
	struct identity *fresh, *old = kube->identity;

	fresh = identity_new(kube, &err);
	if (fresh == NULL) {
		/* Half of a rotation: the next failure looks again. */
		log_warn("%s: changed %s can't be used yet: %s", kube->target->source, what,
			err.text);
		return;
	}
	log_info("%s: %s have changed and are in use", kube->target->source, what);
	kube->identity = fresh;
	if (old->uses == 0)
		identity_free(old);
}

static void
renew_files(struct kube *kube)
{
	if (credentials_refresh_files(&kube->credentials))
		kube_renew_identity(kube, "certificate files");
}

/* --- Results ------------------------------------------------------------------ */

static void
count(const struct kube_request *r, const struct http_result *http)
{
	char code[16] = "<error>";
	unsigned methods = metrics[M_REQUESTS_TOTAL].labels[1].n_values;

	if (http->status != 0)
		snprintf(code, sizeof(code), "%d", http->status);
	metric_add(M_REQUESTS_TOTAL,
		metric_label_index(M_REQUESTS_TOTAL, 0, code) * methods +
			metric_label_index(M_REQUESTS_TOTAL, 1, r->method),
		1);
	if (!r->watch)
		metric_observe(M_REQUEST_DURATION,
			metric_label_index(M_REQUEST_DURATION, 0, r->method),
			clock_monotonic_ns() - r->sent_ns);
}

static void
explain_transport(
	const struct kube_request *r, const struct http_result *http, struct kube_result *result)
{
	struct error e = {0};
	int shown = (int)strcspn(r->path, "?");

	result->outcome = KUBE_UNREACHABLE;
	if (r->too_large)
		error_set(&e, -1, "%s %.*s: the answer is larger than %zu bytes", r->method, shown,
			r->path, r->limit);
	else
		error_set(&e, -1, "%s %.*s at %s: %s", r->method, shown > 200 ? 200 : shown,
			r->path, r->kube->host,
			http->text[0] != '\0' ? http->text : strerror(-http->transport));
	log_apply_mask(e.text);
	memcpy(result->message, e.text, sizeof(e.text));
}

static void
judge(const struct kube_request *r, const struct http_result *http, struct kube_result *result)
{
	*result = (struct kube_result){
		.status = http->status,
		.retry_after_ns = http->retry_after_ns,
		.warning = http->warning,
		.body = r->answer.data,
		.body_length = r->answer.length,
		.duration_ns = clock_monotonic_ns() - r->started_ns,
	};
	if (http->transport != 0) {
		explain_transport(r, http, result);
		return;
	}
	result->outcome = kube_judge_status(http->status);
	if (result->outcome == KUBE_OK)
		return;
	(void)kube_judge_body(result, r->answer.data, r->answer.length);
	kube_judge_explain(result, r->method, r->path);
}

/* --- Requests -------------------------------------------------------------------- */

void
kube_request_free(struct kube_request *r)
{
	free(r->method);
	free(r->path);
	free(r->accept);
	free(r->content_type);
	buf_free(&r->body);
	buf_free(&r->answer);
	free(r);
}

static void
on_headers(void *data, int status, const char *content_type)
{
	struct kube_request *r = data;

	(void)content_type;
	r->status = status;
	if (r->streams && status >= 200 && status < 300 && r->callbacks.opened != NULL)
		r->callbacks.opened(r->callbacks.data);
}

static int
on_body(void *data, const char *bytes, size_t length)
{
	struct kube_request *r = data;

	if (r->streams && r->status >= 200 && r->status < 300)
		return r->callbacks.body(r->callbacks.data, bytes, length);
	buf_add(&r->answer, bytes, length);
	if (!r->answer.failed)
		return 0;
	/* The head of an error's text is good enough. */
	if (r->status < 200 || r->status >= 300) {
		r->answer.failed = false;
		return 0;
	}
	r->too_large = true;
	return -EFBIG;
}

/* As before it was sent. */
static void
rewind_request(struct kube_request *r)
{
	r->retried = true;
	r->status = 0;
	buf_reset(&r->answer);
	leave_identity(r);
}

/* Once, with other credentials than those that were refused; false when there are none. */
static bool
try_again(struct kube_request *r, const struct http_result *http)
{
	struct kube *kube = r->kube;
	bool refused = http->status == 401 || http->transport == -EPROTO;

	if (!refused && http->transport != -ECONNRESET)
		return false;
	if (http->status == 401)
		credentials_refresh_token(&kube->credentials, true);
	renew_files(kube);
	if (!refused || r->retried)
		return false;
	if (r->generation == kube->credentials.generation) {
		if (!kube_await_credential(r, true))
			return false;
		rewind_request(r);
		return true;
	}
	rewind_request(r);
	return kube_request_send(r) == 0;
}

static void
on_done(void *data, const struct http_result *http)
{
	struct kube_request *r = data;
	struct kube_result result;

	r->http = NULL;
	count(r, http);
	if (try_again(r, http))
		return;
	judge(r, http, &result);
	LIST_REMOVE(r, link);
	leave_identity(r);
	r->done(r->callbacks.data, &result);
	kube_request_free(r);
}

int
kube_request_send(struct kube_request *r)
{
	struct kube *kube = r->kube;
	const struct http_callbacks callbacks = {
		.headers = on_headers, .body = on_body, .done = on_done, .data = r};
	const struct http_call call = {
		.method = r->method,
		.path = r->path,
		.accept = r->accept,
		.content_type = r->content_type,
		.authorization = kube->credentials.authorization,
		.body = r->has_body ? r->body.data : NULL,
		.body_length = r->body.length,
		.timeout_ns = r->timeout_ns,
	};

	r->sent_ns = clock_monotonic_ns();
	r->http = http_start(kube->identity->http, &call, &callbacks);
	if (r->http == NULL)
		return -ENOMEM;
	r->identity = kube->identity;
	r->identity->uses++;
	r->generation = kube->credentials.generation;
	return 0;
}

static struct kube_request *
request_new(struct kube *kube, const struct kube_call *call)
{
	struct kube_request *r = xcalloc(1, sizeof(*r));

	r->kube = kube;
	r->method = xstrdup(call->method);
	r->path = xstrdup(call->path);
	r->accept = call->accept != NULL ? xstrdup(call->accept) : NULL;
	r->has_body = call->body != NULL;
	if (r->has_body)
		r->content_type = xstrdup(
			call->content_type != NULL ? call->content_type : "application/json");
	r->timeout_ns = call->timeout_ns != 0 ? call->timeout_ns : kube->timeout_ns;
	r->limit = call->body_limit != 0 ? call->body_limit : BODY_MAX;
	r->started_ns = clock_monotonic_ns();
	r->body = BUF_INIT;
	r->answer = BUF_INIT_LIMIT(r->limit);
	if (r->has_body)
		buf_add(&r->body, call->body, call->body_length);
	return r;
}

static struct kube_request *
launch(struct kube_request *r)
{
	credentials_refresh_token(&r->kube->credentials, false);
	if (r->body.failed || (!kube_await_credential(r, false) && kube_request_send(r) < 0)) {
		kube_request_free(r);
		return NULL;
	}
	LIST_INSERT_HEAD(&r->kube->requests, r, link);
	return r;
}

struct kube_request *
kube_start(struct kube *kube, const struct kube_call *call,
	void (*done)(void *data, const struct kube_result *result), void *data)
{
	struct kube_request *r = request_new(kube, call);

	r->done = done;
	r->callbacks.data = data;
	return launch(r);
}

struct kube_request *
kube_stream(struct kube *kube, const struct kube_call *call, bool watch,
	const struct kube_stream_callbacks *callbacks)
{
	struct kube_request *r = request_new(kube, call);

	r->streams = true;
	r->watch = watch;
	if (watch)
		r->timeout_ns = 0;
	r->answer.limit = FAILED_BODY_MAX;
	r->done = callbacks->done;
	r->callbacks = *callbacks;
	return launch(r);
}

void
kube_cancel(struct kube_request *r)
{
	if (r == NULL)
		return;
	http_cancel(r->http);
	LIST_REMOVE(r, link);
	leave_identity(r);
	kube_request_free(r);
}

/* --- The client --------------------------------------------------------------------- */

struct kube *
kube_new(struct loop *loop, struct kube_target *target, struct error *err)
{
	struct kube *kube = xcalloc(1, sizeof(*kube));
	struct kube_url url;

	LIST_INIT(&kube->requests);
	kube->loop = loop;
	kube->target = target;
	kube->timeout_ns = TIMEOUT_NS;
	if (kube_url_parse(target->server, &url, err) < 0) {
		error_prefix(err, "server %s", target->server);
		goto fail;
	}
	kube_url_authority(&url, kube->host);
	if (credentials_init(&kube->credentials, target, err) < 0)
		goto fail;
	kube->identity = identity_new(kube, err);
	if (kube->identity == NULL)
		goto fail;
	return kube;
fail:
	error_prefix(err, "%s", target->source);
	kube_free(kube);
	return NULL;
}

void
kube_free(struct kube *kube)
{
	struct kube_request *r;

	if (kube == NULL)
		return;
	while ((r = LIST_FIRST(&kube->requests)) != NULL)
		kube_cancel(r);
	renewal_free(&kube->renewal);
	loop_timer_free(kube->trouble);
	identity_free(kube->identity);
	credentials_clear(&kube->credentials);
	kube_target_free(kube->target);
	kube->dead = true;
	if (!kube->releasing)
		free(kube);
}

const struct kube_target *
kube_target(const struct kube *kube)
{
	return kube->target;
}

const char *
kube_host(const struct kube *kube)
{
	return kube->host;
}

const char *
kube_credentials_source(const struct kube *kube, enum kube_outcome outcome)
{
	return outcome == KUBE_UNAUTHORIZED || outcome == KUBE_FORBIDDEN ? kube->target->source
									 : NULL;
}

void
kube_set_timeout(struct kube *kube, int64_t timeout_ns)
{
	kube->timeout_ns = timeout_ns;
}

void
kube_fresh_connections(struct kube *kube)
{
	http_client_fresh_connections(kube->identity->http);
}

struct waiting {
	struct loop *loop;
	struct kube_result *result;
	struct buf *body;
	bool failed;
};

static void
stop_waiting(void *data, const struct kube_result *result)
{
	struct waiting *w = data;

	*w->result = *result;
	w->result->warning = NULL;
	w->result->body = "";
	w->result->body_length = 0;
	if (w->body != NULL) {
		buf_add(w->body, result->body, result->body_length);
		w->failed = w->body->failed;
		w->result->body = w->body->data;
		w->result->body_length = w->body->length;
	}
	loop_stop(w->loop);
}

int
kube_call_wait(struct kube *kube, const struct kube_call *call, struct kube_result *ret,
	struct buf *ret_body)
{
	struct waiting w = {.loop = kube->loop, .result = ret, .body = ret_body};

	if (kube_start(kube, call, stop_waiting, &w) == NULL)
		return -ENOMEM;
	loop_run(kube->loop);
	return w.failed ? -ENOMEM : 0;
}
