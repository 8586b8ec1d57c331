/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/http.h"
#include "common/kube/http_header.h"
#include "common/memory.h"
#include "kube_fixture.h"

#define MS NSEC_PER_MSEC

/* One request and what became of it. */
struct probe {
	struct http_client *client;
	struct http_request *request;
	struct buf body;
	char content_type[64], text[256], warning[256];
	struct http_result result;
	int headers, chunks, done;
	bool cancel_in_body, refuse_body, free_in_done;
};

static struct loop *loop;

static void
on_headers(void *data, int status, const char *content_type)
{
	struct probe *p = data;

	(void)status;
	p->headers++;
	strncpy(p->content_type, content_type, sizeof(p->content_type) - 1);
}

static int
on_body(void *data, const char *bytes, size_t length)
{
	struct probe *p = data;

	p->chunks++;
	buf_add(&p->body, bytes, length);
	if (p->cancel_in_body)
		http_cancel(p->request);
	return p->refuse_body ? -1 : 0;
}

static void
on_done(void *data, const struct http_result *result)
{
	struct probe *p = data;

	p->done++;
	p->result = *result;
	strncpy(p->text, result->text, sizeof(p->text) - 1);
	strncpy(p->warning, result->warning != NULL ? result->warning : "", sizeof(p->warning) - 1);
	if (p->free_in_done) {
		http_client_free(p->client);
		p->client = NULL;
	}
}

static bool
is_done(void *data)
{
	return ((struct probe *)data)->done > 0;
}

static bool
has_body(void *data)
{
	return ((struct probe *)data)->chunks > 0;
}

static void
start(struct probe *p, struct http_client *client, const char *method, const char *path,
	const char *body, int64_t timeout_ns)
{
	const struct http_callbacks callbacks = {
		.headers = on_headers, .body = on_body, .done = on_done, .data = p};

	buf_reset(&p->body);
	p->done = p->chunks = p->headers = 0;
	p->client = client;
	p->request = http_start(client,
		&(struct http_call){.method = method,
			.path = path,
			.authorization = "Bearer secret-token",
			.body = body,
			.content_type = body != NULL ? "application/json" : NULL,
			.body_length = body != NULL ? strlen(body) : 0,
			.timeout_ns = timeout_ns},
		&callbacks);
	ck_assert_ptr_nonnull(p->request);
	ck_assert_int_eq(p->done, 0);
}

static void
run(struct probe *p, struct http_client *client, const char *method, const char *path,
	const char *body)
{
	start(p, client, method, path, body, 5000 * MS);
	ck_assert(fixture_until(loop, is_done, p, 8000));
	ck_assert_int_eq(p->done, 1);
}

static struct http_client *
client_of(struct kube_target *target)
{
	struct error err = {0};
	struct http_client *client = http_client_new(loop, target, &err);

	ck_assert_msg(client != NULL, "%s", err.text);
	kube_target_free(target);
	return client;
}

static void
setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	loop = loop_new(false);
}

static void
teardown(void)
{
	loop_free(loop);
}

START_TEST(test_get)
{
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct http_client *client;
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	/* E29: the prefix exactly once */
	free(target->server);
	target->server =
		xasprintf("https://127.0.0.1:%d/k8s/clusters/c-1", https_server_port(server));
	client = client_of(target);
	https_server_rule(
		server, &(struct https_rule){.status = 200, .body = "{\"a\":1}", .chunk = 2});
	run(&p, client, "GET", "/api/v1/pods?limit=5", NULL);
	ck_assert_int_eq(p.result.transport, 0);
	ck_assert(p.result.complete);
	ck_assert_int_eq(p.result.status, 200);
	ck_assert_int_eq(p.headers, 1);
	ck_assert_str_eq(p.content_type, "application/json");
	ck_assert_str_eq(p.body.data, "{\"a\":1}");
	ck_assert(https_server_request(server, NULL, 0, &seen));
	ck_assert_str_eq(seen.line, "GET /k8s/clusters/c-1/api/v1/pods?limit=5");
	ck_assert_ptr_nonnull(strstr(seen.headers, "Authorization: Bearer secret-token\r\n"));
	ck_assert_ptr_nonnull(strstr(seen.headers, "Accept: application/json\r\n"));
	ck_assert_ptr_nonnull(strstr(seen.headers, "User-Agent: operatord/"));
	ck_assert_ptr_null(strcasestr(seen.headers, "expect"));
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

static const struct {
	const char *method, *body;
} methods[] = {
	{"POST", "{\"k\":\"v\"}"},
	{"PUT", "{\"k\":\"v\"}"},
	{"PATCH", "{\"k\":\"v\"}"},
	{"DELETE", "{\"k\":\"v\"}"},
	{"DELETE", NULL},
	{"POST", NULL},
};

START_TEST(test_methods)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = 201});
	run(&p, client, methods[_i].method, "/x", methods[_i].body);
	ck_assert_int_eq(p.result.status, 201);
	ck_assert(https_server_request(server, methods[_i].method, 0, &seen));
	ck_assert_str_eq(seen.body, methods[_i].body != NULL ? methods[_i].body : "");
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

