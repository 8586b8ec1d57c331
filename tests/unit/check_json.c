/* SPDX-License-Identifier: Apache-2.0 */
/* Control documents: strict parsing, printing without loss, wrapping, getters. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MARK     "\xee\x80\x80"

static cJSON *
parse(const char *text)
{
	struct error err = {0};
	cJSON *value = json_parse(text, strlen(text), &err);

	ck_assert_msg(value != NULL, "%s: %s", text, err.text);
	return value;
}

/* Text and what comes out again; NULL: the same. */
static const struct {
	const char *text, *printed;
} round_trips[] = {
	{"null", NULL},
	{"true", NULL},
	{"[]", NULL},
	{"{}", NULL},
	{"[false,\"\",{\"a\":[]}]", NULL},
	{" { \"b\" : 1 , \"a\" : [ 1 , 2 ] } ", "{\"b\":1,\"a\":[1,2]}"},
	{"\xef\xbb\xbf{\"a\":1}", "{\"a\":1}"}, /* E161 */
	/* E125 */
	{"1234567890123460", NULL},
	{"1000000", NULL},
	{"1000000000000000", NULL},
	{"9007199254740992", NULL},
	{"-9007199254740992", NULL},
	{"123456789012345600000", NULL},
	{"1e6", "1000000"},
	{"1e20", "100000000000000000000"},
	{"1e21", "1e21"},
	{"1.0", "1"},
	{"-0", NULL},
	{"0.0", "0"},
	{"100e-2", "1"},
	{"0.1", NULL},
	{"1.5", NULL},
	{"-2.25", NULL},
	{"0.000001", NULL},
	{"0.0000001", "1e-7"},
	{"1.1e-7", NULL},
	{"123.456", NULL},
	{"5e-324", NULL},
	{"1.7976931348623157e308", NULL},
	{"0.30000000000000004", NULL},
	/* wrapped, so that every digit is kept */
	{"9007199254740993", NULL},
	{"18446744073709551615", NULL},
	{"[-9223372036854775807,1]", NULL},
	{"0.1000000000000000055511151231257827", NULL},
	{"1e1000", NULL},
	{"-1e-1000", NULL},
	{"1e99999999999999999999", NULL},
	{"{\"a\":123456789012345678901234567890e-5}", NULL},
	{"0.0000000000000000000000000000000000000000000000000000000000000000000001", NULL},
	{"9007199254740993.0", NULL},
	/* strings */
	{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\""},
	{"\"\\u00e9\\ud83d\\ude00\"", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
	{"\"\x7f\"", NULL},
	{"\"a\\u0000b\"", NULL},
	{"{\"a\\u0000\":\"\\u0000\"}", NULL}, /* E223 */
	{"\"\\ue000\"", "\"" MARK "\""},
	{"\"" MARK "n12\"", NULL},
	{"\"\\uE0000\"", "\"" MARK "0\""},
	{"\"" MARK MARK "e\"", NULL},
	/* the last of equal keys */
	{"{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3}"},
	{"{\"a\":1,\"\\u0061\":2}", "{\"a\":2}"},
	{"[{\"x\":{\"k\":1,\"k\":2,\"k\":3}}]", "[{\"x\":{\"k\":3}}]"},
	{"{\"a\":1,\"A\":2}", NULL},
};

START_TEST(prints_what_it_parsed)
{
	for (size_t i = 0; i < COUNT(round_trips); i++) {
		const char *expected =
			round_trips[i].printed ? round_trips[i].printed : round_trips[i].text;
		cJSON *value = parse(round_trips[i].text);
		struct buf out = BUF_INIT;

		json_print(&out, value);
		ck_assert_str_eq(out.data, expected);
		cJSON_Delete(value);
		buf_free(&out);
	}
}
END_TEST

START_TEST(refuses_with_the_place)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"", "byte 1 of 0: it ends too early"},
		{"  ", "byte 3 of 2: it ends too early"},
		{"01", "byte 2 of 2: a number with a leading zero"},
		{"[1.]", "byte 4 of 4: not a valid number"},
		{"nan", "byte 2 of 3: not a value"},
		{"{\"a\":1,}", "byte 8 of 8: a key in double quotes is missing"},
		{"{\"a\" 1}", "byte 6 of 7: a ':' is missing"},
		{"[1 2]", "byte 4 of 5: a ',' or a closing bracket is missing"},
		{"{} x", "byte 4 of 4: more follows behind the value"},
		{"\"\\x\"", "byte 2 of 4: not a valid escape"},
		{"\"\xff\"", "byte 2 of 3: not valid UTF-8"},
		{"\"\t\"", "byte 2 of 3: a control character"},
		{"\xef\xbb\xbf", "byte 4 of 3: it ends too early"},
		{"\xef\xbb\xbf\xef\xbb\xbf{}", "byte 4 of 8: not a value"},
		{"\xff\xfe{", "byte 1 of 3: not a value"},
		{"Opening browser {}", "byte 1 of 18: not a value"},
	};
	char deep[2 * JSON_DEPTH_MAX + 2];

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct error err = {0};

		ck_assert_ptr_null(json_parse(bad[i].text, strlen(bad[i].text), &err));
		ck_assert_int_eq(err.code, -EBADMSG);
		ck_assert_msg(
			strstr(err.text, bad[i].error) != NULL, "%s: %s", bad[i].text, err.text);
	}
	memset(deep, '[', JSON_DEPTH_MAX + 1);
	memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	ck_assert_ptr_null(json_parse(deep, sizeof(deep), NULL));
	cJSON_Delete(json_parse(deep + 1, sizeof(deep) - 2, NULL));
	ck_assert_ptr_null(json_parse("[1\0]", 4, NULL));
}
END_TEST

