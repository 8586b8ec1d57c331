/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of a worker under a clock of our own: when it is started again, when it is ended, and what is left of ten thousand of them. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/proc/proc.h"
#include "tests/unit/life_fixture.h"

#define SEC           NSEC_PER_SEC
#define EXITED(code)  ((code) << 8)
#define KILLED(signo) (signo)

static void
start(void)
{
	sup_worker_event(life_worker, LIFE_EVENT_START);
	ck_assert_int_gt(life_process.pid, 0);
}

static void
assert_near(int64_t got_ns, int64_t want_ns)
{
	ck_assert_msg(got_ns >= want_ns - NSEC_PER_MSEC && got_ns <= want_ns + NSEC_PER_MSEC,
		"%.3f s instead of %.3f s", (double)got_ns / 1e9, (double)want_ns / 1e9);
}

static bool
is(enum worker_state state)
{
	return life_worker->state == state;
}

/* --- deaths --- */

/* E169, E171: who dies at once, or after it was ready, or a second before it has been live for long, waits longer each time; and comes back for ever. */
static const struct {
	int64_t live_s; /* -1: it never became live */
	int64_t delays_s[10];
} deaths[] = {
	{-1, {0, 1, 2, 4, 8, 16, 32, 60, 60, 60}},
	{0, {0, 1, 2, 4, 8, 16, 32, 60, 60, 60}},
	{119, {0, 1, 2, 4, 8, 16, 32, 60, 60, 60}},
	{121, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
};

START_TEST(delays_follow_from_how_long_it_was_live)
{
	start();
	for (int i = 0; i < 10; i++) {
		if (deaths[_i].live_s >= 0) {
			life_say(WORKER_LIVE);
			life_run(deaths[_i].live_s * SEC);
			ck_assert(is(WORKER_LIVE));
		}
		life_die(EXITED(1));
		ck_assert(is(WORKER_BACKOFF) || is(WORKER_CRASHLOOP));
		assert_near(life_run_until_spawn(100 * SEC), deaths[_i].delays_s[i] * SEC);
		ck_assert(is(WORKER_STARTING));
	}
}
END_TEST

START_TEST(five_deaths_within_300_s_are_a_crashloop_and_it_ends)
{
	start();
	for (int i = 0; i < 5; i++) {
		life_die(KILLED(SIGSEGV));
		ck_assert_int_eq(is(WORKER_CRASHLOOP), i == 4);
		life_run_until_spawn(100 * SEC);
	}
	life_say(WORKER_LIVE);
	life_run(400 * SEC);
	life_die(KILLED(SIGSEGV));
	ck_assert(is(WORKER_BACKOFF));
	assert_near(life_run_until_spawn(SEC), 0);
}
END_TEST

START_TEST(what_it_died_of_is_kept)
{
	start();
	life_say(WORKER_LIVE);
	life_run(7 * SEC);
	memcpy(life_process.board->busy_key, "default/web", 12);
	life_process.board->busy_version = 77;
	life_process.board->busy_since_ns = clock_monotonic_ns();
	life_die(KILLED(SIGSEGV));
	const struct death *death = restart_death(&life_worker->restart, 0);
	ck_assert_int_eq(death->cause, RESTART_CAUSE_KILLED);
	ck_assert_int_eq(death->status, KILLED(SIGSEGV));
	ck_assert_int_eq(death->lifetime_ns, 7 * SEC);
	ck_assert_str_eq(death->object, "default/web");
	ck_assert_uint_eq(life_worker->poison.n, 1);
	ck_assert_uint_eq(life_worker->poison.suspects[0].version, 77);

	/* One that died while it wrote can't be read: what an earlier look saw is not what it died at. */
	life_run_until_spawn(SEC);
	memcpy(life_process.board->busy_key, "default/other", 14);
	life_process.board->busy_since_ns = clock_monotonic_ns();
	(void)sup_worker_look(life_worker);
	life_process.board->sequence |= 1;
	life_die(KILLED(SIGSEGV));
	ck_assert_str_eq(restart_death(&life_worker->restart, 0)->object, "");
	ck_assert_uint_eq(life_worker->poison.n, 1);
}
END_TEST

START_TEST(an_unusable_configuration_is_tried_every_300_s_and_at_a_reload)
{
	start();
	life_die(EXITED(78));
	ck_assert(is(WORKER_CONFIG_INVALID));
	assert_near(life_run_until_spawn(1000 * SEC), 300 * SEC);
	life_die(EXITED(77));
	ck_assert(is(WORKER_CONFIG_INVALID));
	life_run(10 * SEC);
	ck_assert_int_eq(life_process.pid, 0);
	sup_worker_event(life_worker, LIFE_EVENT_START);
	ck_assert_int_gt(life_process.pid, 0);
}
END_TEST

/* No processes left, say: a failure of the machine's, tried again with growing delays, never at once and never for the last time. */
START_TEST(a_fork_that_fails_is_tried_again)
{
	static const int64_t want_s[] = {1, 2, 4, 8, 16, 32, 60, 60};
	int64_t due_ns = clock_monotonic_ns();
	uint64_t failures = 1;

	life_spawn_error = EAGAIN;
	sup_worker_event(life_worker, LIFE_EVENT_START);
	for (size_t i = 0; i < sizeof(want_s) / sizeof(*want_s); i++) {
		ck_assert_uint_eq(life_worker->restart.total, failures);
		ck_assert_int_eq(
			restart_death(&life_worker->restart, 0)->cause, RESTART_CAUSE_NOT_FORKED);
		due_ns += want_s[i] * SEC;
		life_run(due_ns - clock_monotonic_ns() - NSEC_PER_MSEC);
		ck_assert_uint_eq(life_worker->restart.total, failures);
		life_run(2 * NSEC_PER_MSEC);
		ck_assert_uint_eq(life_worker->restart.total, ++failures);
	}
	life_spawn_error = 0;
	ck_assert_int_le(life_run_until_spawn(100 * SEC), 61 * SEC);
	ck_assert_uint_eq(life_spawns, 1);
	ck_assert_uint_eq(life_worker->restarts[RESTART_CAUSE_NOT_FORKED], failures);
}
END_TEST

/* --- hanging --- */

START_TEST(a_stale_heartbeat_is_three_periods_old)
{
	start();
	life_say(WORKER_LIVE);
	life_run(100 * SEC);
	life_process.beats = false;
	life_run(3 * LIFE_HEARTBEAT_NS - SEC);
	ck_assert_int_eq(life_process.aborts, 0);
	life_run(LIFE_HEARTBEAT_NS + 2 * SEC);
	ck_assert_int_eq(life_process.aborts, 1);
	ck_assert_int_eq(life_process.continues, 1);
	ck_assert(is(WORKER_HUNG));
	ck_assert_int_eq(life_process.group_kills, 0);
	life_run(6 * SEC);
	ck_assert_int_eq(life_process.group_kills, 1);
	life_die(KILLED(SIGKILL));
	ck_assert_int_eq(restart_death(&life_worker->restart, 0)->cause, RESTART_CAUSE_HUNG);
	assert_near(life_run_until_spawn(SEC), 0);
	ck_assert(!life_shared.had_to_kill); /* it says how a stop went, not a life */
}
END_TEST

/* We were stopped, or all of us; whoever beats within three periods from then is well. */
static const int64_t absences_s[] = {11, 60, 86400};

START_TEST(a_supervisor_that_was_away_ends_nobody)
{
	start();
	life_say(WORKER_LIVE);
	life_run(7 * SEC);
	for (int i = 0; i < 5; i++) {
		life_freeze(absences_s[_i] * SEC);
		life_process.beats = false;
		life_run(2 * LIFE_HEARTBEAT_NS);
		life_process.beats = true;
		life_run(2 * LIFE_HEARTBEAT_NS);
	}
	ck_assert_int_eq(life_process.aborts + life_process.kills + life_process.group_kills, 0);
	ck_assert(is(WORKER_LIVE));
	/* One that does not come back is ended all the same. */
	life_freeze(absences_s[_i] * SEC);
	life_process.beats = false;
	life_run(5 * LIFE_HEARTBEAT_NS);
	ck_assert_int_eq(life_process.aborts, 1);
}
END_TEST

/* Before its loop turns it has 30 s, not three periods. */
START_TEST(a_slow_start_has_a_limit_of_its_own)
{
	start();
	life_process.beats = false;
	life_run(29 * SEC);
	ck_assert_int_eq(life_process.aborts, 0);
	life_run(8 * SEC);
	ck_assert_int_eq(life_process.aborts, 1);
}
END_TEST

/* What an earlier life left running writes on: it does not count for the one that is. */
START_TEST(words_of_an_earlier_life_do_not_count)
{
	struct record record;

	start();
	life_say(WORKER_LIVE);
	record_set(
		&record, RECORD_STATE, life_process.generation, WORKER_LIVE, "of the first life");
	life_die(KILLED(SIGKILL));
	life_run_until_spawn(SEC);
	life_process.board->generation = record.generation; /* the first one's board, that is */
	ck_assert_int_eq(record_write(life_process.fd_up, &record), 0);
	sup_worker_hear(life_worker);
	life_run(29 * SEC);
	ck_assert(is(WORKER_STARTING));
	life_run(8 * SEC);
	ck_assert_int_eq(life_process.aborts, 1);
}
END_TEST

/* --- stopping --- */

START_TEST(one_that_leaves_when_asked_is_not_signalled)
{
	start();
	life_say(WORKER_LIVE);
	sup_worker_event(life_worker, LIFE_EVENT_STOP);
	ck_assert(life_was_asked());
	ck_assert(is(WORKER_DRAINING));
	life_run(19 * SEC);
	ck_assert_int_eq(life_process.terms, 0);
	life_die(EXITED(0));
	ck_assert_uint_eq(life_stops, 1);
	ck_assert(!life_shared.had_to_kill);
}
END_TEST

/* With the default graces all of it is over before 25 s, and before a kubelet's 30. */
START_TEST(one_that_ignores_everything_is_gone_in_25_s)
{
	int64_t start_ns;

	start();
	life_say(WORKER_LIVE);
	start_ns = clock_monotonic_ns();
	sup_worker_event(life_worker, LIFE_EVENT_STOP);
	life_run(20 * SEC - NSEC_PER_MSEC);
	ck_assert_int_eq(life_process.terms, 0);
	life_run(2 * NSEC_PER_MSEC);
	ck_assert_int_eq(life_process.terms, 1);
	life_run(3 * SEC);
	ck_assert_int_eq(life_process.group_kills, 1);
	ck_assert(life_shared.had_to_kill);
	ck_assert_int_lt(clock_monotonic_ns() - start_ns, 25 * SEC);
	life_die(KILLED(SIGKILL));
	ck_assert_uint_eq(life_stops, 1);
}
END_TEST

/* A controller that is removed: its worker lets go of its objects, within a time, and may be stopped meanwhile. */
START_TEST(one_that_is_removed_has_its_time)
{
	start();
	life_say(WORKER_LIVE);
	life_worker->holds = true;
	life_worker->remove_timeout_ns = 60 * SEC;
	sup_worker_remove(life_worker);
	ck_assert(life_was_asked());
	ck_assert(life_worker->removed && is(WORKER_REMOVING));
	life_say(WORKER_LIVE); /* what it says of itself does not hide that */
	ck_assert(is(WORKER_REMOVING));
	sup_worker_remove(life_worker); /* the next reload finds it gone as well */
	life_run(60 * SEC - NSEC_PER_MSEC);
	ck_assert(is(WORKER_REMOVING));
	life_run(2 * NSEC_PER_MSEC);
	ck_assert(is(WORKER_DRAINING));
	ck_assert(life_was_asked());
	ck_assert_int_eq(life_process.terms, 0);
	life_run(20 * SEC);
	ck_assert_int_eq(life_process.terms, 1);
	life_die(KILLED(SIGTERM));
	ck_assert_uint_eq(life_stops, 1);
}
END_TEST

START_TEST(one_that_holds_nothing_is_stopped_when_it_is_removed)
{
	start();
	life_say(WORKER_LIVE);
	sup_worker_remove(life_worker);
	ck_assert(is(WORKER_DRAINING));
	life_die(EXITED(0));
	ck_assert_uint_eq(life_stops, 1);
}
END_TEST

START_TEST(one_that_comes_back_while_it_is_removed_starts_anew_afterwards)
{
	start();
	life_say(WORKER_LIVE);
	life_worker->holds = true;
	life_worker->remove_timeout_ns = 60 * SEC;
	sup_worker_remove(life_worker);
	life_worker->removed = false; /* as a reload that has it again does */
	sup_worker_set_config(life_worker, "{}", 2);
	ck_assert(is(WORKER_REMOVING));
	ck_assert_uint_eq(life_spawns, 1);
	life_run(SEC);
	life_die(EXITED(0));
	ck_assert_uint_eq(life_spawns, 2);
	ck_assert(is(WORKER_STARTING));
	/* Removed while it hangs, it is ended as any. */
	life_say(WORKER_LIVE);
	life_worker->holds = true;
	sup_worker_remove(life_worker);
	life_process.beats = false;
	life_run(5 * LIFE_HEARTBEAT_NS);
	ck_assert_int_eq(life_process.terms, 1);
}
END_TEST

START_TEST(a_second_stop_shortens_the_grace)
{
	start();
	life_say(WORKER_LIVE);
	sup_worker_event(life_worker, LIFE_EVENT_STOP);
	life_run(SEC);
	sup_worker_event(life_worker, LIFE_EVENT_STOP);
	ck_assert_int_eq(life_process.terms, 1);
	sup_worker_event(
		life_worker, LIFE_EVENT_STOP); /* the third does not take the grace of SIGTERM */
	ck_assert_int_eq(life_process.terms, 1);
	ck_assert_int_eq(life_process.group_kills, 0);
	life_run(3 * SEC + NSEC_PER_MSEC);
	ck_assert_int_eq(life_process.group_kills, 1);
	life_die(KILLED(SIGKILL));
	ck_assert_uint_eq(life_stops, 1);
}
END_TEST

/* While it is stopping, or waiting, or ending, a stop finds its way. */
START_TEST(a_stop_finds_it_wherever_it_is)
{
	start();
	life_die(EXITED(1));
	life_run_until_spawn(SEC);
	life_die(EXITED(1));
	sup_worker_event(life_worker, LIFE_EVENT_STOP); /* in its delay */
	ck_assert_uint_eq(life_stops, 1);
	life_run(100 * SEC);
	ck_assert_int_eq(life_process.pid, 0);
	start();
	life_process.beats = false;
	life_run(40 * SEC);
	ck_assert_int_ge(life_process.aborts, 1);
	ck_assert_int_eq(life_process.group_kills, 1);
	sup_worker_event(life_worker, LIFE_EVENT_STOP); /* while it is being ended */
	life_die(KILLED(SIGKILL));
	ck_assert_uint_eq(life_stops, 2);
}
END_TEST

/* --- what is left --- */

#define MANY 10000

static double
cpu_seconds(void)
{
	struct timespec time;

	ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Of all causes, with words and objects of their own each time. */
static void
die_somehow(int i)
{
	static const int statuses[] = {
		EXITED(0), EXITED(1), KILLED(SIGSEGV), KILLED(SIGKILL), EXITED(78)};

	if (i % 3)
		life_say(WORKER_LIVE);
	if (i % 2) {
		(void)snprintf(life_process.board->busy_key, SCOREBOARD_KEY_MAX,
			"default/object-%d", i % 997);
		life_process.board->busy_version = (uint64_t)(i % 7);
		life_process.board->busy_since_ns = clock_monotonic_ns();
	}
	life_die(statuses[i % 5]);
	life_run_until_spawn(400 * SEC);
}

START_TEST(nothing_grows_over_ten_thousand_deaths)
{
	start();
	for (int i = 0; i < 500; i++)
		die_somehow(i);
	unsigned fds = proc_open_fds();
	size_t heap = mallinfo2().uordblks;
	double before = cpu_seconds();
	for (int i = 0; i < MANY; i++)
		die_somehow(i);
	double spent = cpu_seconds() - before;
	ck_assert_uint_eq(proc_open_fds(), fds);
#ifndef WITH_SANITIZERS
	ck_assert_uint_le(mallinfo2().uordblks, heap + 1024);
#else
	(void)heap;
#endif
	ck_assert_uint_eq(life_worker->restart.total, MANY + 500);
	ck_assert_uint_le(life_worker->poison.n, POISON_MAX);
	/* A death costs the supervisor well under 20 ms without the fork; what the fork costs tests/bench/figures.py shows. */
	ck_assert(spent / MANY < 0.020);
	(void)fprintf(stderr,
		"a death and the start after it, without the fork: %.0f us of CPU time\n",
		spent / MANY * 1e6);
	(void)fflush(stdout);
}
END_TEST

int
main(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	Suite *suite = suite_create("life");
	TCase *tcase = tcase_create("all");
	SRunner *runner = srunner_create(suite);

	log_open(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	(void)dup2(null, STDERR_FILENO); /* ten thousand deaths are told */
	(void)close(null);
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, life_setup, life_teardown);
	tcase_add_loop_test(tcase, delays_follow_from_how_long_it_was_live, 0,
		sizeof(deaths) / sizeof(*deaths));
	tcase_add_test(tcase, five_deaths_within_300_s_are_a_crashloop_and_it_ends);
	tcase_add_test(tcase, what_it_died_of_is_kept);
	tcase_add_test(tcase, an_unusable_configuration_is_tried_every_300_s_and_at_a_reload);
	tcase_add_test(tcase, a_fork_that_fails_is_tried_again);
	tcase_add_test(tcase, a_stale_heartbeat_is_three_periods_old);
	tcase_add_loop_test(tcase, a_supervisor_that_was_away_ends_nobody, 0,
		sizeof(absences_s) / sizeof(*absences_s));
	tcase_add_test(tcase, a_slow_start_has_a_limit_of_its_own);
	tcase_add_test(tcase, words_of_an_earlier_life_do_not_count);
	tcase_add_test(tcase, one_that_leaves_when_asked_is_not_signalled);
	tcase_add_test(tcase, one_that_ignores_everything_is_gone_in_25_s);
	tcase_add_test(tcase, one_that_is_removed_has_its_time);
	tcase_add_test(tcase, one_that_holds_nothing_is_stopped_when_it_is_removed);
	tcase_add_test(tcase, one_that_comes_back_while_it_is_removed_starts_anew_afterwards);
	tcase_add_test(tcase, a_second_stop_shortens_the_grace);
	tcase_add_test(tcase, a_stop_finds_it_wherever_it_is);
	tcase_add_test(tcase, nothing_grows_over_ten_thousand_deaths);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
