/* SPDX-License-Identifier: Apache-2.0 */
/* The development server's document functions, as tables: schemas, patches, base64. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "devserver/patch.h"
#include "devserver/schema.h"
#include "tests/unit/devserver_fixture.h"

START_TEST(prunes_and_defaults)
{
	static const struct {
		const char *schema, *value, *result, *unknown;
	} rows[] = {
		{"{'properties':{'a':{}}}", "{'a':1,'b':2}", "{'a':1}", "b\n"},
		{"{'properties':{'a':{'properties':{'b':{'type':'string'}}}}}",
			"{'a':{'b':'x','c':1}}", "{'a':{'b':'x'}}", "a.c\n"},
		{"{'x-kubernetes-preserve-unknown-fields':true,'properties':{'a':{'type':'object'}}"
		 "}",
			"{'a':{'q':1},'z':{'y':1}}", "{'a':{},'z':{'y':1}}", "a.q\n"},
		{"{'additionalProperties':{'type':'object'}}", "{'k':{'v':1}}", "{'k':{}}",
			"k.v\n"},
		{"{'properties':{'l':{'items':{'properties':{'a':{}}}}}}",
			"{'l':[{'a':1},{'b':1}]}", "{'l':[{'a':1},{}]}", "l[1].b\n"},
		{"{'properties':{'a':{'default':5},'b':{'properties':{'c':{'default':'x'}}}}}",
			"{'b':{}}", "{'b':{'c':'x'},'a':5}", ""},
		{"{'properties':{'a':{'default':{},'properties':{'c':{'default':1}}}}}", "{}",
			"{'a':{'c':1}}", ""},
		{"{'properties':{'a':{'default':5}}}", "{'a':null}", "{'a':5}", ""},
		{"{'properties':{'a':{'default':5,'nullable':true}}}", "{'a':null}", "{'a':null}",
			""},
		{"{'properties':{'e':{'x-kubernetes-embedded-resource':true}}}",
			"{'e':{'kind':'K','metadata':{'name':'n'},'z':1}}",
			"{'e':{'kind':'K','metadata':{'name':'n'}}}", "e.z\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *schema = fixture_parse(rows[i].schema),
		      *value = fixture_parse(rows[i].value);
		struct buf unknown = BUF_INIT;

		schema_prune(value, schema, &unknown);
		schema_default(value, schema);
		fixture_is(value, rows[i].result);
		ck_assert_str_eq(unknown.data, rows[i].unknown);
		buf_free(&unknown);
		cJSON_Delete(schema);
		cJSON_Delete(value);
	}
}
END_TEST

START_TEST(validates)
{
	/* cause: the field of the only one, NULL when the value is fine */
	static const struct {
		const char *schema, *value, *cause;
	} rows[] = {
		{"{'type':'integer'}", "1", NULL},
		{"{'type':'integer'}", "1.0", NULL},
		{"{'type':'integer'}", "1.5", "<root>"},
		{"{'type':'integer'}", "9007199254740993", NULL},
		{"{'type':'number'}", "1", NULL},
		{"{'type':'string'}", "null", "<root>"},
		{"{'type':'string','nullable':true}", "null", NULL},
		{"{'x-kubernetes-int-or-string':true}", "'25%'", NULL},
		{"{'x-kubernetes-int-or-string':true}", "1.5", "<root>"},
		{"{'properties':{'a':{'type':'integer','minimum':1,'exclusiveMinimum':true}}}",
			"{'a':1}", "a"},
		{"{'properties':{'a':{'type':'integer','multipleOf':3}}}", "{'a':7}", "a"},
		{"{'properties':{'a':{'type':'string','maxLength':2}}}", "{'a':'\xc3\xa4\xc3\xb6'}",
			NULL},
		{"{'properties':{'a':{'type':'string','pattern':'^\\\\d+(?:-\\\\w+)?$'}}}",
			"{'a':'12-ab'}", NULL},
		{"{'properties':{'a':{'type':'string','pattern':'^\\\\d+$'}}}", "{'a':'1x'}", "a"},
		{"{'properties':{'a':{'type':'string','pattern':'^[\\\\w.-]+$'}}}",
			"{'a':'a.b-c_1'}", NULL},
		{"{'required':['a']}", "{}", "a"},
		{"{'properties':{'a':{'type':'array','maxItems':1}}}", "{'a':[1,2]}", "a"},
		{"{'properties':{'a':{'type':'array','items':{'type':'string'}}}}", "{'a':['x',1]}",
			"a[1]"},
		{"{'additionalProperties':{'type':'string'}}", "{'k':1}", "k"},
		{"{'properties':{'a':{'anyOf':[{'minimum':5},{'maximum':1}]}}}", "{'a':3}", "a"},
		{"{'properties':{'a':{'oneOf':[{'minimum':1},{'minimum':2}]}}}", "{'a':3}", "a"},
		{"{'properties':{'a':{'not':{'enum':[3]}}}}", "{'a':3}", "a"},
		{"{'properties':{'a':{'allOf':[{'minimum':5}]}}}", "{'a':3}", "a"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *schema = fixture_parse(rows[i].schema),
		      *value = fixture_parse(rows[i].value);
		cJSON *causes = schema_validate(value, schema);

		ck_assert_msg(!causes == !rows[i].cause, "row %zu", i);
		if (causes) {
			ck_assert_int_eq(cJSON_GetArraySize(causes), 1);
			ck_assert_str_eq(json_string(causes->child, "field", ""), rows[i].cause);
		}
		cJSON_Delete(causes);
		cJSON_Delete(schema);
		cJSON_Delete(value);
	}
}
END_TEST

