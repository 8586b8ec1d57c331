/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor/poison: who is quarantined, for how long, and how the list stays short. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "supervisor/poison.h"

static struct poison poison;

static void
setup(void)
{
	poison = (struct poison){0};
}

static void
teardown(void)
{
	poison_clear(&poison);
	ck_assert_uint_eq(poison.n, 0);
}

START_TEST(test_the_second_death_quarantines)
{
	static const int64_t minutes[] = {0, 1, 2, 4, 8, 16, 32, 60, 60};

	for (unsigned i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		int64_t now_ns = (int64_t)(i + 1) * 1000 * NSEC_PER_SEC;

		ck_assert_uint_eq(
			poison_note(&poison, "a/b", 7, "killed by SIGSEGV", now_ns), i + 1);
		ck_assert_uint_eq(poison_held(&poison), i == 0 ? 0 : 1);
		ck_assert_int_eq(poison.suspects[0].until_ns,
			i == 0 ? 0 : now_ns + minutes[i] * 60 * NSEC_PER_SEC);
	}
	ck_assert_uint_eq(poison.n, 1);
	ck_assert_str_eq(poison.suspects[0].cause, "killed by SIGSEGV");
}
END_TEST

START_TEST(test_another_version_has_no_deaths)
{
	poison_note(&poison, "a/b", 7, "x", 1);
	ck_assert_uint_eq(poison_note(&poison, "a/b", 8, "x", 2), 1);
	ck_assert_uint_eq(poison_held(&poison), 0);
	ck_assert_uint_eq(poison_note(&poison, "a/b", 8, "x", 3), 2);
	ck_assert_uint_eq(poison_held(&poison), 1);
	ck_assert_uint_eq(poison_note(&poison, "a/b", 7, "x", 4), 1);
	ck_assert_uint_eq(poison_held(&poison), 0);
	ck_assert_int_eq(poison.suspects[0].until_ns, 0);
	ck_assert_uint_eq(poison.n, 1);
}
END_TEST

START_TEST(test_the_cured_are_off_the_list)
{
	for (int i = 0; i < 2; i++) {
		poison_note(&poison, "a/b", 7, "x", 1);
		poison_note(&poison, "a/c", 7, "x", 1);
	}
	poison_cure(&poison, "a/b");
	poison_cure(&poison, "never/heard of");
	ck_assert_uint_eq(poison.n, 1);
	ck_assert_str_eq(poison.suspects[0].key, "a/c");
	ck_assert_uint_eq(poison_held(&poison), 1);
	/* It begins anew. */
	ck_assert_uint_eq(poison_note(&poison, "a/b", 7, "x", 1), 1);
}
END_TEST

START_TEST(test_the_list_is_bounded)
{
	char key[32];

	for (int i = 0; i < 3 * POISON_MAX; i++) {
		snprintf(key, sizeof(key), "n/%d", i);
		poison_note(&poison, key, 7, "x", i);
	}
	ck_assert_uint_eq(poison.n, POISON_MAX);
	for (size_t i = 0; i < poison.n; i++)
		ck_assert_int_ge(poison.suspects[i].last_ns, 2 * POISON_MAX);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("poison");
	TCase *tc = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_the_second_death_quarantines);
	tcase_add_test(tc, test_another_version_has_no_deaths);
	tcase_add_test(tc, test_the_cured_are_off_the_list);
	tcase_add_test(tc, test_the_list_is_bounded);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
