/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: each kind of watcher, freeing from callbacks, and a forked child that leaves the loop it inherited (E179). */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/loop/loop.h"

#define MS NSEC_PER_MSEC

static struct loop *loop;
static int fds[2];
static struct loop_timer *limit; /* a test that hangs fails by this */
static int calls;

static void
too_late(void *data)
{
	(void)data;
	ck_abort_msg("nothing happened for 10 s");
}

static void
start(void)
{
	loop = loop_new(true);
	limit = loop_timer_new(loop, too_late, NULL);
	loop_timer_set(limit, 10000 * MS);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	calls = 0;
}

static void
finish(void)
{
	loop_timer_free(limit);
	loop_free(loop);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void
count_and_stop(void *data)
{
	calls++;
	loop_stop(data ? data : loop);
}

static struct loop_io *io;
static int seen;

static void
on_event(void *data, int events)
{
	char byte;

	seen = events;
	if (events & LOOP_READ)
		ck_assert_int_eq(read(*(int *)data, &byte, 1), 1);
	loop_stop(loop);
}

START_TEST(io_watchers)
{
	io = loop_io_new(loop, on_event, &fds[0]);
	loop_io_set(io, fds[0], LOOP_READ);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	loop_run(loop);
	ck_assert_int_eq(seen, LOOP_READ);
	/* The same watcher for another descriptor and direction. */
	loop_io_set(io, fds[1], LOOP_WRITE);
	loop_run(loop);
	ck_assert_int_eq(seen, LOOP_WRITE);
	/* Off: only the timer comes. */
	seen = 0;
	loop_io_set(io, fds[1], 0);
	struct loop_timer *timer = loop_timer_new(loop, count_and_stop, NULL);
	loop_timer_set(timer, 5 * MS);
	loop_run(loop);
	ck_assert_int_eq(seen, 0);
	ck_assert_int_eq(calls, 1);
	/* On again, after it was set twice to the same. */
	loop_io_set(io, fds[1], LOOP_WRITE);
	loop_io_set(io, fds[1], LOOP_WRITE);
	loop_run(loop);
	ck_assert_int_eq(seen, LOOP_WRITE);
	loop_timer_free(timer);
	loop_io_free(io);
}
END_TEST

START_TEST(timers_are_never_early)
{
	struct loop_timer *timer = loop_timer_new(loop, count_and_stop, NULL);
	int64_t before;

	/* The loop's own idea of now is old: it last looked before this. */
	for (before = clock_monotonic_ns(); clock_monotonic_ns() - before < 30 * MS;)
		;
	before = clock_monotonic_ns();
	loop_timer_set(timer, 20 * MS);
	ck_assert(loop_timer_active(timer));
	loop_run(loop);
	ck_assert_int_ge(clock_monotonic_ns() - before, 20 * MS);
	ck_assert(!loop_timer_active(timer));
	loop_timer_free(timer);
}
END_TEST

static int again_left;

static void
again(void *data)
{
	calls++;
	if (--again_left > 0)
		loop_timer_set(*(struct loop_timer **)data, 0);
	else
		loop_stop(loop);
}

START_TEST(timers_again_changed_and_cleared)
{
	struct loop_timer *timer, *other;

	other = loop_timer_new(loop, too_late, NULL);
	timer = loop_timer_new(loop, again, &timer);
	again_left = 3;
	loop_timer_set(timer, 9000 * MS);
	loop_timer_set(timer, -1);
	loop_timer_set(other, 0);
	loop_timer_clear(other);
	ck_assert(!loop_timer_active(other));
	loop_run(loop);
	ck_assert_int_eq(calls, 3);
	loop_timer_free(timer);
	loop_timer_free(other);
	loop_timer_free(NULL);
}
END_TEST

START_TEST(stop_before_the_run_counts)
{
	loop_stop(loop);
	loop_run(loop);
	/* And only once. */
	struct loop_timer *timer = loop_timer_new(loop, count_and_stop, NULL);
	loop_timer_set(timer, 1 * MS);
	loop_run(loop);
	ck_assert_int_eq(calls, 1);
	loop_timer_free(timer);
}
END_TEST

/* Without a watcher the run must wait: another process ends the waiting. */
START_TEST(a_run_waits_without_watchers)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct loop *own;
		(void)signal(SIGALRM, SIG_DFL);
		(void)alarm(1);
		loop_abandon(loop);
		own = loop_new(false);
		loop_run(own);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}
