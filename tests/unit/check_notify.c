/* SPDX-License-Identifier: Apache-2.0 */
/* What the service manager hears, on a socket of the test's own; who must not ping (E195); nothing is handed on (E197). */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "supervisor/notify.h"

static struct loop *loop;
static struct notify *notify;
static int fd = -1;
static char directory[64], path[96];
static unsigned warnings;

static void
count_line(enum log_level level, const char *line, void *data)
{
	(void)line;
	(void)data;
	warnings += level <= LOG_LEVEL_WARN;
}

static void
clear(void)
{
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

static void
setup(void)
{
	clear();
	warnings = 0;
	log_open(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_capture(count_line, NULL);
	(void)snprintf(directory, sizeof(directory), "/tmp/check_notify.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/notify", directory);
	loop = loop_new(false);
}

static void
teardown(void)
{
	notify_free(notify);
	notify = NULL;
	loop_free(loop);
	if (fd >= 0)
		(void)close(fd);
	fd = -1;
	(void)unlink(path);
	(void)rmdir(directory);
	log_capture(NULL, NULL);
	clear();
}

/* The service manager's socket: in the file system, or abstract under the same name. */
static void
listen_at(bool abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char name[sizeof(path)];
	socklen_t length;

	(void)snprintf(name, sizeof(name), "%s", path);
	if (abstract)
		name[0] = '@';
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
	if (abstract)
		address.sun_path[0] = '\0';
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + !abstract);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, length), 0);
	(void)setenv("NOTIFY_SOCKET", name, 1);
}

/* The next datagram, "" when there is none. */
static const char *
heard(void)
{
	static char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

START_TEST(test_lines_arrive)
{
	listen_at(_i == 1);
	notify = notify_new(loop);
	ck_assert_str_eq(heard(), "");
	notify_send(notify, "READY=1\nSTATUS=2 of 2 workers live");
	ck_assert_str_eq(heard(), "READY=1\nSTATUS=2 of 2 workers live");
	ck_assert_str_eq(heard(), "");
	ck_assert_uint_eq(warnings, 0);
	ck_assert(!getenv("NOTIFY_SOCKET"));
}
END_TEST

/* Whoever listens may come and go: the same path serves again, and what is lost meanwhile is no trouble. */
START_TEST(test_a_socket_that_went_and_came)
{
	char name[sizeof(path)];

	listen_at(false);
	(void)snprintf(name, sizeof(name), "%s", getenv("NOTIFY_SOCKET"));
	notify = notify_new(loop);
	(void)close(fd);
	notify_send(notify, "STATUS=lost");
	(void)unlink(path);
	notify_send(notify, "STATUS=lost too");
	listen_at(false);
	notify_send(notify, "STATUS=back");
	ck_assert_str_eq(heard(), "STATUS=back");
}
END_TEST

/* A service manager that does not read must not hold us up. */
START_TEST(test_a_full_socket_does_not_block)
{
	int64_t before_ns = clock_monotonic_ns();

	listen_at(false);
	notify = notify_new(loop);
	for (int i = 0; i < 100000; i++)
		notify_send(notify, "STATUS=again");
	ck_assert_int_lt(clock_monotonic_ns() - before_ns, 10 * NSEC_PER_SEC);
	ck_assert_str_eq(heard(), "STATUS=again");
}
END_TEST

static const struct {
	const char *address; /* NULL: not set */
	unsigned warnings;
} silent[] = {
	{NULL, 0},
	{"", 0},
	{"@", 1},
	{"/", 1},
	{"relative", 1},
	{"vsock:2:1234", 1},
	{"too long", 1},
};

START_TEST(test_nobody_is_told)
{
	char too_long[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	const char *address = silent[_i].address;

	memset(too_long, 'x', sizeof(too_long));
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	if (address)
		(void)setenv(
			"NOTIFY_SOCKET", strcmp(address, "too long") == 0 ? too_long : address, 1);
	(void)setenv("WATCHDOG_USEC", "1000000", 1);
	notify = notify_new(loop);
	notify_send(notify, "READY=1");
	ck_assert_int_eq(notify_ping_ns(notify), 0);
	ck_assert_uint_eq(warnings, silent[_i].warnings);
	ck_assert(!getenv("NOTIFY_SOCKET") && !getenv("WATCHDOG_USEC"));
}
END_TEST

/* The longest path that fits, its NUL included, is used. */
START_TEST(test_the_longest_path)
{
	size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(name, 'x', most);
	name[most] = '\0';
	memcpy(name, "@/check_notify", 14);
	memcpy(address.sun_path, name, most);
	address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + most)),
		0);
	(void)setenv("NOTIFY_SOCKET", name, 1);
	notify = notify_new(loop);
	notify_send(notify, "READY=1");
	ck_assert_str_eq(heard(), "READY=1");
}
END_TEST

