/* SPDX-License-Identifier: Apache-2.0 */
/* Reload: what changed is replaced and nothing else, a bad file changes nothing of what runs, and everyone who asked is answered. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/log.h"
#include "tests/unit/supervisor_fixture.h"

#define GOOD_A   "version: 1\ncontrollers:\n- {name: extra, resource: things.v1.example.com}\n"
#define BAD_A    "version: 1\ncontrollers:\n- {name: extra, resource: 7}\n"
#define BROKEN_A "version: 1\ncontrollers: [{name: extra\n"

static struct site site;

static void
start(const char *top, const char *names)
{
	site_open(&site, top, names);
	site_start(&site);
}

static void
teardown(void)
{
	site_close(&site);
}

/* Reloads, checks the exit code and that the answer has the words. */
static void
reload(int want_code, const char *words)
{
	int code;
	char *text = site_ask(&site, RECORD_RELOAD, &code);

	if (code != want_code || !strstr(text, words))
		ck_abort_msg("code %d, not %d, or not '%s' in: %s", code, want_code, words, text);
	free(text);
}

static int
status_of(const char *path)
{
	int status;

	free(site_get(&site, path, &status));
	return status;
}

static bool
page_has(const char *path, const char *words)
{
	int status;
	char *page = site_get(&site, path, &status);
	bool has = strstr(page, words) != NULL;

	free(page);
	return has;
}

