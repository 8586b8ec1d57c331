/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of fields, and server-side apply step by step, as tables. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "devserver/fields.h"
#include "tests/unit/devserver_fixture.h"

static const char schema_text[] =
	"{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'string'},'"
	"c':{'type':'string'}}},"
	"'m':{'type':'object','additionalProperties':{'type':'string'}},'x':{'type':'object','x-"
	"kubernetes-map-type':'atomic'},"
	"'l':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],'"
	"items':{'type':'object',"
	"'properties':{'k':{'type':'string'},'v':{'type':'integer'}}}},"
	"'s':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}}}";

/* Path elements hold quotes themselves: written with backquotes here. */
static cJSON *
set_of(const char *text)
{
	cJSON *tree;
	char copy[512], *out = copy;

	for (const char *p = text; *p; p++) {
		if (*p == '`')
			*out++ = '\\';
		*out++ = *p == '`' ? '"' : *p;
	}
	*out = '\0';
	tree = fixture_parse(copy);
	if (tree->child)
		return tree;
	cJSON_Delete(tree);
	return NULL;
}

static void
check_set(cJSON *set, const char *expected)
{
	cJSON *want = set_of(expected);
	struct buf is = BUF_INIT, text = BUF_INIT;

	if (set)
		json_print_canonical(&is, set);
	if (want)
		json_print_canonical(&text, want);
	ck_assert_str_eq(is.data, text.data);
	cJSON_Delete(set);
	cJSON_Delete(want);
	buf_free(&is);
	buf_free(&text);
}

START_TEST(fields_of_a_document)
{
	static const struct {
		const char *document, *set;
	} rows[] = {
		{"{'a':{'b':'1'}}", "{'f:a':{'f:b':{}}}"},
		{"{'a':{}}", "{'f:a':{}}"},
		{"{'m':{'k':'1'}}", "{'f:m':{'f:k':{}}}"},
		{"{'x':{'q':1,'r':2}}", "{'f:x':{}}"},
		{"{'l':[{'k':'1','v':2}]}", "{'f:l':{'k:{`k`:`1`}':{'.':{},'f:k':{},'f:v':{}}}}"},
		{"{'s':['p','q']}", "{'f:s':{'v:`p`':{},'v:`q`':{}}}"},
		{"{'u':{'deep':{'er':1}}}", "{'f:u':{'.':{},'f:deep':{'.':{},'f:er':{}}}}"},
		{"{'u':[1,2]}", "{'f:u':{}}"},
		{"{}", "{}"},
	};
	cJSON *schema = fixture_parse(schema_text);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *document = fixture_parse(rows[i].document);

		check_set(fields_of(document, schema), rows[i].set);
		cJSON_Delete(document);
	}
	cJSON_Delete(schema);
}
END_TEST

START_TEST(fields_of_a_change)
{
	static const struct {
		const char *before, *after, *changed, *removed;
	} rows[] = {
		{"{'a':{'b':'1'}}", "{'a':{'b':'1'}}", "{}", "{}"},
		{"{'a':{'b':'1'}}", "{'a':{'b':'2'}}", "{'f:a':{'f:b':{}}}", "{}"},
		{"{'a':{'b':'1'}}", "{'a':{'c':'1'}}", "{'f:a':{'f:c':{}}}", "{'f:a':{'f:b':{}}}"},
		{"{}", "{'a':{'b':'1'}}", "{'f:a':{'.':{},'f:b':{}}}", "{}"},
		{"{'a':{'b':'1'}}", "{}", "{}", "{'f:a':{'.':{},'f:b':{}}}"},
		{"{'x':{'q':1}}", "{'x':{'r':1}}", "{'f:x':{}}", "{}"},
		{"{'l':[{'k':'1','v':1},{'k':'2'}]}", "{'l':[{'k':'2'},{'k':'1','v':2}]}",
			"{'f:l':{'k:{`k`:`1`}':{'f:v':{}}}}", "{}"},
		{"{'s':['p','q']}", "{'s':['q','r']}", "{'f:s':{'v:`r`':{}}}",
			"{'f:s':{'v:`p`':{}}}"},
		{"{'u':[1]}", "{'u':[1,2]}", "{'f:u':{}}", "{}"},
	};
	cJSON *schema = fixture_parse(schema_text);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *before = fixture_parse(rows[i].before),
		      *after = fixture_parse(rows[i].after), *changed, *removed;

		fields_compare(before, after, schema, &changed, &removed);
		check_set(changed, rows[i].changed);
		check_set(removed, rows[i].removed);
		cJSON_Delete(before);
		cJSON_Delete(after);
	}
	cJSON_Delete(schema);
}
END_TEST