START_TEST(prints_canonical_bytes)
{
	cJSON *a = parse("{\"b\":{\"z\":1,\"y\":[{\"d\":1,\"c\":2}]},\"a\":1.0,\"B\":\"\"}");
	cJSON *b = parse("{\"a\":1,\"B\":\"\",\"b\":{\"y\":[{\"c\":2,\"d\":1}],\"z\":1e0}}");
	struct buf x = BUF_INIT, y = BUF_INIT;

	json_print_canonical(&x, a);
	json_print_canonical(&y, b);
	ck_assert_str_eq(x.data, "{\"B\":\"\",\"a\":1,\"b\":{\"y\":[{\"c\":2,\"d\":1}],\"z\":1}}");
	ck_assert_str_eq(x.data, y.data);
	cJSON_Delete(a);
	cJSON_Delete(b);
	buf_free(&x);
	buf_free(&y);
}
END_TEST

/* What is no number is never printed as one, whatever stands behind the mark. */
START_TEST(prints_strings)
{
	static const struct {
		const char *bytes, *printed;
	} strings[] = {
		{"", "\"\""},
		{"\xff"
		 "a\xc3",
			"\"\xef\xbf\xbd"
			"a\xef\xbf\xbd\""},
		{MARK "n12", "12"},
		{MARK "n-1.5e400", "-1.5e400"},
		{MARK "n12}", "\"12}\""},
		{MARK "n", "\"\""},
		{MARK "n01", "\"01\""},
		{MARK "n1 ", "\"1 \""},
		{"no. " MARK "n12", "\"no. 12\""},
		{MARK "n12" MARK "n34", "\"1234\""},
		{MARK, "\"" MARK "\""},
		{MARK "x", "\"" MARK "x\""},
		{MARK "0", "\"\\u0000\""},
		{MARK "en1", "\"" MARK "n1\""},
	};
	static const struct {
		double value;
		const char *printed;
	} numbers[] = {
		{NAN, "null"},
		{HUGE_VAL, "null"},
		{-HUGE_VAL, "null"},
		{0, "0"},
		{3, "3"},
		{-17, "-17"},
		{0x1p53, "9007199254740992"},
		{1e100, "1e100"},
		{-1.5e-10, "-1.5e-10"},
		{1.0 / 3, "0.3333333333333333"},
		{0x1p60, "1152921504606847000"},
	};
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < COUNT(strings); i++) {
		buf_reset(&out);
		json_put_string(&out, strings[i].bytes, strlen(strings[i].bytes));
		ck_assert_str_eq(out.data, strings[i].printed);
	}
	for (size_t i = 0; i < COUNT(numbers); i++) {
		buf_reset(&out);
		json_put_number(&out, numbers[i].value);
		ck_assert_str_eq(out.data, numbers[i].printed);
	}
	buf_reset(&out);
	json_put_string(&out, "a\0b", 3);
	ck_assert_str_eq(out.data, "\"a\\u0000b\"");
	buf_free(&out);
}
END_TEST

/* The shortest digits read back as the same double, for doubles of all sizes. */
START_TEST(prints_numbers_that_read_back)
{
	uint64_t bits = UINT64_C(0x9e3779b97f4a7c15);
	struct buf out = BUF_INIT;

	for (int i = 0; i < 20000; i++) {
		double value;

		bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		buf_reset(&out);
		json_put_number(&out, value);
		ck_assert_msg(strtod(out.data, NULL) == value, "%s", out.data);
		ck_assert_msg(json_number_exact(out.data, out.length), "%s", out.data);
	}
	buf_free(&out);
}
END_TEST

