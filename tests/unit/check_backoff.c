/* SPDX-License-Identifier: Apache-2.0 */
/* Delays grow, stay within their bounds and start anew only after a time that was good (E73, E169). */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "common/backoff.h"

#define S 1000000000LL

/* The longest chance draws. */
#define MOST UINT64_MAX

static const struct backoff_policy plain = {
	.first_ns = S, .max_ns = 60 * S, .factor = 2, .reset_ns = 120 * S};
static const struct backoff_policy jittery = {
	.first_ns = S, .max_ns = 60 * S, .factor = 2, .jitter = 0.2};

static const int64_t seconds[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};

START_TEST(grows_to_the_bound)
{
	struct backoff b = {0};

	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		ck_assert_int_eq(backoff_next(&b, &plain, 1, MOST), seconds[i] * S);
	b.failures = UINT32_MAX;
	ck_assert_int_eq(backoff_next(&b, &plain, 1, 0), 60 * S);
	ck_assert_uint_eq(b.failures, UINT32_MAX);
}
END_TEST

START_TEST(jitter_within_its_range)
{
	for (int i = 0; i < 4; i++) {
		struct backoff low = {.failures = (uint32_t)i}, high = low, middle = low;

		ck_assert_int_eq(backoff_next(&low, &jittery, 1, 0), (S << i) * 8 / 10);
		ck_assert_int_le(
			llabs(backoff_next(&high, &jittery, 1, MOST) - (S << i) * 12 / 10), 10);
		ck_assert_int_le(
			llabs(backoff_next(&middle, &jittery, 1, MOST / 2) - (S << i)), 10);
	}
	struct backoff b = {.failures = 30};
	ck_assert_int_eq(backoff_next(&b, &jittery, 1, MOST), 60 * S);
}
END_TEST

static const struct {
	const char *what;
	int64_t good_at, again_at, failed_at, delay;
} resets[] = {
	{"long enough", 10 * S, 0, 130 * S, S},
	{"a second short", 10 * S, 0, 129 * S, 8 * S},
	{"said again does not start anew", 10 * S, 100 * S, 130 * S, S},
	{"good since the clock's first moment", 0, 0, 121 * S, S},
};

START_TEST(clears_after_a_good_time)
{
	struct backoff b = {.failures = 3};

	backoff_good(&b, &plain, resets[_i].good_at);
	if (resets[_i].again_at)
		backoff_good(&b, &plain, resets[_i].again_at);
	ck_assert_msg(backoff_next(&b, &plain, resets[_i].failed_at, 0) == resets[_i].delay, "%s",
		resets[_i].what);
	ck_assert_int_eq(b.good_since_ns, 0);
}
END_TEST

START_TEST(clears_at_once_without_a_time)
{
	struct backoff b = {.failures = 9};

	backoff_good(&b, &jittery, 5);
	ck_assert_uint_eq(b.failures, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("backoff");
	TCase *tcase = tcase_create("backoff");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, grows_to_the_bound);
	tcase_add_test(tcase, jitter_within_its_range);
	tcase_add_loop_test(tcase, clears_after_a_good_time, 0, sizeof(resets) / sizeof(*resets));
	tcase_add_test(tcase, clears_at_once_without_a_time);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
