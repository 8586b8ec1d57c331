/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's life as a table, and the delays between its lives (E167, E169, E171): no process, no clock. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "supervisor/restart.h"

#define SEC NSEC_PER_SEC

/* --- the table --- */

START_TEST(test_every_cell_leads_somewhere)
{
	for (int state = 0; state < LIFE_MAX; state++)
		for (int event = 0; event < LIFE_EVENT_MAX; event++) {
			enum life next = LIFE_MAX;
			enum life_action action =
				life_step((enum life)state, (enum life_event)event, &next);

			ck_assert_int_lt(next, LIFE_MAX);
			ck_assert_int_lt(action, LIFE_ACTION_MAX);
			/* A process is there exactly in these: who has one is never forked again, and who has none is never signalled. */
			bool process = state == LIFE_RUNNING || state == LIFE_REMOVING ||
				       state == LIFE_STOPPING || state == LIFE_ENDING;
			if (action == LIFE_DO_SPAWN)
				ck_assert(!process);
			if (action == LIFE_DO_ASK || action == LIFE_DO_REMOVE ||
				action == LIFE_DO_ABORT || action == LIFE_DO_PRESS)
				ck_assert(process);
			/* Nothing but a stop ends in stopped. */
			if (next == LIFE_STOPPED && state != LIFE_STOPPED)
				ck_assert(event == LIFE_EVENT_STOP || event == LIFE_EVENT_REMOVE ||
					  state == LIFE_STOPPING || state == LIFE_REMOVING);
			ck_assert_str_ne(life_name((enum life)state), "unknown");
		}
	ck_assert_str_eq(life_name(LIFE_MAX), "unknown");
}
END_TEST

static const struct {
	enum life state;
	enum life_event event;
	enum life_action action;
	enum life next;
} steps[] = {
	{LIFE_STOPPED, LIFE_EVENT_START, LIFE_DO_SPAWN, LIFE_RUNNING},
	{LIFE_RUNNING, LIFE_EVENT_REMOVE, LIFE_DO_REMOVE, LIFE_REMOVING},
	{LIFE_WAITING, LIFE_EVENT_REMOVE, LIFE_DO_CANCEL, LIFE_STOPPED},
	{LIFE_REMOVING, LIFE_EVENT_START, LIFE_DO_NOTHING, LIFE_REMOVING},
	{LIFE_REMOVING, LIFE_EVENT_REMOVE, LIFE_DO_NOTHING, LIFE_REMOVING},
	{LIFE_REMOVING, LIFE_EVENT_STOP, LIFE_DO_ASK, LIFE_STOPPING},
	{LIFE_REMOVING, LIFE_EVENT_LATE, LIFE_DO_ASK, LIFE_STOPPING},
	{LIFE_REMOVING, LIFE_EVENT_HUNG, LIFE_DO_PRESS, LIFE_STOPPING},
	{LIFE_REMOVING, LIFE_EVENT_DIED, LIFE_DO_FINISH, LIFE_STOPPED},
	{LIFE_STOPPING, LIFE_EVENT_REMOVE, LIFE_DO_NOTHING, LIFE_STOPPING},
	{LIFE_RUNNING, LIFE_EVENT_DIED, LIFE_DO_SCHEDULE, LIFE_WAITING},
	{LIFE_RUNNING, LIFE_EVENT_NOT_FORKED, LIFE_DO_SCHEDULE, LIFE_WAITING},
	{LIFE_WAITING, LIFE_EVENT_DUE, LIFE_DO_SPAWN, LIFE_RUNNING},
	{LIFE_WAITING, LIFE_EVENT_START, LIFE_DO_SPAWN, LIFE_RUNNING},
	{LIFE_WAITING, LIFE_EVENT_STOP, LIFE_DO_CANCEL, LIFE_STOPPED},
	{LIFE_RUNNING, LIFE_EVENT_HUNG, LIFE_DO_ABORT, LIFE_ENDING},
	{LIFE_ENDING, LIFE_EVENT_LATE, LIFE_DO_PRESS, LIFE_ENDING},
	{LIFE_ENDING, LIFE_EVENT_DIED, LIFE_DO_SCHEDULE, LIFE_WAITING},
	{LIFE_ENDING, LIFE_EVENT_STOP, LIFE_DO_PRESS, LIFE_STOPPING},
	{LIFE_RUNNING, LIFE_EVENT_STOP, LIFE_DO_ASK, LIFE_STOPPING},
	{LIFE_STOPPING, LIFE_EVENT_STOP, LIFE_DO_PRESS, LIFE_STOPPING},
	{LIFE_STOPPING, LIFE_EVENT_LATE, LIFE_DO_PRESS, LIFE_STOPPING},
	{LIFE_STOPPING, LIFE_EVENT_HUNG, LIFE_DO_NOTHING, LIFE_STOPPING},
	{LIFE_STOPPING, LIFE_EVENT_DIED, LIFE_DO_FINISH, LIFE_STOPPED},
	{LIFE_RUNNING, LIFE_EVENT_START, LIFE_DO_NOTHING, LIFE_RUNNING},
};

