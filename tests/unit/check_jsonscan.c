/* SPDX-License-Identifier: Apache-2.0 */
/* The byte scanner: grammar, objects, watch lines, stripping. Built twice, with and without SSE2. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/jsonscan.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The bytes in a block of their own size, so that a sanitizer sees each byte read too far. */
static char *
exact(const char *text, size_t n)
{
	char *copy = malloc(n ? n : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, n);
	return copy;
}

static bool
is_whole_value(const char *text, size_t n)
{
	char *copy = exact(text, n);
	bool whole = jsonscan_skip(copy, copy + n) == copy + n;

	free(copy);
	return whole;
}

static const char *const valid[] = {
	"null",
	"true",
	"false",
	"0",
	"-0",
	"10",
	"-1.5",
	"1e5",
	"1E+5",
	"0.5e-10",
	"123456789012345678901234567890",
	"\"\"",
	"\"a\"",
	"\"0123456789abcdef\"",
	"\"0123456789abcdef0123456789abcdef0\"",
	"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
	"\"\\ud83d\\ude00\"",
	"\"\\u0000\"",
	"\"\x7f\"",
	"\"caf\xc3\xa9\"",
	"\"\xe2\x82\xac\"",
	"\"\xf0\x9f\x98\x80\"",
	"\"\xed\x9f\xbf\xee\x80\x80\"",
	"\"\xf4\x8f\xbf\xbf\"",
	"\"0123456789abc\xc3\xa9\xc3\xa9 and more than sixteen\"",
	"[]",
	"[ ]",
	"{}",
	"{ \n}",
	"[1,2]",
	"[[],{},\"\",null]",
	"{\"a\":1}",
	"{ \"a\" : { \"b\" : [ 1 , 2 ] } , \"c\":\"\" }",
	"{\"\":0}",
	"{\"a\":1,\"a\":2}",
	"[\"]\",\"}\"]",
};

static const char *const invalid[] = {
	"",
	" 1",
	"nul",
	"nulL",
	"True",
	"tru",
	"01",
	"-",
	"-01",
	"1.",
	".5",
	"1e",
	"1e+",
	"+1",
	"0x1F",
	"NaN",
	"Infinity",
	"\"",
	"\"a",
	"\"\\",
	"\"\\\"",
	"\"\\x\"",
	"\"\\u12\"",
	"\"\\u12g4\"",
	"\"\\ud800\"",
	"\"\\ud800x\"",
	"\"\\udc00\"",
	"\"\\ud800\\u0041\"",
	"\"\\ud800\\ud800\"",
	"\"\t\"",
	"\"\n\"",
	"\"\x1f\"",
	"\"0123456789abcdef\x01\"",
	"\"\x80\"",
	"\"\xc3\"",
	"\"\xc0\x80\"",
	"\"\xc1\xbf\"",
	"\"\xe0\x80\x80\"",
	"\"\xe0\x9f\xbf\"",
	"\"\xed\xa0\x80\"",
	"\"\xf0\x8f\xbf\xbf\"",
	"\"\xf4\x90\x80\x80\"",
	"\"\xf5\x80\x80\x80\"",
	"\"\xff\"",
	"\"\xe2\x82\"",
	"\"\xc3(\"",
	"\"0123456789abcdef0123\xe2\x28\xa1\"",
	"[",
	"]",
	"[1",
	"[1,",
	"[1,]",
	"[,1]",
	"[1 2]",
	"[}",
	"{",
	"}",
	"{]",
	"{\"a\"",
	"{\"a\":",
	"{\"a\":1",
	"{\"a\":1,",
	"{\"a\":1,}",
	"{\"a\" 1}",
	"{a:1}",
	"{1:1}",
	"{,}",
	"{\"a\":1 \"b\":2}",
	"{\"a\":1]",
	"[1}",
	"'a'",
	"[1]]",
	"1 2",
	"/**/1",
	"\xef\xbb\xbf"
	"1",
};

START_TEST(takes_what_is_valid)
{
	for (size_t i = 0; i < COUNT(valid); i++)
		ck_assert_msg(is_whole_value(valid[i], strlen(valid[i])), "%s", valid[i]);
}
END_TEST

START_TEST(refuses_what_is_not)
{
	for (size_t i = 0; i < COUNT(invalid); i++)
		ck_assert_msg(!is_whole_value(invalid[i], strlen(invalid[i])), "%s", invalid[i]);
	ck_assert(!is_whole_value("\"a\0b\"", 5));
}
END_TEST

