/* SPDX-License-Identifier: Apache-2.0 */
/* workers/plan: from an object to children's bodies and statuses, by real configurations. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "tests/unit/plan_fixture.h"
#include "workers/plan.h"

static const char yaml[] =
	"version: 1\n"
	"instance: edge\n"
	"controllers:\n"
	"- name: app\n"
	"  resource: widgets.v1.test.dev\n"
	"  children:\n"
	"  - id: cm\n"
	"    template:\n"
	"      apiVersion: v1\n"
	"      kind: ConfigMap\n"
	"      metadata: {name: \"${.metadata.name}-cm\", labels: {mine: \"x\"}}\n"
	"      data: {text: \"${.spec.text}\", n: \"v${.spec.n}\"}\n"
	"  - id: opt\n"
	"    when: \"${.spec.opt}\"\n"
	"    template:\n"
	"      apiVersion: rbac.authorization.k8s.io/v1\n"
	"      kind: ClusterRole\n"
	"      metadata: {name: \"${.metadata.name}-r\", namespace: \"${.metadata.namespace}\"}\n"
	"  status:\n"
	"    ready: \"${$children.cm.data.ok // 0}\"\n"
	"    id: {once: \"${$uuid}\"}\n"
	"  statusOnError: {id: NA, reason: \"${$error.reason}\", text: \"${$error.message}\"}\n";

static struct config_controller *config;
static struct kube_resource parent, config_map, cluster_role;
static struct planner planner;
static const struct kube_resource *kinds[2];
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
	cluster_role = (struct kube_resource){.kind = "ClusterRole", .version = "v1"};
	kinds[0] = &config_map;
	kinds[1] = &cluster_role;
	ck_assert_int_eq(planner_init(&planner, config, &parent, &err), 0);
	plan = (struct plan){0};
}

static void
teardown(void)
{
	plan_clear(&plan);
	planner_clear(&planner);
	config_controller_free(config);
}

static struct plan_object
object_of(const char *json)
{
	return (struct plan_object){.bytes = json,
		.length = strlen(json),
		.namespace_ = parent.namespaced ? "ns" : "",
		.name = "a",
		.uid = "uid-1"};
}

static void
make(const char *json)
{
	struct plan_object object = object_of(json);

	plan_clear(&plan);
	plan_children(&planner, &object, kinds, &plan);
	ck_assert_uint_eq(plan.n, 2);
}

#define OBJECT(spec) "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\"},\"spec\":" spec "}"

START_TEST(child_gets_labels_owner_and_namespace)
{
	make(OBJECT("{\"text\":\"hi\",\"n\":3,\"opt\":false}"));
	ck_assert(plan.complete);
	ck_assert_int_eq(plan.children[0].what, PLAN_APPLY);
	ck_assert_str_eq(plan.children[0].name, "a-cm");
	ck_assert_str_eq(plan.children[0].namespace_, "ns");
	ck_assert_str_eq(plan.children[0].body,
		"{\"apiVersion\":\"v1\",\"data\":{\"n\":\"v3\",\"text\":\"hi\"},\"kind\":"
		"\"ConfigMap\",\"metadata\":{\"labels\":{"
		"\"app.kubernetes.io/managed-by\":\"operatord\",\"mine\":\"x\",\"operatord.io/"
		"child\":\"cm\","
		"\"operatord.io/controller\":\"app\",\"operatord.io/"
		"instance\":\"edge\",\"operatord.io/owner-uid\":\"uid-1\"},"
		"\"name\":\"a-cm\",\"namespace\":\"ns\",\"ownerReferences\":[{\"apiVersion\":"
		"\"test.dev/v1\","
		"\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":\"Widget\",\"name\":"
		"\"a\",\"uid\":\"uid-1\"}]}}");
	ck_assert_int_eq(plan.children[1].what, PLAN_ABSENT);
}
END_TEST

START_TEST(equal_children_have_equal_hashes)
{
	uint64_t hash;

	make(OBJECT("{\"text\":\"hi\",\"n\":3,\"opt\":false}"));
	hash = plan.children[0].hash;
	make(OBJECT("{\"opt\":false,\"n\":3,\"text\":\"hi\",\"other\":1}"));
	ck_assert_uint_eq(plan.children[0].hash, hash);
	make(OBJECT("{\"opt\":false,\"n\":4,\"text\":\"hi\"}"));
	ck_assert_uint_ne(plan.children[0].hash, hash);
}
END_TEST

/* E103: null drops its key. E97: what can't be rendered names its field, and fails alone. */
START_TEST(missing_fields)
{
	make(OBJECT("{\"n\":3,\"opt\":false}"));
	ck_assert(plan.complete);
	ck_assert_ptr_null(strstr(plan.children[0].body, "null"));
	ck_assert_ptr_null(strstr(plan.children[0].body, "text"));
	make(OBJECT("{\"text\":\"hi\",\"opt\":false}"));
	ck_assert(!plan.complete);
	ck_assert_int_eq(plan.children[0].what, PLAN_FAILED);
	ck_assert_int_eq(plan.children[0].verdict, VERDICT_RENDER_FAILED);
	ck_assert_ptr_nonnull(strstr(plan.children[0].text, ".spec.n"));
	ck_assert_int_eq(plan.children[1].what, PLAN_ABSENT);
}
END_TEST

