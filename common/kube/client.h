/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a Kubernetes API server as values: credentials added and renewed, answers judged.
 *
 * Owns the target, its HTTP client and its credentials (token files are read again every 60 s, and at once on 401 with one
 * transparent retry; certificate files when a TLS handshake or a 401 says they may have changed).
 */
#ifndef COMMON_KUBE_CLIENT_H
#define COMMON_KUBE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "common/kube/kubeconfig.h"
#include "common/loop/loop.h"

struct kube;
struct kube_request;

/* What an answer means; callers switch on it. */
enum kube_outcome {
	KUBE_OK,            /* 2xx */
	KUBE_UNREACHABLE,   /* no answer, or cut */
	KUBE_UNAUTHORIZED,  /* 401, after the retry with renewed credentials */
	KUBE_FORBIDDEN,     /* 403 */
	KUBE_NOT_FOUND,     /* 404 */
	KUBE_CONFLICT,      /* 409: stale resourceVersion, or fields owned by another manager (see conflict) */
	KUBE_EXPIRED,       /* 410 */
	KUBE_INVALID,       /* 400, 413, 415, 422, and 500 "field not declared in schema": repeating will not help */
	KUBE_THROTTLED,     /* 429 */
	KUBE_SERVER_ERROR,  /* other 5xx */
	KUBE_OUTCOME_MAX
};

struct kube_result {
	enum kube_outcome outcome;
	int status;               /* HTTP status, 0: none */
	int64_t retry_after_ns;   /* header or Status.details, 0: none */
	char reason[64];          /* Status.reason: "AlreadyExists", "Expired", "NotFound" ... "" when there was no Status */
	char message[512];        /* for people, secrets masked: Status.message, or the transport's words with the server's address */
	bool conflict;            /* a cause FieldManagerConflict */
	bool namespace_terminating; /* a cause NamespaceTerminating */
	char cause_field[128];    /* first cause's field, "" */
	const char *warning;      /* Warning: 299 header, NULL */
	const char *body;         /* whole answer of kube_call(), NUL-terminated, valid during the callback; of kube_stream() only when it failed */
	size_t body_length;
	int64_t duration_ns;
};

struct kube_call {
	const char *method, *path; /* path escaped, with query (common/kube/path.h) */
	const char *accept;        /* NULL: application/json */
	const char *content_type;  /* NULL: application/json when there is a body */
	const char *body;
	size_t body_length;
	int64_t timeout_ns;        /* 0: 30 s */
	size_t body_limit;         /* 0: 16 MiB */
};

/* A credential that a source gives. */
struct kube_credential {
	const char *token;              /* NULL: none */
	const char *cert_pem, *key_pem; /* NUL-terminated, both or neither */
	int64_t expires_wall_ns;        /* 0: at no known time */
};
/* Where credentials come from that are neither text nor file (common/kube/exec.h). Asked when there is none, when it has expired, and after a 401. */
struct kube_source {
	/* answer is called once, never from inside; credential NULL: why says what went wrong. One question at a time. */
	void (*ask)(void *data, void (*answer)(void *owner, const struct kube_credential *credential, const char *why), void *owner);
	void (*free)(void *data); /* nothing is answered any more */
	void *data;
};

/* Takes the target. NULL with the cause. */
struct kube *kube_new(struct loop *loop, struct kube_target *target, struct error *err);
void kube_free(struct kube *kube);
/*
 * Takes the source, before the first request. Requests wait for its answer; when it has none they fail as KUBE_UNAUTHORIZED with its words, and it is not
 * asked again for 1 s, then 2 s and so on up to 30 s. After a 401 it is asked once a request, and not within 5 s of its last answer.
 */
void kube_use_source(struct kube *kube, const struct kube_source *source);
const struct kube_target *kube_target(const struct kube *kube);
/* host:port, for the label host and messages. */
const char *kube_host(const struct kube *kube);
/* Where credentials come from that were refused (401, 403): a local path, for logs and never for the cluster. NULL for every other outcome. */
const char *kube_credentials_source(const struct kube *kube, enum kube_outcome outcome);
/* "ok", "unreachable", ... for logs */
const char *kube_outcome_name(enum kube_outcome outcome);

/* One request, its whole answer in memory. done is called once, never from inside; not after kube_cancel(). Counts rest_client_requests_total. */
struct kube_request *kube_start(struct kube *kube, const struct kube_call *call, void (*done)(void *data, const struct kube_result *result), void *data);
/* The same with the body of a 2xx answer handed out as it comes (body not 0 ends it); watch: no timeout over the whole. opened: 2xx headers came. */
struct kube_stream_callbacks {
	void (*opened)(void *data);
	int (*body)(void *data, const char *bytes, size_t length);
	void (*done)(void *data, const struct kube_result *result); /* KUBE_OK: ended by the server as it should */
	void *data;
};
struct kube_request *kube_stream(struct kube *kube, const struct kube_call *call, bool watch, const struct kube_stream_callbacks *callbacks);
void kube_cancel(struct kube_request *request);
/* For requests other than watches that name none, from now on; before: 30 s. */
void kube_set_timeout(struct kube *kube, int64_t timeout_ns);
void kube_fresh_connections(struct kube *kube);
/* Blocking use by programs (operatorctl): runs the loop until the answer is there. The result's body is copied to the buffer. */
struct buf;
int kube_call_wait(struct kube *kube, const struct kube_call *call, struct kube_result *ret, struct buf *ret_body);

#endif