START_TEST(test_steps)
{
	enum life next;

	ck_assert_int_eq(life_step(steps[_i].state, steps[_i].event, &next), steps[_i].action);
	ck_assert_int_eq(next, steps[_i].next);
}
END_TEST

/* --- delays --- */

/* The middle of the jitter's range. */
#define MIDDLE (UINT64_C(1) << 63)

static void
note(struct restart *r, enum restart_cause cause, int64_t now_ns, int64_t live_ns)
{
	const struct death death = {
		.when_ns = now_ns, .wall_ns = now_ns, .cause = cause, .text = "killed by SIGKILL"};

	restart_note(r, &death, live_ns);
}

static int64_t
die(struct restart *r, int64_t now_ns, int64_t live_ns, uint64_t random)
{
	note(r, RESTART_CAUSE_KILLED, now_ns, live_ns);
	return restart_delay(r, random);
}

static void
assert_near(int64_t got_ns, int64_t want_ns)
{
	ck_assert_int_ge(got_ns, want_ns - NSEC_PER_MSEC);
	ck_assert_int_le(got_ns, want_ns + NSEC_PER_MSEC);
}

START_TEST(test_delays_grow_to_a_minute_and_never_end)
{
	static const int64_t want[] = {0, 1, 2, 4, 8, 16, 32, 60, 60, 60};
	struct restart r = {0};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_near(die(&r, (int64_t)i * SEC, 0, MIDDLE), want[i] * SEC);
	for (int i = 0; i < 1000; i++) {
		int64_t delay_ns = die(&r, i * SEC, 0, (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15));
		ck_assert_int_ge(delay_ns, 48 * SEC);
		ck_assert_int_le(delay_ns, 60 * SEC);
	}
}
END_TEST

START_TEST(test_jitter_is_a_fifth)
{
	struct restart low = {0}, high = {0};

	die(&low, 0, 0, 0);
	die(&high, 0, 0, 0);
	assert_near(die(&low, 0, 0, 0), 800 * NSEC_PER_MSEC);
	assert_near(die(&high, 0, 0, UINT64_MAX), 1200 * NSEC_PER_MSEC);
}
END_TEST

/* Counted from live, not from the fork; one second too few is too few. */
static const struct {
	int64_t live_s, want_s;
} lives[] = {{0, 8}, {119, 8}, {120, 0}, {86400, 0}};

START_TEST(test_a_long_life_clears_the_count)
{
	struct restart r = {0};

	for (int i = 0; i < 4; i++)
		die(&r, 0, 0, MIDDLE);
	assert_near(die(&r, 0, lives[_i].live_s * SEC, MIDDLE), lives[_i].want_s * SEC);
	ck_assert_uint_eq(r.total, 5);
}
END_TEST