START_TEST(test_a_file_more_and_a_file_less)
{
	start("", "a b");
	WAIT_FOR(site_is(&site, "a", "live") && site_is(&site, "b", "live"));
	pid_t a = site_pid(&site, "a"), b = site_pid(&site, "b");

	site_write(&site, "a.yaml", GOOD_A);
	reload(0, "added extra");
	WAIT_FOR(site_is(&site, "extra", "live"));
	pid_t extra = site_pid(&site, "extra");
	site_remove(&site, "a.yaml");
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(is_gone(extra));
	WAIT_FOR(site_pid(&site, "extra") == 0 && !site_is(&site, "extra", "stopped"));
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(site_pid(&site, "b"), b);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* The old one has ended before the new one is forked: two would fight. */
START_TEST(test_only_what_changed_is_replaced)
{
	start("stopGrace: 500ms\nkillGrace: 200ms\n", "a deaf");
	WAIT_FOR(site_is(&site, "a", "live") && site_is(&site, "deaf", "live"));
	pid_t a = site_pid(&site, "a"), deaf = site_pid(&site, "deaf");

	site_write_main(&site, "stopGrace: 500ms\nkillGrace: 200ms\n", "a");
	site_write(&site, "a.yaml",
		"version: 1\ncontrollers:\n- {name: deaf, resource: things.v1.example.com, resync: "
		"9h}\n");
	reload(0, "changed deaf");
	ck_assert_int_eq(site_pid(&site, "deaf"), deaf);
	WAIT_FOR(site_pid(&site, "deaf") != deaf && site_is(&site, "deaf", "live"));
	ck_assert(is_gone(deaf));
	ck_assert_int_eq(site_pid(&site, "a"), a);
	reload(0, "0 changed");
	/* It had to be killed, but not by the stop; now it has to be again. */
	ck_assert_int_eq(site_stop(&site, SIGTERM), 1);
}
END_TEST

/* There and back while it still stops: it runs once more, as it did. */
START_TEST(test_changes_while_it_stops)
{
	start("stopGrace: 600ms\n", "rude");
	WAIT_FOR(site_is(&site, "rude", "live"));
	pid_t pid = site_pid(&site, "rude");

	site_write_main(&site, "stopGrace: 600ms\ndefaults: {resync: 9h}\n", "rude");
	reload(0, "changed rude");
	site_write_main(&site, "stopGrace: 600ms\n", "other");
	reload(0, "removed rude");
	site_write_main(&site, "stopGrace: 600ms\n", "rude other");
	reload(0, "changed rude");
	WAIT_FOR(site_pid(&site, "rude") != pid && site_is(&site, "rude", "live"));
	ck_assert_int_eq((int)site_number(&site, "rude", "generation"), 2);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_a_bad_main_file_changes_nothing)
{
	start("", "a");
	WAIT_FOR(site_is(&site, "a", "live"));
	pid_t a = site_pid(&site, "a");

	site_write_main(&site, "nonsense: 1\nheartbeet: 2s\n", "a b");
	reload(78, "main.yaml:6:1: heartbeet: ");
	ck_assert(page_has("/metrics", "\noperatord_config_last_reload_successful 0\n"));
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(status_of("/readyz"), 200);
	ck_assert(unlink(site.config) == 0);
	reload(78, "main.yaml: ");
	ck_assert_int_eq(site_pid(&site, "a"), a);
	site_write_main(&site, "", "a");
	reload(0, "1 unchanged");
	ck_assert(page_has("/metrics", "\noperatord_config_last_reload_successful 1\n"));
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* Bad in its values, in its syntax so that no name can be read, and gone by its mode: each leaves its controllers as they run. */
static const char *const bad_files[] = {BAD_A, BROKEN_A};

START_TEST(test_a_bad_dropped_file_leaves_its_own_as_they_run)
{
	site_open(&site, "", "a");
	site_write(&site, "a.yaml", GOOD_A);
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live") && site_is(&site, "extra", "live"));
	pid_t extra = site_pid(&site, "extra");

	site_write(&site, "a.yaml", bad_files[_i]);
	reload(78, "conf.d/a.yaml:3:");
	ck_assert_int_eq(site_pid(&site, "extra"), extra);
	ck_assert(site_is(&site, "extra", "live"));
	ck_assert_int_eq(status_of("/readyz"), 200);
	ck_assert(page_has("/metrics", "/conf.d/a.yaml\"} 0\n"));
	/* Again, now that the file is known as a bad one. */
	reload(78, "conf.d/a.yaml:3:");
	ck_assert_int_eq(site_pid(&site, "extra"), extra);
	site_write(&site, "a.yaml", GOOD_A);
	reload(0, "2 unchanged");
	ck_assert_int_eq(site_pid(&site, "extra"), extra);
	ck_assert(page_has("/metrics", "/conf.d/a.yaml\"} 1\n"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_a_bad_dropped_file_at_the_start)
{
	site_open(&site, "", "a");
	site_write(&site, "a.yaml", bad_files[_i]);
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	/* By the controller's name, or, where that can't be read, the file's. */
	ck_assert_int_eq(status_of("/readyz"), 503);
	ck_assert(page_has("/readyz", _i ? "/conf.d/a.yaml" : "extra"));
	ck_assert(page_has("/readyz", "config-invalid"));
	ck_assert(_i || site_cause_has(&site, "extra", "conf.d/a.yaml:3:"));
	/* The error is an error; what was done all the same is none. */
	ck_assert_uint_ge(site_log_has(&site, " error configuration: "), 1);
	ck_assert_uint_eq(site_log_has(&site, " error configuration: "),
		site_log_has(&site, "conf.d/a.yaml:"));
	ck_assert_uint_eq(site_log_has(&site, " info  configuration: 1 added"), 1);
	site_write(&site, "a.yaml", GOOD_A);
	reload(0, "extra");
	WAIT_FOR(site_is(&site, "extra", "live"));
	WAIT_FOR(status_of("/readyz") == 200);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static const struct {
	const char *top, *file;
} refused[] = {{"strictStart: true\n", BAD_A}, {"strictStart: true\n", BROKEN_A},
	{"nonsense: 1\n", GOOD_A}};

START_TEST(test_starts_that_are_refused)
{
	site_open(&site, refused[_i].top, "a");
	site_write(&site, "a.yaml", refused[_i].file);
	site_start(&site);
	ck_assert_int_eq(site_wait(&site, 15000), 78);
	ck_assert_uint_eq(site_log_has(&site, "nothing was started"), 1);
	ck_assert_uint_ge(site_log_has(&site, ".yaml:"), 1);
	ck_assert_uint_eq(site_log_has(&site, "worker a"), 0);
}
END_TEST

START_TEST(test_what_needs_a_restart_is_said)
{
	start("instance: one\n", "a");
	WAIT_FOR(site_is(&site, "a", "live"));
	pid_t a = site_pid(&site, "a");

	site_write_main(&site, "instance: two\n", "a b");
	reload(1, "instance: two needs a restart");
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(site_pid(&site, "b"), 0);
	site_write_main(&site, "instance: one\nhttp: {listen: \"127.0.0.1:1\"}\n", "a b");
	reload(0, "http.listen: 127.0.0.1:1 needs a restart");
	WAIT_FOR(site_is(&site, "b", "live"));
	reload(0, "http.listen: 127.0.0.1:1 needs a restart");
	ck_assert_int_eq(status_of("/livez"), 200);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_the_log_level_reaches_who_runs)
{
	start("", "a");
	WAIT_FOR(site_is(&site, "a", "live"));
	pid_t a = site_pid(&site, "a");
	struct buf text = BUF_INIT;

	ck_assert_int_eq(buf_read_file(&text, site.config, 1 << 20), 0);
	memcpy(strstr(text.data, "debug"), "error", 5);
	FILE *file = fopen(site.config, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text.data, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	buf_free(&text);
	reload(0, "1 unchanged");
	WAIT_FOR(site_cause_has(&site, "a", "error"));
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static void
ask_level(int32_t level, int expected_code)
{
	int code;

	free(site_ask_value(&site, RECORD_LOG_LEVEL, level, &code));
	ck_assert_int_eq(code, expected_code);
}

/* By the control socket and by SIGUSR2; a reload leaves it, and who starts later has it too. */
START_TEST(test_the_log_level_can_be_asked_for)
{
	start("", "a");
	WAIT_FOR(site_is(&site, "a", "live"));
	pid_t a = site_pid(&site, "a");

	ask_level(LOG_LEVEL_WARN, 0);
	WAIT_FOR(site_cause_has(&site, "a", "warn"));
	reload(0, "1 unchanged");
	ck_assert_uint_eq(site_log_has(&site, "1 unchanged"), 0);
	ask_level(-1, 0);
	WAIT_FOR(site_cause_has(&site, "a", "debug"));
	ask_level(LOG_LEVEL_MAX, 1);
	ask_level(-2, 1);
	ask_level(LOG_LEVEL_ERROR, 0);
	WAIT_FOR(site_cause_has(&site, "a", "error"));
	ck_assert_int_eq(kill(site.pid, SIGUSR2), 0);
	WAIT_FOR(site_cause_has(&site, "a", "debug"));
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* --- who asks --- */

static int
ask(void)
{
	struct record record;
	int fd = site_connect(site.control);

	ck_assert_int_ge(fd, 0);
	record_set(&record, RECORD_RELOAD, 0, 0, NULL);
	ck_assert_int_eq(record_write(fd, &record), 0);
	return fd;
}

/* The code of the end record; -1: the connection ended without one. */
static int
read_code(int fd)
{
	struct record_reader reader = {0};
	struct record record;
	int r;

	while ((r = record_read(&reader, fd, &record)) == 1)
		if (record.type == RECORD_END)
			break;
	(void)close(fd);
	return r == 1 ? record.value : -1;
}

/* Asked while one runs, one more follows for all of them; who left is not missed. */
START_TEST(test_many_who_ask_at_once_are_all_answered)
{
	int fds[6];

	start("", "a");
	WAIT_FOR(site_is(&site, "a", "live"));
	for (int i = 0; i < 6; i++)
		fds[i] = ask();
	(void)close(fds[0]);
	(void)close(fds[5]);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	for (int i = 1; i < 5; i++)
		ck_assert_int_eq(read_code(fds[i]), 0);
	ck_assert(site_is(&site, "a", "live"));
	ck_assert_uint_le(site_log_has(&site, "reload: reading"), 8);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_a_stop_during_a_reload_answers_it)
{
	start("stopGrace: 1s\n", "rude");
	WAIT_FOR(site_is(&site, "rude", "live"));
	/* Both are there when it wakes up: the request is read, its checker is forked, then it stops, or the other way round. */
	ck_assert_int_eq(kill(site.pid, SIGSTOP), 0);
	int fds[2] = {ask(), ask()};
	ck_assert_int_eq(kill(site.pid, SIGTERM), 0);
	ck_assert_int_eq(kill(site.pid, SIGCONT), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(read_code(fds[i]), 1);
	ck_assert_int_eq(site_wait(&site, 15000), 0);
}
END_TEST

/* SIGHUP before there is anything to reload: it is done when there is. */
START_TEST(test_a_hangup_at_once)
{
	start("", "a");
	WAIT_FOR(access(site.control, F_OK) == 0 || site_log_has(&site, "started") > 0);
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(site_is(&site, "a", "live"));
	WAIT_FOR(site_log_has(&site, "reload: 0 added, 0 changed, 0 removed, 1 unchanged") == 1);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("reload");
	TCase *files = tcase_create("files"), *asking = tcase_create("asking");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(files, NULL, teardown);
	tcase_add_checked_fixture(asking, NULL, teardown);
	tcase_set_timeout(files, 120);
	tcase_set_timeout(asking, 120);
	tcase_add_test(files, test_a_file_more_and_a_file_less);
	tcase_add_test(files, test_only_what_changed_is_replaced);
	tcase_add_test(files, test_changes_while_it_stops);
	tcase_add_test(files, test_a_bad_main_file_changes_nothing);
	tcase_add_loop_test(files, test_a_bad_dropped_file_leaves_its_own_as_they_run, 0, 2);
	tcase_add_loop_test(files, test_a_bad_dropped_file_at_the_start, 0, 2);
	tcase_add_loop_test(files, test_starts_that_are_refused, 0, 3);
	tcase_add_test(files, test_what_needs_a_restart_is_said);
	tcase_add_test(files, test_the_log_level_reaches_who_runs);
	tcase_add_test(files, test_the_log_level_can_be_asked_for);
	tcase_add_test(asking, test_many_who_ask_at_once_are_all_answered);
	tcase_add_test(asking, test_a_stop_during_a_reload_answers_it);
	tcase_add_test(asking, test_a_hangup_at_once);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, asking);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
