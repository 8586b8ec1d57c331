/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a supervisor that has workers, but no process of its own: what they show of what workers write. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "supervisor/core.h"
#include "supervisor/pages.h"

#define NAME "quo\"te"

static struct loop *loop;
static struct supervisor sup;
static struct sup_worker *worker;
static struct scoreboard *board; /* the worker's own view of it */

static void
on_stopped(void *data, struct sup_worker *stopped)
{
	(void)data;
	(void)stopped;
}

/* As if it had been forked: the pid is ours, so that it exists. */
static void
give_birth(void)
{
	worker->generation++;
	worker->fd_scoreboard = scoreboard_create(worker->generation, &worker->board);
	ck_assert_int_ge(worker->fd_scoreboard, 0);
	board = scoreboard_attach(worker->fd_scoreboard);
	ck_assert_ptr_nonnull(board);
	worker->pid = getpid();
	worker->life = LIFE_RUNNING;
}

static void
bury(void)
{
	sup_worker_look(worker);
	sup_worker_keep_counters(worker);
	scoreboard_unmap(worker->board);
	scoreboard_unmap(board);
	worker->board = NULL;
	(void)close(worker->fd_scoreboard);
	worker->fd_scoreboard = -1;
	worker->pid = 0;
}

static void
setup(void)
{
	loop = loop_new(true);
	sup = (struct supervisor){.loop = loop};
	sup.shared = (struct sup_shared){
		.loop = loop, .heartbeat_ns = NSEC_PER_SEC, .stopped = on_stopped, .data = &sup};
	worker = sup_worker_new(&sup.shared, NAME, NULL, 0, "");
	worker->watch_silence_ns = 70 * NSEC_PER_SEC;
	supervisor_add(&sup, worker);
	give_birth();
}

static void
teardown(void)
{
	if (worker->pid)
		bury();
	sup_worker_free(worker);
	loop_free(loop);
}

static char *
page(void)
{
	struct buf text = BUF_INIT;

	metrics_page(&sup, &text);
	ck_assert(!text.failed);
	return buf_detach(&text, NULL);
}

/* The value behind the only line that begins with these words, -1: there is none. */
static double
value(const char *series)
{
	char *text = page(), line[256];
	const char *at;
	double found = -1;

	(void)snprintf(line, sizeof(line), "\n%s ", series);
	at = strstr(text, line);
	if (at) {
		found = strtod(at + strlen(line), NULL);
		ck_assert_ptr_null(strstr(at + 1, line));
	}
	free(text);
	return found;
}

#define SERIES(name)   name "{controller=\"quo\\\"te\"}"
#define SLOT(id, i)    board->slots[metric_offset(id) + (i)]
#define LISTS          SERIES("operatord_lists_total")
#define STORE          SERIES("operatord_store_bytes")
#define RECONCILE_TIME "controller_runtime_reconcile_time_seconds"

START_TEST(counters_outlive_a_worker)
{
	SLOT(M_LISTS_TOTAL, 0) = 7;
	SLOT(M_STORE_BYTES, 0) = 500;
	ck_assert_double_eq(value(LISTS), 7);
	ck_assert_double_eq(value(STORE), 500);
	SLOT(M_LISTS_TOTAL, 0) = 9; /* after the last look, before the death */
	bury();
	ck_assert_double_eq(value(LISTS), 9);
	ck_assert_double_eq(value(STORE), -1);
	give_birth();
	ck_assert_double_eq(value(LISTS), 9);
	ck_assert_double_eq(value(STORE), 0);
	SLOT(M_LISTS_TOTAL, 0) = 1;
	ck_assert_double_eq(value(LISTS), 10);
}
END_TEST

/* It writes less than it wrote, and what can't be added up. */
START_TEST(counters_never_fall)
{
	double last = 0;

	SLOT(M_LISTS_TOTAL, 0) = 7;
	ck_assert_double_eq(value(LISTS), 7);
	SLOT(M_LISTS_TOTAL, 0) = 3;
	ck_assert_double_eq(value(LISTS), 7);
	bury();
	give_birth();
	ck_assert_double_eq(value(LISTS), 7);
	SLOT(M_LISTS_TOTAL, 0) = UINT64_MAX;
	ck_assert_double_ge(value(LISTS), 1.8e19);
	SLOT(M_LISTS_TOTAL, 0) = 0;
	ck_assert_double_ge(value(LISTS), 1.8e19);
	for (int i = 0; i < 50; i++) {
		uint64_t random = clock_random();

		for (unsigned slot = 0; slot < METRIC_SLOTS_MAX; slot++)
			board->slots[slot] = random *= 6364136223846793005U;
		double sum = value(SERIES(RECONCILE_TIME "_count"));
		ck_assert_double_ge(sum, last);
		last = sum;
	}
}
END_TEST

/* Killed within a change of texts: what was seen before stays. */
START_TEST(a_board_that_never_holds_still_keeps_what_was_seen)
{
	SLOT(M_LISTS_TOTAL, 0) = 7;
	ck_assert_double_eq(value(LISTS), 7);
	board->sequence |= 1;
	SLOT(M_LISTS_TOTAL, 0) = 8;
	ck_assert_double_eq(value(LISTS), 7);
	bury();
	ck_assert_double_eq(value(LISTS), 7);
}
END_TEST

START_TEST(cpu_time_goes_on_across_lives)
{
	double first = value(SERIES("operatord_worker_cpu_seconds_total"));

	ck_assert_double_gt(first, 0);
	bury();
	ck_assert_double_ge(value(SERIES("operatord_worker_cpu_seconds_total")), first);
	give_birth();
	ck_assert_double_ge(value(SERIES("operatord_worker_cpu_seconds_total")), 2 * first);
}
END_TEST

