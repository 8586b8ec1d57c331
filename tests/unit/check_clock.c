/* SPDX-License-Identifier: Apache-2.0 */
/* Times as Kubernetes writes them, and chance that differs between forked processes. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

static const struct {
	int64_t ns;
	int digits;
	const char *text;
} times[] = {
	{0, 0, "1970-01-01T00:00:00Z"},
	{1796076300123456789, 0, "2026-11-30T22:05:00Z"},
	{1796076300123456789, 3, "2026-11-30T22:05:00.123Z"},
	{1796076300123456789, 6, "2026-11-30T22:05:00.123456Z"},
	{1709164800000001000, 6, "2024-02-29T00:00:00.000001Z"},
	{-1, 3, "1969-12-31T23:59:59.999Z"},
	{-1000000000, 6, "1969-12-31T23:59:59.000000Z"},
	{INT64_MAX, 3, "2262-04-11T23:47:16.854Z"},
};

START_TEST(formats)
{
	char text[32];

	clock_format_rfc3339(text, times[_i].ns, times[_i].digits);
	ck_assert_str_eq(text, times[_i].text);
}
END_TEST

static const struct {
	const char *text;
	int64_t ns; /* -1: refused */
} read_times[] = {
	{"1970-01-01T00:00:00Z", 0},
	{"2026-11-30T22:05:00.123456789Z", 1796076300123456789},
	{"2026-11-30T22:05:00.Z", 1796076300000000000},
	{"2026-11-30T23:35:00.5+01:30", 1796076300500000000},
	{"2026-11-30T20:05:00-02:00", 1796076300000000000},
	{"2026-11-30T22:05:00.1234567891234Z", 1796076300123456789},
	{"2026-11-30t22:05:00Z", -1},
	{"2026-11-30T22:05:00z", -1},
	{"", -1},
	{"2026-11-30", -1},
	{"2026-11-30T22:05:00", -1},
	{"2026-11-30 22:05:00Z", -1},
	{"2026-13-30T22:05:00Z", -1},
	{"2026-11-30T22:05:00ZZ", -1},
	{"2026-11-30T22:05:00+1:30", -1},
	{"2026-11-30T22:05:00+01:3x", -1},
	{" 026-11-30T22:05:00Z", -1},
	{"9999-11-30T22:05:00Z", -1},
	{"2026-11-30T22:05:00+99:00", -1},
};

START_TEST(reads)
{
	int64_t ns = -1;
	int r = clock_parse_rfc3339(read_times[_i].text, &ns);

	ck_assert_int_eq(r, read_times[_i].ns < 0 ? -EINVAL : 0);
	ck_assert_int_eq(ns, read_times[_i].ns);
}
END_TEST

START_TEST(monotonic)
{
	int64_t before = clock_monotonic_ns();

	ck_assert_int_gt(before, 0);
	ck_assert_int_ge(clock_monotonic_ns(), before);
	ck_assert_int_gt(clock_wall_ns(), 1700000000 * NSEC_PER_SEC);
}
END_TEST

START_TEST(chance_is_not_shared_by_a_fork)
{
	uint64_t child_value = 0;
	int fds[2], status;
	pid_t pid;

	(void)clock_random();
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		child_value = clock_random();
		_exit(write(fds[1], &child_value, sizeof(child_value)) != sizeof(child_value));
	}
	ck_assert_int_eq(read(fds[0], &child_value, sizeof(child_value)), sizeof(child_value));
	ck_assert_uint_ne(child_value, clock_random());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

START_TEST(random_bytes_fill_all)
{
	unsigned char bytes[1000] = {0};
	size_t zeroes = 0;

	clock_random_bytes(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		zeroes += bytes[i] == 0;
	/* Four are to be expected; fifty come once in far more runs than there will be. */
	ck_assert_uint_lt(zeroes, 50);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tcase = tcase_create("clock");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, formats, 0, sizeof(times) / sizeof(*times));
	tcase_add_loop_test(tcase, reads, 0, sizeof(read_times) / sizeof(*read_times));
	tcase_add_test(tcase, monotonic);
	tcase_add_test(tcase, chance_is_not_shared_by_a_fork);
	tcase_add_test(tcase, random_bytes_fill_all);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