START_TEST(merge_patches)
{
	static const struct {
		const char *target, *patch, *result;
	} rows[] = {
		{"{'a':'b'}", "{'a':'c'}", "{'a':'c'}"},
		{"{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}"},
		{"{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}"},
		{"{'a':['b']}", "{'a':'c'}", "{'a':'c'}"},
		{"{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}"},
		{"{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}"},
		{"{'e':null}", "{'a':1}", "{'e':null,'a':1}"},
		{"{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}"},
		{"{'a':'x'}", "{'a':{'b':1}}", "{'a':{'b':1}}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *target = fixture_parse(rows[i].target),
		      *patch = fixture_parse(rows[i].patch);

		patch_merge(target, patch);
		fixture_is(target, rows[i].result);
		cJSON_Delete(target);
		cJSON_Delete(patch);
	}
}
END_TEST

START_TEST(json_patches)
{
	/* result NULL: refused */
	static const struct {
		const char *target, *patch, *result;
	} rows[] = {
		{"{'a':1}", "[{'op':'add','path':'/b','value':2}]", "{'a':1,'b':2}"},
		{"{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}"},
		{"{'a':[1,3]}", "[{'op':'add','path':'/a/0','value':0}]", "{'a':[0,1,3]}"},
		{"{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}"},
		{"{'a':[1]}", "[{'op':'add','path':'/a/5','value':2}]", NULL},
		{"{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}"},
		{"{'a':[1,2]}", "[{'op':'replace','path':'/a/1','value':9}]", "{'a':[1,9]}"},
		{"{'a':1}", "[{'op':'replace','path':'/b','value':9}]", NULL},
		{"{'a~b':1,'c/d':2}",
			"[{'op':'remove','path':'/a~0b'},{'op':'remove','path':'/c~1d'}]", "{}"},
		{"{'a':1}", "[{'op':'move','from':'/a','path':'/b'}]", "{'b':1}"},
		{"{'a':{'x':1}}", "[{'op':'copy','from':'/a','path':'/b'}]",
			"{'a':{'x':1},'b':{'x':1}}"},
		{"{'a':1}", "[{'op':'test','path':'/a','value':1}]", "{'a':1}"},
		{"{'a':1}", "[{'op':'test','path':'/a','value':2}]", NULL},
		{"{'a':1}", "[{'op':'frob','path':'/a'}]", NULL},
		{"{'a':1}", "[{'op':'remove','path':''}]", NULL},
		{"{'a':1}", "[{'op':'add','path':'a','value':1}]", NULL},
		{"{'a':1}", "[1]", NULL},
		{"{'a':1}", "{}", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *target = fixture_parse(rows[i].target),
		      *patch = fixture_parse(rows[i].patch);
		int result = patch_json(target, patch, NULL);

		ck_assert_msg((result == 0) == (rows[i].result != NULL), "row %zu: %d", i, result);
		if (rows[i].result)
			fixture_is(target, rows[i].result);
		cJSON_Delete(target);
		cJSON_Delete(patch);
	}
}
END_TEST

START_TEST(strategic_patches)
{
	static const char schema_text[] = "{'properties':{'l':{'x-kubernetes-list-type':'map','x-"
					  "kubernetes-list-map-keys':['k'],'items':{}},"
					  "'s':{'x-kubernetes-list-type':'set'}}}";
	static const struct {
		const char *target, *patch, *result;
	} rows[] = {
		{"{'l':[{'k':1,'v':1}]}", "{'l':[{'k':2},{'k':1,'v':2}]}",
			"{'l':[{'k':1,'v':2},{'k':2}]}"},
		{"{'l':[{'k':1},{'k':2}]}", "{'l':[{'k':1,'$patch':'delete'}]}", "{'l':[{'k':2}]}"},
		{"{'l':[{'k':1},{'k':2}]}", "{'l':[{'$patch':'replace'},{'k':3}]}",
			"{'l':[{'k':3}]}"},
		{"{'s':['a','b']}", "{'s':['c'],'$deleteFromPrimitiveList/s':['a']}",
			"{'s':['b','c']}"},
		{"{'m':{'a':1,'b':2}}", "{'m':{'$retainKeys':['b'],'b':3}}", "{'m':{'b':3}}"},
		{"{'m':{'a':1}}", "{'m':{'$patch':'replace','b':1}}", "{'m':{'b':1}}"},
		{"{'m':{'a':1}}", "{'m':{'$patch':'delete'}}", "{}"},
		{"{'o':[1]}", "{'o':[2],'$setElementOrder/l':[]}", "{'o':[2]}"},
		{"{'m':{'a':1}}", "{'m':null}", "{}"},
	};
	cJSON *schema = fixture_parse(schema_text);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cJSON *target = fixture_parse(rows[i].target),
		      *patch = fixture_parse(rows[i].patch);

		patch_strategic(target, patch, schema);
		fixture_is(target, rows[i].result);
		cJSON_Delete(target);
		cJSON_Delete(patch);
	}
	cJSON_Delete(schema);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("devserver_schema");
	TCase *cases = tcase_create("documents");
	SRunner *runner;
	int failed;

	tcase_add_test(cases, prunes_and_defaults);
	tcase_add_test(cases, validates);
	tcase_add_test(cases, merge_patches);
	tcase_add_test(cases, json_patches);
	tcase_add_test(cases, strategic_patches);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
