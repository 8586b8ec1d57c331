/* SPDX-License-Identifier: Apache-2.0 */
/* workers/queue and workers/throttle on a real loop: order, no overlap, dirty, backoff by version. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "workers/queue.h"
#include "workers/throttle.h"

#define DEADLINE_NS (10 * NSEC_PER_SEC)

static struct loop *loop;
static struct queue *queue;
static struct loop_timer *tick;
static bool (*until)(void);
static int64_t give_up_ns;
static bool done;

/* What ran, in order: "a" a start of a. Held items stay running until released. */
static char ran[64];
static char reasons[256];
static bool hold;
static struct queue_item *held[8];
static size_t n_held;
static int failures_left;
static uint64_t failing_version;

static void
on_run(void *data, struct queue_item *item)
{
	(void)data;
	strcat(ran, queue_item_name(item));
	strcat(reasons, queue_reason_name(queue_item_reason(item)));
	strcat(reasons, " ");
	if (hold) {
		held[n_held++] = item;
	} else if (failures_left > 0) {
		failures_left--;
		queue_retry(queue, item, failing_version, 0);
	} else {
		queue_done(queue, item);
	}
}

static void
on_tick(void *data)
{
	(void)data;
	if (until() || clock_monotonic_ns() > give_up_ns) {
		done = until();
		loop_stop(loop);
		return;
	}
	loop_timer_set(tick, NSEC_PER_MSEC);
}

static void
run_until(bool (*condition)(void))
{
	until = condition;
	done = false;
	give_up_ns = clock_monotonic_ns() + DEADLINE_NS;
	loop_timer_set(tick, 0);
	loop_run(loop);
	ck_assert_msg(done, "not reached in time; ran: %s", ran);
}

static bool
is_idle(void)
{
	return queue_ready(queue) == 0 && queue_waiting(queue) == 0 &&
	       queue_running(queue) == n_held;
}

static bool
one_waits(void)
{
	return queue_waiting(queue) == 1;
}

static void
setup(void)
{
	const struct queue_options options = {2, NSEC_PER_MSEC, 8 * NSEC_PER_MSEC};

	loop = loop_new(false);
	tick = loop_timer_new(loop, on_tick, NULL);
	queue = queue_new(loop, &options, on_run, NULL);
	ran[0] = reasons[0] = '\0';
	hold = false;
	n_held = 0;
	failures_left = 0;
	failing_version = 0;
}

static void
teardown(void)
{
	queue_free(queue);
	loop_timer_free(tick);
	loop_free(loop);
}

START_TEST(one_entry_a_key_live_first)
{
	queue_add(queue, "n", "a", REASON_LIST, 1);
	queue_add(queue, "n", "b", REASON_LIST, 1);
	queue_add(queue, "n", "c", REASON_MODIFIED, 1);
	queue_add(queue, "n", "b", REASON_MODIFIED, 2); /* promoted */
	queue_add(queue, "n", "c", REASON_RESYNC, 1);
	ck_assert_uint_eq(queue_ready(queue), 3);
	queue_open(queue, true);
	run_until(is_idle);
	ck_assert_str_eq(ran, "cba");
	ck_assert_str_eq(reasons, "modified modified list ");
}
END_TEST

static bool
two_held(void)
{
	return n_held == 2;
}

START_TEST(never_two_runs_of_one_object)
{
	hold = true;
	queue_open(queue, true);
	queue_add(queue, "n", "a", REASON_ADDED, 1);
	queue_add(queue, "n", "b", REASON_ADDED, 1);
	queue_add(queue, "n", "c", REASON_ADDED, 1);
	run_until(two_held);
	queue_add(queue, "n", "a", REASON_MODIFIED, 2);
	queue_add(queue, "n", "a", REASON_MODIFIED, 3);
	ck_assert_uint_eq(queue_running(queue), 2);
	ck_assert_uint_eq(queue_ready(queue), 1);
	hold = false;
	queue_done(queue, held[0]);
	queue_done(queue, held[1]);
	n_held = 0;
	run_until(is_idle);
	ck_assert_str_eq(ran, "abca");
}
END_TEST

