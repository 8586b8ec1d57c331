/* SPDX-License-Identifier: Apache-2.0 */
/* Workers die, hang, lie and come back; the supervisor stops all of them, and they end with it. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/sandbox/sandbox.h"
#include "tests/unit/supervisor_fixture.h"

static struct site site;

static void
start(const char *top, const char *names)
{
	site_open(&site, top, names);
	site_start(&site);
}

static void
start_live(const char *top, const char *names)
{
	char name[64];

	start(top, names);
	for (const char *p = names; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, p);
		WAIT_FOR(site_is(&site, name, "live"));
		p += n;
	}
}

static void
teardown(void)
{
	site_close(&site);
}

static void
kill_worker(pid_t pid, int signo)
{
	ck_assert_int_gt(pid, 1);
	ck_assert_int_eq(kill(pid, signo), 0);
}

static bool
is_new(const char *name, pid_t old)
{
	pid_t pid = site_pid(&site, name);

	return pid > 0 && pid != old && site_is(&site, name, "live");
}

/* --- deaths --- */

START_TEST(test_a_killed_worker_comes_back)
{
	start_live("", "a b");
	pid_t a = site_pid(&site, "a"), b = site_pid(&site, "b");

	kill_worker(a, SIGKILL);
	WAIT_FOR(is_new("a", a));
	ck_assert_int_eq(site_pid(&site, "b"), b);
	ck_assert_int_eq((int)site_number(&site, "a", "restarts"), 1);
	ck_assert_int_eq((int)site_number(&site, "a", "generation"), 2);
	ck_assert_int_eq((int)site_number(&site, "b", "restarts"), 0);
	ck_assert_uint_eq(site_log_has(&site, "killed by SIGKILL"), 1);
	cJSON *worker = site_worker(&site, "a");
	ck_assert_str_eq(
		json_string(cJSON_GetArrayItem(json_get(worker, "deaths", NULL), 0), "text", ""),
		"killed by SIGKILL");
	cJSON_Delete(worker);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* SIGCHLD comes once for all of them. */
START_TEST(test_five_deaths_at_once_are_all_noticed)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	pid_t pids[5];

	start_live("", "a b c d e");
	for (int i = 0; i < 5; i++)
		pids[i] = site_pid(&site, names[i]);
	kill_worker(site.pid, SIGSTOP);
	for (int i = 0; i < 5; i++)
		kill_worker(pids[i], SIGKILL);
	kill_worker(site.pid, SIGCONT);
	for (int i = 0; i < 5; i++) {
		WAIT_FOR(is_new(names[i], pids[i]));
		ck_assert(is_gone(pids[i]));
	}
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* E169: it dies right after the fork each time. */
START_TEST(test_who_dies_at_once_waits_longer_each_time)
{
	start("", "crash good");
	WAIT_FOR(site_number(&site, "crash", "generation") >= 3);
	WAIT_FOR(site_is(&site, "crash", "backoff"));
	ck_assert(site_cause_has(&site, "crash", "exited with code 1"));
	pause_ms(1000);
	ck_assert_int_le((int)site_number(&site, "crash", "generation"), 4);
	ck_assert(site_is(&site, "good", "live"));
	/* E183: stopping does not wait for the delay. */
	int64_t before_ns = clock_monotonic_ns();
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, 2 * NSEC_PER_SEC);
}
END_TEST