/* A stall in each phase ends in time (E63): 0 handshake, 1 headers, 2 body */
START_TEST(test_stall)
{
	struct https_server *server =
		https_server_new(&(struct https_options){.stalled_handshakes = _i == 0 ? 5 : 0});
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(
		server, &(struct https_rule){
				.status = _i == 1 ? 0 : 200, .body = "half", .end = HTTPS_STALL});
	start(&p, client, "GET", "/x", NULL, 300 * MS);
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.result.transport, -ETIMEDOUT);
	ck_assert(!p.result.complete);
	ck_assert_int_eq(p.result.status, _i == 2 ? 200 : 0);
	ck_assert_int_ge(p.result.duration_ns, 250 * MS);
	ck_assert_str_ne(p.text, "");
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_cut)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = 200,
					  .body = "half",
					  .chunk = (size_t)(_i & 1) * 2,
					  .end = _i & 2 ? HTTPS_CUT : HTTPS_RESET});
	run(&p, client, "GET", "/x", NULL);
	ck_assert_int_eq(p.result.transport, -ECONNRESET);
	ck_assert(!p.result.complete);
	ck_assert_int_eq(p.result.status, 200);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

/* E101: connections that the server closed while they were idle */
START_TEST(test_idle_closed)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = 200});
	run(&p, client, "GET", "/x", NULL);
	https_server_drop(server);
	run(&p, client, "PATCH", "/x", "{}");
	ck_assert_int_eq(p.result.transport, 0);
	ck_assert_int_eq(p.result.status, 200);
	ck_assert_int_eq(https_server_connections(server), 2);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

/* E101: reused connections that break when the request is there; a PATCH on a new connection may have been taken, so it is not sent again */
START_TEST(test_reuse_broken)
{
	static const struct {
		const char *first, *method;
		int sent, transport;
	} cases[] = {
		{"GET", "PATCH", 2, 0},
		{"GET", "GET", 3, 0},
		{NULL, "GET", 2, 0},
		{NULL, "PATCH", 1, -ECONNRESET},
	};
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.match = "/first", .status = 200});
	https_server_rule(
		server, &(struct https_rule){.match = "/x", .times = 1, .end = HTTPS_RESET});
	https_server_rule(server, &(struct https_rule){.match = "/x", .status = 200});
	if (cases[_i].first != NULL)
		run(&p, client, cases[_i].first, "/first", NULL);
	run(&p, client, cases[_i].method, "/x",
		strcmp(cases[_i].method, "PATCH") == 0 ? "{}" : NULL);
	ck_assert_msg(
		p.result.transport == cases[_i].transport, "%d %s", p.result.transport, p.text);
	ck_assert_int_eq(https_server_count(server, cases[_i].method), cases[_i].sent);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_cancel)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT}, other = {.body = BUF_INIT};

	https_server_rule(
		server, &(struct https_rule){
				.match = "/stall", .status = 200, .body = "x", .end = HTTPS_STALL});
	https_server_rule(
		server, &(struct https_rule){.status = 200, .body = "12345678", .chunk = 1});
	/* before anything happened */
	start(&p, client, "GET", "/stall", NULL, 0);
	http_cancel(p.request);
	/* while it waits */
	start(&p, client, "GET", "/stall", NULL, 0);
	ck_assert(fixture_until(loop, has_body, &p, 5000));
	http_cancel(p.request);
	/* from its own body */
	p.cancel_in_body = true;
	start(&p, client, "GET", "/x", NULL, 5000 * MS);
	ck_assert(fixture_until(loop, has_body, &p, 5000));
	run(&other, client, "GET", "/x", NULL);
	ck_assert_int_eq(p.done, 0);
	ck_assert_int_eq(other.result.status, 200);
	/* by its body's value */
	other.refuse_body = true;
	run(&other, client, "GET", "/x", NULL);
	ck_assert_int_eq(other.result.transport, -ECANCELED);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
	buf_free(&other.body);
}
END_TEST

