/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/client.h"
#include "common/kube/judge.h"
#include "common/kube/write.h"
#include "common/memory.h"
#include "kube_fixture.h"

struct probe {
	struct kube *kube;
	struct kube_request *request;
	struct kube_result result;
	struct buf body;
	int opened, chunks, done;
	bool free_in_done, cancel_in_body;
};

static struct loop *loop;
static char *dir;

static void
on_done(void *data, const struct kube_result *result)
{
	struct probe *p = data;

	p->done++;
	p->result = *result;
	buf_reset(&p->body);
	buf_add(&p->body, result->body, result->body_length);
	if (p->free_in_done) {
		kube_free(p->kube);
		p->kube = NULL;
	}
}

static void
on_opened(void *data)
{
	((struct probe *)data)->opened++;
}

static int
on_body(void *data, const char *bytes, size_t length)
{
	struct probe *p = data;

	p->chunks++;
	buf_add(&p->body, bytes, length);
	if (p->cancel_in_body) {
		kube_cancel(p->request);
		return -1;
	}
	return 0;
}

static void
on_stream_done(void *data, const struct kube_result *result)
{
	struct probe *p = data;

	p->done++;
	p->result = *result;
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

static struct kube *
kube_of(struct kube_target *target)
{
	struct error err = {0};
	struct kube *kube = kube_new(loop, target, &err);

	ck_assert_msg(kube != NULL, "%s", err.text);
	return kube;
}

static void
run(struct probe *p, struct kube *kube, const struct kube_call *call)
{
	p->kube = kube;
	p->done = 0;
	p->request = kube_start(kube, call, on_done, p);
	ck_assert_ptr_nonnull(p->request);
	ck_assert_int_eq(p->done, 0);
	ck_assert(fixture_until(loop, is_done, p, 8000));
	ck_assert_int_eq(p->done, 1);
}

static void
setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	loop = loop_new(false);
	dir = fixture_directory();
}

static void
teardown(void)
{
	fixture_remove(dir);
	loop_free(loop);
}

#define STATUS(code, reason, message, rest)                                                  \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"," \
	"\"message\":\"" message "\",\"reason\":\"" reason "\",\"code\":" #code rest "}"

static const struct {
	int status;
	const char *headers, *body;
	enum kube_outcome outcome;
	const char *reason, *message; /* part of it */
	int64_t retry_s;
	bool conflict, terminating;
} answers[] = {
	{200, NULL, "{}", KUBE_OK, "", "", 0, false, false},
	{201, NULL, "{}", KUBE_OK, "", "", 0, false, false},
	{401, NULL, STATUS(401, "Unauthorized", "Unauthorized", ""), KUBE_UNAUTHORIZED,
		"Unauthorized", "does not accept the credentials", 0, false, false},
	{403, NULL, STATUS(403, "Forbidden", "user cannot list", ",\"details\":{\"kind\":\"x\"}"),
		KUBE_FORBIDDEN, "Forbidden",
		"GET /apis/g/v1/xs: 403 Forbidden: user cannot list; grant", 0, false, false},
	{403, NULL,
		STATUS(403, "Forbidden", "it ends",
			",\"details\":{\"causes\":[{\"reason\":\"NamespaceTerminating\",\"field\":"
			"\"metadata.namespace\"}]}"),
		KUBE_FORBIDDEN, "Forbidden", "it ends", 0, false, true},
	{404, NULL, STATUS(404, "NotFound", "not there", ""), KUBE_NOT_FOUND, "NotFound",
		"not there", 0, false, false},
	{404, NULL, "404 page not found\nmore", KUBE_NOT_FOUND, "",
		"404 Not Found: 404 page not found", 0, false, false},
	{409, NULL,
		STATUS(409, "Conflict", "taken",
			",\"details\":{\"causes\":[{\"reason\":\"FieldManagerConflict\",\"field\":"
			"\".spec.replicas\"}]}"),
		KUBE_CONFLICT, "Conflict", "taken", 0, true, false},
	{409, NULL, STATUS(409, "AlreadyExists", "is there", ""), KUBE_CONFLICT, "AlreadyExists",
		"is there", 0, false, false},
	{410, NULL, STATUS(410, "Expired", "too old", ""), KUBE_EXPIRED, "Expired", "too old", 0,
		false, false},
	{422, NULL, STATUS(422, "Invalid", "bad field", ""), KUBE_INVALID, "Invalid", "bad field",
		0, false, false},
	{429, "Retry-After: 3\r\n", STATUS(429, "TooManyRequests", "slow", ""), KUBE_THROTTLED,
		"TooManyRequests", "slow", 3, false, false},
	{429, NULL,
		STATUS(429, "TooManyRequests", "slow", ",\"details\":{\"retryAfterSeconds\":9}"),
		KUBE_THROTTLED, "TooManyRequests", "slow", 9, false, false},
	{500, NULL, STATUS(500, "", ".spec.x: field not declared in schema", ""), KUBE_INVALID, "",
		"not declared", 0, false, false},
	{500, NULL, STATUS(500, "InternalError", "boom", ""), KUBE_SERVER_ERROR, "InternalError",
		"boom", 0, false, false},
	{503, NULL, "<html>\n<b>", KUBE_SERVER_ERROR, "", "503 Service Unavailable: <html>", 0,
		false, false},
	{302, "Location: https://elsewhere/\r\n", "", KUBE_SERVER_ERROR, "", "302 Found", 0, false,
		false},
	{418, NULL, "", KUBE_INVALID, "", "418", 0, false, false},
	{404, NULL, "{\"kind\":\"Status\",\"details\":5,\"message\":7}", KUBE_NOT_FOUND, "",
		"404 Not Found", 0, false, false},
	{404, NULL, "{\"kind\":\"Status\"", KUBE_NOT_FOUND, "", "404 Not Found", 0, false, false},
};