START_TEST(test_classes_have_their_own_delays)
{
	struct restart r = {0};

	note(&r, RESTART_CAUSE_NOT_FORKED, 0, 0);
	assert_near(restart_delay(&r, MIDDLE), SEC); /* never at once */
	note(&r, RESTART_CAUSE_NOT_FORKED, 0, 0);
	assert_near(restart_delay(&r, MIDDLE), 2 * SEC);
	for (int i = 0; i < 10; i++)
		note(&r, RESTART_CAUSE_NOT_FORKED, 0, 0);
	assert_near(restart_delay(&r, MIDDLE), 60 * SEC);
	note(&r, RESTART_CAUSE_CONFIG, 0, 0);
	assert_near(restart_delay(&r, MIDDLE), 300 * SEC);
}
END_TEST

#define EXITED(code)  ((code) << 8)
#define KILLED(signo) (signo)

/* No code means "never again": 0 and 1 neither, and what says that it can't do its job is tried again, too. */
static const struct {
	int status;
	bool hung;
	enum restart_cause cause;
	const char *name;
	int64_t delay_s; /* after the first */
} ends[] = {
	{EXITED(0), false, RESTART_CAUSE_EXITED, "exited", 0},
	{EXITED(1), false, RESTART_CAUSE_EXITED, "exited", 0},
	{EXITED(2), false, RESTART_CAUSE_EXITED, "exited", 0},
	{EXITED(71), false, RESTART_CAUSE_EXITED, "exited", 0},
	{EXITED(12), false, RESTART_CAUSE_MEMORY, "out-of-memory", 0},
	{EXITED(77), false, RESTART_CAUSE_CONFIG, "config-invalid", 300},
	{EXITED(78), false, RESTART_CAUSE_CONFIG, "config-invalid", 300},
	{EXITED(255), false, RESTART_CAUSE_EXITED, "exited", 0},
	{KILLED(SIGSEGV), false, RESTART_CAUSE_KILLED, "killed", 0},
	{KILLED(SIGKILL), false, RESTART_CAUSE_KILLED, "killed", 0},
	{KILLED(SIGABRT), true, RESTART_CAUSE_HUNG, "hung", 0},
	{KILLED(SIGKILL), true, RESTART_CAUSE_HUNG, "hung", 0},
	{EXITED(78), true, RESTART_CAUSE_HUNG, "hung", 0},
};

START_TEST(test_each_end_has_its_cause)
{
	struct restart r = {0};

	ck_assert_int_eq(restart_cause_of(ends[_i].status, ends[_i].hung), ends[_i].cause);
	ck_assert_str_eq(restart_cause_name(ends[_i].cause), ends[_i].name);
	note(&r, ends[_i].cause, 0, 0);
	assert_near(restart_delay(&r, MIDDLE), ends[_i].delay_s * SEC);
	ck_assert_str_eq(restart_cause_name(RESTART_CAUSE_MAX), "unknown");
}
END_TEST

/* The line that announces a delay says what happened, how often, and what follows. */
static const struct {
	enum restart_cause cause;
	const char *death;
	unsigned before; /* deaths, a second apart */
	int64_t delay_ns;
	const char *text;
} lines[] = {
	{RESTART_CAUSE_KILLED, "killed by SIGSEGV", 1, 1200 * NSEC_PER_MSEC,
		"killed by SIGSEGV after 3.0 s (2nd death within 300 s): restarting in 1.2 s"},
	{RESTART_CAUSE_EXITED, "exited with code 1", 0, 0,
		"exited with code 1 after 3.0 s (1st death within 300 s): restarting at once"},
	{RESTART_CAUSE_HUNG, "hung, killed by SIGABRT", 2, 2 * SEC,
		"hung, killed by SIGABRT after 3.0 s (3rd death within 300 s): restarting in 2.0 "
		"s"},
	{RESTART_CAUSE_KILLED, "killed by SIGBUS", 10, 60 * SEC,
		"killed by SIGBUS after 3.0 s (11th death within 300 s, crashloop): restarting in "
		"60.0 s"},
	{RESTART_CAUSE_KILLED, "killed by SIGBUS", 40, 60 * SEC,
		"killed by SIGBUS after 3.0 s (16 or a later death within 300 s, crashloop): "
		"restarting in 60.0 s"},
	{RESTART_CAUSE_NOT_FORKED, "could not be forked: no pipe", 0, SEC,
		"could not be forked: no pipe (1st death within 300 s): restarting in 1.0 s"},
	{RESTART_CAUSE_CONFIG, "exited with code 78 (bad configuration)", 0, 300 * SEC,
		"exited with code 78 (bad configuration): its configuration or credentials can't "
		"be used; trying again "
		"in 300.0 s, or at the next reload"},
};

