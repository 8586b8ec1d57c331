/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/kube/identity.h"
#include "common/kube/kubeconfig.h"
#include "common/memory.h"
#include "kube_fixture.h"

#define BASE                                                                      \
	"apiVersion: v1\nkind: Config\ncurrent-context: x\n"                      \
	"contexts:\n- name: x\n  context: {cluster: c, user: u, namespace: ns}\n" \
	"clusters:\n- name: c\n  cluster: {server: 'https://h:6443/'}\n"

static char *dir, *cwd;

static void
setup(void)
{
	dir = fixture_directory();
	cwd = getcwd(NULL, 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(chdir(cwd), 0);
	free(cwd);
	fixture_remove(dir);
}

static struct kube_target *
load_text(const char *text, const char *context, struct error *err)
{
	struct kube_target *target = NULL;
	char *path = fixture_file(dir, "config", text);
	struct kubeconfig_options options = {.path = path, .context = context};
	int r = kubeconfig_load(&options, &target, err);

	ck_assert_int_eq(r < 0, target == NULL);
	free(path);
	return target;
}

START_TEST(test_whole)
{
	struct error err = {0};
	struct kube_target *t = load_text(BASE "users:\n- name: u\n  user: {token: abc, "
					       "extensions: [{name: y}]}\npreferences: {}\n",
		NULL, &err);

	ck_assert_msg(t != NULL, "%s", err.text);
	ck_assert_str_eq(t->server, "https://h:6443"); /* E31 */
	ck_assert_str_eq(t->token, "abc");
	ck_assert_str_eq(t->namespace_, "ns");
	ck_assert_ptr_nonnull(strstr(t->source, "context x"));
	ck_assert(!t->insecure);
	kube_target_free(t);
}
END_TEST

#define CLUSTER(rest)                                                                             \
	"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, " \
	"cluster: {" rest "}}]\n"
#define V1         "apiVersion: client.authentication.k8s.io/v1"
#define V1BETA1    "apiVersion: client.authentication.k8s.io/v1beta1"
#define USER(rest) BASE "users:\n- name: u\n  user: {" rest "}\n"

/* What is refused, and a word that must be in the text. */
static const struct {
	const char *text, *word;
} refusals[] = {
	{"contexts: [{name: x, context: {cluster: c}}]\n", "current-context"}, /* E9 */
	{"", "current-context"}, {"[1, 2]", "map"}, {"a: [", "config:2:1"},
	{"current-context: nope\ncontexts: [{name: a, context: {cluster: c}}, {name: b}]\n",
		"a, b"},
	{"current-context: x\ncontexts: [{name: x}]\n", "empty"},
	{"current-context: x\ncontexts: [{name: x, context: {user: u}}]\n", "no cluster"},
	{"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n", "no cluster \"c\""},
	{"current-context: x\ncontexts: [{name: x, context: {cluster: c}}, {name: x, context: "
	 "{cluster: d}}]\n",
		"twice"},
	{"current-context: x\ncontexts: [{name: x, context: 5}]\n", "must be a map"},
	{CLUSTER(""), "no server"}, {CLUSTER("server: 5"), "quotes"},
	{CLUSTER("server: 'h:6443', insecure-skip-tls-verify: true"), "https://"},
	{CLUSTER("server: 'h:6443', certificate-authority-data: 'Zg=='"), "https://"},
	{CLUSTER("server: 'h:6443/a'"), "https://"},
	{"kind: Pod\n" CLUSTER("server: 'https://h'"), "its kind is Pod"},
	{"apiVersion: v2\n" CLUSTER("server: 'https://h'"), "its apiVersion is v2"},
	{CLUSTER("server: 'https://u:p@h'"), "credentials"},
	{CLUSTER("server: 'https://u@h'"), "credentials"},
	{CLUSTER("server: 'https://u:1@h/a'"), "credentials"},
	{CLUSTER("server: 'https://h', insecure-skip-tls-verify: 'yes'"), "true or false"},
	{CLUSTER("server: 'https://h', insecure-skip-tls-verify: y"), "true or false"},
	{CLUSTER("server: 'https://h', certificate-authority-data: 'Zg'"),
		"certificate-authority-data"}, /* E47 */
	{CLUSTER("server: 'https://h', certificate-authority: missing.pem"), "missing.pem"},
	{CLUSTER("server: 'https://h', certificate-authority-data: 'Zg==', "
		 "insecure-skip-tls-verify: true"),
		"remove one"},
	{CLUSTER("server: 'https://h', proxy-url: 'ftp://p'"), "proxy-url"}, /* E39 */
	{CLUSTER("server: 'https://h', tls-server-name: 'a b'"), "tls-server-name"},
	{USER("exec: {command: x}"), "apiVersion"},
	{USER("exec: x"), "exec of user \"u\": must be a map"},
	{USER("exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}"),
		"apiVersion"},
	{USER("exec: {command: x, " V1 "}"), "needs interactiveMode"}, /* E15 */
	{USER("exec: {command: x, " V1 ", interactiveMode: Always}"), "terminal"},
	{USER("exec: {command: x, " V1 ", interactiveMode: never}"), "Never or IfAvailable"},
	{USER("exec: {" V1 ", interactiveMode: Never}"), "needs a command"},
	{USER("exec: {command: x, " V1BETA1 ", args: [1]}"), "quotes"},
	{USER("exec: {command: x, " V1BETA1 ", args: a}"), "lists"},
	{USER("exec: {command: x, " V1BETA1 ", env: [{value: a}]}"), "name"},
	{USER("exec: {command: x, " V1BETA1 ", env: [{name: a, value: 1}]}"), "quotes"},
	{USER("exec: {command: x, " V1BETA1 ", provideClusterInfo: 1}"), "true or false"},
	{USER("auth-provider: {name: gcp}"), "gke-gcloud-auth-plugin"},
	{USER("auth-provider: {name: azure, config: {}}"), "kubelogin"},
	{USER("auth-provider: {name: oidc}"), "kubelogin"},
	{USER("auth-provider: {name: openstack}"), "client-keystone-auth"},
	{USER("auth-provider: {}"), "auth-provider"}, {USER("username: a, token: t"), "remove one"},
	{USER("password: b"), "username"}, {USER("username: 'a:b'"), "colon"},
	{USER("as-groups: [a]"), "no as"}, {USER("as-uid: a"), "no as"},
	{USER("as: \"a\\r\\nX: y\""), "as holds"}, {USER("as: a, as-groups: [1]"), "quotes"},
	{USER("as: a, as-groups: b"), "list"}, {USER("as: a, as-user-extra: [b]"), "map"},
	{USER("token: 'a b'"), "token"}, {USER("token: 12345"), "quotes"},
	{USER("client-certificate-data: 'Zg=='"), "no client key"},
	{USER("client-key-data: 'Zg=='"), "no client certificate"},
	{USER("client-key: k.pem"), "k.pem"},
	{"\xff\xfe"
	 "a\0",
		"UTF-16"}, /* E161 */
	{"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c "
	 "[*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
	 "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f "
	 "[*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
	 "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
		"config:"}, /* E153 */
};

START_TEST(test_refusals)
{
	struct error err = {0};

	ck_assert_ptr_null(load_text(refusals[_i].text, NULL, &err));
	ck_assert_msg(strstr(err.text, refusals[_i].word) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, "kubeconfig ") != NULL, "%s", err.text);
}
END_TEST