START_TEST(test_answers)
{
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = answers[_i].status,
					  .headers = answers[_i].headers,
					  .body = answers[_i].body});
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/apis/g/v1/xs?limit=1"});
	ck_assert_int_eq(p.result.outcome, answers[_i].outcome);
	ck_assert_int_eq(p.result.status, answers[_i].status);
	ck_assert_str_eq(p.result.reason, answers[_i].reason);
	ck_assert_msg(
		strstr(p.result.message, answers[_i].message) != NULL, "%s", p.result.message);
	ck_assert_int_eq(p.result.retry_after_ns, answers[_i].retry_s * NSEC_PER_SEC);
	ck_assert_int_eq(p.result.conflict, answers[_i].conflict);
	ck_assert_int_eq(p.result.namespace_terminating, answers[_i].terminating);
	ck_assert_str_eq(p.body.data, answers[_i].body);
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

/* Long and odd texts stay whole characters within their bounds (E229). */
START_TEST(test_long_message)
{
	struct kube_result result = {.status = 403, .outcome = KUBE_FORBIDDEN};
	struct buf body = BUF_INIT;

	buf_adds(&body, "{\"kind\":\"Status\",\"reason\":\"");
	for (int i = 0; i < 40; i++)
		buf_adds(&body, "\xc3\xa4\xe2\x82\xac");
	buf_adds(&body, "\",\"message\":\"x");
	for (int i = 0; i < 4000; i++)
		buf_adds(&body, "\xc3\xa4");
	buf_adds(&body, "\"}");
	ck_assert(kube_judge_body(&result, body.data, body.length));
	kube_judge_explain(&result, "GET", "/x");
	ck_assert_uint_lt(strlen(result.message), sizeof(result.message));
	/* cut behind a character: an 'ä' or the mark of the cut */
	ck_assert((result.message[strlen(result.message) - 1] & 0xc0) == 0x80 ||
		  result.message[strlen(result.message) - 1] == '.');
	ck_assert_uint_lt(strlen(result.reason), sizeof(result.reason));
	buf_free(&body);
}
END_TEST

static const struct {
	const char *content; /* NULL: a static token */
	const char *header;
} tokens[] = {
	{NULL, "Authorization: Bearer tok-0123456789\r\n"},
	{"tok-0123456789\n", "Authorization: Bearer tok-0123456789\r\n"}, /* E27 */
	{"tok-0123456789\r\n", "Authorization: Bearer tok-0123456789\r\n"},
	{"  tok-0123456789  \n\n", "Authorization: Bearer tok-0123456789\r\n"},
};