/* Nothing that is cut short passes; a number is the one value that its beginnings may be too. */
START_TEST(refuses_every_beginning)
{
	for (size_t i = 0; i < COUNT(valid); i++) {
		size_t n = strlen(valid[i]);

		if (valid[i][0] == '-' || (valid[i][0] >= '0' && valid[i][0] <= '9'))
			continue;
		for (size_t cut = 0; cut < n; cut++)
			ck_assert_msg(!is_whole_value(valid[i], cut), "%.*s", (int)cut, valid[i]);
	}
}
END_TEST

/* A bad byte is found, and a good end too, wherever it stands against the words that are looked at together. */
START_TEST(looks_at_every_byte_of_a_string)
{
	static const char bad[] = {'\0', '\x1f', '\n', '\x80', '\xff'};
	char text[80];

	for (size_t n = 2; n < sizeof(text); n++) {
		memset(text, 'x', n);
		text[0] = text[n - 1] = '"';
		ck_assert(is_whole_value(text, n));
		for (size_t at = 1; at + 1 < n; at++) {
			for (size_t b = 0; b < sizeof(bad); b++) {
				text[at] = bad[b];
				ck_assert_msg(!is_whole_value(text, n), "byte %zu of %zu", at, n);
			}
			text[at] = 'x';
		}
	}
}
END_TEST

START_TEST(bounds_the_depth)
{
	char text[2 * (JSON_DEPTH_MAX + 1)];
	struct json_object_info info;

	for (int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
		size_t n = (size_t)depth;

		memset(text, '[', n);
		memset(text + n, ']', n);
		ck_assert_int_eq(is_whole_value(text, 2 * n), depth <= JSON_DEPTH_MAX);
	}
	for (int depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
		char object[2 * JSON_DEPTH_MAX + 100];
		int n = snprintf(object, sizeof(object), "{\"metadata\":{\"labels\":%.*s%.*s}}",
			depth - 2, text, depth - 2, text + JSON_DEPTH_MAX + 1);

		ck_assert_int_eq(
			jsonscan_object(object, (size_t)n, &info), depth <= JSON_DEPTH_MAX);
	}
}
END_TEST

/* --- objects ---------------------------------------------------------------------- */

static const char *const object_text =
	"{\"kind\":\"Nginx\",\"apiVersion\":\"stable.example.com/"
	"v1\",\"metadata\":{\"annotations\":{\"a\":\"b\","
	"\"kubectl.kubernetes.io/"
	"last-applied-configuration\":\"{\\\"spec\\\":{}}\\n\",\"c\":\"d\"},"
	"\"generation\":7,\"labels\":{\"app\":\"x\"},\"managedFields\":[{\"manager\":\"kubectl\","
	"\"operation\":\"Apply\","
	"\"fieldsV1\":{\"f:spec\":{}}}],\"name\":\"web\",\"namespace\":\"default\",\"uid\":"
	"\"0f1e\","
	"\"resourceVersion\":\"1234\",\"ownerReferences\":[{\"uid\":\"9\"}],\"finalizers\":[\"a/"
	"b\"],"
	"\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"},\"spec\":{\"metadata\":{\"name\":"
	"\"inner\"},\"replicas\":3},"
	"\"status\":{\"ready\":true}}";

static void
assert_range(const char *bytes, struct json_range range, const char *expected)
{
	ck_assert_msg(range.length == strlen(expected) &&
			      memcmp(bytes + range.start, expected, range.length) == 0,
		"%.*s, not %s", (int)range.length, bytes + range.start, expected);
}

START_TEST(finds_the_members_of_an_object)
{
	struct json_object_info i;
	const char *t = object_text;

	ck_assert(jsonscan_object(t, strlen(t), &i));
	assert_range(t, i.kind, "Nginx");
	assert_range(t, i.api_version, "stable.example.com/v1");
	assert_range(t, i.name, "web");
	assert_range(t, i.namespace_, "default");
	assert_range(t, i.uid, "0f1e");
	assert_range(t, i.resource_version, "1234");
	assert_range(t, i.labels, "{\"app\":\"x\"}");
	assert_range(t, i.owner_references, "[{\"uid\":\"9\"}]");
	assert_range(t, i.finalizers, "[\"a/b\"]");
	assert_range(t, i.deletion_timestamp, "2024-01-01T00:00:00Z");
	assert_range(t, i.spec, "{\"metadata\":{\"name\":\"inner\"},\"replicas\":3}");
	assert_range(t, i.status, "{\"ready\":true}");
	assert_range(t, i.last_applied,
		"\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"spec\\\":{}}\\n\"");
	ck_assert_int_eq(i.generation, 7);
	ck_assert_int_eq(t[i.metadata.start], '{');
	ck_assert_int_eq(t[i.metadata.start + i.metadata.length], ',');
	ck_assert_int_eq(t[i.managed_fields.start], '[');
	ck_assert_int_eq(strncmp(t + i.managed_member.start, "\"managedFields\":[", 17), 0);
}
END_TEST

