/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 over TLS on the event loop, and the only user of libcurl. The simulator links its own.
 *
 * A client is one server with one TLS identity and one pool of connections. Requests run at the same time; each is on a connection
 * of its own from the pool (a watch holds one for its life). All timeouts are finite. No redirects, no `Expect: 100-continue`, no
 * environment proxies, TLS 1.2 and up, TCP keepalive and TCP_USER_TIMEOUT. A GET, or a request whose reused connection broke
 * before any byte of the answer, is retried once on a fresh connection.
 */
#ifndef COMMON_KUBE_HTTP_H
#define COMMON_KUBE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/kube/kubeconfig.h"
#include "common/loop/loop.h"

struct http_client;
struct http_request;

/* What became of a request. Valid during the done callback. */
struct http_result {
	int transport;        /* 0: an answer came; else -errno of the failure: -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH (name), -EPROTO (TLS), -ECONNRESET ..., -EFBIG (body over the bound) */
	bool complete;        /* the body ended as it should */
	int status;           /* HTTP status, 0 when none came */
	int64_t retry_after_ns; /* from the header, 0: absent; at most 5 minutes */
	const char *text;     /* the transport's own words, "" when transport is 0 */
	const char *warning;  /* the text of the first `Warning: 299` header, NULL: none */
	int64_t duration_ns;
};

struct http_callbacks {
	/* Headers are in; may be NULL. */
	void (*headers)(void *data, int status, const char *content_type);
	/* Bytes of the body as they come, of any status; not 0 ends the request with -ECANCELED. */
	int (*body)(void *data, const char *bytes, size_t length);
	/* Once, last, never from inside http_start(); the request is gone when it returns. Not called after http_cancel(). */
	void (*done)(void *data, const struct http_result *result);
	void *data;
};

struct http_call {
	const char *method;       /* "GET" ... */
	const char *path;         /* behind the server's prefix, escaped, with the query: "/api/v1/pods?limit=500" */
	const char *accept;       /* NULL: application/json */
	const char *content_type; /* of body */
	const char *authorization; /* whole header value, NULL: none */
	const char *body;         /* copied; NULL: none */
	size_t body_length;
	int64_t timeout_ns;       /* whole request; 0: a watch, for which connect and headers have timeouts of their own (10 s, 30 s) and the body none */
};

/* Client of target, which is read during the call only. NULL with the cause, e.g. a certificate that can't be parsed. */
struct http_client *http_client_new(struct loop *loop, const struct kube_target *target, struct error *err);
/* Cancels what runs. Never blocks on name resolution (so a process may still have its thread: leave by _exit). */
void http_client_free(struct http_client *client);
/* Everything in call is copied. NULL only when the system refuses (out of memory). */
struct http_request *http_start(struct http_client *client, const struct http_call *call, const struct http_callbacks *callbacks);
void http_cancel(struct http_request *request);
/* New requests use new connections from now on: after silence, or when credentials or certificates changed. */
void http_client_fresh_connections(struct http_client *client);

#endif
