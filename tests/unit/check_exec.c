/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials from a program: what it is told, what is taken of its answer, when it is run, and what requests see meanwhile. The program is a script that
 * notes each of its runs and prints a file, with @ for the run's number.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/exec.h"
#include "common/kube/exec_answer.h"
#include "common/memory.h"
#include "kube_fixture.h"

#define V1      "client.authentication.k8s.io/v1"
#define V1BETA1 "client.authentication.k8s.io/v1beta1"
#define ANSWER(status)                                      \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 \
	"\",\"spec\":{\"interactive\":false},\"status\":{" status "}}"

static const char script[] = "#!/bin/sh\n"
			     "cd \"$(dirname \"$0\")\" || exit 9\n"
			     "echo run >> runs\n"
			     "env > environment\n"
			     "[ ! -f slow ] || exec sleep 300\n"
			     "[ ! -f failing ] || { echo 'the login has expired' >&2; exit 3; }\n"
			     "sed \"s/@/$(wc -l < runs)/\" answer\n";

static struct loop *loop;
static struct https_server *server;
static char *dir;

static void
write_file(const char *name, const char *text)
{
	free(fixture_file(dir, name, text));
}

static void
setup(void)
{
	char *path;

	(void)signal(SIGPIPE, SIG_IGN);
	loop = loop_new(false);
	dir = fixture_directory();
	path = fixture_file(dir, "program", script);
	ck_assert_int_eq(chmod(path, 0700), 0);
	free(path);
	write_file("answer", ANSWER("\"token\":\"token-number-@\""));
}

static void
teardown(void)
{
	if (server != NULL)
		https_server_free(server);
	server = NULL;
	fixture_remove(dir);
	loop_free(loop);
}

static int
runs(void)
{
	struct buf text = BUF_INIT;
	char *path = xasprintf("%s/runs", dir);
	int n = 0;

	if (buf_read_file(&text, path, 100000) == 0)
		for (size_t i = 0; i < text.length; i++)
			n += text.data[i] == '\n';
	buf_free(&text);
	free(path);
	return n;
}

static void
start_server(bool want_client_cert)
{
	const struct https_options options = {.want_client_cert = want_client_cert};

	server = https_server_new(&options);
}

/* A client whose user is what the kubeconfig says; exec: members of it beside command. */
static struct kube *
connect_kube(const char *command, const char *exec, void (*lost)(void *data), void *data,
	struct error *err)
{
	char *text = xasprintf(
		"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', extensions: "
		"[{name: client.authentication.k8s.io/exec, extension: {audience: [a, 1]}}]}}]\n"
		"users: [{name: u, user: {exec: {apiVersion: " V1
		", interactiveMode: Never, command: %s, %s}}}]\n",
		command, exec);
	char *path = fixture_file(dir, "config", text);
	const struct kubeconfig_options options = {.path = path};
	struct kube_target *target = NULL, *served = server != NULL ? fixture_target(server) : NULL;
	struct kube_source source = {0};
	struct kube *kube = NULL;

	ck_assert_msg(kubeconfig_load(&options, &target, err) == 0, "%s", err->text);
	free(text);
	free(path);
	if (served != NULL) {
		/* Where the server really is. */
		served->exec = target->exec;
		target->exec = NULL;
		kube_target_free(target);
		target = served;
	}
	if (kube_exec_new(loop, target, "test", lost, data, &source, err) < 0) {
		kube_target_free(target);
		return NULL;
	}
	kube = kube_new(loop, target, err);
	ck_assert_msg(kube != NULL, "%s", err->text);
	kube_use_source(kube, &source);
	return kube;
}

static struct kube *
connected(void)
{
	struct error err = {0};
	struct kube *kube = connect_kube("./program", "env: null", NULL, NULL, &err);

	ck_assert_msg(kube != NULL, "%s", err.text);
	return kube;
}

struct asked {
	struct kube_result result;
	int done;
	struct kube *kube_to_free;
};

static void
on_done(void *data, const struct kube_result *result)
{
	struct asked *a = data;

	a->done++;
	a->result = *result;
	kube_free(a->kube_to_free);
	a->kube_to_free = NULL;
}

static bool
is_done(void *data)
{
	return ((struct asked *)data)->done > 0;
}

static void
start(struct kube *kube, struct asked *a)
{
	const struct kube_call call = {.method = "GET", .path = "/api"};

	*a = (struct asked){0};
	ck_assert_ptr_nonnull(kube_start(kube, &call, on_done, a));
}