/* One object, and what is known of its name, uid, generation; NULL: refused. */
static const struct {
	const char *text, *name, *uid;
	int64_t generation;
} objects[] = {
	{"{}", "", "", 0},
	{" \n{ \"metadata\" : { \"name\" : \"a\" , \"generation\" : 2 } } \r\n", "a", "", 2},
	/* keys in other spellings */
	{"{\"metadata\":{\"na\\u006de\":\"a\",\"\\u0075id\":\"u\"}}", "a", "u", 0},
	{"{\"\\u006d\\u0065\\u0074\\u0061\\u0064\\u0061\\u0074\\u0061\":{\"name\":\"a\"}}", "a", "",
		0},
	{"{\"metadata\":{\"Name\":\"a\",\"name \":\"b\",\"nam\":\"c\",\"names\":\"d\"}}", "", "",
		0},
	/* the last counts */
	{"{\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}", "b", "", 0},
	{"{\"metadata\":{\"name\":\"a\",\"na\\u006de\":\"b\"}}", "b", "", 0},
	{"{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"generation\":3},\"metadata\":{\"name\":"
	 "\"b\"}}",
		"b", "", 0},
	{"{\"metadata\":{\"name\":\"a\"},\"metadata\":null}", "", "", 0},
	{"{\"metadata\":{\"name\":\"a\",\"name\":null}}", "", "", 0},
	/* other types */
	{"{\"metadata\":{\"name\":5,\"uid\":[\"u\"],\"generation\":\"9\"}}", "", "", 0},
	{"{\"metadata\":[{\"name\":\"a\"}]}", "", "", 0},
	{"{\"spec\":{\"metadata\":{\"name\":\"a\"}}}", "", "", 0},
	/* generation stays in its bounds */
	{"{\"metadata\":{\"generation\":9223372036854775807}}", "", "", INT64_MAX},
	{"{\"metadata\":{\"generation\":9223372036854775808}}", "", "", INT64_MAX},
	{"{\"metadata\":{\"generation\":99999999999999999999999}}", "", "", INT64_MAX},
	{"{\"metadata\":{\"generation\":-9223372036854775808}}", "", "", INT64_MIN},
	{"{\"metadata\":{\"generation\":-9223372036854775809}}", "", "", INT64_MIN},
	{"{\"metadata\":{\"generation\":1.5}}", "", "", 0},
	{"{\"metadata\":{\"generation\":1e3}}", "", "", 0},
	/* not one object */
	{"", NULL, NULL, 0},
	{"[]", NULL, NULL, 0},
	{"{} {}", NULL, NULL, 0},
	{"{\"metadata\":{\"name\":\"a\"}", NULL, NULL, 0},
	{"{\"metadata\":", NULL, NULL, 0},
	{"{\"metadata\":{\"annotations\":", NULL, NULL, 0},
	{"{\"metadata\":{\"generation\":", NULL, NULL, 0},
	{"{\"metadata\":{\"name\":\"\xff\"}}", NULL, NULL, 0},
	{"{\"spec\":{\"a\":01}}", NULL, NULL, 0},
	{"{\"spec\":{},}", NULL, NULL, 0},
};

START_TEST(reads_objects)
{
	for (size_t n = 0; n < COUNT(objects); n++) {
		size_t length = strlen(objects[n].text);
		char *copy = exact(objects[n].text, length);
		struct json_object_info i;

		ck_assert_msg(jsonscan_object(copy, length, &i) == (objects[n].name != NULL), "%s",
			objects[n].text);
		if (objects[n].name) {
			assert_range(copy, i.name, objects[n].name);
			assert_range(copy, i.uid, objects[n].uid);
			ck_assert_msg(i.generation == objects[n].generation, "%s", objects[n].text);
		}
		free(copy);
	}
}
END_TEST