/* E119: a `when` without an answer is a failure, not a no. */
START_TEST(when_must_answer)
{
	make(OBJECT("{\"n\":3}"));
	ck_assert(!plan.complete);
	ck_assert_int_eq(plan.children[1].what, PLAN_FAILED);
	ck_assert_int_eq(plan.children[0].what, PLAN_APPLY);
}
END_TEST

static const struct {
	bool parent_namespaced, kind_namespaced;
	const char *ns;   /* what metadata.namespace gives */
	const char *text; /* NULL: it is applied */
	enum config_owner owner;
	const char *in; /* where */
} places[] = {
	{true, false, "null", "cluster-scoped", CONFIG_OWNER_REFERENCE, NULL},
	{false, false, "null", NULL, CONFIG_OWNER_REFERENCE, NULL},
	{false, false, "\"x\"", "remove metadata.namespace", CONFIG_OWNER_REFERENCE,
		NULL}, /* E107 */
	{true, true, "null", NULL, CONFIG_OWNER_REFERENCE, NULL},
	{true, true, "\"ns\"", NULL, CONFIG_OWNER_REFERENCE, NULL},
	{true, true, "\"other\"", "must be in the namespace of its owner", CONFIG_OWNER_REFERENCE,
		NULL}, /* E111 */
	{false, true, "null", "needs metadata.namespace", CONFIG_OWNER_REFERENCE, NULL},
	{false, true, "\"other\"", NULL, CONFIG_OWNER_REFERENCE, "other"},
	{true, false, "null", "write owner: finalizer", CONFIG_OWNER_REFERENCE, NULL},
	{true, false, "null", NULL, CONFIG_OWNER_FINALIZER, ""},
	{true, false, "null", NULL, CONFIG_OWNER_NONE, ""},
	{true, false, "\"ns\"", "remove metadata.namespace", CONFIG_OWNER_FINALIZER,
		NULL}, /* E107 */
	{true, true, "\"other\"", NULL, CONFIG_OWNER_FINALIZER, "other"},
	{true, true, "\"other\"", NULL, CONFIG_OWNER_NONE, "other"},
	{true, true, "null", NULL, CONFIG_OWNER_FINALIZER, "ns"},
	{false, true, "null", "needs metadata.namespace", CONFIG_OWNER_FINALIZER, NULL},
};

START_TEST(owners_and_namespaces)
{
	char json[256];

	parent.namespaced = places[_i].parent_namespaced;
	cluster_role.namespaced = places[_i].kind_namespaced;
	config->children[1].owner = places[_i].owner;
	config->children[1].retain = places[_i].owner == CONFIG_OWNER_NONE;
	snprintf(json, sizeof(json),
		"{\"metadata\":{\"name\":\"a\",\"namespace\":%s},\"spec\":{\"n\":3,\"opt\":true}}",
		places[_i].ns);
	make(json);
	if (places[_i].text == NULL) {
		ck_assert_int_eq(plan.children[1].what, PLAN_APPLY);
		if (places[_i].in != NULL)
			ck_assert_str_eq(plan.children[1].namespace_, places[_i].in);
		ck_assert((strstr(plan.children[1].body, "ownerReferences") != NULL) ==
			  (places[_i].owner == CONFIG_OWNER_REFERENCE));
		ck_assert((strstr(plan.children[1].body,
				   "\"annotations\":{\"operatord.io/deletion\":\"retain\"}") !=
				  NULL) == (places[_i].owner == CONFIG_OWNER_NONE));
		return;
	}
	ck_assert_int_eq(plan.children[1].what, PLAN_FAILED);
	ck_assert_ptr_nonnull(strstr(plan.children[1].text, places[_i].text));
}
END_TEST