/* A user's impersonation as the headers of the API, and its password as RFC 7617 has it. */
START_TEST(test_impersonation)
{
	static const char *const lines[] = {"Impersonate-User: jane doe", "Impersonate-Uid: 7",
		"Impersonate-Group: dev", "Impersonate-Group: system:authenticated",
		"Impersonate-Extra-acme.io%2Fproject: web",
		"Impersonate-Extra-acme.io%2Fproject: api"};
	struct error err = {0};
	struct kube_target *t = load_text(
		USER("username: jane, password: 's:ecret', as: jane doe, as-uid: '7', as-groups: "
		     "[dev, "
		     "'system:authenticated'], as-user-extra: {acme.io/project: [web, api]}"),
		NULL, &err);

	ck_assert_msg(t != NULL, "%s", err.text);
	ck_assert_str_eq(t->basic, "amFuZTpzOmVjcmV0");
	ck_assert_uint_eq(t->n_headers, sizeof(lines) / sizeof(lines[0]));
	for (size_t i = 0; i < t->n_headers; i++)
		ck_assert_str_eq(t->headers[i], lines[i]);
	kube_target_free(t);
}
END_TEST

/* --- another identity than the kubeconfig's --- */

#define MANY "token: abc, as: john, as-groups: [admins]"

static struct kube_target *
load_as(const char *user, const struct kube_identity *identity, int want, struct error *err)
{
	struct buf text = BUF_INIT;
	struct kube_target *t;

	buf_addf(&text, BASE "users: [{name: u, user: {%s}}]\n", user);
	t = load_text(text.data, NULL, err);
	ck_assert_msg(t != NULL, "%s", err->text);
	ck_assert_int_eq(identity_apply(identity, t, err), want);
	buf_free(&text);
	return t;
}