START_TEST(set_operations)
{
	static const struct {
		const char *a, *b, *both, *left, *common;
	} rows[] = {
		{"{'f:a':{}}", "{'f:b':{}}", "{'f:a':{},'f:b':{}}", "{'f:a':{}}", "{}"},
		{"{'f:a':{'f:b':{},'f:c':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'f:b':{},'f:c':{}}}",
			"{'f:a':{'f:c':{}}}", "{'f:a':{'f:b':{}}}"},
		{"{'f:a':{}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{}}",
			"{}"},
		{"{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{}}", "{'f:a':{'.':{},'f:b':{}}}",
			"{'f:a':{'f:b':{}}}", "{'f:a':{}}"},
		{"{'f:a':{}}", "{}", "{'f:a':{}}", "{'f:a':{}}", "{}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *a = set_of(rows[i].a), *b = set_of(rows[i].b);

		check_set(fields_union(a, b), rows[i].both);
		check_set(fields_subtract(a, b), rows[i].left);
		check_set(fields_intersect(a, b), rows[i].common);
		cJSON_Delete(a);
		cJSON_Delete(b);
	}
}
END_TEST

/* One step: a manager applies or (update) merges a spec; then the spec of the object must be this. */
struct step {
	const char *manager;
	enum { STEP_APPLY, STEP_FORCE, STEP_UPDATE } how;
	const char *spec, *result; /* result NULL: 409 */
};

static void
run_steps(const struct step *steps)
{
	struct api *api = fixture_new(NULL);
	char path[256], body[512];

	for (const struct step *step = steps; step->manager; step++) {
		cJSON *answer;

		snprintf(path, sizeof(path), WIDGETS "/w?fieldManager=%s%s", step->manager,
			step->how == STEP_FORCE ? "&force=true" : "");
		snprintf(body, sizeof(body),
			"{'apiVersion':'example.com/"
			"v1','kind':'Widget','metadata':{'name':'w'},'spec':%s}",
			step->spec);
		answer = fixture_ask(api,
			step == steps  ? 201
			: step->result ? 200
				       : 409,
			"PATCH", path, step->how == STEP_UPDATE ? MERGE : APPLY, body);
		if (step->result)
			fixture_is(json_get(answer, "spec", NULL), step->result);
		cJSON_Delete(answer);
	}
	api_free(api);
}

START_TEST(applies)
{
	static const struct step scripts[][8] = {
		{{"a", STEP_APPLY, "{'replicas':1}", "{'replicas':1,'size':'medium'}"},
			{"b", STEP_APPLY, "{'replicas':2}", NULL},
			{"b", STEP_FORCE, "{'replicas':2}", "{'replicas':2,'size':'medium'}"},
			{"a", STEP_APPLY, "{'replicas':1}", NULL},
			{"a", STEP_APPLY, "{'size':'big'}", "{'replicas':2,'size':'big'}"},
			{"b", STEP_APPLY, "{'map':{'k':'v'}}", "{'size':'big','map':{'k':'v'}}"}},
		{{"a", STEP_APPLY, "{'map':{'x':'1','y':'2'}}",
			 "{'map':{'x':'1','y':'2'},'size':'medium'}"},
			{"human", STEP_UPDATE, "{'map':{'y':'3'}}",
				"{'map':{'x':'1','y':'3'},'size':'medium'}"},
			{"a", STEP_APPLY, "{'map':{'x':'1'}}",
				"{'map':{'x':'1','y':'3'},'size':'medium'}"},
			{"human", STEP_UPDATE, "{'map':{'y':null}}",
				"{'map':{'x':'1'},'size':'medium'}"}},
		{{"a", STEP_APPLY, "{'parts':[{'name':'p','n':1},{'name':'q'}]}",
			 "{'parts':[{'name':'p','n':1},{'name':'q'}],'size':'medium'}"},
			{"b", STEP_APPLY, "{'parts':[{'name':'q','n':5}]}",
				"{'parts':[{'name':'p','n':1},{'name':'q','n':5}],'size':'medium'"
				"}"},
			{"a", STEP_APPLY, "{'parts':[{'name':'p','n':1}]}",
				"{'parts':[{'name':'p','n':1},{'name':'q','n':5}],'size':'medium'"
				"}"},
			{"a", STEP_APPLY, "{'replicas':1}",
				"{'parts':[{'name':'q','n':5}],'replicas':1,'size':'medium'}"}},
		{{"a", STEP_APPLY, "{'tags':['x','y'],'list':['1']}",
			 "{'tags':['x','y'],'list':['1'],'size':'medium'}"},
			{"b", STEP_APPLY, "{'tags':['z']}",
				"{'tags':['x','y','z'],'list':['1'],'size':'medium'}"},
			{"b", STEP_APPLY, "{'list':['2']}", NULL},
			{"a", STEP_APPLY, "{'tags':['y']}", "{'tags':['y','z'],'size':'medium'}"}},
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		run_steps(scripts[i]);
}
END_TEST

START_TEST(unchanged_apply_writes_nothing)
{
	static const char body[] =
		"{'apiVersion':'example.com/"
		"v1','kind':'Widget','metadata':{'name':'w'},'spec':{'replicas':1}}";
	struct api *api = fixture_new(NULL);
	uint64_t revision;

	fixture_do(api, 201, "PATCH", WIDGETS "/w?fieldManager=a", APPLY, body);
	revision = api_revision(api);
	fixture_advance(api, 3600 * NSEC_PER_SEC);
	fixture_do(api, 200, "PATCH", WIDGETS "/w?fieldManager=a", APPLY, body);
	ck_assert_uint_eq(api_revision(api), revision);
	fixture_do(api, 200, "PATCH", WIDGETS "/w?fieldManager=b", APPLY, body);
	ck_assert_uint_eq(api_revision(api), revision + 1);
	api_free(api);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("devserver_apply");
	TCase *cases = tcase_create("apply");
	SRunner *runner;
	int failed;

	tcase_add_test(cases, fields_of_a_document);
	tcase_add_test(cases, fields_of_a_change);
	tcase_add_test(cases, set_operations);
	tcase_add_test(cases, applies);
	tcase_add_test(cases, unchanged_apply_writes_nothing);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
