/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kube/discovery.h"
#include "common/kube/discovery_list.h"
#include "kube_fixture.h"

#define ALL_VERBS "\"verbs\":[\"get\",\"list\",\"watch\"]"
#define NGINX_LIST                                                                                 \
	"{\"kind\":\"APIResourceList\",\"groupVersion\":\"stable.example.com/v1\",\"resources\":[" \
	"{\"name\":\"nginxes\",\"singularName\":\"nginx\",\"namespaced\":true,\"kind\":\"Nginx\"," \
	"\"shortNames\":[\"ngx\"]," ALL_VERBS "},"                                                 \
	"{\"name\":\"nginxes/"                                                                     \
	"status\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Nginx\",\"verbs\":["        \
	"\"get\"]}]}"
#define CORE_LIST                                                                           \
	"{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["             \
	"{\"name\":\"bindings\",\"singularName\":\"binding\",\"namespaced\":true,\"kind\":" \
	"\"Binding\",\"verbs\":[\"create\"]},"                                              \
	"{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\"," \
	"\"shortNames\":[\"po\"]," ALL_VERBS "},"                                           \
	"{\"name\":\"nodes\",\"singularName\":\"node\",\"namespaced\":false,\"kind\":"      \
	"\"Node\"," ALL_VERBS "}]}"
#define GROUP                                                                                     \
	"{\"kind\":\"APIGroup\",\"name\":\"stable.example.com\",\"versions\":[{\"groupVersion\":" \
	"\"stable.example.com/v1\",\"version\":\"v1\"},"                                          \
	"{\"groupVersion\":\"stable.example.com/v1beta1\",\"version\":\"v1beta1\"}],"             \
	"\"preferredVersion\":{\"groupVersion\":\"stable.example.com/v1\",\"version\":\"v1\"}}"
#define GROUPS                                                                   \
	"{\"kind\":\"APIGroupList\",\"groups\":[{\"name\":\"down.example.com\"," \
	"\"preferredVersion\":{\"version\":\"v1\"}}," GROUP "]}"

struct probe {
	int done;
	enum discovery_answer answer;
	struct kube_resource resource;
	struct kube_result result;
};

static struct loop *loop;
static struct https_server *server;
static struct kube *kube;

/* Documents of somebody else: nothing is missing because they don't list it. */
static const struct {
	const char *path, *body;
} strange[] = {
	{"/apis/strange0.example.com/v1", "null"},
	{"/apis/strange1.example.com/v1", "[]"},
	{"/apis/strange2.example.com/v1", "{}"},
	{"/apis/strange3.example.com/v1", "{\"resources\":{\"name\":\"xs\"}}"},
	{"/apis/strange4.example.com/v1", "\"ok\""},
};

static void
setup(void)
{
	struct error err = {0};

	signal(SIGPIPE, SIG_IGN);
	loop = loop_new(false);
	server = https_server_new(NULL);
	kube = kube_new(loop, fixture_target(server), &err);
	ck_assert_ptr_nonnull(kube);
	https_server_rule(
		server, &(struct https_rule){.match = "/apis/stable.example.com/v1beta1",
				.status = 200,
				.body = "{\"kind\":\"APIResourceList\",\"resources\":[]}"});
	https_server_rule(server, &(struct https_rule){.match = "/apis/stable.example.com/v1alpha1",
					  .status = 404,
					  .body = "404 page not found"});
	https_server_rule(server,
		&(struct https_rule){
			.match = "/apis/stable.example.com/v1", .status = 200, .body = NGINX_LIST});
	https_server_rule(
		server, &(struct https_rule){
				.match = "/apis/stable.example.com", .status = 200, .body = GROUP});
	https_server_rule(
		server, &(struct https_rule){.match = "/apis/down.example.com", .status = 503});
	https_server_rule(
		server, &(struct https_rule){.match = "/apis/closed.example.com", .status = 403});
	https_server_rule(
		server, &(struct https_rule){
				.match = "/apis/odd.example.com", .status = 200, .body = "[1,"});
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		https_server_rule(server, &(struct https_rule){.match = strange[i].path,
						  .status = 200,
						  .body = strange[i].body});
	https_server_rule(
		server, &(struct https_rule){.match = "/api/v1", .status = 200, .body = CORE_LIST});
	https_server_rule(server, &(struct https_rule){.match = "/apis/", .status = 404});
	https_server_rule(
		server, &(struct https_rule){.match = "/apis", .status = 200, .body = GROUPS});
	https_server_rule(server, &(struct https_rule){.match = "/api/", .status = 404});
	https_server_rule(
		server, &(struct https_rule){.match = "/api",
				.status = 200,
				.body = "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}"});
}