START_TEST(refuses_every_beginning_of_an_object)
{
	struct json_object_info i;

	for (size_t n = 0; n < strlen(object_text); n++) {
		char *copy = exact(object_text, n);

		ck_assert(!jsonscan_object(copy, n, &i));
		free(copy);
	}
}
END_TEST

#define LAST    "\"kubectl.kubernetes.io/last-applied-configuration\":\"x,}\""
#define MANAGED "\"managedFields\":[{\"a\":[1,{}]}]"

static const struct {
	const char *text, *stripped;
} strips[] = {
	{"{}", "{}"},
	{"{\"metadata\":{\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\"}}"},
	{"{\"metadata\":{" MANAGED "}}", "{\"metadata\":{}}"},
	{"{\"metadata\":{" MANAGED ",\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\"}}"},
	{"{\"metadata\":{\"name\":\"a\"," MANAGED "}}", "{\"metadata\":{\"name\":\"a\"}}"},
	{"{\"metadata\":{\"b\":1 , " MANAGED " , \"name\":\"a\"}}",
		"{\"metadata\":{\"b\":1 ,  \"name\":\"a\"}}"},
	{"{\"metadata\":{\"b\":1 ,\n" MANAGED " }}", "{\"metadata\":{\"b\":1  }}"},
	{"{\"metadata\":{\"managedFields\":null,\"name\":\"a\"}}",
		"{\"metadata\":{\"name\":\"a\"}}"},
	{"{\"metadata\":{\"annotations\":{" LAST "}}}", "{\"metadata\":{\"annotations\":{}}}"},
	{"{\"metadata\":{\"annotations\":{\"b\":\"c\"," LAST "}," MANAGED "}}",
		"{\"metadata\":{\"annotations\":{\"b\":\"c\"}}}"},
	{"{\"metadata\":{" MANAGED ",\"annotations\":{" LAST ",\"b\":\"c\"}},\"x\":1}",
		"{\"metadata\":{\"annotations\":{\"b\":\"c\"}},\"x\":1}"},
	/* only where they mean what they say */
	{"{" MANAGED ",\"spec\":{" MANAGED "," LAST "}}",
		"{" MANAGED ",\"spec\":{" MANAGED "," LAST "}}"},
	{"{\"metadata\":{\"managedField\\u0073\":[],\"name\":\"a\"}}",
		"{\"metadata\":{\"name\":\"a\"}}"},
};

START_TEST(strips_what_is_not_kept)
{
	for (size_t n = 0; n < COUNT(strips); n++) {
		size_t length = strlen(strips[n].text), got;
		char *in = exact(strips[n].text, length), *out = malloc(length);
		struct json_object_info i;

		ck_assert(jsonscan_object(in, length, &i));
		got = jsonscan_strip(in, length, &i, out);
		ck_assert_msg(got == strlen(strips[n].stripped) &&
				      memcmp(out, strips[n].stripped, got) == 0,
			"%.*s, not %s", (int)got, out, strips[n].stripped);
		ck_assert(jsonscan_object(out, got, &i));
		free(in);
		free(out);
	}
}
END_TEST

/* --- lines, members, fields, escapes -------------------------------------------------- */

START_TEST(reads_watch_lines)
{
	static const struct {
		const char *text, *type, *object;
	} lines[] = {
		{"{\"type\":\"ADDED\",\"object\":{\"a\":{}}}\n", "ADDED", "{\"a\":{}}"},
		{"{\"object\":{},\"more\":[1],\"type\":\"BOOKMARK\"}", "BOOKMARK", "{}"},
		{"{\"type\":\"ADDED\"}", NULL, NULL},
		{"{\"object\":{}}", NULL, NULL},
		{"{\"type\":1,\"object\":{}}", NULL, NULL},
		{"{\"type\":\"ADDED\",\"object\":null}", NULL, NULL},
		{"{\"type\":\"ADDED\",\"object\":{}", NULL, NULL},
		{"{\"type\":\"ADDED\",\"object\":{}}{\"type\":\"ADDED\",\"object\":{}}", NULL,
			NULL},
		{"", NULL, NULL},
	};
	struct json_range type, object;

	for (size_t i = 0; i < COUNT(lines); i++) {
		bool ok = jsonscan_event(lines[i].text, strlen(lines[i].text), &type, &object);

		ck_assert_msg(ok == (lines[i].type != NULL), "%s", lines[i].text);
		if (ok) {
			assert_range(lines[i].text, type, lines[i].type);
			assert_range(lines[i].text, object, lines[i].object);
		}
	}
}
END_TEST