START_TEST(test_token)
{
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct kube *kube;
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	if (tokens[_i].content != NULL)
		target->token_file = fixture_file(dir, "token", tokens[_i].content);
	target->token = xstrdup(tokens[_i].content != NULL ? "another-token" : "tok-0123456789");
	https_server_rule(
		server, &(struct https_rule){.status = 403,
				.body = STATUS(403, "Forbidden", "tok-0123456789 may not", "")});
	kube = kube_of(target);
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	ck_assert(https_server_request(server, NULL, 0, &seen));
	ck_assert_ptr_nonnull(strstr(seen.headers, tokens[_i].header));
	/* an echoed secret is masked */
	ck_assert_ptr_null(strstr(p.result.message, "tok-0123456789"));
	ck_assert_ptr_nonnull(strstr(p.result.message, "may not"));
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_bad_token_file)
{
	static const char *const contents[] = {"", " \n", "two words\n", NULL};
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct error err = {0};

	target->token_file = contents[_i] != NULL ? fixture_file(dir, "token", contents[_i])
						  : xasprintf("%s/none", dir);
	ck_assert_ptr_null(kube_new(loop, target, &err));
	ck_assert_msg(strstr(err.text, "token file") != NULL, "%s", err.text);
	https_server_free(server);
}
END_TEST