START_TEST(test_nobody_else)
{
	struct error err = {0};
	struct kube_target *t = load_as(MANY, &(struct kube_identity){0}, 0, &err);

	ck_assert_str_eq(t->token, "abc");
	ck_assert_uint_eq(t->n_headers, 2);
	kube_target_free(t);
}
END_TEST

/* Nothing of the user who was there stays: neither what proves him nor whom he acts for. */
START_TEST(test_token_file_replaces_all)
{
	static const char *const users[] = {MANY, "username: a, password: b",
		"exec: {command: x, " V1BETA1 "}", "tokenFile: other",
		"client-certificate-data: 'Zg==', client-key-data: 'Zg=='"};
	struct error err = {0};
	struct kube_target *t =
		load_as(users[_i], &(struct kube_identity){.token_file = "/t"}, 0, &err);

	ck_assert_str_eq(t->token_file, "/t");
	ck_assert_ptr_null(t->token);
	ck_assert_ptr_null(t->basic);
	ck_assert_ptr_null(t->exec);
	ck_assert_ptr_null(t->cert_pem);
	ck_assert_ptr_null(t->key_pem);
	ck_assert_uint_eq(t->n_headers, 0);
	ck_assert_ptr_nonnull(strstr(t->source, ", token file /t"));
	kube_target_free(t);
}
END_TEST

START_TEST(test_certificate_replaces_all)
{
	char *cert = fixture_file(dir, "c.pem", "CERT"), *key = fixture_file(dir, "k.pem", "KEY");
	struct error err = {0};
	struct kube_target *t = load_as(
		MANY, &(struct kube_identity){.certificate_file = cert, .key_file = key}, 0, &err);

	ck_assert_str_eq(t->cert_pem, "CERT");
	ck_assert_str_eq(t->key_pem, "KEY");
	ck_assert_str_eq(t->key_file, key);
	ck_assert_ptr_null(t->token);
	ck_assert_uint_eq(t->n_headers, 0);
	kube_target_free(t);
	t = load_as(MANY, &(struct kube_identity){.certificate_file = cert, .key_file = "/no/key"},
		-ENOENT, &err);
	ck_assert_ptr_nonnull(strstr(err.text, "clientKey /no/key: No such file"));
	kube_target_free(t);
	free(cert);
	free(key);
}
END_TEST

START_TEST(test_impersonation_of_a_controller)
{
	static const char *const lines[] = {"Impersonate-User: jane", "Impersonate-Uid: 7",
		"Impersonate-Group: dev", "Impersonate-Group: ops", "Impersonate-Extra-a%2Fb: c"};
	cJSON *groups = cJSON_Parse("[\"dev\", \"ops\"]"),
	      *extra = cJSON_Parse("{\"a/b\": [\"c\"]}");
	struct error err = {0};
	struct kube_target *t = load_as(MANY,
		&(struct kube_identity){
			.user = "jane", .uid = "7", .groups = groups, .extra = extra},
		0, &err);

	ck_assert_str_eq(t->token, "abc");
	ck_assert_uint_eq(t->n_headers, sizeof(lines) / sizeof(lines[0]));
	for (size_t i = 0; i < t->n_headers; i++)
		ck_assert_str_eq(t->headers[i], lines[i]);
	ck_assert_ptr_nonnull(strstr(t->source, ", as jane"));
	kube_target_free(t);
	t = load_as(MANY, &(struct kube_identity){.user = "a\r\nX: y"}, -EINVAL, &err);
	ck_assert_ptr_nonnull(strstr(err.text, "impersonate holds a value"));
	kube_target_free(t);
	cJSON_Delete(groups);
	cJSON_Delete(extra);
}
END_TEST

