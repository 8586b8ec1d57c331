/* SPDX-License-Identifier: Apache-2.0 */
/* The development server's core in-process: who may, versions, watches, collection, readiness, all on a scripted clock. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tests/unit/devserver_fixture.h"

static struct api *api;

static void
setup(void)
{
	api = fixture_new(NULL);
}

static void
teardown(void)
{
	api_free(api);
}

static void
make_widget(const char *name, const char *rest)
{
	char body[512];

	snprintf(body, sizeof(body),
		"{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'%s'%s}}", name,
		rest);
	fixture_do(api, 201, "POST", WIDGETS, NULL, body);
}

static const char *
version_of(cJSON *tree, char out[24])
{
	snprintf(out, 24, "%s",
		json_string(json_get(tree, "metadata", NULL), "resourceVersion", ""));
	cJSON_Delete(tree);
	return out;
}

START_TEST(asks_who)
{
	struct api_request request = {.method = "GET", .path = "/api/v1/namespaces"};
	static const struct {
		const char *user, *path;
		int status;
	} rows[] = {
		{NULL, "/api/v1/namespaces", 401},
		{NULL, "/healthz", 401},
		{"system:anonymous", "/api/v1/namespaces", 403},
		{"system:anonymous", "/apis", 403},
		{"system:anonymous", "/healthz", 200},
		{"system:anonymous", "/version", 200},
		{"admin", "/api/v1/namespaces", 200},
		{"admin", "/", 200},
		{"admin", "/no", 404},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct api_response response = API_RESPONSE_INIT;

		request.user = rows[i].user;
		request.path = rows[i].path;
		api_handle(api, &request, &response);
		ck_assert_int_eq(response.status, rows[i].status);
		api_response_free(&response);
	}
}
END_TEST

/* Paths that no client writes must be answered, not believed. */
START_TEST(survives_odd_paths)
{
	static const char *const paths[] = {"", "?", "//", "/api", "/api/", "/api//v1",
		"/apis/apps", "/apis/apps/v1/", "/%", "/%2", "/%zz", "/%00a",
		"/api/v1/namespaces/%2e%2e/pods",
		"/api/v1/namespaces/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s",
		"/api/v1/namespaces/default/configmaps?limit", "/api/v1/pods?&&=&a=&=b",
		"/apis/example.com/v1/widgets/a/b/c", "/api/v1/namespaces/default",
		"/api/v1/namespaces/default/status", "/openapi/v3/apis/no/v1", "/openapi"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct api_request request = {.method = "GET", .path = paths[i], .user = "admin"};
		struct api_response response = API_RESPONSE_INIT;

		ck_assert(!api_is_watch(&request));
		api_handle(api, &request, &response);
		ck_assert_int_ge(response.status, 200);
		ck_assert_int_lt(response.status, 500);
		api_response_free(&response);
	}
}
END_TEST

START_TEST(repeats_itself)
{
	cJSON *first = fixture_ask(api, 200, "GET", "/api/v1/namespaces", NULL, NULL), *second;
	struct buf text = BUF_INIT;

	json_print(&text, first);
	api_free(api);
	api = fixture_new(NULL);
	second = fixture_ask(api, 200, "GET", "/api/v1/namespaces", NULL, NULL);
	fixture_is(second, text.data);
	buf_free(&text);
	cJSON_Delete(first);
	cJSON_Delete(second);
}
END_TEST