START_TEST(test_token_rotated)
{
	/* 0: the file has a new token, 1: it has not (E233: one request, and the source is named), 2: refused again */
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct kube *kube;
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	target->token_file = fixture_file(dir, "token", "old-token-1\n");
	kube = kube_of(target);
	if (_i != 1)
		free(fixture_file(dir, "token", "new-token-2\n"));
	https_server_rule(server,
		&(struct https_rule){.status = 401, .times = _i == 0 ? 1 : 0, .body = "no"});
	https_server_rule(server, &(struct https_rule){.status = 200, .body = "yes"});
	run(&p, kube,
		&(struct kube_call){
			.method = "POST", .path = "/x", .body = "{\"a\":1}", .body_length = 7});
	ck_assert_int_eq(p.result.outcome, _i == 0 ? KUBE_OK : KUBE_UNAUTHORIZED);
	ck_assert_str_eq(p.body.data, _i == 0 ? "yes" : "no");
	ck_assert_int_eq(https_server_count(server, NULL), _i == 1 ? 1 : 2);
	if (_i == 0) {
		ck_assert(https_server_request(server, NULL, 1, &seen));
		ck_assert_ptr_nonnull(strstr(seen.headers, "Bearer new-token-2\r\n"));
		ck_assert_str_eq(seen.body, "{\"a\":1}");
	} else {
		ck_assert_ptr_null(strstr(p.result.message, "test"));
		ck_assert_str_eq(kube_credentials_source(kube, p.result.outcome), "test");
		ck_assert_ptr_null(kube_credentials_source(kube, KUBE_NOT_FOUND));
	}
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_anonymous)
{
	/* E11 */
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	https_server_rule(server, &(struct https_rule){.status = 401});
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	ck_assert_int_eq(p.result.outcome, KUBE_UNAUTHORIZED);
	ck_assert(https_server_request(server, NULL, 0, &seen));
	ck_assert_ptr_null(strcasestr(seen.headers, "authorization"));
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_impersonated)
{
	struct https_server *server = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct kube *kube;
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};

	target->basic = xstrdup("amFuZTpzZWNyZXQ=");
	target->n_headers = 2;
	target->headers = xcalloc(target->n_headers, sizeof(*target->headers));
	target->headers[0] = xstrdup("Impersonate-User: jane");
	target->headers[1] = xstrdup("Impersonate-Group: dev");
	kube = kube_of(target);
	https_server_rule(server, &(struct https_rule){.status = 200});
	for (int i = 0; i < 2; i++) {
		run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
		ck_assert(https_server_request(server, NULL, i, &seen));
		ck_assert_ptr_nonnull(
			strstr(seen.headers, "Authorization: Basic amFuZTpzZWNyZXQ=\r\n"));
		ck_assert_ptr_nonnull(strstr(
			seen.headers, "Impersonate-User: jane\r\nImpersonate-Group: dev\r\n"));
	}
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_certificates_rotated)
{
	/* The server's authority changes: the handshake fails, the file is read again, the request goes through. */
	struct https_server *server = https_server_new(NULL), *other = https_server_new(NULL);
	struct kube_target *target = fixture_target(server);
	struct kube *kube;
	struct probe p = {.body = BUF_INIT};

	free(target->ca_pem);
	target->ca_file = fixture_file(dir, "ca.pem", https_server_ca(other));
	target->ca_pem = xstrdup(https_server_ca(other));
	target->ca_pem_length = strlen(target->ca_pem);
	https_server_rule(server, &(struct https_rule){.status = 200, .body = "{}"});
	kube = kube_of(target);
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	ck_assert_int_eq(p.result.outcome, KUBE_UNREACHABLE);
	free(fixture_file(dir, "ca.pem", https_server_ca(server)));
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	ck_assert_msg(p.result.outcome == KUBE_OK, "%s", p.result.message);
	/* half a rotation is not used */
	free(fixture_file(dir, "ca.pem", "half"));
	https_server_clear(server);
	https_server_rule(server, &(struct https_rule){.status = 401, .times = 1});
	https_server_rule(server, &(struct https_rule){.status = 200});
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	ck_assert_int_eq(p.result.outcome, KUBE_OK);
	kube_free(kube);
	https_server_free(server);
	https_server_free(other);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_limits)
{
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};

	https_server_rule(
		server, &(struct https_rule){.match = "/stall", .status = 200, .end = HTTPS_STALL});
	https_server_rule(
		server, &(struct https_rule){.status = 200, .body = "0123456789", .chunk = 3});
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x", .body_limit = 9});
	ck_assert_int_eq(p.result.outcome, KUBE_UNREACHABLE);
	ck_assert_ptr_nonnull(strstr(p.result.message, "larger than 9 bytes"));
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x", .body_limit = 10});
	ck_assert_int_eq(p.result.outcome, KUBE_OK);
	run(&p, kube,
		&(struct kube_call){
			.method = "GET", .path = "/stall", .timeout_ns = 200 * NSEC_PER_MSEC});
	ck_assert_int_eq(p.result.outcome, KUBE_UNREACHABLE);
	ck_assert_ptr_nonnull(strstr(p.result.message, kube_host(kube)));
	/* E63: also the requests that name no time of their own end by the configured one */
	kube_set_timeout(kube, 200 * NSEC_PER_MSEC);
	run(&p, kube,
		&(struct kube_call){
			.method = "PATCH", .path = "/stall", .body = "{}", .body_length = 2});
	ck_assert_int_eq(p.result.outcome, KUBE_UNREACHABLE);
	ck_assert_int_lt(p.result.duration_ns, 2 * NSEC_PER_SEC);
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_stream)
{
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT};
	const struct kube_stream_callbacks callbacks = {on_opened, on_body, on_stream_done, &p};

	https_server_rule(server,
		&(struct https_rule){.match = "/watch", .status = 200, .body = "abc", .chunk = 1});
	https_server_rule(server, &(struct https_rule){.match = "/cut",
					  .status = 200,
					  .body = "abc",
					  .chunk = 1,
					  .end = HTTPS_CUT});
	https_server_rule(server, &(struct https_rule){.match = "/gone",
					  .status = 410,
					  .body = STATUS(410, "Expired", "old", "")});
	https_server_rule(server, &(struct https_rule){.match = "/stall",
					  .status = 200,
					  .body = "abc",
					  .chunk = 3,
					  .end = HTTPS_STALL});
	ck_assert_ptr_nonnull(kube_stream(
		kube, &(struct kube_call){.method = "GET", .path = "/watch"}, true, &callbacks));
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.result.outcome, KUBE_OK);
	ck_assert_int_eq(p.opened, 1);
	ck_assert_str_eq(p.body.data, "abc");
	p.done = p.opened = 0;
	kube_stream(kube, &(struct kube_call){.method = "GET", .path = "/cut"}, true, &callbacks);
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.result.outcome, KUBE_UNREACHABLE);
	ck_assert_int_eq(p.opened, 1);
	p.done = p.opened = p.chunks = 0;
	kube_stream(kube, &(struct kube_call){.method = "GET", .path = "/gone"}, true, &callbacks);
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.result.outcome, KUBE_EXPIRED);
	ck_assert_int_eq(p.opened + p.chunks, 0);
	/* cancelled from inside, with another freed under way */
	p.done = 0;
	p.cancel_in_body = true;
	p.request = kube_stream(
		kube, &(struct kube_call){.method = "GET", .path = "/stall"}, true, &callbacks);
	ck_assert(fixture_until(loop, has_body, &p, 5000));
	fixture_run(loop, 20);
	ck_assert_int_eq(p.done, 0);
	kube_stream(kube, &(struct kube_call){.method = "GET", .path = "/stall"}, true, &callbacks);
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