/* A queue whose delays are too long to end by themselves. */
static void
slow_queue(void)
{
	const struct queue_options options = {2, 100 * NSEC_PER_SEC, 300 * NSEC_PER_SEC};

	queue_free(queue);
	queue = queue_new(loop, &options, on_run, NULL);
	queue_open(queue, true);
}

/* E89: a status write (same version) neither resets the count nor ends the delay; a change of what people wrote does. */
START_TEST(backoff_belongs_to_the_version)
{
	slow_queue();
	failures_left = 1;
	failing_version = 7;
	queue_add(queue, "n", "a", REASON_ADDED, 7);
	run_until(one_waits);
	queue_add(queue, "n", "a", REASON_MODIFIED, 7);
	queue_add(queue, "n", "a", REASON_RESYNC, 0);
	ck_assert_uint_eq(queue_waiting(queue), 1);
	ck_assert_uint_eq(queue_ready(queue), 0);
	queue_add(queue, "n", "a", REASON_MODIFIED, 8);
	ck_assert_uint_eq(queue_ready(queue), 1);
	run_until(is_idle);
	ck_assert_str_eq(ran, "aa");
}
END_TEST

START_TEST(kick_ends_the_delay)
{
	slow_queue();
	failures_left = 1;
	failing_version = 7;
	queue_add(queue, "n", "a", REASON_ADDED, 7);
	run_until(one_waits);
	queue_kick(queue, "n", "a", REASON_CHILD);
	run_until(is_idle);
	ck_assert_str_eq(reasons, "added child ");
}
END_TEST

START_TEST(retries_until_it_works)
{
	queue_open(queue, true);
	failures_left = 5;
	failing_version = 7;
	queue_add(queue, "n", "a", REASON_ADDED, 7);
	run_until(is_idle);
	ck_assert_str_eq(ran, "aaaaaa");
	ck_assert_str_eq(reasons, "added retry retry retry retry retry ");
}
END_TEST

static uint32_t failures_seen;

static void
on_run_grow(void *data, struct queue_item *item)
{
	int64_t *delays = data;
	uint64_t version = failures_seen < 4 ? 7 : 8;

	ck_assert_uint_eq(queue_item_failures(item), failures_seen < 5 ? failures_seen : 1);
	if (failures_seen == 5) {
		queue_done(queue, item);
		return;
	}
	delays[failures_seen++] = queue_retry(queue, item, version, 0);
}

/* The delay doubles for one version, and begins anew with another. */
START_TEST(delays_grow_with_failures)
{
	const struct queue_options options = {1, NSEC_PER_MSEC, 300 * NSEC_PER_SEC};
	int64_t delays[5];

	failures_seen = 0;
	queue_free(queue);
	queue = queue_new(loop, &options, on_run_grow, delays);
	queue_open(queue, true);
	queue_add(queue, "n", "a", REASON_ADDED, 7);
	run_until(is_idle);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_ge(delays[i], (NSEC_PER_MSEC << i) * 9 / 10);
		ck_assert_int_le(delays[i], (NSEC_PER_MSEC << i) * 11 / 10);
	}
	ck_assert_int_le(delays[4], NSEC_PER_MSEC * 11 / 10);
}
END_TEST

START_TEST(forgotten_objects_do_not_run)
{
	slow_queue();
	hold = true;
	queue_add(queue, "n", "a", REASON_ADDED, 1);
	queue_add(queue, "n", "b", REASON_ADDED, 1);
	run_until(two_held);
	queue_add(queue, "n", "c", REASON_ADDED, 1);
	queue_add_after(queue, "n", "d", REASON_TIMER, NSEC_PER_SEC);
	queue_add(queue, "n", "a", REASON_MODIFIED, 2);
	queue_forget(queue, "n", "a");
	queue_forget(queue, "n", "c");
	queue_forget(queue, "n", "d");
	ck_assert_int_eq(queue_retry(queue, held[0], 1, 0), 0);
	queue_done(queue, held[1]);
	n_held = 0;
	run_until(is_idle);
	ck_assert_str_eq(ran, "ab");
}
END_TEST