static void
teardown(void)
{
	kube_free(kube);
	https_server_free(server);
	loop_free(loop);
}

static void
on_done(void *data, enum discovery_answer answer, const struct kube_resource *resource,
	const struct kube_result *result)
{
	struct probe *p = data;

	p->done++;
	p->answer = answer;
	p->resource = *resource;
	p->result = *result;
}

static bool
is_done(void *data)
{
	return ((struct probe *)data)->done > 0;
}

static const struct {
	struct kube_resource wanted;
	enum discovery_answer answer;
	const char *plural, *kind;
	bool namespaced, has_status, can_watch;
	const char *words[4]; /* in the message */
} cases[] = {
	{{.group = "stable.example.com", .version = "v1", .plural = "nginxes"}, DISCOVERY_FOUND,
		"nginxes", "Nginx", true, true, true, {NULL}},
	{{.group = "stable.example.com", .version = "v1", .kind = "Nginx"}, DISCOVERY_FOUND,
		"nginxes", "Nginx", true, true, true, {NULL}},
	{{.version = "v1", .plural = "nodes"}, DISCOVERY_FOUND, "nodes", "Node", false, false, true,
		{NULL}},
	{{.version = "v1", .kind = "Binding"}, DISCOVERY_FOUND, "bindings", "Binding", true, false,
		false, {NULL}},
	/* E235 */
	{{.group = "stable.example.com", .version = "v1", .plural = "ngins"}, DISCOVERY_MISSING,
		NULL, NULL, false, false, false,
		{"ngins", "stable.example.com", "v1", "CustomResourceDefinition"}},
	{{.group = "none.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_MISSING, NULL,
		NULL, false, false, false,
		{"xs", "none.example.com", "v1", "CustomResourceDefinition"}},
	{{.group = "stable.example.com", .version = "v1alpha1", .plural = "nginxes"},
		DISCOVERY_VERSION_GONE, NULL, NULL, false, false, false,
		{"v1alpha1", "v1, v1beta1", NULL, NULL}},
	{{.version = "v2", .plural = "pods"}, DISCOVERY_VERSION_GONE, NULL, NULL, false, false,
		false, {"v2", "v1", NULL, NULL}},
	{{.group = "closed.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"403", NULL, NULL, NULL}},
	{{.group = "down.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"503", NULL, NULL, NULL}},
	{{.group = "strange0.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"strange0.example.com/v1", "no list of resources"}},
	{{.group = "strange1.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"strange1.example.com/v1", "no list of resources"}},
	{{.group = "strange2.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"strange2.example.com/v1", "no list of resources"}},
	{{.group = "strange3.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"strange3.example.com/v1", "no list of resources"}},
	{{.group = "strange4.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"strange4.example.com/v1", "no list of resources"}},
	{{.group = "odd.example.com", .version = "v1", .plural = "xs"}, DISCOVERY_FAILED, NULL,
		NULL, false, false, false, {"odd.example.com/v1", NULL, NULL, NULL}},
};

START_TEST(test_answers)
{
	struct probe p = {0};

	ck_assert_ptr_nonnull(discovery_start(kube, &cases[_i].wanted, on_done, &p));
	ck_assert_int_eq(p.done, 0);
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.answer, cases[_i].answer);
	if (p.answer == DISCOVERY_FOUND) {
		ck_assert_str_eq(p.resource.plural, cases[_i].plural);
		ck_assert_str_eq(p.resource.kind, cases[_i].kind);
		ck_assert_int_eq(p.resource.namespaced, cases[_i].namespaced);
		ck_assert_int_eq(p.resource.has_status, cases[_i].has_status);
		ck_assert_int_eq(p.resource.can_watch, cases[_i].can_watch);
	} else {
		ck_assert_int_ne(p.result.outcome, KUBE_OK);
	}
	for (int i = 0; i < 4 && cases[_i].words[i] != NULL; i++)
		ck_assert_msg(strstr(p.result.message, cases[_i].words[i]) != NULL, "%s",
			p.result.message);
}
END_TEST

/* E237: what is not there now may be there when it is asked for again. */
START_TEST(test_appears)
{
	struct kube_resource wanted = {
		.group = "new.example.com", .version = "v1", .plural = "nginxes"};
	struct probe p = {0};

	ck_assert_ptr_nonnull(discovery_start(kube, &wanted, on_done, &p));
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.answer, DISCOVERY_MISSING);
	https_server_clear(server);
	https_server_rule(server, &(struct https_rule){.status = 200, .body = NGINX_LIST});
	p.done = 0;
	ck_assert_ptr_nonnull(discovery_start(kube, &wanted, on_done, &p));
	ck_assert(fixture_until(loop, is_done, &p, 5000));
	ck_assert_int_eq(p.answer, DISCOVERY_FOUND);
}
END_TEST

START_TEST(test_cancel)
{
	struct probe p = {0};

	discovery_cancel(discovery_start(kube, &cases[0].wanted, on_done, &p));
	fixture_run(loop, 50);
	ck_assert_int_eq(p.done, 0);
}
END_TEST

static const struct {
	const char *word, *plural, *group, *text; /* plural NULL: not found, text is in the error */
} words[] = {
	{"pods", "pods", "", NULL},
	{"po", "pods", "", NULL},
	{"Pod", "pods", "", NULL},
	{"pods.v1.", "pods", "", NULL},
	{"pods.v1", "pods", "", NULL},
	{"nginx", "nginxes", "stable.example.com", NULL},
	{"ngx", "nginxes", "stable.example.com", NULL},
	{"nginxes.stable.example.com", "nginxes", "stable.example.com", NULL},
	{"nginx.v1.stable.example.com", "nginxes", "stable.example.com", NULL},
	{"ngimx", NULL, NULL, "did you mean \"nginxes.stable.example.com\""},
	{"podes", NULL, NULL, "did you mean \"pods\""},
	{"foo", NULL, NULL, "may be missing"}, /* not near enough to pod */
	{"zzz", NULL, NULL, "CustomResourceDefinition"},
	{"nginx.v1.none.example.com", NULL, NULL, "no resource"},
	{"pods/status", NULL, NULL, "PLURAL.GROUP"},
	{"", NULL, NULL, "PLURAL.GROUP"},
};

START_TEST(test_words)
{
	struct kube_resource found = {0};
	struct error err = {0};
	int r = discovery_find(kube, words[_i].word, &found, &err);

	if (words[_i].plural != NULL) {
		ck_assert_msg(r == 0, "%s", err.text);
		ck_assert_str_eq(found.plural, words[_i].plural);
		ck_assert_str_eq(found.group, words[_i].group);
		ck_assert_str_eq(found.version, "v1");
	} else {
		ck_assert_int_lt(r, 0);
		ck_assert_msg(strstr(err.text, words[_i].text) != NULL, "%s", err.text);
	}
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int
main(void)
{
	Suite *suite = suite_create("discovery");
	TCase *tc = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_answers, 0, COUNT(cases));
	tcase_add_test(tc, test_appears);
	tcase_add_test(tc, test_cancel);
	tcase_add_loop_test(tc, test_words, 0, COUNT(words));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
