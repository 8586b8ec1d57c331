/* SPDX-License-Identifier: Apache-2.0 */
/* Tests for common/spelling: how far names are apart. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "common/spelling.h"

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const struct {
	const char *a, *b;
	unsigned distance;
} pairs[] = {
	{"", "", 0},
	{"", "abc", 3},
	{"replicas", "Replicas", 0},
	{"replica", "replicas", 1},
	{"teplicas", "replicas", 1},
	{"repilcas", "replicas", 1}, /* neighbours swapped */
	{"erplicas", "replicas", 1},
	{"rpelicsa", "replicas", 2},
	{"deploys", "pods", 4},
	{"kitten", "sitting", 3},
	{A60 "aaa", A60 "aab", 1},
	{A60 "aaaa", "a", SPELLING_FAR},
	{"a", A60 "aaaa", SPELLING_FAR},
	{A60 A60, A60 A60, SPELLING_FAR},
};

START_TEST(both_ways_alike)
{
	ck_assert_uint_eq(spelling_distance(pairs[_i].a, pairs[_i].b), pairs[_i].distance);
	ck_assert_uint_eq(spelling_distance(pairs[_i].b, pairs[_i].a), pairs[_i].distance);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("spelling");
	TCase *tcase = tcase_create("spelling");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, both_ways_alike, 0, COUNT(pairs));
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
