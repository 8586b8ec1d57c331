/* SPDX-License-Identifier: Apache-2.0 */
/* What a whole supervisor tells the service manager, in the order in which it happens. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/supervisor_fixture.h"

static struct site site;
static int fd = -1;
static char last[700]; /* the latest message that was read */

static void
listen_(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", site.notify);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
}

static void
start(const char *top, const char *names)
{
	site_open(&site, top, names);
	listen_();
	site_start(&site);
}

static void
teardown(void)
{
	site_close(&site);
	(void)close(fd);
}

/* Reads one message; pings are read over. */
static bool
next(void)
{
	ssize_t n = recv(fd, last, sizeof(last) - 1, 0);

	if (n < 0)
		return false;
	last[n] = '\0';
	return strcmp(last, "WATCHDOG=1") != 0;
}

/* Reads up to the first message that begins so and has the words. */
static bool
heard(const char *begin, const char *words)
{
	while (next())
		if (strncmp(last, begin, strlen(begin)) == 0 && strstr(last, words))
			return true;
	return false;
}

START_TEST(test_ready_comes_with_the_workers)
{
	start("", "a b");
	WAIT_FOR(next());
	/* A worker may be live by then, or not. */
	ck_assert_int_eq(strncmp(last, "READY=1\nSTATUS=", 15), 0);
	ck_assert_ptr_nonnull(strstr(last, " of 2 workers live"));
	ck_assert_int_gt(site_pid(&site, "a"), 0);
	ck_assert_int_gt(site_pid(&site, "b"), 0);
	if (!strstr(last, "=2 of 2"))
		WAIT_FOR(heard("STATUS=", "=2 of 2 workers live"));
	ck_assert_int_eq(kill(site_pid(&site, "a"), SIGKILL), 0);
	WAIT_FOR(heard("STATUS=", "=1 of 2 workers live"));
	WAIT_FOR(heard("STATUS=", "=2 of 2 workers live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
	ck_assert(heard("STOPPING=1\nEXTEND_TIMEOUT_USEC=", "STATUS=stopping, "));
}
END_TEST

START_TEST(test_a_bad_configuration_is_never_ready)
{
	start("nonsense: 1\n", "a");
	ck_assert_int_eq(site_wait(&site, 15000), 78);
	ck_assert(!next());
}
END_TEST

/* RELOADING, then READY whatever came of it; the status says what, until the next time. */
START_TEST(test_a_reload_ends_ready)
{
	int code;

	start("", "a");
	WAIT_FOR(heard("STATUS=", "1 of 1 worker live"));
	site_write_main(&site, "nonsense: 1\n", "a");
	free(site_ask(&site, RECORD_RELOAD, &code));
	ck_assert_int_eq(code, 78);
	ck_assert(heard("RELOADING=1\nMONOTONIC_USEC=", "STATUS="));
	ck_assert(next());
	ck_assert_ptr_nonnull(strstr(last, "READY=1\nSTATUS=1 of 1 worker live; reload failed: "));
	ck_assert_ptr_nonnull(strstr(last, "nonsense"));
	site_write_main(&site, "", "a b");
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(heard("RELOADING=1\n", ""));
	WAIT_FOR(heard("READY=1\n", "of 2 workers live; reloaded: 1 added, 0 changed"));
	WAIT_FOR(heard("STATUS=", "=2 of 2 workers live; reloaded: "));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* A service manager that is not there for a while (it executes itself anew, say) still hears that we are ready, and what is true by then. */
START_TEST(test_what_is_not_taken_is_sent_again)
{
	site_open(&site, "", "a");
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	listen_();
	WAIT_FOR(heard("READY=1\nSTATUS=1 of 1 worker live", ""));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* Three by name, the rest as a number; those on their way to live are in no trouble. */
START_TEST(test_the_status_names_who_is_in_trouble)
{
	start("", "a invalid1 invalid2 invalid3 invalid4 invalid5");
	/* In whatever order they get there, with READY or after it. */
	WAIT_FOR(next() && strstr(last, "STATUS=1 of 6 workers live (invalid") &&
		 strstr(last, ": config-invalid, and 2 more in trouble)"));
	site_write_main(&site, "", "a invalid3");
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(next() &&
		 strstr(last, "STATUS=1 of 2 workers live (invalid3: config-invalid); reloaded: "));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("service");
	TCase *told = tcase_create("told");
	SRunner *runner = srunner_create(suite);

	tcase_set_timeout(told, 60);
	tcase_add_checked_fixture(told, NULL, teardown);
	tcase_add_test(told, test_ready_comes_with_the_workers);
	tcase_add_test(told, test_a_bad_configuration_is_never_ready);
	tcase_add_test(told, test_a_reload_ends_ready);
	tcase_add_test(told, test_what_is_not_taken_is_sent_again);
	tcase_add_test(told, test_the_status_names_who_is_in_trouble);
	suite_add_tcase(suite, told);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