START_TEST(watch_goes_on_from_a_version)
{
	struct fixture_watch watch;
	char version[24], path[128];

	make_widget("a", "");
	snprintf(path, sizeof(path), "%s?watch=true&resourceVersion=%s", WIDGETS,
		version_of(fixture_ask(api, 200, "GET", WIDGETS, NULL, NULL), version));
	make_widget("b", "");
	fixture_watch(api, &watch, path);
	fixture_expect(&watch, "ADDED", "b");
	fixture_do(api, 200, "PATCH", WIDGETS "/a", MERGE, "{'spec':{'replicas':1}}");
	fixture_expect(&watch, "MODIFIED", "a");
	fixture_do(api, 200, "PATCH", WIDGETS "/a", MERGE, "{'spec':{'replicas':1}}");
	fixture_expect(&watch, NULL, NULL);
	fixture_do(api, 200, "DELETE", WIDGETS "/a", NULL, NULL);
	fixture_expect(&watch, "DELETED", "a");
	fixture_expect(&watch, NULL, NULL);
	fixture_watch_done(&watch);
}
END_TEST

START_TEST(forgotten_version_is_410)
{
	struct fixture_watch watch;
	char version[24], path[128];
	cJSON *event;

	make_widget("a", "");
	version_of(fixture_ask(api, 200, "GET", WIDGETS, NULL, NULL), version);
	make_widget("b", "");
	api_compact(api);
	snprintf(path, sizeof(path), "%s?watch=true&resourceVersion=%s", WIDGETS, version);
	fixture_watch(api, &watch, path);
	event = fixture_event(&watch);
	ck_assert_str_eq(json_string(event, "type", ""), "ERROR");
	ck_assert_int_eq(json_int(json_get(event, "object", NULL), "code", 0), 410);
	ck_assert_str_eq(json_string(json_get(event, "object", NULL), "reason", ""), "Expired");
	cJSON_Delete(event);
	ck_assert_int_eq(watch.ended, 0);
	api_tick(api);
	ck_assert_int_eq(watch.ended, 1);
	api_tick(api);
	ck_assert_int_eq(watch.ended, 1);
	fixture_watch_done(&watch);
}
END_TEST

START_TEST(history_is_bounded)
{
	struct api_options options = {.history = 10};
	struct api_request request = {.method = "GET", .user = "admin"};
	struct api_response response = API_RESPONSE_INIT;
	char path[256], name[8];
	cJSON *page;

	api_free(api);
	api = fixture_new(&options);
	for (char c = 'a'; c < 'f'; c++) {
		snprintf(name, sizeof(name), "%c", c);
		make_widget(name, "");
	}
	page = fixture_ask(api, 200, "GET", WIDGETS "?limit=2", NULL, NULL);
	snprintf(path, sizeof(path), "%s?limit=2&continue=%s", WIDGETS,
		json_string(json_get(page, "metadata", NULL), "continue", ""));
	cJSON_Delete(page);
	fixture_do(api, 200, "GET", path, NULL, NULL);
	for (int i = 0; i < 11; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		make_widget(name, "");
	}
	request.path = path;
	api_handle(api, &request, &response);
	ck_assert_int_eq(response.status, 410);
	/* Its own token goes on in the present. */
	page = json_parse(response.body.data, response.body.length, NULL);
	snprintf(path, sizeof(path), "%s?limit=500&continue=%s", WIDGETS,
		json_string(json_get(page, "metadata", NULL), "continue", ""));
	cJSON_Delete(page);
	api_response_free(&response);
	page = fixture_ask(api, 200, "GET", path, NULL, NULL);
	ck_assert_int_eq(cJSON_GetArraySize(json_get(page, "items", NULL)), 3 + 11);
	cJSON_Delete(page);
}
END_TEST

START_TEST(watch_under_a_selector)
{
	struct fixture_watch watch;

	fixture_watch(api, &watch, WIDGETS "?watch=1&labelSelector=app%3Da");
	make_widget("a", ",'labels':{'app':'a'}");
	make_widget("b", "");
	fixture_expect(&watch, "ADDED", "a");
	fixture_expect(&watch, NULL, NULL);
	fixture_do(api, 200, "PATCH", WIDGETS "/b", MERGE, "{'metadata':{'labels':{'app':'a'}}}");
	fixture_expect(&watch, "ADDED", "b");
	fixture_do(api, 200, "PATCH", WIDGETS "/a", MERGE, "{'metadata':{'labels':{'app':'b'}}}");
	fixture_expect(&watch, "DELETED", "a");
	fixture_do(api, 200, "PATCH", WIDGETS "/a", MERGE, "{'metadata':{'labels':{'app':'c'}}}");
	fixture_do(api, 200, "DELETE", WIDGETS "/a", NULL, NULL);
	fixture_expect(&watch, NULL, NULL);
	fixture_watch_done(&watch);
}
END_TEST