START_TEST(looks_up_members)
{
	const char *t = "{\"a\":{\"b\":1},\"b\":\"x\",\"c\":[1,2],\"\\u0064\":null,\"b\":\"y\"}";
	struct json_range value;

	ck_assert(jsonscan_member(t, strlen(t), "a", &value));
	assert_range(t, value, "{\"b\":1}");
	ck_assert(jsonscan_member(t, strlen(t), "b", &value));
	assert_range(t, value, "\"y\"");
	ck_assert(jsonscan_member(t, strlen(t), "d", &value));
	assert_range(t, value, "null");
	ck_assert(!jsonscan_member(t, strlen(t), "e", &value));
	ck_assert(!jsonscan_member(t, strlen(t) - 1, "a", &value));
	ck_assert(!jsonscan_member("[]", 2, "a", &value));
}
END_TEST

START_TEST(finds_the_fields_of_a_manager)
{
	static const struct {
		const char *text, *fields;
	} lists[] = {
		{"[{\"manager\":\"me/a\",\"operation\":\"Apply\",\"fieldsV1\":{\"f\":1}}]",
			"{\"f\":1}"},
		{" [ { \"fieldsV1\":{} ,\"operation\":\"Apply\",\"manager\":\"me\\/a\" } ] ", "{}"},
		{"[{\"manager\":\"me/b\",\"operation\":\"Apply\",\"fieldsV1\":{\"x\":1}},"
		 "{\"manager\":\"me/a\",\"operation\":\"Update\",\"fieldsV1\":{\"y\":1}},"
		 "{\"manager\":\"me/"
		 "a\",\"operation\":\"Apply\",\"subresource\":\"status\",\"fieldsV1\":{\"z\":1}},"
		 "{\"manager\":\"me/"
		 "a\",\"operation\":\"Apply\",\"subresource\":\"\",\"fieldsV1\":{\"f\":2}}]",
			"{\"f\":2}"},
		{"[{\"manager\":\"me/a\",\"operation\":\"Apply\"}]", NULL},
		{"[{\"manager\":[\"me/a\"],\"operation\":\"Apply\",\"fieldsV1\":{}}]", NULL},
		{"[]", NULL},
		{"[1]", NULL},
		{"{}", NULL},
		{"", NULL},
		{"[{\"manager\":\"other\"},", NULL},
	};
	struct json_range fields;

	for (size_t i = 0; i < COUNT(lists); i++) {
		size_t n = strlen(lists[i].text);
		char *copy = exact(lists[i].text, n);
		bool found = jsonscan_fields_of(copy, n, "me/a", &fields);

		ck_assert_msg(found == (lists[i].fields != NULL), "%s", lists[i].text);
		if (found)
			assert_range(copy, fields, lists[i].fields);
		free(copy);
	}
}
END_TEST

START_TEST(unescapes)
{
	static const struct {
		const char *text, *plain;
		size_t length;
	} strings[] = {
		{"", "", 0},
		{"plain", "plain", 5},
		{"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 8},
		{"a\\u0000b", "a\0b", 3},
		{"\\u0041\\u00e9\\u20AC\\ud83d\\ude00", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			10},
	};

	for (size_t i = 0; i < COUNT(strings); i++) {
		char *out = malloc(strlen(strings[i].text) + 1);
		size_t n = jsonscan_unescape(strings[i].text, strlen(strings[i].text), out);

		ck_assert_uint_eq(n, strings[i].length);
		ck_assert_mem_eq(out, strings[i].plain, n);
		free(out);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("jsonscan");
	TCase *grammar = tcase_create("grammar"), *object = tcase_create("object");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(grammar, takes_what_is_valid);
	tcase_add_test(grammar, refuses_what_is_not);
	tcase_add_test(grammar, refuses_every_beginning);
	tcase_add_test(grammar, looks_at_every_byte_of_a_string);
	tcase_add_test(grammar, bounds_the_depth);
	tcase_add_test(grammar, unescapes);
	suite_add_tcase(suite, grammar);
	tcase_add_test(object, finds_the_members_of_an_object);
	tcase_add_test(object, reads_objects);
	tcase_add_test(object, refuses_every_beginning_of_an_object);
	tcase_add_test(object, strips_what_is_not_kept);
	tcase_add_test(object, reads_watch_lines);
	tcase_add_test(object, looks_up_members);
	tcase_add_test(object, finds_the_fields_of_a_manager);
	suite_add_tcase(suite, object);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