static void
ask(struct kube *kube, struct asked *a)
{
	start(kube, a);
	ck_assert(fixture_until(loop, is_done, a, 20000));
	ck_assert_int_eq(a->done, 1);
}

static void
serve(int times, int status)
{
	const struct https_rule rule = {
		.match = "/api", .times = times, .status = status, .body = "{}"};

	https_server_rule(server, &rule);
}

/* The n-th request carried that token. */
static void
assert_token(int n, const char *token)
{
	struct https_request request;

	ck_assert(https_server_request(server, "/api", n, &request));
	ck_assert_msg(strstr(request.headers, token) != NULL, "%s", request.headers);
}

/* --- when it is run --- */

/* Once for all that wait, and not again while its answer is good. */
START_TEST(one_run_serves_all)
{
	struct asked a[5];
	struct kube *kube;

	start_server(false);
	serve(0, 200);
	kube = connected();
	for (int i = 0; i < 5; i++)
		start(kube, &a[i]);
	for (int i = 0; i < 5; i++) {
		ck_assert(fixture_until(loop, is_done, &a[i], 20000));
		ck_assert_int_eq(a[i].result.outcome, KUBE_OK);
		assert_token(i, "Authorization: Bearer token-number-1\r\n");
	}
	ask(kube, &a[0]);
	ck_assert_int_eq(a[0].result.outcome, KUBE_OK);
	ck_assert_int_eq(runs(), 1);
	kube_free(kube);
}
END_TEST

/* E23: a token that is refused, without a word of its end, is replaced once; and the next refusal is the server's word. */
START_TEST(a_refused_token_is_replaced)
{
	struct asked a;
	struct kube *kube;

	start_server(false);
	serve(1, 200);
	serve(1, 401);
	serve(1, 200);
	serve(0, 401);
	kube = connected();
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_OK);
	/* Not within 5 s of the last answer: the source may give the same again. */
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_UNAUTHORIZED);
	ck_assert_int_eq(runs(), 1);
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_OK);
	fixture_run(loop, 5100);
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_UNAUTHORIZED);
	ck_assert_int_eq(runs(), 2);
	ck_assert_int_eq(https_server_count(server, "/api"), 5);
	assert_token(4, "Bearer token-number-2\r\n");
	kube_free(kube);
}
END_TEST

START_TEST(an_expired_token_is_replaced)
{
	char when[32], *text;
	struct asked a;
	struct kube *kube;

	start_server(false);
	serve(0, 200);
	clock_format_rfc3339(when, clock_wall_ns() + 6 * NSEC_PER_SEC, 3);
	text = xasprintf(
		ANSWER("\"token\":\"token-number-@\",\"expirationTimestamp\":\"%s\""), when);
	write_file("answer", text);
	free(text);
	kube = connected();
	ask(kube, &a);
	fixture_run(loop, 6200);
	ask(kube, &a);
	/* One that has expired when it comes is used all the same, and does not cause a run a request. */
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_OK);
	assert_token(0, "Bearer token-number-1\r\n");
	assert_token(1, "Bearer token-number-2\r\n");
	assert_token(2, "Bearer token-number-2\r\n");
	ck_assert_int_eq(runs(), 2);
	kube_free(kube);
}
END_TEST

/* Its words are in the result; it is given time; then requests go on by themselves. Nothing is sent without a credential. */
START_TEST(a_failing_program_is_told_and_given_time)
{
	struct asked a;
	struct kube *kube;
	char *failing;

	start_server(false);
	serve(0, 200);
	write_file("failing", "");
	kube = connected();
	for (int i = 0; i < 5; i++) {
		ask(kube, &a);
		ck_assert_int_eq(a.result.outcome, KUBE_UNAUTHORIZED);
		ck_assert_ptr_nonnull(
			strstr(a.result.message, "exited with code 3: the login has expired"));
	}
	ck_assert_int_eq(runs(), 1);
	ck_assert_int_eq(https_server_count(server, NULL), 0);
	failing = xasprintf("%s/failing", dir);
	ck_assert_int_eq(unlink(failing), 0);
	free(failing);
	fixture_run(loop, 1300);
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_OK);
	kube_free(kube);
}
END_TEST

