/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker writes arrives whole; what a hostile one writes harms nobody. Also the words of the states. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/scoreboard.h"
#include "common/utf8.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct scoreboard *map; /* the supervisor's */
static struct scoreboard *board;     /* the worker's */
static struct scoreboard copy;
static int fd;

static void
start(void)
{
	fd = scoreboard_create(7, &map);
	ck_assert_int_ge(fd, 0);
	board = scoreboard_attach(fd);
	ck_assert_ptr_nonnull(board);
	scoreboard_use(board);
	memset(&copy, 0, sizeof(copy));
}

static void
finish(void)
{
	scoreboard_use(NULL);
	scoreboard_unmap(board);
	scoreboard_unmap(map);
	scoreboard_unmap(NULL);
	(void)close(fd);
}

START_TEST(a_new_board)
{
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_uint_eq(copy.state, WORKER_STARTING);
	ck_assert_int_eq(copy.heartbeat_ns, 0);
	ck_assert_str_eq(copy.busy_key, "");
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(texts_and_states)
{
	int64_t before = clock_monotonic_ns();

	scoreboard_set_server("10.0.0.1:6443");
	scoreboard_set_state(WORKER_FORBIDDEN, "no list of nginxes");
	scoreboard_enter("default", "web", 77);
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_uint_eq(copy.state, WORKER_FORBIDDEN);
	ck_assert_str_eq(copy.cause, "no list of nginxes");
	ck_assert_str_eq(copy.busy_key, "default/web");
	ck_assert_uint_eq(copy.busy_version, 77);
	ck_assert_str_eq(copy.server_host, "10.0.0.1:6443");
	ck_assert_int_ge(copy.busy_since_ns, before);
	ck_assert_int_eq(copy.live_since_ns, 0);
	scoreboard_set_state(WORKER_LIVE, NULL);
	scoreboard_enter("", "cluster-wide", 1);
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_str_eq(copy.cause, "");
	ck_assert_str_eq(copy.busy_key, "cluster-wide");
	ck_assert_int_ge(copy.live_since_ns, before);
	before = copy.live_since_ns;
	scoreboard_set_state(WORKER_LIVE, NULL);
	scoreboard_leave();
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_int_eq(copy.live_since_ns, before);
	ck_assert_int_eq(copy.busy_since_ns, 0);
	ck_assert_str_eq(copy.busy_key, "");
	scoreboard_set_state(WORKER_DRAINING, NULL);
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_int_eq(copy.live_since_ns, 0);
}
END_TEST

START_TEST(texts_that_are_too_long)
{
	char text[1000];

	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 3);
	scoreboard_set_state(WORKER_UNREACHABLE, text);
	scoreboard_set_server(text);
	for (int i = 0; i < 3; i++) {
		scoreboard_enter(i == 0 ? "ns" : i == 1 ? text : NULL, text, 1);
		ck_assert(scoreboard_copy(map, 7, &copy));
		ck_assert(utf8_valid(copy.cause, strlen(copy.cause)));
		ck_assert_uint_ge(strlen(copy.cause), sizeof(copy.cause) - 2);
		ck_assert(utf8_valid(copy.server_host, strlen(copy.server_host)));
		ck_assert(utf8_valid(copy.busy_key, strlen(copy.busy_key)));
		ck_assert_uint_ge(strlen(copy.busy_key), sizeof(copy.busy_key) - 3);
	}
}
END_TEST

START_TEST(nobody_can_change_its_size)
{
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ftruncate(fd, 1 << 20), -1);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
}
END_TEST

START_TEST(a_file_of_another_size_is_no_board)
{
	int other = memfd_create("other", MFD_CLOEXEC);

	ck_assert_int_ge(other, 0);
	ck_assert_ptr_null(scoreboard_attach(other));
	ck_assert_int_eq(ftruncate(other, sizeof(struct scoreboard)), 0);
	/* Version 0. */
	ck_assert_ptr_null(scoreboard_attach(other));
	ck_assert_ptr_null(scoreboard_attach(-1));
	(void)close(other);
}
END_TEST