/* Forgotten and made anew while it runs: it runs once more. */
START_TEST(recreated_object_runs_again)
{
	slow_queue();
	hold = true;
	queue_add(queue, "n", "a", REASON_ADDED, 1);
	queue_add(queue, "n", "b", REASON_ADDED, 1);
	run_until(two_held);
	queue_forget(queue, "n", "a");
	queue_add(queue, "n", "a", REASON_ADDED, 5);
	hold = false;
	queue_retry(queue, held[0], 1, 0);
	queue_done(queue, held[1]);
	n_held = 0;
	run_until(is_idle);
	ck_assert_str_eq(ran, "aba");
}
END_TEST

START_TEST(timers_run_in_order)
{
	queue_open(queue, true);
	for (int i = 0; i < 6; i++) {
		const char name[2] = {(char)('a' + i * 5 % 6), '\0'};

		queue_add_after(
			queue, "n", name, REASON_TIMER, (i * 5 % 6 + 1) * 20 * NSEC_PER_MSEC);
	}
	run_until(is_idle);
	ck_assert_str_eq(ran, "abcdef");
}
END_TEST

START_TEST(closed_queue_starts_nothing)
{
	queue_add(queue, "n", "a", REASON_ADDED, 1);
	queue_open(queue, true);
	queue_open(queue, false);
	queue_add(queue, "n", "b", REASON_ADDED, 1);
	queue_add_after(queue, "n", "c", REASON_TIMER, 0);
	run_until(one_waits);
	ck_assert_str_eq(ran, "");
	queue_open(queue, true);
	run_until(is_idle);
	ck_assert_uint_eq(strlen(ran), 3);
}
END_TEST

/* --- throttle --- */

static int gone;

static void
on_go(void *data)
{
	(void)data;
	gone++;
}

static bool
three_went(void)
{
	return gone == 3;
}

START_TEST(throttle_gives_tokens_in_order)
{
	struct throttle *throttle = throttle_new(loop, 200, 2);
	struct throttle_waiter waiters[4];
	int64_t start = clock_monotonic_ns();

	gone = 0;
	for (int i = 0; i < 4; i++)
		waiters[i] = (struct throttle_waiter){.go = on_go};
	ck_assert(throttle_take(throttle, &waiters[0]));
	ck_assert(throttle_take(throttle, &waiters[0]));
	for (int i = 0; i < 4; i++)
		ck_assert(!throttle_take(throttle, &waiters[i]));
	throttle_cancel(throttle, &waiters[1]);
	throttle_cancel(throttle, &waiters[1]);
	run_until(three_went);
	ck_assert_int_ge(clock_monotonic_ns() - start, 14 * NSEC_PER_MSEC);
	throttle_free(throttle);
}
END_TEST

START_TEST(throttle_without_a_bound)
{
	struct throttle *throttle = throttle_new(loop, 0, 0);
	struct throttle_waiter waiter = {.go = on_go};

	for (int i = 0; i < 1000; i++)
		ck_assert(throttle_take(throttle, &waiter));
	throttle_free(throttle);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tcase = tcase_create("queue");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, one_entry_a_key_live_first);
	tcase_add_test(tcase, never_two_runs_of_one_object);
	tcase_add_test(tcase, backoff_belongs_to_the_version);
	tcase_add_test(tcase, kick_ends_the_delay);
	tcase_add_test(tcase, retries_until_it_works);
	tcase_add_test(tcase, delays_grow_with_failures);
	tcase_add_test(tcase, forgotten_objects_do_not_run);
	tcase_add_test(tcase, recreated_object_runs_again);
	tcase_add_test(tcase, timers_run_in_order);
	tcase_add_test(tcase, closed_queue_starts_nothing);
	tcase_add_test(tcase, throttle_gives_tokens_in_order);
	tcase_add_test(tcase, throttle_without_a_bound);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