START_TEST(owners_may_free_in_their_callback)
{
	struct asked a, b;
	struct kube *kube;

	write_file("failing", "");
	kube = connected();
	start(kube, &b);
	start(kube, &a);
	/* The one that is called first. */
	a.kube_to_free = kube;
	ck_assert(fixture_until(loop, is_done, &a, 20000));
	fixture_run(loop, 20);
	ck_assert_int_eq(a.done + b.done, 1);
}
END_TEST

START_TEST(a_client_may_go_while_its_program_runs)
{
	struct asked a;
	struct kube *kube;

	write_file("slow", "");
	kube = connected();
	start(kube, &a);
	while (runs() == 0)
		fixture_run(loop, 5);
	kube_free(kube);
	ck_assert_int_eq(a.done, 0);
}
END_TEST

/* --- certificates --- */

static void
put_json_text(struct buf *out, const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
		if (*c == '\n')
			buf_adds(out, "\\n");
		else
			buf_addc(out, *c);
}

/* E19: PEM as it is, in use from the first request. */
START_TEST(a_certificate_is_used)
{
	struct buf text = BUF_INIT;
	struct asked a;
	struct kube *kube;

	start_server(true);
	serve(0, 200);
	buf_adds(&text, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
			"\",\"status\":{\"clientCertificateData\":\"");
	put_json_text(&text, https_server_client_cert(server));
	buf_adds(&text, "\",\"clientKeyData\":\"");
	put_json_text(&text, https_server_client_key(server));
	buf_adds(&text, "\"}}");
	write_file("answer", text.data);
	buf_free(&text);
	kube = connected();
	ask(kube, &a);
	ck_assert_msg(a.result.outcome == KUBE_OK, "%s", a.result.message);
	kube_free(kube);
}
END_TEST

/* --- what it is told --- */

/* E197, and KUBERNETES_EXEC_INFO. */
START_TEST(has_its_environment)
{
	static const char *const lines[] = {"\nREGION=north\n", "\nHOME=", "\nEMPTY=\n",
		"\nKUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
		"\",\"spec\":{\"interactive\":false,\"cluster\":{\"server\":\"https://"
		"127.0.0.1:1\","
		"\"config\":{\"audience\":[\"a\",1]}}}}\n"};
	struct error err = {0};
	struct buf text = BUF_INIT;
	struct asked a;
	struct kube *kube;
	char *path = xasprintf("%s/environment", dir);

	ck_assert_int_eq(setenv("NOTIFY_SOCKET", "/run/x", 1) | setenv("WATCHDOG_USEC", "1", 1) |
				 setenv("HOME", "/h", 1),
		0);
	kube = connect_kube("./program",
		"provideClusterInfo: true, env: [{name: REGION, value: north}, {name: EMPTY}]",
		NULL, NULL, &err);
	ck_assert_msg(kube != NULL, "%s", err.text);
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_UNREACHABLE);
	ck_assert_int_eq(buf_read_file(&text, path, 100000), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		ck_assert_msg(
			strstr(text.data, lines[i]) != NULL, "no %s in %s", lines[i], text.data);
	ck_assert_ptr_null(strstr(text.data, "NOTIFY_SOCKET"));
	ck_assert_ptr_null(strstr(text.data, "WATCHDOG_USEC"));
	buf_free(&text);
	free(path);
	kube_free(kube);
	ck_assert_int_eq(unsetenv("NOTIFY_SOCKET") | unsetenv("WATCHDOG_USEC"), 0);
}
END_TEST

/* A name without a slash is looked for in PATH, in absolute entries; where there is none, the hint says what to do. */
START_TEST(is_found_in_path)
{
	char *path = xasprintf(".::/nonexistent:%s", dir), *before = xstrdup(getenv("PATH"));
	struct error err = {0};
	struct asked a;
	struct kube *kube;

	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	ck_assert_ptr_null(connect_kube(
		"no-such-program", "installHint: \"get it\\nfrom there\"", NULL, NULL, &err));
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_str_eq(err.text,
		"credential program no-such-program: not found in PATH; get it from there");
	free(path);
	/* The script needs its tools. */
	path = xasprintf("%s:%s", dir, before);
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	kube = connect_kube("program", "args: null", NULL, NULL, &err);
	ck_assert_msg(kube != NULL, "%s", err.text);
	ask(kube, &a);
	ck_assert_int_eq(runs(), 1);
	kube_free(kube);
	ck_assert_int_eq(setenv("PATH", before, 1), 0);
	free(before);
	free(path);
}
END_TEST