END_TEST

START_TEST(signals)
{
	struct loop_signal *usr1 = loop_signal_new(loop, SIGUSR1, count_and_stop, NULL);
	struct loop_signal *also = loop_signal_new(loop, SIGUSR1, count_and_stop, NULL);

	ck_assert_int_eq(raise(SIGUSR1), 0);
	loop_run(loop);
	ck_assert_int_eq(calls, 2);
	loop_signal_free(also);
	ck_assert_int_eq(raise(SIGUSR1), 0);
	loop_run(loop);
	ck_assert_int_eq(calls, 3);
	loop_signal_free(usr1);
	loop_signal_free(NULL);
}
END_TEST

#define CHILDREN 5

static struct {
	pid_t pid;
	int code;
} ended[CHILDREN];

static void
on_any_end(void *data, pid_t pid, int status)
{
	(void)data;
	ck_assert(WIFEXITED(status));
	ck_assert_int_lt(calls, CHILDREN);
	ended[calls].pid = pid;
	ended[calls].code = WEXITSTATUS(status);
	if (++calls == CHILDREN)
		loop_stop(loop);
}

static pid_t
fork_child(int code)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(code);
	return pid;
}

/* Signals of several ends become one: all must be seen. Nobody told the loop of these pids. */
START_TEST(ends_at_once_are_all_seen)
{
	struct loop_child *any = loop_child_new(loop, 0, on_any_end, NULL);
	sigset_t chld, before;
	pid_t pids[CHILDREN];

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, &before);
	for (int i = 0; i < CHILDREN; i++) {
		siginfo_t info;
		pids[i] = fork_child(i + 10);
		ck_assert_int_eq(waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT), 0);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	loop_run(loop);
	for (int i = 0; i < CHILDREN; i++)
		for (int k = 0; k < CHILDREN; k++)
			if (ended[k].pid == pids[i])
				ck_assert_int_eq(ended[k].code, i + 10);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	loop_child_free(any);
}
END_TEST

static struct loop_child *one;

static void
on_one_end(void *data, pid_t pid, int status)
{
	ck_assert_int_eq(pid, *(pid_t *)data);
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	calls++;
	loop_child_free(one);
	one = NULL;
	loop_stop(loop);
}

START_TEST(one_end_by_pid)
{
	pid_t pid = fork_child(3), other = fork_child(4);

	one = loop_child_new(loop, pid, on_one_end, &pid);
	ck_assert_int_ne(other, pid);
	loop_run(loop);
	ck_assert_int_eq(calls, 1);
	/* The other has no watcher and is reaped all the same. */
	struct loop_timer *timer = loop_timer_new(loop, count_and_stop, NULL);
	for (int i = 0; i < 1000 && kill(other, 0) == 0; i++) {
		loop_timer_set(timer, 5 * MS);
		loop_run(loop);
	}
	ck_assert_int_eq(kill(other, 0), -1);
	loop_timer_free(timer);
}
END_TEST

static struct loop_timer *victims[2];

/* Both are due in the same turn: whichever comes first frees both. */
static void
free_both(void *data)
{
	(void)data;
	calls++;
	loop_timer_free(victims[0]);
	loop_timer_free(victims[1]);
	loop_stop(loop);
}

START_TEST(freeing_in_a_callback)
{
	for (int i = 0; i < 2; i++) {
		victims[i] = loop_timer_new(loop, free_both, NULL);
		loop_timer_set(victims[i], 1 * MS);
	}
	/* So that both are due. */
	for (int64_t before = clock_monotonic_ns(); clock_monotonic_ns() - before < 5 * MS;)
		;
	loop_run(loop);
	ck_assert_int_eq(calls, 1);
}
END_TEST

static void
on_prepare(void *data)
{
	(void)data;
	if (++calls == 3)
		loop_stop(loop);
}

static void
nothing(void *data)
{
	loop_timer_set(*(struct loop_timer **)data, 1 * MS);
}

