/* SPDX-License-Identifier: Apache-2.0 */
/* common/config/field_path and workers/plan_fields: paths, and what a body holds with createOnly and ignoreFields. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/field_path.h"
#include "common/json.h"
#include "tests/unit/plan_fixture.h"
#include "workers/plan.h"

/* --- paths --- */

static const struct {
	const char *text, *steps[4];
} paths[] = {
	{"spec", {"spec"}},
	{"spec.replicas", {"spec", "replicas"}},
	{"metadata.annotations[\"a.b/c\"]", {"metadata", "annotations", "a.b/c"}},
	{"data[\"x y\"].z", {"data", "x y", "z"}},
	{"data[\"a\"][\"b\"]", {"data", "a", "b"}},
	{"", {NULL}},
	{".", {NULL}},
	{"a.", {NULL}},
	{".a", {NULL}},
	{"a..b", {NULL}},
	{"a[0]", {NULL}},
	{"a[\"\"]", {NULL}},
	{"a[\"b", {NULL}},
	{"a[\"b\"]c", {NULL}},
	{"a.[\"b\"]", {NULL}},
	{"a b", {NULL}},
	{"a.*", {NULL}},
	{"a\"b", {NULL}},
};

START_TEST(parsing)
{
	struct field_path path;
	size_t n = 0;

	ck_assert(field_path_parse(paths[_i].text, &path) == (paths[_i].steps[0] != NULL));
	if (paths[_i].steps[0] == NULL)
		return;
	while (n < 4 && paths[_i].steps[n] != NULL) {
		ck_assert_str_eq(path.steps[n], paths[_i].steps[n]);
		n++;
	}
	ck_assert_uint_eq(path.n, n);
}
END_TEST

START_TEST(bounds)
{
	struct field_path path;
	char text[2 * FIELD_PATH_MAX];

	memset(text, 'a', sizeof(text));
	text[FIELD_PATH_MAX] = '\0';
	ck_assert(!field_path_parse(text, &path));
	text[FIELD_PATH_MAX - 1] = '\0';
	ck_assert(field_path_parse(text, &path));
	text[0] = '\0';
	for (int i = 0; i <= FIELD_STEPS_MAX; i++)
		strcat(text, i == 0 ? "a" : ".a");
	ck_assert(!field_path_parse(text, &path));
	text[strlen(text) - 2] = '\0';
	ck_assert(field_path_parse(text, &path));
}
END_TEST

static const struct {
	const char *path, *object, *removed;
} removals[] = {
	{"a", "{\"a\":1,\"b\":2}", "{\"b\":2}"},
	{"a.b", "{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"c\":2}}"},
	{"a.b.c", "{\"a\":{\"b\":{\"c\":1}},\"d\":1}", "{\"d\":1}"},
	{"a.x", "{\"a\":{}}", "{\"a\":{}}"},
	{"a.b", "{\"a\":[1]}", "{\"a\":[1]}"},
	{"x.y", "{\"a\":1}", "{\"a\":1}"},
};

START_TEST(removing)
{
	cJSON *object = json_parse(removals[_i].object, strlen(removals[_i].object), NULL);
	struct field_path path;
	struct buf out = BUF_INIT;

	ck_assert(field_path_parse(removals[_i].path, &path));
	field_path_remove(object, &path);
	json_print_canonical(&out, object);
	ck_assert_str_eq(out.data, removals[_i].removed);
	buf_free(&out);
	cJSON_Delete(object);
}
END_TEST

START_TEST(fields_of_a_status)
{
	struct field_path path;

	ck_assert(field_path_parse("spec.replicas", &path));
	ck_assert(field_path_is(&path, ".spec.replicas"));
	ck_assert(field_path_is(&path, ".spec.replicas.x"));
	ck_assert(!field_path_is(&path, ".spec.replicasX"));
	ck_assert(!field_path_is(&path, ".spec"));
	ck_assert(!field_path_is(&path, ""));
}
END_TEST

/* --- bodies --- */

static const char yaml[] =
	"version: 1\n"
	"controllers:\n"
	"- name: app\n"
	"  resource: widgets.v1.test.dev\n"
	"  children:\n"
	"  - id: one\n"
	"    createOnly: [spec.replicas, 'metadata.annotations[\"a.b/c\"]']\n"
	"    ignoreFields: [spec.paused]\n"
	"    template:\n"
	"      apiVersion: apps/v1\n"
	"      kind: Deployment\n"
	"      metadata: {name: x, annotations: {a.b/c: \"1\"}}\n"
	"      spec: {replicas: \"${.n}\", paused: true, minReadySeconds: 1}\n";

static struct planner planner;
static struct config_controller *config;
static struct kube_resource parent, deployment;
static struct plan_live live;

static bool
live_child(void *data, size_t child, const char *namespace_, const char *name,
	struct plan_live *ret)
{
	(void)data;
	ck_assert_uint_eq(child, 0);
	ck_assert_str_eq(namespace_, "ns");
	ck_assert_str_eq(name, "x");
	*ret = live;
	return live.bytes != NULL;
}