/* Without TLS nothing that proves who we are is sent, and who we are says so; whom we act for is no secret. */
START_TEST(test_no_credentials_without_tls)
{
	static const char *const users[] = {"token: t", "tokenFile: t", "username: a, password: b",
		"client-certificate-data: 'Zg==', client-key-data: 'Zg=='",
		"exec: {command: x, " V1BETA1 "}"};
	struct error err = {0};
	char *text = xasprintf("current-context: x\ncontexts: [{name: x, context: {cluster: c, "
			       "user: u}}]\nclusters: [{name: c, cluster: {server: 'http://h'}}]\n"
			       "users: [{name: u, user: {as: bob, %s}}]\n",
		users[_i]);
	struct kube_target *t = load_text(text, NULL, &err);

	ck_assert_msg(t != NULL, "%s", err.text);
	ck_assert_ptr_null(t->token);
	ck_assert_ptr_null(t->token_file);
	ck_assert_ptr_null(t->basic);
	ck_assert_ptr_null(t->cert_pem);
	ck_assert_ptr_null(t->key_pem);
	ck_assert_ptr_null(t->exec);
	ck_assert_uint_eq(t->n_headers, 1);
	ck_assert_ptr_nonnull(strstr(t->source, "without TLS"));
	kube_target_free(t);
	free(text);
}
END_TEST

/* E25: what is in the kubeconfig itself wins. */
START_TEST(test_program_beside_others)
{
	static const char *const users[] = {"token: t", "tokenFile: t", "username: a, password: b",
		"client-certificate-data: 'Zg==', client-key-data: 'Zg=='"};
	struct error err = {0};
	char *text = xasprintf(USER("exec: {command: x, " V1BETA1 "}, %s"), users[_i]);
	struct kube_target *t = load_text(text, NULL, &err);

	ck_assert_msg(t != NULL, "%s", err.text);
	ck_assert_ptr_null(t->exec);
	ck_assert(t->token != NULL || t->token_file != NULL || t->basic != NULL ||
		  t->cert_pem != NULL);
	kube_target_free(t);
	free(text);
}
END_TEST

/* What is taken as it is. */
static const struct {
	const char *text, *context;
} taken[] = {
	{BASE, NULL},                           /* E11: unknown user */
	{CLUSTER("server: 'https://h'"), NULL}, /* E11: no user */
	{BASE "users: [{name: u}]\n", NULL}, {BASE "users: [{name: u, user: null}]\n", NULL},
	{USER("exec: null, token: ''"), NULL},
	{USER("exec: {command: x, " V1BETA1 ", args: null, env: null}"), NULL}, /* E13 */
	{USER("exec: {command: x, " V1
	      ", interactiveMode: IfAvailable, args: [], env: [], other: 1}"),
		NULL},
	{CLUSTER("server: 'https://h', insecure-skip-tls-verify: true") "users: 17\n",
		NULL}, /* E35 */
	{CLUSTER("server: 'https://h', proxy-url: 'socks5://p:1080'"), NULL},
	{CLUSTER("server: 'https://h', insecure-skip-tls-verify: Yes"), NULL},
	{CLUSTER("server: 'https://h', insecure-skip-tls-verify: off"), NULL},
	{CLUSTER("server: 'h:8080'"), NULL}, {CLUSTER("server: 'https://h:1/a@b'"), NULL},
	{CLUSTER("server: 'http://127.0.0.1:8001'"), NULL}, {"\xef\xbb\xbf" BASE, NULL}, /* E161 */
	{"contexts: [{name: y, context: {cluster: c}}]\nclusters: [{name: bad, cluster: {server: "
	 "5}}, {name: c, cluster: {server: 'https://h'}}]\n",
		"y"}, /* E9, E35 */
};

START_TEST(test_taken)
{
	struct error err = {0};
	struct kube_target *t = load_text(taken[_i].text, taken[_i].context, &err);

	ck_assert_msg(t != NULL, "%s", err.text);
	ck_assert_ptr_null(t->token);
	ck_assert_ptr_null(t->token_file);
	kube_target_free(t);
}
END_TEST

/* A command with a slash stands beside the kubeconfig; one without stays to be looked for. */
START_TEST(test_exec)
{
	static const struct {
		const char *text, *path; /* of a command, below dir when it begins with a dot */
	} commands[] = {{"tool", "tool"}, {"/opt/tool", "/opt/tool"}, {"./tool", "./tool"},
		{"bin/tool", "./bin/tool"}};
	struct error err = {0};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *text = xasprintf(USER("exec: {command: %s, " V1BETA1
					    ", args: [a, 'b c'], env: [{name: K, value: v}]}"),
			commands[i].text);
		struct kube_target *t = load_text(text, NULL, &err);

		ck_assert_msg(t != NULL, "%s", err.text);
		if (commands[i].path[0] == '.') {
			ck_assert_msg(strncmp(t->exec->argv[0], dir, strlen(dir)) == 0, "%s",
				t->exec->argv[0]);
			ck_assert_msg(strstr(t->exec->argv[0], commands[i].text) != NULL, "%s",
				t->exec->argv[0]);
		} else {
			ck_assert_str_eq(t->exec->argv[0], commands[i].path);
		}
		ck_assert_str_eq(t->exec->argv[1], "a");
		ck_assert_str_eq(t->exec->argv[2], "b c");
		ck_assert_ptr_null(t->exec->argv[3]);
		ck_assert_str_eq(t->exec->env[0], "K=v");
		ck_assert_ptr_nonnull(strstr(t->exec->env[1], "\"interactive\":false"));
		ck_assert_ptr_null(t->exec->env[2]);
		kube_target_free(t);
		free(text);
	}
}
END_TEST