/* E75: a bookmark brings the version of the last change, an idle type gets none. */
START_TEST(bookmarks_and_the_end)
{
	struct fixture_watch watch, idle;
	cJSON *event;

	fixture_watch(api, &watch,
		WIDGETS "?watch=1&allowWatchBookmarks=true&timeoutSeconds=100&labelSelector=none");
	fixture_watch(
		api, &idle, "/api/v1/secrets?watch=1&allowWatchBookmarks=true&timeoutSeconds=1000");
	fixture_advance(api, 59 * NSEC_PER_SEC);
	fixture_expect(&watch, NULL, NULL);
	make_widget("a", "");
	fixture_advance(api, 2 * NSEC_PER_SEC);
	event = fixture_event(&watch);
	ck_assert_str_eq(json_string(event, "type", ""), "BOOKMARK");
	ck_assert_str_eq(json_string(json_get(event, "object", NULL), "kind", ""), "Widget");
	ck_assert_int_eq(strtoll(json_string(json_get(event, "object", "metadata", NULL),
					 "resourceVersion", ""),
				 NULL, 10),
		(long long)api_revision(api));
	cJSON_Delete(event);
	fixture_advance(api, 38 * NSEC_PER_SEC);
	ck_assert_int_eq(watch.ended, 0);
	fixture_advance(api, 2 * NSEC_PER_SEC);
	ck_assert_int_eq(watch.ended, 1);
	fixture_advance(api, 100 * NSEC_PER_SEC);
	fixture_expect(&watch, NULL, NULL);
	/* Of other kinds nothing but how far the server is, once. */
	fixture_expect(&idle, "BOOKMARK", "");
	fixture_expect(&idle, NULL, NULL);
	ck_assert_int_eq(idle.ended, 0);
	fixture_watch_done(&watch);
	fixture_watch_done(&idle);
}
END_TEST

START_TEST(initial_events_end_with_a_bookmark)
{
	struct fixture_watch watch;
	cJSON *event;

	make_widget("a", "");
	fixture_watch(api, &watch,
		WIDGETS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
			"allowWatchBookmarks=true");
	fixture_expect(&watch, "ADDED", "a");
	event = fixture_event(&watch);
	fixture_is(json_get(event, "object", "metadata", "annotations", NULL),
		"{'k8s.io/initial-events-end':'true'}");
	cJSON_Delete(event);
	fixture_watch_done(&watch);
}
END_TEST

START_TEST(a_changed_crd_ends_its_watches)
{
	struct fixture_watch watch;

	fixture_watch(api, &watch, WIDGETS "?watch=1");
	fixture_do(api, 200, "PATCH",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
		MERGE, "{'metadata':{'labels':{'a':'b'}}}");
	ck_assert_int_eq(watch.ended, 0);
	fixture_do(api, 200, "PATCH",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
		MERGE, "{'spec':{'names':{'shortNames':['w']}}}");
	ck_assert_int_eq(watch.ended, 1);
	make_widget("a", "");
	fixture_expect(&watch, NULL, NULL);
	fixture_watch_done(&watch);
}
END_TEST