START_TEST(test_free)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT}, other = {.body = BUF_INIT};

	https_server_rule(
		server, &(struct https_rule){
				.match = "/stall", .status = 200, .body = "x", .end = HTTPS_STALL});
	https_server_rule(server, &(struct https_rule){.status = 200});
	start(&p, client, "GET", "/stall", NULL, 0);
	ck_assert(fixture_until(loop, has_body, &p, 5000));
	if (_i == 0) {
		start(&other, client, "GET", "/x", NULL, 0);
		http_client_free(client);
	} else {
		other.free_in_done = true;
		run(&other, client, "GET", "/x", NULL);
	}
	fixture_run(loop, 20);
	ck_assert_int_eq(p.done, 0);
	https_server_free(server);
	buf_free(&p.body);
	buf_free(&other.body);
}
END_TEST

START_TEST(test_fresh)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct https_request seen;
	struct probe p = {.body = BUF_INIT}, watch = {.body = BUF_INIT};

	https_server_rule(
		server, &(struct https_rule){
				.match = "/watch", .status = 200, .body = "x", .end = HTTPS_STALL});
	https_server_rule(server, &(struct https_rule){.status = 200});
	start(&watch, client, "GET", "/watch", NULL, 0);
	ck_assert(fixture_until(loop, has_body, &watch, 5000));
	run(&p, client, "GET", "/a", NULL);
	run(&p, client, "GET", "/b", NULL);
	ck_assert_int_eq(https_server_connections(server), 2);
	http_client_fresh_connections(client);
	run(&p, client, "GET", "/c", NULL);
	ck_assert_int_eq(https_server_connections(server), 3);
	ck_assert(https_server_request(server, "/c", 0, &seen));
	ck_assert_int_eq(seen.connection, 2);
	ck_assert_int_eq(watch.done, 0);
	http_cancel(watch.request);
	run(&p, client, "GET", "/d", NULL);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
	buf_free(&watch.body);
}
END_TEST

/* E65: a reused connection that gives nothing; the idle ones beside it are not tried one after the other */
START_TEST(test_dead_pool)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct https_request seen;
	struct probe p = {.body = BUF_INIT}, other = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.match = "/dead", .end = HTTPS_STALL});
	https_server_rule(server, &(struct https_rule){.status = 200});
	start(&other, client, "GET", "/a", NULL, 5000 * MS);
	run(&p, client, "GET", "/b", NULL);
	ck_assert(fixture_until(loop, is_done, &other, 5000));
	ck_assert_int_eq(https_server_connections(server), 2);
	start(&p, client, "PATCH", "/dead", "{}", 300 * MS);
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.result.transport, -ETIMEDOUT);
	run(&p, client, "PATCH", "/c", "{}");
	ck_assert_int_eq(p.result.status, 200);
	ck_assert(https_server_request(server, "/c", 0, &seen));
	ck_assert_int_eq(seen.connection, 2);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
	buf_free(&other.body);
}
END_TEST

/* --- TLS and ways ------------------------------------------------------------ */