/* E93: a kind that is not served fails its child only. */
START_TEST(unknown_kind_waits)
{
	kinds[1] = NULL;
	make(OBJECT("{\"n\":3,\"opt\":true}"));
	ck_assert_int_eq(plan.children[0].what, PLAN_APPLY);
	ck_assert_int_eq(plan.children[1].verdict, VERDICT_WAITING_FOR_CHILD);
}
END_TEST

/* --- statuses --- */

static char status_id[64];

/* Plans a success on top of the live status; returns the id it gives. */
static const char *
succeed(const char *live)
{
	struct plan_object object = object_of(OBJECT("{\"n\":3}"));
	cJSON *live_tree = live == NULL ? NULL : json_parse(live, strlen(live), NULL), *status;
	enum verdict verdict;
	char text[256];

	ck_assert_int_eq(
		plan_status(&planner, &object, live_tree, &status, &verdict, text, sizeof(text)),
		0);
	snprintf(status_id, sizeof(status_id), "%s", json_string(status, "id", "(none)"));
	cJSON_Delete(status);
	cJSON_Delete(live_tree);
	return status_id;
}

static const char *
fail_with(const char *live)
{
	struct plan_object object = object_of(OBJECT("{\"n\":3}"));
	cJSON *live_tree = live == NULL ? NULL : json_parse(live, strlen(live), NULL);
	cJSON *status =
		plan_status_on_error(&planner, &object, live_tree, "RenderFailed", "it \"broke\"");

	ck_assert_str_eq(json_string(status, "reason", ""), "RenderFailed");
	ck_assert_str_eq(json_string(status, "text", ""), "it \"broke\"");
	snprintf(status_id, sizeof(status_id), "%s", json_string(status, "id", "(none)"));
	cJSON_Delete(status);
	cJSON_Delete(live_tree);
	return status_id;
}

#define UUID "50d39fe0-74ba-4a5c-9938-c8dc71228f98"

START_TEST(once_is_set_once)
{
	char first[64];

	snprintf(first, sizeof(first), "%s", succeed(NULL));
	ck_assert_uint_eq(strlen(first), 36);
	ck_assert_int_eq(first[14], '4');
	ck_assert_ptr_nonnull(strchr("89ab", first[19]));
	ck_assert_str_ne(succeed(NULL), first);
	ck_assert_str_eq(succeed("{\"id\":\"" UUID "\"}"), UUID);
	ck_assert_uint_eq(strlen(succeed("{\"id\":\"\"}")), 36);
	ck_assert_uint_eq(strlen(succeed("{\"id\":null}")), 36);
}
END_TEST

/* statusOnError never overwrites a once field that was set, and never satisfies it. */
START_TEST(once_and_failures)
{
	ck_assert_str_eq(fail_with(NULL), "NA");
	ck_assert_str_eq(fail_with("{\"id\":\"" UUID "\"}"), UUID);
	ck_assert_uint_eq(strlen(succeed("{\"id\":\"NA\"}")), 36);
	ck_assert_str_eq(fail_with("{\"id\":\"NA\"}"), "NA");
}
END_TEST

START_TEST(status_reads_children)
{
	struct plan_object object = object_of(OBJECT("{\"n\":3}"));
	static const char children[] = "{\"cm\":{\"data\":{\"ok\":\"7\"}},\"opt\":null}";
	enum verdict verdict;
	char text[256];
	cJSON *status;

	ck_assert(planner_reads_child(&planner, 0));
	ck_assert(!planner_reads_child(&planner, 1));
	object.children = children;
	object.children_length = strlen(children);
	ck_assert_int_eq(
		plan_status(&planner, &object, NULL, &status, &verdict, text, sizeof(text)), 0);
	ck_assert_str_eq(json_string(status, "ready", ""), "7");
	cJSON_Delete(status);
	/* E117: what a child does not say yet is waited for, no error. */
	object.children = "{\"cm\":5,\"opt\":null}";
	object.children_length = strlen(object.children);
	ck_assert_int_lt(
		plan_status(&planner, &object, NULL, &status, &verdict, text, sizeof(text)), 0);
	ck_assert_int_eq(verdict, VERDICT_WAITING_FOR_CHILD);
	ck_assert_ptr_nonnull(strstr(text, "status.ready"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tcase = tcase_create("plan");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, child_gets_labels_owner_and_namespace);
	tcase_add_test(tcase, equal_children_have_equal_hashes);
	tcase_add_test(tcase, missing_fields);
	tcase_add_test(tcase, when_must_answer);
	tcase_add_loop_test(tcase, owners_and_namespaces, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_test(tcase, unknown_kind_waits);
	tcase_add_test(tcase, once_is_set_once);
	tcase_add_test(tcase, once_and_failures);
	tcase_add_test(tcase, status_reads_children);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