START_TEST(test_files)
{
	/* E1: relative to the file that holds them, whatever the working directory; -data beats files */
	char *stage = xasprintf("%s/stage", dir), *ca, *token;
	struct error err = {0};
	struct kube_target *t;

	ck_assert_int_eq(mkdir(stage, 0700), 0);
	ca = fixture_file(stage, "ca.pem", "the authority");
	token = fixture_file(dir, "token", "t0ken\n");
	ck_assert_int_eq(chdir("/"), 0);
	t = load_text("current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
		      "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: "
		      "stage/ca.pem}}]\n"
		      "users: [{name: u, user: {tokenFile: token, client-certificate: missing, "
		      "client-certificate-data: Y2VydA==,"
		      " client-key-data: a2V5}}]\n",
		NULL, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	ck_assert_str_eq(t->ca_pem, "the authority");
	ck_assert_uint_eq(t->ca_pem_length, strlen("the authority"));
	ck_assert_str_eq(t->ca_file, ca);
	ck_assert_str_eq(t->token_file, token);
	ck_assert_str_eq(t->cert_pem, "cert");
	ck_assert_str_eq(t->key_pem, "key");
	ck_assert_ptr_null(t->cert_file);
	kube_target_free(t);
	free(stage);
	free(ca);
	free(token);
}
END_TEST

START_TEST(test_relative_path)
{
	char *path = fixture_file(
		dir, "config", CLUSTER("server: 'https://h', certificate-authority: ca.pem"));
	char *ca = fixture_file(dir, "ca.pem", "pem");
	struct kubeconfig_options options = {.path = "config"};
	struct kube_target *t = NULL;
	struct error err = {0};

	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_msg(kubeconfig_load(&options, &t, &err) == 0, "%s", err.text);
	ck_assert_int_eq(*t->ca_file, '/');
	kube_target_free(t);
	free(path);
	free(ca);
}
END_TEST

START_TEST(test_merge)
{
	/* E3, E5: the first file with a current-context; an entry is of one file alone; blank entries are nothing */
	char *a = fixture_file(dir, "a",
		"clusters: [{name: c, cluster: {server: 'https://a'}}]\nusers: [{name: red, user: "
		"{token: ta}}]\n");
	char *b = fixture_file(dir, "b",
		"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: red}}]\n"
		"clusters: [{name: c, cluster: {server: 'https://b', insecure-skip-tls-verify: "
		"true}}]\n"
		"users: [{name: red, user: {tokenFile: /b, client-key-data: '!'}}]\n");
	char *list = xasprintf("%s/missing::%s:%s:", dir, a, b);
	struct kubeconfig_options options = {.env_list = list};
	struct kube_target *t = NULL;
	struct error err = {0};

	ck_assert_msg(kubeconfig_load(&options, &t, &err) == 0, "%s", err.text);
	ck_assert_str_eq(t->server, "https://a:443");
	ck_assert(!t->insecure);
	ck_assert_str_eq(t->token, "ta");
	ck_assert_ptr_null(t->token_file);
	kube_target_free(t);
	free(a);
	free(b);
	free(list);
}
END_TEST

START_TEST(test_list_errors)
{
	/* E5: a file that can't be parsed is named; E7: nothing there, or not readable */
	static const struct {
		const char *list, *word;
	} cases[] = {
		{"%s/good:%s/bad", "/bad:2:1"},
		{"%s/missing:%s/missing2", "missing2"},
		{"%s/unreadable:%s/good", "/unreadable"},
		{"%s/good:%s/directory", "/directory"},
	};
	char *good = fixture_file(dir, "good", BASE), *bad = fixture_file(dir, "bad", "a: [\n");
	char *unreadable = fixture_file(dir, "unreadable", BASE),
	     *directory = xasprintf("%s/directory", dir);
	char list[600];
	struct kubeconfig_options options = {.env_list = list};
	struct kube_target *t = NULL;
	struct error err = {0};

	ck_assert_int_eq(chmod(unreadable, 0), 0);
	ck_assert_int_eq(mkdir(directory, 0700), 0);
	/* root reads everything */
	if (_i != 2 || geteuid() != 0) {
		const char *second = strchr(cases[_i].list, ':');

		snprintf(list, sizeof(list), "%s%.*s:%s%s", dir, (int)(second - cases[_i].list - 2),
			cases[_i].list + 2, dir, second + 3);
		ck_assert_int_lt(kubeconfig_load(&options, &t, &err), 0);
		ck_assert_msg(strstr(err.text, cases[_i].word) != NULL, "%s", err.text);
	}
	free(good);
	free(bad);
	free(unreadable);
	free(directory);
}
END_TEST

START_TEST(test_home)
{
	char *sub = xasprintf("%s/.kube", dir);
	struct kubeconfig_options options = {.home = dir, .env_list = "::"};
	struct kube_target *t = NULL;
	struct error err = {0};
	char *path;

	ck_assert_int_eq(kubeconfig_load(&options, &t, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, ".kube/config"));
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	path = fixture_file(sub, "config", BASE);
	ck_assert_int_eq(kubeconfig_load(&options, &t, &err), 0);
	kube_target_free(t);
	options.home = NULL;
	ck_assert_int_eq(kubeconfig_load(&options, &t, &err), -ENOENT);
	free(path);
	free(sub);
}
END_TEST

static const struct {
	const char *host, *port, *server; /* server NULL: refused */
} pods[] = {
	{"10.0.0.1", "443", "https://10.0.0.1:443"},
	{"::1", "6443", "https://[::1]:6443"}, /* E41, E43 */
	{"fd00::13", NULL, "https://[fd00::13]:443"},
	{"h", "x", NULL},
};

START_TEST(test_pod)
{
	char *token = fixture_file(dir, "token", "abc\n"), *ca = fixture_file(dir, "ca.crt", "pem"),
	     *namespace_ = fixture_file(dir, "namespace", "team-a\n");
	struct kubeconfig_options options = {.service_host = pods[_i].host,
		.service_port = pods[_i].port,
		.service_account_dir = dir,
		.home = "/nowhere"};
	struct kube_target *t = NULL;
	struct error err = {0};
	int r = kubeconfig_load(&options, &t, &err);

	if (pods[_i].server == NULL) {
		ck_assert_int_lt(r, 0);
		ck_assert_ptr_nonnull(strstr(err.text, "KUBERNETES_SERVICE_HOST"));
	} else {
		ck_assert_msg(r == 0, "%s", err.text);
		ck_assert_str_eq(t->server, pods[_i].server);
		ck_assert_str_eq(t->token_file, token);
		ck_assert_str_eq(t->ca_pem, "pem");
		ck_assert_str_eq(t->namespace_, "team-a");
		ck_assert_ptr_null(t->proxy_url); /* E33 */
		ck_assert_str_eq(t->source, "in-cluster service account, no proxy");
		kube_target_free(t);
	}
	/* no token file: no pod */
	ck_assert_int_eq(unlink(token), 0);
	t = NULL;
	ck_assert_int_eq(kubeconfig_load(&options, &t, &err), -ENOENT);
	free(token);
	free(ca);
	free(namespace_);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("kubeconfig");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_whole);
	tcase_add_test(tc, test_impersonation);
	tcase_add_test(tc, test_nobody_else);
	tcase_add_test(tc, test_certificate_replaces_all);
	tcase_add_test(tc, test_impersonation_of_a_controller);
	tcase_add_loop_test(tc, test_token_file_replaces_all, 0, 5);
	tcase_add_loop_test(tc, test_refusals, 0, COUNT(refusals));
	tcase_add_loop_test(tc, test_taken, 0, COUNT(taken));
	tcase_add_loop_test(tc, test_no_credentials_without_tls, 0, 5);
	tcase_add_loop_test(tc, test_program_beside_others, 0, 4);
	tcase_add_test(tc, test_exec);
	tcase_add_test(tc, test_files);
	tcase_add_test(tc, test_relative_path);
	tcase_add_test(tc, test_merge);
	tcase_add_loop_test(tc, test_list_errors, 0, 4);
	tcase_add_test(tc, test_home);
	tcase_add_loop_test(tc, test_pod, 0, COUNT(pods));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