START_TEST(test_server_name)
{
	/* E37 */
	struct https_server *server =
		https_server_new(&(struct https_options){.names = "DNS:api.test"});
	struct kube_target *target = fixture_target(server);
	struct http_client *client;
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};
	char host[64];

	https_server_rule(server, &(struct https_rule){.status = 200});
	if (_i == 1)
		target->tls_server_name = xstrdup("api.test");
	client = client_of(target);
	run(&p, client, "GET", "/x", NULL);
	if (_i == 0) {
		ck_assert_int_eq(p.result.transport, -EPROTO);
	} else {
		ck_assert_int_eq(p.result.transport, 0);
		ck_assert(https_server_request(server, NULL, 0, &seen));
		ck_assert_str_eq(seen.server_name, "api.test");
		snprintf(host, sizeof(host), "Host: 127.0.0.1:%d\r\n", https_server_port(server));
		ck_assert_ptr_nonnull(strstr(seen.headers, host));
	}
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_trust)
{
	/* E35, E47: 0 another CA, 1 no check */
	struct https_server *server = https_server_new(NULL), *other = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct http_client *client;
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = 200});
	free(target->ca_pem);
	target->ca_pem = _i == 0 ? xstrdup(https_server_ca(other)) : NULL;
	target->ca_pem_length = _i == 0 ? strlen(target->ca_pem) : 0;
	target->insecure = _i == 1;
	client = client_of(target);
	run(&p, client, "GET", "/x", NULL);
	ck_assert_int_eq(p.result.transport, _i == 0 ? -EPROTO : 0);
	ck_assert_int_eq(https_server_count(server, NULL), _i);
	http_client_free(client);
	https_server_free(server);
	https_server_free(other);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_client_certificate)
{
	struct https_server *server =
		https_server_new(&(struct https_options){.want_client_cert = true});
	struct kube_target *target = fixture_target(server);
	struct http_client *client;
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = 200});
	if (_i == 1) {
		target->cert_pem = xstrdup(https_server_client_cert(server));
		target->cert_pem_length = strlen(target->cert_pem);
		target->key_pem = xstrdup(https_server_client_key(server));
		target->key_pem_length = strlen(target->key_pem);
	}
	client = client_of(target);
	run(&p, client, "GET", "/x", NULL);
	if (_i == 1)
		ck_assert_int_eq(p.result.status, 200);
	else
		ck_assert_int_ne(p.result.transport, 0);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_bad_certificates)
{
	struct https_server *server = https_server_new(NULL), *other = https_server_new(NULL);
	const struct {
		const char *ca, *cert, *key, *text;
	} cases[] = {
		{"rubbish", NULL, NULL, "authority"},
		{NULL, "rubbish", https_server_client_key(server), "client certificate is not"},
		{NULL, https_server_client_cert(server), "rubbish", "client key is not"},
		{NULL, https_server_client_cert(server), https_server_client_key(other),
			"does not belong"},
	};
	struct kube_target *target = fixture_target(server);
	struct error err = {0};

	if (cases[_i].ca != NULL) {
		free(target->ca_pem);
		target->ca_pem = xstrdup(cases[_i].ca);
		target->ca_pem_length = strlen(target->ca_pem);
	}
	if (cases[_i].cert != NULL) {
		target->cert_pem = xstrdup(cases[_i].cert);
		target->cert_pem_length = strlen(target->cert_pem);
		target->key_pem = xstrdup(cases[_i].key);
		target->key_pem_length = strlen(target->key_pem);
	}
	ck_assert_ptr_null(http_client_new(loop, target, &err));
	ck_assert_msg(strstr(err.text, cases[_i].text) != NULL, "%s", err.text);
	kube_target_free(target);
	https_server_free(server);
	https_server_free(other);
}
END_TEST

