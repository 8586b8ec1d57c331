/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's life as a table, and the delays between its lives (E167, E169, E171): no process, no clock. */
#include "config.h"

#include <check.h>
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
			bool process = state == LIFE_RUNNING || state == LIFE_STOPPING ||
				       state == LIFE_ENDING;
			if (action == LIFE_DO_SPAWN)
				ck_assert(!process);
			if (action == LIFE_DO_ASK || action == LIFE_DO_ABORT ||
				action == LIFE_DO_PRESS)
				ck_assert(process);
			/* Nothing but a stop ends in stopped. */
			if (next == LIFE_STOPPED && state != LIFE_STOPPED)
				ck_assert(event == LIFE_EVENT_STOP || state == LIFE_STOPPING);
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

static int64_t
die(struct restart *r, int64_t now_ns, int64_t live_ns, uint64_t random)
{
	restart_note(r, now_ns, now_ns, live_ns, "killed by SIGKILL");
	return restart_delay(r, RESTART_DEATH, random);
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

	restart_note(&r, 0, 0, 0, "could not be forked");
	assert_near(restart_delay(&r, RESTART_NOT_FORKED, MIDDLE), SEC); /* never at once */
	restart_note(&r, 0, 0, 0, "could not be forked");
	assert_near(restart_delay(&r, RESTART_NOT_FORKED, MIDDLE), 2 * SEC);
	for (int i = 0; i < 10; i++)
		restart_note(&r, 0, 0, 0, "could not be forked");
	assert_near(restart_delay(&r, RESTART_NOT_FORKED, MIDDLE), 60 * SEC);
	assert_near(restart_delay(&r, RESTART_CONFIG, MIDDLE), 300 * SEC);
	ck_assert_str_eq(restart_reason(RESTART_DEATH, false), "");
	ck_assert(strstr(restart_reason(RESTART_DEATH, true), "crashloop"));
	ck_assert(strstr(restart_reason(RESTART_CONFIG, false), "reload"));
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
	char text[200];

	for (int i = 0; i < 20; i++) {
		memset(text, 'a' + i, sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		restart_note(&r, i, 100 + i, 0, text);
	}
	const struct death *latest = &r.deaths[(r.total - 1) % DEATHS_KEPT];
	ck_assert_int_eq(latest->when_ns, 19);
	ck_assert_int_eq(latest->wall_ns, 119);
	ck_assert_int_eq(latest->text[0], 'a' + 19);
	ck_assert_uint_eq(strlen(latest->text), sizeof(latest->text) - 1);
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
	tcase_add_test(policy, test_crashloop_is_five_deaths_in_300_s);
	tcase_add_test(policy, test_the_latest_deaths_are_kept);
	suite_add_tcase(suite, table);
	suite_add_tcase(suite, policy);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