static unsigned
health(enum health_page which, const char *name, char **ret_text)
{
	struct buf text = BUF_INIT;
	unsigned status = health_page(&sup, which, name, false, false, &text);

	if (ret_text)
		*ret_text = buf_detach(&text, NULL);
	else
		buf_free(&text);
	return status;
}

static void
set(enum worker_state state, int64_t beat_ago_ns, int64_t watch_ago_ns)
{
	int64_t now_ns = clock_monotonic_ns();

	board->state = state;
	board->heartbeat_ns = now_ns - beat_ago_ns;
	board->watch_seen_ns = watch_ago_ns < 0 ? 0 : now_ns - watch_ago_ns;
	worker->last_beat_ns = 0; /* else it only grows */
}

static const struct {
	enum worker_state state;
	int64_t beat, watch; /* seconds ago */
	unsigned healthy, ready;
} cases[] = {
	{WORKER_LIVE, 0, 0, 200, 200},
	{WORKER_LIVE, 3, 0, 200, 200},
	{WORKER_LIVE, 5, 0, 503, 200},          /* beyond the remedy */
	{WORKER_LIVE, 0, 100, 200, 200},        /* the watch is being opened anew */
	{WORKER_LIVE, 0, 150, 503, 200},        /* twice the bound */
	{WORKER_UNREACHABLE, 0, 150, 200, 503}, /* the server's trouble, as far as one can see */
	{WORKER_LISTING, 0, -1, 200, 503},
	{WORKER_UNAUTHORIZED, 0, -1, 200, 503},
};

START_TEST(health_follows_heartbeat_and_watch)
{
	set(cases[_i].state, cases[_i].beat * NSEC_PER_SEC, cases[_i].watch * NSEC_PER_SEC);
	ck_assert_uint_eq(health(HEALTH_LIVE, NULL, NULL), 200);
	ck_assert_uint_eq(health(HEALTH_HEALTHY, NULL, NULL), cases[_i].healthy);
	ck_assert_uint_eq(health(HEALTH_HEALTHY, NAME, NULL), cases[_i].healthy);
	ck_assert_uint_eq(health(HEALTH_READY, NULL, NULL), cases[_i].ready);
	ck_assert_uint_eq(health(HEALTH_READY, NAME, NULL), cases[_i].ready);
}
END_TEST

/* Out of reach alone, while the same server answers another. */
START_TEST(a_stale_watch_counts_while_others_are_answered)
{
	struct sup_worker *other = sup_worker_new(&sup.shared, "other", NULL, 0, "");
	char *text;

	other->watch_silence_ns = 70 * NSEC_PER_SEC;
	other->pid = getpid();
	other->copy.watch_seen_ns = clock_monotonic_ns();
	supervisor_add(&sup, other);
	set(WORKER_UNREACHABLE, 0, 150 * NSEC_PER_SEC);
	ck_assert_uint_eq(health(HEALTH_HEALTHY, NULL, &text), 503);
	ck_assert_ptr_nonnull(strstr(text, "[-] " NAME ": unreachable (its watch is stale)"));
	ck_assert_ptr_null(strstr(text, "other"));
	free(text);
	other->pid = 0;
	ck_assert_uint_eq(health(HEALTH_HEALTHY, NULL, NULL), 200);
	sup.workers = worker;
	worker->next = NULL;
	sup_worker_free(other);
}
END_TEST

START_TEST(one_asked_for_by_name)
{
	struct sup_file bad = {.path = (char *)(uintptr_t) "/etc/x.yaml", .valid = false};

	set(WORKER_LISTING, 0, 0);
	worker->required = false;
	ck_assert_uint_eq(health(HEALTH_READY, NULL, NULL), 200);
	ck_assert_uint_eq(health(HEALTH_READY, NAME, NULL), 503);
	set(WORKER_LIVE, 0, 0);
	sup.files = &bad;
	sup.n_files = 1;
	ck_assert_uint_eq(health(HEALTH_READY, NULL, NULL), 503);
	ck_assert_uint_eq(health(HEALTH_READY, NAME, NULL), 200);
	ck_assert_uint_eq(health(HEALTH_READY, "none", NULL), 404);
	sup.stopping = true;
	ck_assert_uint_eq(health(HEALTH_READY, NAME, NULL), 503);
	ck_assert_uint_eq(health(HEALTH_LIVE, NULL, NULL), 200);
}
END_TEST

/* E199 */
START_TEST(a_path_with_quotes_is_escaped)
{
	struct sup_file file = {
		.path = (char *)(uintptr_t) "/etc/a\"b\\c\nd\xff.yaml", .valid = true};

	sup.files = &file;
	sup.n_files = 1;
	ck_assert_double_eq(value("operatord_config_file_valid{file=\"/etc/"
				  "a\\\"b\\\\c\\nd\xef\xbf\xbd.yaml\"}"),
		1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("pages");
	TCase *tcase = tcase_create("pages");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	suite_add_tcase(suite, tcase);
	tcase_add_test(tcase, counters_outlive_a_worker);
	tcase_add_test(tcase, counters_never_fall);
	tcase_add_test(tcase, a_board_that_never_holds_still_keeps_what_was_seen);
	tcase_add_test(tcase, cpu_time_goes_on_across_lives);
	tcase_add_loop_test(tcase, health_follows_heartbeat_and_watch, 0,
		(int)(sizeof(cases) / sizeof(*cases)));
	tcase_add_test(tcase, a_stale_watch_counts_while_others_are_answered);
	tcase_add_test(tcase, one_asked_for_by_name);
	tcase_add_test(tcase, a_path_with_quotes_is_escaped);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