/* What a worker says of its life does not make it be forked without a pause, nor spoil the numbers. */
START_TEST(test_a_forged_life_does_not_clear_the_count)
{
	int status;

	start("", "forger good");
	WAIT_FOR(site_number(&site, "forger", "generation") >= 2);
	pause_ms(1000);
	ck_assert_int_le((int)site_number(&site, "forger", "generation"), 4);
	char *page = site_get(&site, "/metrics", &status);
	ck_assert_int_eq(status, 200);
	ck_assert_ptr_nonnull(strstr(
		page, "operatord_lists_total{controller=\"forger\"} 18446744073709551615\n"));
	free(page);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_an_invalid_configuration_is_shown_and_tried_at_a_reload)
{
	int code;

	start("", "invalid good");
	WAIT_FOR(site_is(&site, "invalid", "config-invalid"));
	ck_assert(site_cause_has(&site, "invalid", "made so by its name"));
	WAIT_FOR(site_pid(&site, "invalid") == 0);
	pause_ms(500);
	ck_assert_int_eq((int)site_number(&site, "invalid", "generation"), 1);
	free(site_ask(&site, RECORD_RELOAD, &code));
	ck_assert_int_eq(code, 0);
	WAIT_FOR(site_number(&site, "invalid", "generation") >= 2);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* No descriptors: not a death but no birth; the supervisor stays, and it comes when it can. */
START_TEST(test_a_failed_spawn_is_tried_again)
{
	static const struct rlimit more = {1024, 4096};

	site_open(&site, "", "a b c d e f g h");
	site.files_limit = 30;
	site_start(&site);
	WAIT_FOR(site_log_has(&site, "could not be forked") > 0);
	WAIT_FOR(site_is(&site, "a", "live"));
	ck_assert(site_is(&site, "h", "backoff"));
	ck_assert_int_eq(prlimit(site.pid, RLIMIT_NOFILE, &more, NULL), 0);
	WAIT_FOR(site_is(&site, "h", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- the supervisor's own death --- */

/* E177, E181: also with siblings that were forked before and after. */
START_TEST(test_workers_end_with_a_killed_supervisor)
{
	pid_t pids[3];

	start_live("", "a b c");
	pids[0] = site_pid(&site, "a");
	kill_worker(pids[0], SIGKILL);
	WAIT_FOR(is_new("a", pids[0]));
	pids[0] = site_pid(&site, "a");
	pids[1] = site_pid(&site, "b");
	pids[2] = site_pid(&site, "c");
	kill_worker(site.pid, SIGKILL);
	int64_t before_ns = clock_monotonic_ns();
	for (int i = 0; i < 3; i++)
		WAIT_FOR(is_gone(pids[i]));
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, NSEC_PER_SEC);
}
END_TEST

/* Stopped, stuck in a step that never ends, deaf to every signal that can be caught: nobody is there any more who would end them. */
START_TEST(test_workers_that_hang_end_with_a_killed_supervisor)
{
	static const char *const names[] = {"a", "b", "deaf"};
	pid_t pids[3];

	start_live("heartbeat: 60s\n", "a b deaf");
	for (int i = 0; i < 3; i++)
		pids[i] = site_pid(&site, names[i]);
	kill_worker(pids[0], SIGSTOP);
	kill_worker(pids[1], SIGUSR1);
	kill_worker(site.pid, SIGKILL);
	int64_t before_ns = clock_monotonic_ns();
	for (int i = 0; i < 3; i++)
		WAIT_FOR(is_gone(pids[i]));
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, NSEC_PER_SEC);
}
END_TEST

/* E151, E179, E197: of the parent it has what it was given. */
START_TEST(test_a_worker_inherits_little)
{
	start("", "good inspect");
	WAIT_FOR(site_cause_has(&site, "inspect", "fds 0 1 2 3 4 5;"));
	ck_assert(site_cause_has(&site, "inspect", "notify no"));
	ck_assert(site_cause_has(&site, "inspect", "leader yes"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static bool
has_zombies(pid_t pid)
{
	char path[64], text[4096] = "";
	bool any = false;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	(void)fclose(file);
	for (char *p = text, *end; *p; p = end) {
		long child = strtol(p, &end, 10);
		if (end == p)
			break;
		any = any || is_gone((pid_t)child);
	}
	return any;
}

/* E187: who is nobody's child any more is the supervisor's. */
START_TEST(test_orphans_are_reaped)
{
	start_live("", "orphan");
	WAIT_FOR(site_log_has(&site, "reaped pid") >= 10);
	WAIT_FOR(!has_zombies(site.pid));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- hanging --- */

/* E209: stopped from outside, it can't even take a signal. */
START_TEST(test_a_stopped_worker_is_replaced_after_three_periods)
{
	start_live("", "a b");
	pid_t a = site_pid(&site, "a"), b = site_pid(&site, "b");
	int64_t before_ns = clock_monotonic_ns();

	kill_worker(a, SIGSTOP);
	WAIT_FOR(is_gone(a));
	ck_assert_int_ge(clock_monotonic_ns() - before_ns, 2 * HEARTBEAT_MS * NSEC_PER_MSEC);
	WAIT_FOR(is_new("a", a));
	ck_assert_int_eq(site_pid(&site, "b"), b);
	ck_assert_uint_ge(site_log_has(&site, "hung, killed by SIGABRT"), 1);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* E209: 5 s later comes what nobody can ignore; meanwhile /healthz names it. */
START_TEST(test_a_hanging_worker_that_ignores_sigabrt_is_named_and_killed)
{
	int status;

	start_live("", "stubborn");
	pid_t pid = site_pid(&site, "stubborn");
	kill_worker(pid, SIGUSR1);
	WAIT_FOR(site_is(&site, "stubborn", "hung"));
	char *page = site_get(&site, "/healthz", &status);
	ck_assert_int_eq(status, 503);
	ck_assert_ptr_nonnull(strstr(page, "stubborn"));
	free(page);
	WAIT_FOR(is_new("stubborn", pid));
	ck_assert_uint_ge(site_log_has(&site, "hung, killed by SIGKILL"), 1);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_a_slow_start_is_no_hang)
{
	start_live("", "slow");
	ck_assert_int_eq((int)site_number(&site, "slow", "generation"), 1);
	ck_assert_uint_eq(site_log_has(&site, " hangs"), 0);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* The whole machine stood still: nobody is judged for that time. */
START_TEST(test_a_supervisor_that_was_away_kills_nobody)
{
	start_live("", "a b");
	pid_t pids[2] = {site_pid(&site, "a"), site_pid(&site, "b")};

	kill_worker(site.pid, SIGSTOP);
	kill_worker(pids[0], SIGSTOP);
	kill_worker(pids[1], SIGSTOP);
	pause_ms(6 * HEARTBEAT_MS);
	kill_worker(site.pid, SIGCONT);
	WAIT_FOR(site_log_has(&site, "was away") > 0);
	kill_worker(pids[0], SIGCONT);
	kill_worker(pids[1], SIGCONT);
	pause_ms(5 * HEARTBEAT_MS);
	ck_assert_int_eq(site_pid(&site, "a"), pids[0]);
	ck_assert_int_eq(site_pid(&site, "b"), pids[1]);
	ck_assert_uint_eq(site_log_has(&site, " hangs"), 0);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- lies --- */

START_TEST(test_nonsense_harms_only_the_view_of_itself)
{
	start_live("", "good nonsense");
	pid_t good = site_pid(&site, "good"), pid = site_pid(&site, "nonsense");

	pause_ms(3 * HEARTBEAT_MS);
	ck_assert(site_is(&site, "nonsense", "live"));
	ck_assert_int_eq(site_pid(&site, "good"), good);
	ck_assert_int_eq(site_pid(&site, "nonsense"), pid);
	ck_assert_uint_eq(site_log_has(&site, "; dropped, as any further one"), 1);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* Its word is not worth anything; everybody else's is, and the pages are what they are. */
START_TEST(test_a_scribbled_scoreboard_harms_only_the_view_of_itself)
{
	static const char *const paths[] = {"/metrics", "/healthz?verbose", "/readyz?verbose"};
	int status;

	start("", "good scribble");
	WAIT_FOR(site_is(&site, "good", "live"));
	WAIT_FOR(site_is(
		&site, "scribble", "over-limit")); /* or any other that it happens to write */
	pid_t good = site_pid(&site, "good");
	for (int i = 0; i < 30; i++) {
		char *page = site_get(&site, paths[i % 3], &status);
		ck_assert(status == 200 || (status == 503 && i % 3 > 0));
		ck_assert_ptr_nonnull(strstr(page, "good"));
		free(page);
		ck_assert(site_is(&site, "good", "live"));
		pause_ms(HEARTBEAT_MS / 5);
	}
	ck_assert_int_eq(site_pid(&site, "good"), good);
	ck_assert_uint_eq(site_log_has(&site, "another size"), 0);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* Ended by the kernel, and said so; its parent and its sibling are who they were. */
START_TEST(test_a_hostile_worker_is_ended_and_nobody_else)
{
	if (sandbox_missing())
		return;
	start("", "good hostile");
	WAIT_FOR(site_is(&site, "good", "live"));
	pid_t good = site_pid(&site, "good");
	WAIT_FOR(site_log_has(&site, "killed by SIGSYS (a forbidden system call)") >= 2);
	ck_assert_int_eq(site_pid(&site, "good"), good);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static double
cpu_seconds(void)
{
	int status;
	char *page = site_get(&site, "/metrics", &status);
	const char *line = strstr(page, "\nprocess_cpu_seconds_total ");
	double seconds = line ? strtod(line + strlen("\nprocess_cpu_seconds_total "), NULL) : -1;

	free(page);
	ck_assert(seconds >= 0);
	return seconds;
}

START_TEST(test_a_flood_costs_the_supervisor_little)
{
	start("", "flood good");
	WAIT_FOR(site_is(&site, "good", "live"));
	double before = cpu_seconds();
	pause_ms(1000);
	/* Under valgrind or sanitizers all is slower; a loop that only reads takes all of the second. */
	ck_assert(cpu_seconds() - before < 0.7);
	ck_assert(site_is(&site, "good", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* The record was lost: the state stands on the scoreboard. */
START_TEST(test_state_is_read_from_the_scoreboard)
{
	start_live("", "silent");
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- stopping --- */

static const int stop_signals[] = {SIGTERM, SIGINT, SIGQUIT};

/* E183, E193 */
START_TEST(test_each_signal_stops_quickly)
{
	start_live("", "a b c");
	pid_t a = site_pid(&site, "a");
	int64_t before_ns = clock_monotonic_ns();

	ck_assert_int_eq(site_stop(&site, stop_signals[_i]), 0);
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, 2 * NSEC_PER_SEC);
	ck_assert(is_gone(a));
	ck_assert_uint_eq(site_log_has(&site, "SIGTERM\n"), 0);
}
END_TEST

/* As a terminal or an outer init does it: everyone gets the signal at once. */
START_TEST(test_a_signal_to_all_is_the_same)
{
	start_live("", "a b");
	kill_worker(site_pid(&site, "a"), SIGTERM);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_a_deaf_worker_is_killed_and_the_exit_code_says_so)
{
	start_live("stopGrace: 500ms\nkillGrace: 300ms\n", "deaf good");
	int64_t before_ns = clock_monotonic_ns();

	ck_assert_int_eq(site_stop(&site, SIGTERM), 1);
	ck_assert_int_ge(clock_monotonic_ns() - before_ns, 800 * NSEC_PER_MSEC);
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, 3 * NSEC_PER_SEC);
	ck_assert_uint_eq(site_log_has(&site, "does not end: SIGKILL"), 1);
}
END_TEST

START_TEST(test_sigterm_after_the_grace_is_a_clean_stop)
{
	start_live("stopGrace: 300ms\n", "rude");
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
	ck_assert_uint_eq(site_log_has(&site, "has not stopped yet: SIGTERM"), 1);
}
END_TEST

static const struct {
	const char *name;
	int code;
} twice[] = {{"rude", 0}, {"deaf", 1}};

START_TEST(test_a_second_signal_shortens_the_grace)
{
	start_live("stopGrace: 60s\nkillGrace: 300ms\n", twice[_i].name);
	int64_t before_ns = clock_monotonic_ns();

	kill_worker(site.pid, SIGTERM);
	WAIT_FOR(site_is(&site, twice[_i].name, "draining"));
	for (int i = 0; i < 30; i++) { /* whatever it goes on saying of itself */
		ck_assert(site_is(&site, twice[_i].name, "draining"));
		pause_ms(5);
	}
	ck_assert_int_eq(site_stop(&site, SIGTERM), twice[_i].code);
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, 3 * NSEC_PER_SEC);
}
END_TEST

/* While the configuration is read for the first time there is nothing to stop, and nothing to wait for. */
START_TEST(test_a_signal_at_once)
{
	start("", "a");
	WAIT_FOR(access(site.log, F_OK) == 0);
	pause_ms(_i);
	kill_worker(site.pid, SIGTERM);
	int64_t before_ns = clock_monotonic_ns();
	while (!is_gone(site.pid) && clock_monotonic_ns() - before_ns < 5 * NSEC_PER_SEC)
		pause_ms(5);
	ck_assert(is_gone(site.pid));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("supervisor");
	TCase *deaths = tcase_create("deaths"), *hangs = tcase_create("hangs");
	TCase *lies = tcase_create("lies"), *stops = tcase_create("stops");
	TCase *const cases[] = {deaths, hangs, lies, stops};
	SRunner *runner = srunner_create(suite);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		tcase_add_checked_fixture(cases[i], NULL, teardown);
		tcase_set_timeout(cases[i], 120);
		suite_add_tcase(suite, cases[i]);
	}
	tcase_add_test(deaths, test_a_killed_worker_comes_back);
	tcase_add_test(deaths, test_five_deaths_at_once_are_all_noticed);
	tcase_add_test(deaths, test_who_dies_at_once_waits_longer_each_time);
	tcase_add_test(deaths, test_a_forged_life_does_not_clear_the_count);
	tcase_add_test(deaths, test_an_invalid_configuration_is_shown_and_tried_at_a_reload);
	tcase_add_test(deaths, test_a_failed_spawn_is_tried_again);
	tcase_add_test(deaths, test_workers_end_with_a_killed_supervisor);
	tcase_add_test(deaths, test_workers_that_hang_end_with_a_killed_supervisor);
	tcase_add_test(deaths, test_a_worker_inherits_little);
	tcase_add_test(deaths, test_orphans_are_reaped);
	tcase_add_test(hangs, test_a_stopped_worker_is_replaced_after_three_periods);
	tcase_add_test(hangs, test_a_hanging_worker_that_ignores_sigabrt_is_named_and_killed);
	tcase_add_test(hangs, test_a_slow_start_is_no_hang);
	tcase_add_test(hangs, test_a_supervisor_that_was_away_kills_nobody);
	tcase_add_test(lies, test_nonsense_harms_only_the_view_of_itself);
	tcase_add_test(lies, test_a_hostile_worker_is_ended_and_nobody_else);
	tcase_add_test(lies, test_a_scribbled_scoreboard_harms_only_the_view_of_itself);
	tcase_add_test(lies, test_a_flood_costs_the_supervisor_little);
	tcase_add_test(lies, test_state_is_read_from_the_scoreboard);
	tcase_add_loop_test(stops, test_each_signal_stops_quickly, 0, 3);
	tcase_add_test(stops, test_a_signal_to_all_is_the_same);
	tcase_add_test(stops, test_a_deaf_worker_is_killed_and_the_exit_code_says_so);
	tcase_add_test(stops, test_sigterm_after_the_grace_is_a_clean_stop);
	tcase_add_loop_test(stops, test_a_second_signal_shortens_the_grace, 0, 2);
	tcase_add_loop_test(stops, test_a_signal_at_once, 0, 10);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
