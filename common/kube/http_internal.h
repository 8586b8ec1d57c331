/* SPDX-License-Identifier: Apache-2.0 */
/* Between http.c (life of clients and requests) and http_easy.c (one transfer's options and callbacks). Nobody else includes it. */
#ifndef COMMON_KUBE_HTTP_INTERNAL_H
#define COMMON_KUBE_HTTP_INTERNAL_H

#include <curl/curl.h>
#include <sys/queue.h>
#include "common/kube/http.h"

/* What every request of a client has in common. */
struct http_server {
	char *base;        /* "https://NAME:PORT/prefix" */
	char *host_header; /* "Host: ...", NULL: curl's own */
	struct curl_slist *headers;    /* of every request */
	struct curl_slist *connect_to; /* for tls-server-name */
	char *proxy;       /* "": none */
	bool insecure;
	char *ca, *cert, *key;
	size_t ca_length, cert_length, key_length;
};

/* Connections that may be used again. A client has one pool that new requests use, and older ones until their requests end. */
struct http_pool {
	struct http_client *client;
	CURLM *multi;
	struct loop_timer *timer;
	unsigned running;
	LIST_ENTRY(http_pool) link;
};

struct http_request {
	TAILQ_ENTRY(http_request) link;
	struct http_client *client;
	struct http_pool *pool; /* NULL: not started yet */
	struct http_callbacks callbacks;
	CURL *easy;
	struct curl_slist *headers;
	struct loop_timer *header_timer; /* a watch's, until its headers are there */
	int64_t timeout_ns, started_ns;
	bool is_get, retried, cancelled, ended;
	bool got_bytes, headers_done;
	int status;
	int64_t retry_after_ns;
	char content_type[128];
	char warning[256];
	char error[CURL_ERROR_SIZE];
};

struct http_client {
	struct loop *loop;
	struct http_server server;
	struct http_pool *pool; /* for new requests */
	LIST_HEAD(http_pools, http_pool) pools;
	TAILQ_HEAD(http_requests, http_request) requests;
	struct loop_timer *kick;
	unsigned depth; /* callbacks of the loop that are under way */
	bool freed;     /* by its owner, while depth was not 0 */
};

int http_server_init(struct http_server *server, const struct kube_target *target, struct error *err);
void http_server_clear(struct http_server *server);
/* Makes request->easy and its headers: 0 or -ENOMEM. */
int http_easy_setup(struct http_request *request, const struct http_call *call);
void http_easy_clear(struct http_request *request);
/* Ready for a second try on a connection of its own. */
void http_easy_again(struct http_request *request);
/* libcurl's result as -errno. */
int http_easy_errno(CURL *easy, CURLcode code);

#endif