START_TEST(one_that_is_not_there_is_told_with_its_hint)
{
	struct error err = {0};
	struct asked a;
	struct kube *kube = connect_kube("./missing", "installHint: install it", NULL, NULL, &err);

	ck_assert_msg(kube != NULL, "%s", err.text);
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_UNAUTHORIZED);
	ck_assert_ptr_nonnull(strstr(a.result.message, "No such file or directory"));
	ck_assert_ptr_nonnull(strstr(a.result.message, "; install it"));
	kube_free(kube);
}
END_TEST

/* --- its answer --- */

static const struct {
	const char *text, *word; /* word: NULL: taken */
} answers[] = {
	{ANSWER("\"token\":\"abc\""), NULL},
	{"\xef\xbb\xbf" ANSWER("\"token\":\"abc\"") "\n", NULL}, /* E161 */
	{ANSWER("\"token\":\"abc\",\"clientCertificateData\":null,\"expirationTimestamp\":\"2030-"
		"01-01T00:00:00+02:00\""),
		NULL},
	{ANSWER("\"clientCertificateData\":\"-----BEGIN C\",\"clientKeyData\":\"-----BEGIN K\""),
		NULL},
	{"", "one JSON object"},
	{"Opening browser\n" ANSWER("\"token\":\"abc\""), "one JSON object"}, /* E17 */
	{ANSWER("\"token\":\"abc\"") ANSWER("\"token\":\"abc\""), "one JSON object"},
	{"[]", "kind"},
	{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1BETA1
	 "\",\"status\":{\"token\":\"a\"}}",
		"apiVersion is not"},
	{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}", "no status"},
	{ANSWER(""), "neither"},
	{ANSWER("\"token\":\"\""), "neither"},
	{ANSWER("\"token\":7"), "no string"},
	{ANSWER("\"token\":\"a b\""), "no token has"},
	{ANSWER("\"token\":\"a\\r\\nX: y\""), "no token has"},
	{ANSWER("\"clientKeyData\":\"-----BEGIN K\""), "no client certificate"},
	{ANSWER("\"clientCertificateData\":\"-----BEGIN C\""), "no client key"},
	{ANSWER("\"clientCertificateData\":\"LS0t\",\"clientKeyData\":\"LS0t\""),
		"not PEM"}, /* E19 */
	{ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"tomorrow\""), "RFC 3339"},
};

START_TEST(takes_only_a_credential)
{
	struct kube_credential credential = {0};
	struct error err = {0};
	cJSON *json = NULL;
	int r = exec_answer_parse(
		answers[_i].text, strlen(answers[_i].text), V1, &credential, &json, &err);

	if (answers[_i].word == NULL) {
		ck_assert_msg(r == 0, "%s", err.text);
		ck_assert(credential.token != NULL || credential.key_pem != NULL);
	} else {
		ck_assert_int_eq(r, -EINVAL);
		ck_assert_msg(strstr(err.text, answers[_i].word) != NULL, "%s", err.text);
		ck_assert_ptr_null(json);
	}
	exec_answer_free(json);
}
END_TEST

/* Nothing of an answer that is no credential is shown: it may hold one. */
START_TEST(shows_nothing_of_a_bad_answer)
{
	struct asked a;
	struct kube *kube;

	write_file("answer", "token: very-secret-token\n");
	kube = connected();
	ask(kube, &a);
	ck_assert_int_eq(a.result.outcome, KUBE_UNAUTHORIZED);
	ck_assert_ptr_nonnull(
		strstr(a.result.message, "exited with code 0, but its answer is no credential"));
	ck_assert_ptr_null(strstr(a.result.message, "very-secret"));
	kube_free(kube);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("exec");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, one_run_serves_all);
	tcase_add_test(tcase, a_refused_token_is_replaced);
	tcase_add_test(tcase, an_expired_token_is_replaced);
	tcase_add_test(tcase, a_failing_program_is_told_and_given_time);
	tcase_add_test(tcase, owners_may_free_in_their_callback);
	tcase_add_test(tcase, a_client_may_go_while_its_program_runs);
	tcase_add_test(tcase, a_certificate_is_used);
	tcase_add_test(tcase, has_its_environment);
	tcase_add_test(tcase, is_found_in_path);
	tcase_add_test(tcase, one_that_is_not_there_is_told_with_its_hint);
	tcase_add_loop_test(
		tcase, takes_only_a_credential, 0, (int)(sizeof(answers) / sizeof(*answers)));
	tcase_add_test(tcase, shows_nothing_of_a_bad_answer);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
