/* SPDX-License-Identifier: Apache-2.0 */
/* workers/plan with forEach and let: how many children, what is in them, and when it is not known. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "tests/unit/plan_fixture.h"
#include "workers/plan.h"

static const char yaml[] =
	"version: 1\n"
	"controllers:\n"
	"- name: app\n"
	"  resource: widgets.v1.test.dev\n"
	"  let:\n"
	"    zones: \"${.spec.zones}\"\n"
	"    prefix: \"${.metadata.name + \\\"-\\\"}\"\n"
	"    broken: \"${.spec.n + 1}\"\n"
	"    many: \"${.spec.zones[]}\"\n"
	"  children:\n"
	"  - id: each\n"
	"    forEach: {zone: \"${$zones}\"}\n"
	"    let: {full: \"${$prefix + $zone}\", others: \"${if .spec.others then $zones - [$zone] else [] end}\"}\n"
	"    when: \"${$zone != \\\"off\\\"}\"\n"
	"    template:\n"
	"      apiVersion: v1\n"
	"      kind: ConfigMap\n"
	"      metadata: {name: \"${$full}\"}\n"
	"      data: {others: \"${$others | join(\\\",\\\")}\", b: \"${if .spec.bad then $broken else \\\"\\\" end}\"}\n"
	"  - id: one\n"
	"    when: \"${.spec.one == true}\"\n"
	"    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${$prefix}a\"}}\n"
	"  - id: many\n"
	"    when: \"${.spec.many == true}\"\n"
	"    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"m${$many}\"}}\n"
	"  status: {zones: \"${$zones}\", names: \"${[$children.each[].metadata.name]}\"}\n";

static struct config_controller *config;
static struct kube_resource parent, config_map;
static struct planner planner;
static struct plan plan;

static void
setup(void)
{
	struct error err = {0};

	config = plan_fixture_config(yaml, "app");
	parent = config->resource;
	strcpy(parent.kind, "Widget");
	parent.namespaced = true;
	config_map = (struct kube_resource){
		.version = "v1", .plural = "configmaps", .kind = "ConfigMap", .namespaced = true};
	ck_assert_msg(planner_init(&planner, config, &parent, &err) == 0, "%s", err.text);
	plan = (struct plan){0};
}

static void
teardown(void)
{
	plan_clear(&plan);
	planner_clear(&planner);
	config_controller_free(config);
}

/* The object a with this spec. */
static void
make(const char *spec)
{
	const struct kube_resource *const kinds[] = {&config_map, &config_map, &config_map};
	struct buf json = BUF_INIT;
	struct plan_object object = {.namespace_ = "ns", .name = "a", .uid = "uid-1"};

	buf_addf(&json, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\"},\"spec\":%s}", spec);
	object.bytes = json.data;
	object.length = json.length;
	plan_clear(&plan);
	plan_children(&planner, &object, kinds, &plan);
	buf_free(&json);
}

/* What the plan's children are: "name", "-" for absent, "!text" for failed. */
static const struct {
	const char *spec, *want[4];
} cases[] = {
	{"{\"zones\":[\"x\",\"y\"]}", {"a-x", "a-y", "-", "-"}},
	{"{\"zones\":[\"x\",\"off\"]}", {"a-x", "-", "-", "-"}},
	{"{\"zones\":[]}", {"-", "-"}},
	{"{\"zones\":[\"x\",null]}", {"a-x", "-", "-"}},
	{"{\"zones\":null}", {"!children[each].forEach.zone gives null, so what exists is kept", "-", "-"}},
	{"{}", {"!gives null", "-", "-"}},
	{"{\"zones\":\"x\"}", {"!gives text; a list is needed", "-", "-"}},
	{"{\"zones\":{\"x\":1}}", {"!gives a map", "-", "-"}},
	{"{\"zones\":[1]}", {"!let full: string (\"a-\") and number (1) cannot be added", "-", "-"}},
	{"{\"zones\":[\"x\",\"x\"]}", {"a-x", "!two items of forEach give one name, ConfigMap a-x", "-", "-"}},
	{"{\"zones\":[\"a\"],\"one\":true}", {"a-a", "!children[one]: ConfigMap a-a is a child already, as children[each]", "-"}},
	{"{\"zones\":[],\"many\":true}", {"-", "!let many: gives 0 values"}},
	{"{\"zones\":[\"x\",\"y\"],\"many\":true}", {"a-x", "a-y", "-", "!let many: gives 2 values"}},
	{"{\"zones\":[\"x\"],\"bad\":true,\"n\":\"s\"}", {"!let broken: string (\"s\") and number (1)", "-", "-"}},
};

START_TEST(children_of_a_list)
{
	bool complete = true;

	make(cases[_i].spec);
	for (size_t i = 0; i < 4 && cases[_i].want[i]; i++) {
		const struct plan_child *child = &plan.children[i];
		const char *want = cases[_i].want[i];

		ck_assert_uint_lt(i, plan.n);
		if (*want == '!') {
			ck_assert_int_eq(child->what, PLAN_FAILED);
			ck_assert_int_eq(child->verdict, VERDICT_RENDER_FAILED);
			ck_assert_msg(strstr(child->text, want + 1) != NULL, "%s", child->text);
			complete = false;
		} else if (*want == '-') {
			ck_assert_int_eq(child->what, PLAN_ABSENT);
		} else {
			ck_assert_msg(child->what == PLAN_APPLY, "%s", child->text);
			ck_assert_str_eq(child->name, want);
		}
	}
	ck_assert_uint_eq(plan.n, plan.n > 4 ? 4 : plan.n);
	ck_assert(plan.complete == complete);
}
END_TEST

START_TEST(names_in_a_body)
{
	make("{\"zones\":[\"x\",\"y\",\"z\"],\"others\":true}");
	ck_assert_ptr_nonnull(strstr(plan.children[1].body, "\"others\":\"x,z\""));
	ck_assert_ptr_nonnull(strstr(plan.children[1].body, "\"operatord.io/child\":\"each\""));
	ck_assert_uint_eq(plan.children[1].child, 0);
	ck_assert_uint_eq(plan.children[3].child, 1);
}
END_TEST

START_TEST(more_items_than_one_child_may_have)
{
	struct buf spec = BUF_INIT;

	buf_adds(&spec, "{\"zones\":[\"z0\"");
	for (int i = 1; i < CONFIG_EACH_MAX; i++)
		buf_addf(&spec, ",\"z%d\"", i);
	buf_adds(&spec, "]}");
	make(spec.data);
	ck_assert_uint_eq(plan.n, CONFIG_EACH_MAX + 2);
	ck_assert(plan.complete);
	spec.length -= 2;
	buf_adds(&spec, ",\"last\"]}");
	make(spec.data);
	ck_assert_uint_eq(plan.n, 3);
	ck_assert_str_eq(plan.children[0].text,
		"children[each].forEach.zone gives 1001 items, more than 1000");
	buf_free(&spec);
}
END_TEST

START_TEST(reading_through_a_name_is_reading)
{
	ck_assert(planner_reads_child(&planner, 0));
	ck_assert(!planner_reads_child(&planner, 1));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("for_each");
	TCase *tc = tcase_create("for_each");
	SRunner *runner;
	int failed;

	template_init();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, children_of_a_list, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, names_in_a_body);
	tcase_add_test(tc, more_items_than_one_child_may_have);
	tcase_add_test(tc, reading_through_a_name_is_reading);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