START_TEST(test_free_in_done)
{
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct probe p = {.body = BUF_INIT, .free_in_done = true}, other = {.body = BUF_INIT};

	https_server_rule(
		server, &(struct https_rule){.match = "/stall", .status = 200, .end = HTTPS_STALL});
	https_server_rule(server, &(struct https_rule){.status = 200});
	ck_assert_ptr_nonnull(kube_start(
		kube, &(struct kube_call){.method = "GET", .path = "/stall"}, on_done, &other));
	run(&p, kube, &(struct kube_call){.method = "GET", .path = "/x"});
	fixture_run(loop, 20);
	ck_assert_int_eq(other.done, 0);
	https_server_free(server);
	buf_free(&p.body);
	buf_free(&other.body);
}
END_TEST

START_TEST(test_wait)
{
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct kube_result result = {0};
	struct buf body = BUF_INIT;

	https_server_rule(server, &(struct https_rule){.status = 200, .body = "abc"});
	ck_assert_int_eq(kube_call_wait(kube, &(struct kube_call){.method = "GET", .path = "/x"},
				 &result, &body),
		0);
	ck_assert_int_eq(result.outcome, KUBE_OK);
	ck_assert_str_eq(body.data, "abc");
	ck_assert_str_eq(result.body, "abc");
	kube_free(kube);
	https_server_free(server);
	buf_free(&body);
}
END_TEST

START_TEST(test_writes)
{
	static const struct {
		const char *line, *type, *body;
	} expected[] = {
		{"PATCH /apis/g/v1/namespaces/n/xs/a?fieldManager=operatord%2Fi%2Fc&force=true",
			"application/apply-patch+yaml", "{}"},
		{"PATCH /apis/g/v1/namespaces/n/xs/a/status?fieldManager=m",
			"application/merge-patch+json", "{}"},
		{"PATCH /apis/g/v1/namespaces/n/xs/a?fieldManager=m",
			"application/merge-patch+json", "{}"},
		{"DELETE /apis/g/v1/namespaces/n/xs/a", "application/json",
			"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":"
			"\"Background\",\"preconditions\":{\"uid\":\"u\"}}"},
		{"POST /apis/g/v1/namespaces/n/xs", "application/json", "{}"},
		{"GET /apis/g/v1/namespaces/n/xs/a", NULL, ""},
	};
	struct kube_resource r = {
		.group = "g", .version = "v1", .plural = "xs", .has_status = _i != 2};
	struct https_server *server = https_server_new(NULL);
	struct kube *kube = kube_of(fixture_target(server));
	struct https_request seen;
	struct probe p = {.body = BUF_INIT};
	char type[80];

	https_server_rule(server, &(struct https_rule){.status = 200});
	switch (_i) {
	case 0:
		kube_apply(kube, &r, "n", "a", "operatord/i/c", true, "{}", 2, on_done, &p);
		break;
	case 1:
	case 2:
		kube_merge_patch(kube, &r, "n", "a", "status", "m", "{}", 2, on_done, &p);
		break;
	case 3:
		kube_delete(kube, &r, "n", "a", "u", on_done, &p);
		break;
	case 4:
		kube_create(kube, &r, "n", "{}", 2, on_done, &p);
		break;
	default:
		kube_get(kube, &r, "n", "a", NULL, on_done, &p);
	}
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert(https_server_request(server, NULL, 0, &seen));
	ck_assert_str_eq(seen.line, expected[_i].line);
	ck_assert_str_eq(seen.body, expected[_i].body);
	if (expected[_i].type != NULL) {
		snprintf(type, sizeof(type), "Content-Type: %s\r\n", expected[_i].type);
		ck_assert_ptr_nonnull(strstr(seen.headers, type));
	}
	kube_free(kube);
	https_server_free(server);
	buf_free(&p.body);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("client");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_answers, 0, COUNT(answers));
	tcase_add_test(tc, test_long_message);
	tcase_add_loop_test(tc, test_token, 0, COUNT(tokens));
	tcase_add_loop_test(tc, test_bad_token_file, 0, 4);
	tcase_add_loop_test(tc, test_token_rotated, 0, 3);
	tcase_add_test(tc, test_anonymous);
	tcase_add_test(tc, test_impersonated);
	tcase_add_test(tc, test_certificates_rotated);
	tcase_add_test(tc, test_limits);
	tcase_add_test(tc, test_stream);
	tcase_add_test(tc, test_free_in_done);
	tcase_add_test(tc, test_wait);
	tcase_add_loop_test(tc, test_writes, 0, 6);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