START_TEST(test_proxy)
{
	/* E39: through the proxy of the kubeconfig; E33: never through the environment's */
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct http_client *client;
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	setenv("NO_PROXY", "127.0.0.1", 1);
	setenv("no_proxy", "127.0.0.1", 1);
	https_server_rule(server, &(struct https_rule){.status = 200});
	if (_i == 1) {
		target->proxy_url = xasprintf("http://127.0.0.1:%d", https_server_port(server));
		free(target->server);
		target->server = xstrdup("https://127.0.0.1:7");
	}
	client = client_of(target);
	run(&p, client, "GET", "/x", NULL);
	unsetenv("HTTPS_PROXY");
	unsetenv("https_proxy");
	unsetenv("NO_PROXY");
	unsetenv("no_proxy");
	ck_assert_msg(p.result.transport == 0, "%s", p.text);
	ck_assert(https_server_request(server, NULL, 0, &seen));
	ck_assert_str_eq(seen.line, _i == 1 ? "CONNECT 127.0.0.1:7" : "GET /x");
	ck_assert(_i == 0 || strstr(seen.headers, "secret-token") == NULL);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_ipv6)
{
	/* E41: the name is the long spelling, the URL has the short one */
	struct https_server *server;
	struct kube_target *target;
	struct http_client *client;
	struct probe p = {.body = BUF_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool there = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0)
		close(fd);
	if (!there)
		return;
	server = https_server_new(
		&(struct https_options){.ipv6 = true, .names = "IP:0:0:0:0:0:0:0:1"});
	target = fixture_target(server);
	free(target->server);
	target->server = xasprintf("https://[::1]:%d", https_server_port(server));
	https_server_rule(server, &(struct https_rule){.status = 200});
	client = client_of(target);
	run(&p, client, "GET", "/x", NULL);
	ck_assert_msg(p.result.transport == 0, "%s", p.text);
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_refused)
{
	static const struct {
		const char *server;
		int transport;
	} cases[] = {
		{"https://127.0.0.1:1", -ECONNREFUSED},
		{"https://nobody.invalid:1", -EHOSTUNREACH},
	};
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct http_client *client;
	struct probe p = {.body = BUF_INIT};

	free(target->server);
	target->server = xstrdup(cases[_i].server);
	client = client_of(target);
	start(&p, client, "GET", "/x", NULL, 12000 * MS);
	ck_assert(fixture_until(loop, is_done, &p, 15000));
	ck_assert(p.result.transport == cases[_i].transport ||
		  (_i == 1 && p.result.transport == -ETIMEDOUT));
	ck_assert_str_ne(p.text, "");
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

/* --- Headers ----------------------------------------------------------------- */

START_TEST(test_answer_headers)
{
	struct https_server *server = https_server_new(NULL);
	struct http_client *client = client_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server,
		&(struct https_rule){.status = 429,
			.headers =
				"Retry-After: 7\r\nWarning: 299 - \"unknown field \\\"x\\\"\"\r\n",
			.body = "slow"});
	run(&p, client, "GET", "/x", NULL);
	ck_assert_int_eq(p.result.status, 429);
	ck_assert_int_eq(p.result.retry_after_ns, 7 * NSEC_PER_SEC);
	ck_assert_str_eq(p.warning, "unknown field \"x\"");
	ck_assert_str_eq(p.body.data, "slow");
	http_client_free(client);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

/* The wall clock is 2026-11-30T22:05:00Z. */
#define WALL (1796076300 * NSEC_PER_SEC)
static const struct {
	const char *value;
	int64_t seconds;
} retries[] = {
	{"0", 0},
	{"1", 1},
	{"120", 120},
	{"301", 300},
	{"99999999999999999999999", 300},
	{"-5", 0},
	{"1.5", 0},
	{"soon", 0},
	{"", 0},
	{"Mon, 30 Nov 2026 22:05:30 GMT", 30},
	{"Mon, 30 Nov 2026 22:04:00 GMT", 0},
	{"Mon, 30 Nov 2027 22:04:00 GMT", 300},
	{"Mon, 30 Nov 2026", 0},
};

START_TEST(test_retry_after)
{
	ck_assert_int_eq(http_header_retry_after(retries[_i].value, WALL),
		retries[_i].seconds * NSEC_PER_SEC);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("http");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_get);
	tcase_add_loop_test(tc, test_methods, 0, COUNT(methods));
	tcase_add_loop_test(tc, test_stall, 0, 3);
	tcase_add_loop_test(tc, test_cut, 0, 4);
	tcase_add_test(tc, test_idle_closed);
	tcase_add_loop_test(tc, test_reuse_broken, 0, 4);
	tcase_add_test(tc, test_cancel);
	tcase_add_loop_test(tc, test_free, 0, 2);
	tcase_add_test(tc, test_fresh);
	tcase_add_test(tc, test_dead_pool);
	tcase_add_loop_test(tc, test_server_name, 0, 2);
	tcase_add_loop_test(tc, test_trust, 0, 2);
	tcase_add_loop_test(tc, test_client_certificate, 0, 2);
	tcase_add_loop_test(tc, test_bad_certificates, 0, 4);
	tcase_add_loop_test(tc, test_proxy, 0, 2);
	tcase_add_test(tc, test_ipv6);
	tcase_add_loop_test(tc, test_refused, 0, 2);
	tcase_add_test(tc, test_answer_headers);
	tcase_add_loop_test(tc, test_retry_after, 0, COUNT(retries));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