START_TEST(test_a_delay_is_told_with_its_reason)
{
	struct death death = {.cause = lines[_i].cause, .lifetime_ns = 3 * SEC};
	struct restart r = {0};
	char text[RESTART_TEXT_MAX];

	for (unsigned i = 0; i < lines[_i].before; i++)
		note(&r, RESTART_CAUSE_KILLED, i * SEC, 0);
	death.when_ns = lines[_i].before * SEC;
	memcpy(death.text, lines[_i].death, strlen(lines[_i].death));
	restart_note(&r, &death, 0);
	restart_text(&r, death.when_ns, lines[_i].delay_ns, text);
	ck_assert_str_eq(text, lines[_i].text);
}
END_TEST

/* --- crashloop --- */

START_TEST(test_crashloop_is_five_deaths_in_300_s)
{
	struct restart r = {0};

	for (int i = 0; i < 4; i++)
		die(&r, i * SEC, 0, 0);
	ck_assert(!restart_crashloop(&r, 4 * SEC));
	die(&r, 10 * SEC, 0, 0);
	ck_assert(restart_crashloop(&r, 10 * SEC));
	ck_assert(restart_crashloop(&r, 300 * SEC));
	ck_assert(!restart_crashloop(&r, 301 * SEC));
	/* More deaths than are kept. */
	for (int i = 0; i < 100; i++)
		die(&r, (1000 + 80 * i) * SEC, 0, 0);
	ck_assert(!restart_crashloop(&r, (1000 + 80 * 99) * SEC));
	for (int i = 0; i < 5; i++)
		die(&r, (20000 + i) * SEC, 0, 0);
	ck_assert(restart_crashloop(&r, 20005 * SEC));
}
END_TEST

START_TEST(test_the_latest_deaths_are_kept)
{
	struct restart r = {0};

	ck_assert_ptr_null(restart_death(&r, 0));
	for (int i = 0; i < 3 * DEATHS_KEPT; i++) {
		note(&r, RESTART_CAUSE_EXITED, i, 0);
		ck_assert_int_eq(restart_death(&r, 0)->when_ns, i);
		ck_assert((restart_death(&r, 1) == NULL) == (i == 0));
	}
	ck_assert_int_eq(restart_death(&r, DEATHS_KEPT - 1)->when_ns, 2 * DEATHS_KEPT);
	ck_assert_ptr_null(restart_death(&r, DEATHS_KEPT));
	ck_assert_uint_eq(r.total, 3 * DEATHS_KEPT);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("restart");
	TCase *table = tcase_create("table"), *policy = tcase_create("policy");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(table, test_every_cell_leads_somewhere);
	tcase_add_loop_test(table, test_steps, 0, (int)(sizeof(steps) / sizeof(*steps)));
	tcase_add_test(policy, test_delays_grow_to_a_minute_and_never_end);
	tcase_add_test(policy, test_jitter_is_a_fifth);
	tcase_add_loop_test(policy, test_a_long_life_clears_the_count, 0,
		(int)(sizeof(lives) / sizeof(*lives)));
	tcase_add_test(policy, test_classes_have_their_own_delays);
	tcase_add_loop_test(
		policy, test_each_end_has_its_cause, 0, (int)(sizeof(ends) / sizeof(*ends)));
	tcase_add_loop_test(policy, test_a_delay_is_told_with_its_reason, 0,
		(int)(sizeof(lines) / sizeof(*lines)));
	tcase_add_test(policy, test_crashloop_is_five_deaths_in_300_s);
	tcase_add_test(policy, test_the_latest_deaths_are_kept);
	suite_add_tcase(suite, table);
	suite_add_tcase(suite, policy);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
