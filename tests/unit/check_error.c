/* SPDX-License-Identifier: Apache-2.0 */
/* Errors are one line of valid UTF-8 whatever they are made of, and the checks of UTF-8 that they use. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/utf8.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The bytes of RFC 3629's table at each edge. */
static const struct {
	const char *bytes;
	size_t length; /* of the first character; 0: none */
} sequences[] = {
	{"a", 1},
	{"\x7f", 1},
	{"\x80", 0},
	{"\xbf", 0},
	{"\xc0\x80", 0},
	{"\xc1\xbf", 0},
	{"\xc2\x80", 2},
	{"\xdf\xbf", 2},
	{"\xc2", 0},
	{"\xc2z", 0},
	{"\xe0\x9f\xbf", 0},
	{"\xe0\xa0\x80", 3},
	{"\xe2\x82\xac", 3},
	{"\xe2\x82", 0},
	{"\xe2\x82z", 0},
	{"\xed\x9f\xbf", 3},
	{"\xed\xa0\x80", 0},
	{"\xef\xbf\xbf", 3},
	{"\xf0\x8f\xbf\xbf", 0},
	{"\xf0\x90\x80\x80", 4},
	{"\xf4\x8f\xbf\xbf", 4},
	{"\xf4\x90\x80\x80", 0},
	{"\xf5\x80\x80\x80", 0},
	{"\xff", 0},
	{"\xf0\x90\x80", 0},
};

START_TEST(sequences_at_each_edge)
{
	const char *bytes = sequences[_i].bytes;

	ck_assert_uint_eq(utf8_sequence(bytes, bytes + strlen(bytes)), sequences[_i].length);
	if (sequences[_i].length)
		ck_assert(utf8_valid(bytes, strlen(bytes)));
	else
		ck_assert(!utf8_valid(bytes, strlen(bytes)));
}
END_TEST

static const struct {
	const char *text;
	size_t most, cut;
} cuts[] = {
	{"abc", 5, 3},
	{"abc", 2, 2},
	{"abc", 0, 0},
	{"a\xc3\xa9", 2, 1},
	{"a\xc3\xa9", 3, 3},
	{"\xf0\x9f\x98\x80", 3, 0},
	{"x\xf0\x9f\x98\x80y", 5, 5},
	{"\x80\x80\x80\x80\x80\x80", 5, 5},
};

START_TEST(cuts_at_a_character)
{
	ck_assert_uint_eq(
		utf8_cut(cuts[_i].text, strlen(cuts[_i].text), cuts[_i].most), cuts[_i].cut);
}
END_TEST

static const struct {
	const char *foreign, *text;
} lines[] = {
	{"plain", "plain"},
	{"two\nlines\r\n", "two lines  "},
	{"\033[31mred\x7f", " [31mred "},
	{"bad \xff\xc3 byte", "bad ?? byte"},
	{"h\xc3\xa9 \xf0\x9f\x98\x80", "h\xc3\xa9 \xf0\x9f\x98\x80"},
};

START_TEST(one_clean_line)
{
	struct error err;

	ck_assert_int_eq(error_set(&err, -EIO, "%s", lines[_i].foreign), -EIO);
	ck_assert_int_eq(err.code, -EIO);
	ck_assert_str_eq(err.text, lines[_i].text);
}
END_TEST

START_TEST(prefix_keeps_the_code)
{
	struct error err;

	(void)error_set(&err, -ENOENT, "no such file");
	ck_assert_int_eq(error_prefix(&err, "open %s", "a.yaml"), -ENOENT);
	ck_assert_str_eq(err.text, "open a.yaml: no such file");
	ck_assert_int_eq(err.code, -ENOENT);
}
END_TEST

START_TEST(cut_to_fit)
{
	struct error err;
	char big[3000];

	/* Two bytes each, so that one of the two lengths would end within a character. */
	for (size_t i = 0; i + 1 < sizeof(big); i += 2)
		memcpy(big + i, "\xc3\xa9", 2);
	big[sizeof(big) - 2] = '\0';
	for (int i = 0; i < 2; i++) {
		(void)error_set(&err, -EIO, "%s%s", i ? "x" : "", big);
		ck_assert_uint_ge(strlen(err.text), sizeof(err.text) - 2);
		ck_assert(utf8_valid(err.text, strlen(err.text)));
		(void)error_prefix(&err, "%s", big);
		ck_assert(utf8_valid(err.text, strlen(err.text)));
		ck_assert_uint_lt(strlen(err.text), sizeof(err.text));
	}
}
END_TEST

START_TEST(its_own_text_as_argument)
{
	struct error err;

	(void)error_set(&err, -EIO, "inner");
	(void)error_set(&err, -EINVAL, "outer (%s)", err.text);
	ck_assert_str_eq(err.text, "outer (inner)");
}
END_TEST

START_TEST(nobody_asks)
{
	ck_assert_int_eq(error_set(NULL, -EPERM, "x"), -EPERM);
	ck_assert_int_eq(error_prefix(NULL, "x"), -EIO);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("error");
	TCase *tcase = tcase_create("error");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, sequences_at_each_edge, 0, COUNT(sequences));
	tcase_add_loop_test(tcase, cuts_at_a_character, 0, COUNT(cuts));
	tcase_add_loop_test(tcase, one_clean_line, 0, COUNT(lines));
	tcase_add_test(tcase, prefix_keeps_the_code);
	tcase_add_test(tcase, cut_to_fit);
	tcase_add_test(tcase, its_own_text_as_argument);
	tcase_add_test(tcase, nobody_asks);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
