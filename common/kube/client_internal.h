/* SPDX-License-Identifier: Apache-2.0 */
/* The Kubernetes client and its requests, shared by client.c and client_wait.c alone. */
#ifndef COMMON_KUBE_CLIENT_INTERNAL_H
#define COMMON_KUBE_CLIENT_INTERNAL_H

#include <sys/queue.h>
#include "common/buf.h"
#include "common/kube/client.h"
#include "common/kube/credentials.h"
#include "common/kube/http.h"
#include "common/kube/renewal.h"

struct identity {
	struct http_client *http;
	unsigned uses;
};

struct kube {
	struct loop *loop;
	struct kube_target *target;
	struct credentials credentials;
	struct identity *identity;
	struct renewal renewal;
	struct loop_timer *trouble; /* fails what is parked while there is nothing to ask */
	int64_t timeout_ns;         /* of requests that say none */
	unsigned batch;             /* of parked requests; grows as they are released */
	bool releasing,
		dead; /* freed, but for its own memory, by an owner who was called in turn */
	LIST_HEAD(kube_requests, kube_request) requests;
	char host[272];
};

struct kube_request {
	LIST_ENTRY(kube_request) link;
	struct kube *kube;
	struct identity *identity;
	struct http_request *http;
	char *method, *path, *accept, *content_type;
	struct buf body;
	bool has_body, streams, watch;
	int64_t timeout_ns;
	size_t limit;
	void (*done)(void *data, const struct kube_result *result);
	struct kube_stream_callbacks callbacks; /* data for both */
	int64_t started_ns, sent_ns;            /* sent_ns: of the last try */
	unsigned generation;                    /* of the credentials that it was sent with */
	bool retried, too_large;
	bool parked;    /* waits for a credential */
	unsigned batch; /* since when */
	int status;
	struct buf answer;
};

/* Sends it with what there is. 0, or -errno when nothing was sent. */
int kube_request_send(struct kube_request *r);
/* Frees one that is in no list and has no HTTP request. */
void kube_request_free(struct kube_request *r);
/* For certificates that have changed; says so, with where they are from. */
void kube_renew_identity(struct kube *kube, const char *what);
/* Whether the request has to wait, which is begun then; refused: what it was sent with is not good. */
bool kube_await_credential(struct kube_request *r, bool refused);

#endif