START_TEST(prepares)
{
	struct loop_prepare *prepare = loop_prepare_new(loop, on_prepare, NULL);
	struct loop_timer *timer = loop_timer_new(loop, nothing, &timer);

	loop_timer_set(timer, 1 * MS);
	loop_run(loop);
	ck_assert_int_eq(calls, 3);
	loop_prepare_free(prepare);
	loop_prepare_free(NULL);
	loop_timer_free(timer);
}
END_TEST

/* Descriptors of this process that are epoll instances. */
static int
count_epolls(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		char path[300], target[64] = "";
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) > 0)
			n += strcmp(target, "anon_inode:[eventpoll]") == 0;
	}
	if (dir)
		(void)closedir(dir);
	return n;
}

static struct loop_signal *parent_term;
static struct loop_io *parent_io;
static struct loop_child *parent_child;
static struct loop_timer *parent_timer;

#define NEED(condition)                                                                       \
	do                                                                                    \
		if (!(condition)) {                                                           \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                             \
		}                                                                             \
	while (0)

static void
stop_child_loop(void *data)
{
	calls += 100;
	loop_stop(data);
}

static void
grandchild_ended(void *data, pid_t pid, int status)
{
	(void)pid;
	NEED(WEXITSTATUS(status) == 9);
	stop_child_loop(data);
}

/* Runs in the forked child. With a default loop of its own it can also have children. */
static void
run_own_loop(bool main)
{
	int epolls = count_epolls();
	struct loop *own;
	struct loop_signal *term;

	loop_abandon(loop);
	NEED(count_epolls() == epolls - 1);
	own = loop_new(main);
	NEED(count_epolls() == epolls);
	term = loop_signal_new(own, SIGTERM, stop_child_loop, own);
	(void)raise(SIGTERM);
	loop_run(own);
	NEED(calls == 100);
	if (main) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(9);
		struct loop_child *child = loop_child_new(own, pid, grandchild_ended, own);
		loop_run(own);
		NEED(calls == 200);
		loop_child_free(child);
	}
	/* Whoever owns them may still free what was inherited. */
	loop_io_free(parent_io);
	loop_signal_free(parent_term);
	loop_signal_free(term);
	loop_free(own);
	_exit(0);
}

static void
on_child_end(void *data, pid_t pid, int status)
{
	(void)data;
	(void)pid;
	ck_assert_int_eq(status, 0);
	loop_stop(loop);
}

START_TEST(a_child_abandons_the_loop)
{
	pid_t pid;

	parent_term = loop_signal_new(loop, SIGTERM, count_and_stop, NULL);
	parent_io = loop_io_new(loop, on_event, &fds[0]);
	parent_timer = loop_timer_new(loop, count_and_stop, NULL);
	loop_io_set(parent_io, fds[0], LOOP_READ);
	loop_timer_set(parent_timer, 1 * MS);
	loop_run(loop);
	calls = 0;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		run_own_loop(_i == 1);
	parent_child = loop_child_new(loop, pid, on_child_end, NULL);
	loop_run(loop);
	/* The child's signal was its own, and what it stopped goes on here. */
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(raise(SIGTERM), 0);
	loop_run(loop);
	ck_assert_int_eq(calls, 1);
	seen = 0;
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	loop_run(loop);
	ck_assert_int_eq(seen, LOOP_READ);
	loop_child_free(parent_child);
	loop_timer_free(parent_timer);
	loop_io_free(parent_io);
	loop_signal_free(parent_term);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("loop");
	TCase *tcase = tcase_create("loop");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, start, finish);
	tcase_add_test(tcase, io_watchers);
	tcase_add_test(tcase, timers_are_never_early);
	tcase_add_test(tcase, timers_again_changed_and_cleared);
	tcase_add_test(tcase, stop_before_the_run_counts);
	tcase_add_test(tcase, a_run_waits_without_watchers);
	tcase_add_test(tcase, signals);
	tcase_add_test(tcase, ends_at_once_are_all_seen);
	tcase_add_test(tcase, one_end_by_pid);
	tcase_add_test(tcase, freeing_in_a_callback);
	tcase_add_test(tcase, prepares);
	tcase_add_loop_test(tcase, a_child_abandons_the_loop, 0, 2);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