/* The reader's mapping is not in a forked child: a worker sees no other worker's board. */
START_TEST(a_fork_does_not_have_the_mapping)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		unsigned char pages[16];
		int r = mincore((void *)(uintptr_t)map, sizeof(*map), pages);
		_exit(r < 0 && errno == ENOMEM ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void
odd_for_ever(void)
{
	board->sequence = 11;
}
static void
other_version(void)
{
	board->version = 2;
}
static void
other_generation(void)
{
	board->generation = 6;
}
static void
no_state(void)
{
	board->state = WORKER_STATE_MAX;
}
static void
huge_state(void)
{
	board->state = UINT32_MAX;
}

static void (*const refused[])(void) = {
	odd_for_ever, other_version, other_generation, no_state, huge_state};

START_TEST(boards_that_are_refused)
{
	copy.state = 42;
	refused[_i]();
	ck_assert(!scoreboard_copy(map, 7, &copy));
	ck_assert_uint_eq(copy.state, 42);
}
END_TEST

static void
fill(char *text, size_t size)
{
	memset(text, '\xff', size);
}

START_TEST(wild_values_are_tamed)
{
	int64_t now = clock_monotonic_ns();

	fill(board->busy_key, sizeof(board->busy_key));
	fill(board->server_host, sizeof(board->server_host));
	memset(board->cause, '\n', sizeof(board->cause));
	board->heartbeat_ns = INT64_MAX;
	board->watch_seen_ns = INT64_MIN;
	board->live_since_ns = -1;
	board->busy_since_ns = now - 5;
	memset(board->slots, 0xff, sizeof(board->slots));
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_int_ge(copy.heartbeat_ns, now);
	ck_assert_int_le(copy.heartbeat_ns, clock_monotonic_ns());
	ck_assert_int_eq(copy.watch_seen_ns, 0);
	ck_assert_int_eq(copy.live_since_ns, 0);
	ck_assert_int_eq(copy.busy_since_ns, now - 5);
	ck_assert_uint_eq(strlen(copy.busy_key), sizeof(copy.busy_key) - 1);
	ck_assert(utf8_valid(copy.busy_key, strlen(copy.busy_key)));
	ck_assert(utf8_valid(copy.server_host, strlen(copy.server_host)));
	ck_assert_ptr_null(strchr(copy.cause, '\n'));
}
END_TEST

#define COPIES 200

/* Another process writes texts of one letter all the time: no copy has two. */
START_TEST(copies_are_never_torn)
{
	pid_t pid = fork();
	int status, good = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char text[sizeof(((struct scoreboard *)0)->cause)];
		for (unsigned i = 0;; i++) {
			memset(text, 'a' + (int)(i % 26), sizeof(text) - 1);
			text[sizeof(text) - 1] = '\0';
			scoreboard_set_state(WORKER_LIVE, text);
			/* Far more often than any worker, but a copy can pass in between. */
			for (int64_t next = clock_monotonic_ns() + 3000;
				clock_monotonic_ns() < next;)
				;
		}
	}
	for (int64_t end = clock_monotonic_ns() + 10 * NSEC_PER_SEC;
		good < COPIES && clock_monotonic_ns() < end;) {
		if (!scoreboard_copy(map, 7, &copy) || copy.cause[0] == '\0')
			continue;
		good++;
		for (size_t i = 1; i < sizeof(copy.cause) - 1; i++)
			ck_assert_int_eq(copy.cause[i], copy.cause[0]);
	}
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(good, COPIES);
}
END_TEST

static const struct {
	int64_t ns;
	unsigned bucket; /* of 0.005 0.01 ... 60 */
} observed[] = {{-1, 0}, {0, 0}, {5000000, 0}, {5000001, 1}, {60 * NSEC_PER_SEC, 12},
	{60 * NSEC_PER_SEC + 1, 13}, {INT64_MAX / 4, 13}};