START_TEST(deployment_becomes_ready)
{
	static const char path[] = "/apis/apps/v1/namespaces/default/deployments";
	cJSON *made;

	fixture_do(api, 201, "POST", path, NULL,
		"{'metadata':{'name':'d'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}}"
		",'template':{'metadata':"
		"{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'x:1'}]}}}}");
	made = fixture_ask(
		api, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL, NULL);
	fixture_is(json_get(made, "status", NULL), "{}");
	cJSON_Delete(made);
	fixture_advance(api, 299 * NSEC_PER_MSEC);
	made = fixture_ask(
		api, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL, NULL);
	fixture_is(json_get(made, "status", NULL), "{}");
	cJSON_Delete(made);
	fixture_advance(api, NSEC_PER_MSEC);
	made = fixture_ask(
		api, 200, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL, NULL);
	ck_assert_int_eq(json_int(json_get(made, "status", NULL), "readyReplicas", 0), 2);
	ck_assert_int_eq(json_int(json_get(made, "status", NULL), "observedGeneration", 0), 1);
	cJSON_Delete(made);
	/* And no write after that. */
	fixture_advance(api, NSEC_PER_SEC);
	made = fixture_ask(api, 200, "GET", path, NULL, NULL);
	ck_assert_int_eq(
		strtoll(json_string(json_get(made, "metadata", NULL), "resourceVersion", ""), NULL,
			10),
		(long long)api_revision(api));
	fixture_advance(api, 10 * NSEC_PER_SEC);
	ck_assert_int_eq(api_tick(api), -1);
	cJSON_Delete(made);
}
END_TEST

START_TEST(dependents_go_with_their_owner)
{
	cJSON *owner;
	char body[512];

	make_widget("owner", "");
	owner = fixture_ask(api, 200, "GET", WIDGETS "/owner", NULL, NULL);
	snprintf(body, sizeof(body),
		"{'metadata':{'name':'child','ownerReferences':[{'apiVersion':'example.com/"
		"v1','kind':'Widget','name':'owner','uid':'%s'}]}}",
		json_string(json_get(owner, "metadata", NULL), "uid", ""));
	cJSON_Delete(owner);
	fixture_do(api, 201, "POST", "/api/v1/namespaces/default/configmaps", NULL, body);
	fixture_do(api, 200, "GET", "/api/v1/namespaces/default/configmaps/child", NULL, NULL);
	fixture_do(api, 200, "DELETE", WIDGETS "/owner", NULL, NULL);
	fixture_do(api, 404, "GET", "/api/v1/namespaces/default/configmaps/child", NULL, NULL);
	/* In another namespace the owner is not there: collected at once. */
	make_widget("owner", "");
	fixture_do(api, 201, "POST", "/api/v1/namespaces/kube-system/configmaps", NULL, body);
	fixture_do(api, 404, "GET", "/api/v1/namespaces/kube-system/configmaps/child", NULL, NULL);
}
END_TEST

START_TEST(free_with_everything_open)
{
	struct fixture_watch watch;

	make_widget("a", ",'finalizers':['example.com/f']");
	fixture_watch(api, &watch, WIDGETS "?watch=1");
	fixture_do(api, 200, "DELETE",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", NULL,
		NULL);
	fixture_do(api, 200, "DELETE", WIDGETS "/a", NULL, NULL);
	fixture_watch_done(&watch);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("devserver");
	TCase *cases = tcase_create("core");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, asks_who);
	tcase_add_test(cases, survives_odd_paths);
	tcase_add_test(cases, repeats_itself);
	tcase_add_test(cases, watch_goes_on_from_a_version);
	tcase_add_test(cases, forgotten_version_is_410);
	tcase_add_test(cases, history_is_bounded);
	tcase_add_test(cases, watch_under_a_selector);
	tcase_add_test(cases, bookmarks_and_the_end);
	tcase_add_test(cases, initial_events_end_with_a_bookmark);
	tcase_add_test(cases, a_changed_crd_ends_its_watches);
	tcase_add_test(cases, deployment_becomes_ready);
	tcase_add_test(cases, dependents_go_with_their_owner);
	tcase_add_test(cases, free_with_everything_open);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