START_TEST(wraps_only_what_needs_it)
{
	static const struct {
		const char *text, *wrapped; /* NULL: as it is */
	} documents[] = {
		{"{\"a\":[1,2.5,-3e4,\"x\\n\\u0001\"],\"b\":1234567890123456}", NULL},
		{"[1,9007199254740993,2]", "[1,\"" MARK "n9007199254740993\",2]"},
		{"[\"9007199254740993\",\"\\\\u0000\",\"\\\"1e1000\"]", NULL},
		{"[\"\\\\\\u0000\"]", "[\"\\\\" MARK "0\"]"},
		{"{\"\\uE000k\":\"" MARK "\"}", "{\"" MARK "ek\":\"" MARK "e\"}"},
		{"\"\xee\x80\x81\"", NULL},
	};

	for (size_t i = 0; i < COUNT(documents); i++) {
		struct buf out = BUF_INIT;
		bool any = json_wrap(&out, documents[i].text, strlen(documents[i].text));

		ck_assert_int_eq(any, documents[i].wrapped != NULL);
		ck_assert_str_eq(out.data, any ? documents[i].wrapped : "");
		buf_free(&out);
	}
}
END_TEST

START_TEST(makes_nodes)
{
	cJSON *list = cJSON_CreateArray();
	struct buf out = BUF_INIT;

	cJSON_AddItemToArray(list, json_new_number("1e2", 3));
	cJSON_AddItemToArray(list, json_new_number("-0.0", 4));
	cJSON_AddItemToArray(list, json_new_number("12345678901234567890", 20));
	cJSON_AddItemToArray(list, json_new_string("a\0" MARK "n1", 6));
	cJSON_AddItemToArray(list, json_new_string(MARK "n1", 5));
	json_print(&out, list);
	ck_assert_str_eq(
		out.data, "[100,-0,12345678901234567890,\"a\\u0000" MARK "n\",\"" MARK "n1\"]");
	cJSON_Delete(list);
	buf_free(&out);
}
END_TEST

START_TEST(gets)
{
	cJSON *o = parse("{\"a\":{\"b\":{\"c\":\"x\"}},\"s\":\"t\",\"i\":-5,\"f\":1.5,\"big\":"
			 "9007199254740993,\"huge\":1e300,"
			 "\"over\":9223372036854775808,\"frac\":9007199254740993.5,\"yes\":true,"
			 "\"no\":false,\"null\":null}");

	ck_assert_str_eq(json_get(o, "a", "b", "c", NULL)->valuestring, "x");
	ck_assert_ptr_null(json_get(o, "a", "x", "c", NULL));
	ck_assert_ptr_null(json_get(o, "A", NULL));
	ck_assert_ptr_null(json_get(o, "s", "x", NULL));
	ck_assert_ptr_null(json_get(NULL, "a", NULL));
	ck_assert_ptr_eq(json_get(o, NULL), o);
	ck_assert_str_eq(json_string(o, "s", "-"), "t");
	ck_assert_str_eq(json_string(o, "i", "-"), "-");
	ck_assert_str_eq(json_string(o, "big", "-"), "-");
	ck_assert_ptr_null(json_string(NULL, "s", NULL));
	ck_assert_int_eq(json_int(o, "i", 1), -5);
	ck_assert_int_eq(json_int(o, "f", 1), 1);
	ck_assert(json_int(o, "big", 1) == INT64_C(9007199254740993));
	ck_assert_int_eq(json_int(o, "huge", 1), 1);
	ck_assert_int_eq(json_int(o, "over", 1), 1);
	ck_assert_int_eq(json_int(o, "frac", 1), 1);
	ck_assert_int_eq(json_int(o, "s", 1), 1);
	ck_assert_int_eq(json_int(o, "none", 1), 1);
	ck_assert(json_bool(o, "yes", false));
	ck_assert(!json_bool(o, "no", true));
	ck_assert(json_bool(o, "null", true));
	ck_assert(json_bool(o, "i", true));
	cJSON_Delete(o);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("json");
	TCase *tc = tcase_create("json");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, prints_what_it_parsed);
	tcase_add_test(tc, refuses_with_the_place);
	tcase_add_test(tc, prints_canonical_bytes);
	tcase_add_test(tc, prints_strings);
	tcase_add_test(tc, prints_numbers_that_read_back);
	tcase_add_test(tc, wraps_only_what_needs_it);
	tcase_add_test(tc, makes_nodes);
	tcase_add_test(tc, gets);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