START_TEST(numbers)
{
	const uint64_t *slots;
	unsigned methods = metrics[M_REQUESTS_TOTAL].labels[1].n_values;
	uint64_t sum = 0;

	metric_add(M_REQUESTS_TOTAL, 2 * methods + 1, 3);
	metric_add(M_REQUESTS_TOTAL, 2 * methods + 1, 1);
	metric_set(M_QUEUE_DEPTH, 0, 9);
	metric_set(M_QUEUE_DEPTH, 0, 4);
	for (size_t i = 0; i < COUNT(observed); i++)
		metric_observe(M_RECONCILE_TIME, 0, observed[i].ns);
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_uint_eq(copy.slots[metric_offset(M_REQUESTS_TOTAL) + 2 * methods + 1], 4);
	ck_assert_uint_eq(copy.slots[metric_offset(M_QUEUE_DEPTH)], 4);
	slots = &copy.slots[metric_offset(M_RECONCILE_TIME)];
	for (unsigned bucket = 0; bucket < 14; bucket++) {
		uint64_t want = 0;
		for (size_t i = 0; i < COUNT(observed); i++)
			want += observed[i].bucket == bucket;
		ck_assert_uint_eq(slots[bucket], want);
	}
	for (size_t i = 1; i < COUNT(observed); i++)
		sum += (uint64_t)observed[i].ns;
	ck_assert_uint_eq(slots[14], sum);
}
END_TEST

START_TEST(series_that_do_not_exist_count_nothing)
{
	metric_add(M_QUEUE_ADDS_TOTAL, 1, 1);
	metric_add(M_LOG_DROPPED_TOTAL, 1, 1);
	metric_set(M_OBJECTS, 5, 1);
	metric_set(M_OBJECTS, UINT32_MAX, 1);
	metric_observe(M_RECONCILE_TIME, 1, 1);
	ck_assert(scoreboard_copy(map, 7, &copy));
	for (unsigned i = 0; i < METRIC_SLOTS_MAX; i++)
		ck_assert_uint_eq(copy.slots[i], 0);
}
END_TEST

START_TEST(without_a_supervisor)
{
	scoreboard_use(NULL);
	ck_assert_ptr_ne(scoreboard_mine(), board);
	scoreboard_set_state(WORKER_LISTING, "alone");
	metric_add(M_LISTS_TOTAL, 0, 1);
	ck_assert_uint_eq(scoreboard_mine()->state, WORKER_LISTING);
	ck_assert_uint_eq(scoreboard_mine()->slots[metric_offset(M_LISTS_TOTAL)], 1);
	ck_assert(scoreboard_copy(map, 7, &copy));
	ck_assert_uint_eq(copy.state, WORKER_STARTING);
}
END_TEST

START_TEST(states_have_words)
{
	for (int i = 0; i < WORKER_STATE_MAX; i++) {
		ck_assert_str_ne(worker_state_name((enum worker_state)i), "unknown");
		ck_assert_uint_gt(strlen(worker_state_meaning((enum worker_state)i)), 0);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(worker_state_name((enum worker_state)i),
				worker_state_name((enum worker_state)k));
	}
	ck_assert_str_eq(worker_state_name(WORKER_LIVE), "live");
	ck_assert_str_eq(worker_state_name(WORKER_STATE_MAX), "unknown");
	ck_assert_str_eq(worker_state_name((enum worker_state) - 1), "unknown");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("scoreboard");
	TCase *tcase = tcase_create("scoreboard");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, start, finish);
	tcase_add_test(tcase, a_new_board);
	tcase_add_test(tcase, texts_and_states);
	tcase_add_test(tcase, texts_that_are_too_long);
	tcase_add_test(tcase, nobody_can_change_its_size);
	tcase_add_test(tcase, a_file_of_another_size_is_no_board);
	tcase_add_test(tcase, a_fork_does_not_have_the_mapping);
	tcase_add_loop_test(tcase, boards_that_are_refused, 0, COUNT(refused));
	tcase_add_test(tcase, wild_values_are_tamed);
	tcase_add_test(tcase, copies_are_never_torn);
	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, series_that_do_not_exist_count_nothing);
	tcase_add_test(tcase, without_a_supervisor);
	tcase_add_test(tcase, states_have_words);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