static void
setup(void)
{
	struct error err = {0};

	config = plan_fixture_config(yaml, "app");
	parent = config->resource;
	strcpy(parent.kind, "Widget");
	parent.namespaced = true;
	deployment = (struct kube_resource){.group = "apps",
		.version = "v1",
		.plural = "deployments",
		.kind = "Deployment",
		.namespaced = true};
	ck_assert_msg(planner_init(&planner, config, &parent, &err) == 0, "%s", err.text);
}

static void
teardown(void)
{
	planner_clear(&planner);
	config_controller_free(config);
}

static const struct {
	const char *object, *live;
	uint32_t taken;
	const char *spec;
	bool annotated;
} bodies[] = {
	/* made: all of it */
	{"{\"n\":2}", NULL, 0, "{\"minReadySeconds\":1,\"replicas\":2}", true},
	/* there: what it has, whatever is asked for */
	{"{\"n\":5}", "{\"spec\":{\"replicas\":2},\"metadata\":{\"annotations\":{\"a.b/c\":\"1\"}}}", 0,
		"{\"minReadySeconds\":1,\"replicas\":2}", true},
	/* another's: nothing */
	{"{\"n\":5}", "{\"spec\":{\"replicas\":7},\"metadata\":{\"annotations\":{\"a.b/c\":\"1\"}}}", 1,
		"{\"minReadySeconds\":1}", true},
	/* taken away, or new in the configuration */
	{"{\"n\":5}", "{\"spec\":{\"replicas\":7}}", 2, "{\"minReadySeconds\":1,\"replicas\":7}", false},
	{"{\"n\":5}", "{}", 0, "{\"minReadySeconds\":1}", false},
	/* not in the template */
	{"{\"n\":null}", "{\"spec\":{\"replicas\":7},\"metadata\":{\"annotations\":{\"a.b/c\":\"2\"}}}", 0,
		"{\"minReadySeconds\":1}", true},
};

static char *
spec_of(const struct plan_child *child)
{
	cJSON *body = json_parse(child->body, child->length, NULL);
	struct buf out = BUF_INIT;

	json_print_canonical(&out, json_get(body, "spec", NULL));
	cJSON_Delete(body);
	return buf_detach(&out, NULL);
}

START_TEST(what_is_sent)
{
	const struct kube_resource *const kinds[] = {&deployment};
	const char *object_ = bodies[_i].object;
	struct plan_object object = {.bytes = object_,
		.length = strlen(object_),
		.namespace_ = "ns",
		.name = "a",
		.uid = "u",
		.live = live_child};
	struct plan plan;
	char *spec;

	live = (struct plan_live){bodies[_i].live,
		bodies[_i].live == NULL ? 0 : strlen(bodies[_i].live), bodies[_i].taken};
	plan_children(&planner, &object, kinds, &plan);
	ck_assert_int_eq(plan.children[0].what, PLAN_APPLY);
	spec = spec_of(&plan.children[0]);
	ck_assert_str_eq(spec, bodies[_i].spec);
	ck_assert((strstr(plan.children[0].body, "a.b/c") != NULL) == bodies[_i].annotated);
	free(spec);
	plan_clear(&plan);
}
END_TEST

START_TEST(what_is_left_to_others)
{
	const struct kube_resource *const kinds[] = {&deployment};
	struct plan_object object = {
		.bytes = "{\"n\":2}", .length = 7, .namespace_ = "ns", .name = "a", .uid = "u"};
	struct plan plan;
	uint64_t hash;
	char *spec;

	plan_children(&planner, &object, kinds, &plan);
	hash = plan.children[0].hash;
	plan_leave_out(&config->children[0], &plan.children[0], 1);
	spec = spec_of(&plan.children[0]);
	ck_assert_str_eq(spec, "{\"minReadySeconds\":1}");
	ck_assert_ptr_nonnull(strstr(plan.children[0].body, "a.b/c"));
	ck_assert_uint_ne(plan.children[0].hash, hash);
	free(spec);
	plan_clear(&plan);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fields");
	TCase *path = tcase_create("paths"), *body = tcase_create("bodies");
	SRunner *runner;
	int failed;

	template_init();
	tcase_add_loop_test(path, parsing, 0, sizeof(paths) / sizeof(paths[0]));
	tcase_add_test(path, bounds);
	tcase_add_loop_test(path, removing, 0, sizeof(removals) / sizeof(removals[0]));
	tcase_add_test(path, fields_of_a_status);
	suite_add_tcase(s, path);
	tcase_add_checked_fixture(body, setup, teardown);
	tcase_add_loop_test(body, what_is_sent, 0, sizeof(bodies) / sizeof(bodies[0]));
	tcase_add_test(body, what_is_left_to_others);
	suite_add_tcase(s, body);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