enum { NO_PID, OUR_PID, OTHER_PID, BAD_PID };
static const struct {
	const char *usec;
	int pid;
	int64_t ping_ns;
} watchdogs[] = {
	{"3000000", NO_PID, 1500 * NSEC_PER_MSEC},
	{"3000000", OUR_PID, 1500 * NSEC_PER_MSEC},
	{"3000000", OTHER_PID, 0},
	{"3000000", BAD_PID, 0},
	{"500001", OUR_PID, 250000500},
	{"1", OUR_PID, NSEC_PER_MSEC},
	{"0", OUR_PID, 0},
	{"", OUR_PID, 0},
	{"-5", OUR_PID, 0},
	{" 5000000", OUR_PID, 0},
	{"5s", OUR_PID, 0},
	{"99999999999999999999", OUR_PID, 0},
	{NULL, OUR_PID, 0},
};

START_TEST(test_whom_the_watchdog_watches)
{
	char pid[32] = "12x";

	listen_at(false);
	if (watchdogs[_i].usec)
		(void)setenv("WATCHDOG_USEC", watchdogs[_i].usec, 1);
	if (watchdogs[_i].pid == OUR_PID || watchdogs[_i].pid == OTHER_PID)
		(void)snprintf(
			pid, sizeof(pid), "%d", (int)getpid() + (watchdogs[_i].pid == OTHER_PID));
	if (watchdogs[_i].pid != NO_PID)
		(void)setenv("WATCHDOG_PID", pid, 1);
	notify = notify_new(loop);
	ck_assert_int_eq(notify_ping_ns(notify), watchdogs[_i].ping_ns);
	ck_assert_str_eq(heard(), watchdogs[_i].ping_ns ? "WATCHDOG=1" : "");
	ck_assert(!getenv("WATCHDOG_USEC") && !getenv("WATCHDOG_PID"));
}
END_TEST

static void
stop_loop(void *data)
{
	loop_stop(data);
}

START_TEST(test_pings_come_from_the_loop)
{
	struct loop_timer *end = loop_timer_new(loop, stop_loop, loop);
	int pings = 0;

	listen_at(false);
	(void)setenv("WATCHDOG_USEC", "40000", 1);
	notify = notify_new(loop);
	loop_timer_set(end, 300 * NSEC_PER_MSEC);
	loop_run(loop);
	while (strcmp(heard(), "WATCHDOG=1") == 0)
		pings++;
	/* One at once, then every 20 ms; a machine that is busy makes some late. */
	ck_assert_int_ge(pings, 3);
	ck_assert_int_le(pings, 17);
	loop_timer_free(end);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof(*(table))))

int
main(void)
{
	Suite *suite = suite_create("notify");
	TCase *sending = tcase_create("sending"), *watchdog = tcase_create("watchdog");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(sending, setup, teardown);
	tcase_add_loop_test(sending, test_lines_arrive, 0, 2);
	tcase_add_test(sending, test_a_socket_that_went_and_came);
	tcase_add_test(sending, test_a_full_socket_does_not_block);
	tcase_add_loop_test(sending, test_nobody_is_told, 0, COUNT(silent));
	tcase_add_test(sending, test_the_longest_path);
	tcase_add_checked_fixture(watchdog, setup, teardown);
	tcase_add_loop_test(watchdog, test_whom_the_watchdog_watches, 0, COUNT(watchdogs));
	tcase_add_test(watchdog, test_pings_come_from_the_loop);
	suite_add_tcase(suite, sending);
	suite_add_tcase(suite, watchdog);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
