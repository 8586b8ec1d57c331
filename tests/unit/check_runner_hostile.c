/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of programs that mean ill, or whose authors did not think: each is answered, in time, and nothing of it is left, neither a
 * process nor a zombie nor a descriptor nor memory.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/runner_fixture.h"

static void
assert_all_gone(const char *pids)
{
	char *end;

	for (const char *at = pids; *at != '\0'; at = end + 1) {
		long pid = strtol(at, &end, 10);
		ck_assert_int_eq(*end, '\n');
		ck_assert_msg(is_gone((pid_t)pid), "process %ld of \"%s\" is left", pid, pids);
	}
}

/*
 * Each writes the pids of what it starts. timeout: whether only the timeout ends it (1 s here, then 200 ms of grace). Time is asserted
 * with a wide margin over these sums: a slow machine is no failure, a hang is.
 */
static const struct {
	const char *script;
	bool timeout;
	const char *text; /* when it is not by the timeout */
	bool leftovers;
} programs[] = {
	/* Ignores SIGTERM, and so do its children. */
	{"trap '' TERM; echo $$ >&3; while :; do sleep 1; done", true, NULL, false},
	/* Sleeps for ever. */
	{"echo $$ >&3; exec sleep 300", true, NULL, false},
	/* Closes its descriptors, which must not be taken for its end. */
	{"echo $$ >&3; exec 0<&- 1>&- 2>&- 3>&-; exec sleep 300", true, NULL, false},
	/* Stops itself. */
	{"echo $$ >&3; kill -STOP $$", true, NULL, false},
	/* E141: ends, and leaves a child that holds all its pipes. */
	{"sleep 300 & echo $! >&3; exit 0", false, "exited with code 0", true},
	{"sleep 300 & echo $! >&3; exit 4", false, "exited with code 4", true},
	/* E143: in a session of its own, while the program waits for it or has gone. */
	{"echo $$ >&3; setsid sh -c 'echo $$ >&3; exec sleep 300'; :", true, NULL, true},
	{"x=$(setsid sh -c 'echo $$; exec >&-; exec sleep 300' &); echo $x >&3", false,
		"exited with code 0", true},
	/* A daemon as in the book: twice forked, own session, no descriptors. */
	{"P='trap \"\" TERM HUP INT; echo $$; exec 0<&- 1>&- 2>&- 3>&-; while :; do sleep 1; "
	 "done'; export P; "
	 "x=$(setsid sh -c 'sh -c \"$P\" &' &); echo $x >&3",
		false, "exited with code 0", true},
	/* A tree of sessions, deeper than one sweep. */
	{"P='n=$((n - 1)); [ $n -eq 0 ] || setsid sh -c \"$P\" & echo $$ >&3; sleep 300'; n=6; "
	 "export P n; eval \"$P\"",
		true, NULL, true},
	/* Half an answer, then killed. */
	{"printf 12; echo $$ >&3; kill -9 $$", false, "killed by SIGKILL", false},
};

START_TEST(ends_with_all_its_processes)
{
	int64_t before = clock_monotonic_ns();
	struct bench bench;
	struct ended ended;

	bench_init(&bench, programs[_i].script);
	bench.command.timeout_ns = NSEC_PER_SEC;
	bench_start(&bench);
	(void)bench_ask(&bench, &ended, NULL, 0);
	bench_wait(&bench, NULL);
	if (programs[_i].timeout)
		ck_assert_msg(ended.result.outcome == RUNNER_TIMED_OUT, "%s: %s",
			programs[_i].script, ended.text);
	else
		ck_assert_str_eq(ended.text, programs[_i].text);
	ck_assert_uint_gt(ended.answer.length, 0);
	/* Whether SIGTERM or SIGKILL ends what is in its group is chance. */
	if (programs[_i].leftovers || !programs[_i].timeout)
		ck_assert_msg((ended.result.leftovers > 0) == programs[_i].leftovers,
			"%s: %u left over", programs[_i].script, ended.result.leftovers);
	ck_assert_uint_eq(ended.result.survivors, 0);
	ck_assert(clock_monotonic_ns() - before < 10 * NSEC_PER_SEC);
	assert_all_gone(ended.answer.data);
	ck_assert_int_eq(children_of(runner_pid(bench.runner)), 0);
	ended_free(&ended);
	bench_free(&bench);
}
END_TEST

/* --- floods --- */

START_TEST(ends_one_that_answers_without_end)
{
	struct bench bench;
	struct ended ended;

	bench_init(&bench, "echo $$ >&2; exec yes");
	bench.command.answer = RUNNER_ANSWER_STDOUT;
	bench.command.answer_limit = 100000;
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.text, "answered more than 100000 bytes");
	ck_assert_int_eq(ended.result.outcome, RUNNER_OVER_LIMIT);
	ck_assert_uint_le(ended.answer.length, 100000);
	assert_all_gone(ended.log.data);
	ended_free(&ended);
}
END_TEST

/* One byte over the limit that comes with its end is over the limit too. */
START_TEST(takes_an_answer_up_to_its_limit)
{
	struct bench bench;
	struct ended ended;

	bench_init(&bench, "printf 12345 >&3");
	bench.command.answer_limit = 5;
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.text, "exited with code 0");
	ck_assert_str_eq(ended.answer.data, "12345");
	ended_free(&ended);
	bench_init(&bench, "printf 123456 >&3");
	bench.command.answer_limit = 5;
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.text, "answered more than 5 bytes");
	ended_free(&ended);
}
END_TEST

/* A log without end is bounded, and costs its reader little. */
START_TEST(bounds_a_log_without_end)
{
	struct timespec before, after;
	struct bench bench;
	struct ended ended;
	int64_t busy_ns;

	/* Everything takes longer. */
	if (under_valgrind())
		return;
	bench_init(&bench, "yes & yes >&2");
	bench.command.timeout_ns = NSEC_PER_SEC;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	bench_run(&bench, &ended);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	ck_assert_int_eq(ended.result.outcome, RUNNER_TIMED_OUT);
	ck_assert_uint_le(ended.log.length, RUNNER_LOG_MAX + RUNNER_LINE_MAX);
	ck_assert_uint_gt(ended.result.log_dropped, 0);
	ck_assert_str_eq(ended.last_line, "y");
	busy_ns = (after.tv_sec - before.tv_sec) * NSEC_PER_SEC + after.tv_nsec - before.tv_nsec;
	ck_assert_msg(busy_ns < NSEC_PER_SEC / 2, "%lld ms of work in 1200 ms",
		(long long)(busy_ns / NSEC_PER_MSEC));
	ended_free(&ended);
}
END_TEST

/* A program that logs a lot is slowed down, and neither stuck nor killed. */
START_TEST(lets_a_talkative_one_end)
{
	struct bench bench;
	struct ended ended;

	bench_init(&bench, "head -c 2000000 /dev/zero | tr '\\0' '\\n'; echo done >&3");
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.text, "exited with code 0");
	ck_assert_str_eq(ended.answer.data, "done\n");
	ck_assert_uint_eq(ended.result.log_dropped, 2000000 - RUNNER_LOG_MAX);
	ended_free(&ended);
}
END_TEST

/* --- a runaway --- */

/* A process whose child goes on in a session of its own while the parent ends, for ever: no pid lives longer than some 100 us. */
static void __attribute__((noreturn)) run_away(void)
{
	for (;;) {
		pid_t pid = fork();
		if (pid > 0)
			_exit(0);
		(void)setsid();
	}
}

START_TEST(catches_a_runaway)
{
	static const char *const argv[] = {"/proc/self/exe", "runaway", NULL};
	struct bench bench;
	struct ended ended;

	/* Whose own program /proc/self/exe is. */
	if (under_valgrind())
		return;
	bench_init(&bench, "");
	bench.command.argv = argv;
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.text, "exited with code 0");
	ck_assert_uint_eq(ended.result.survivors, 0);
	ended_free(&ended);
}
END_TEST

/* --- processes above it --- */

/* The keeper is the program's parent. The runner ends what it kept, answers, and goes on. */
START_TEST(survives_a_killed_keeper)
{
	struct bench bench;
	struct ended ended, next;

	bench_init(&bench, "[ \"$(cat)\" ] && exit 6; setsid sleep 300 & echo $! >&3; echo $$ >&3; "
			   "kill -9 $PPID; exec sleep 300");
	bench_start(&bench);
	(void)bench_ask(&bench, &ended, NULL, 0);
	bench_wait(&bench, NULL);
	ck_assert_int_eq(ended.result.outcome, RUNNER_LOST);
	assert_all_gone(ended.answer.data);
	(void)bench_ask(&bench, &next, "x", 1);
	bench_wait(&bench, NULL);
	ck_assert_str_eq(next.text, "exited with code 6");
	ck_assert(!bench.lost);
	ended_free(&ended);
	ended_free(&next);
	bench_free(&bench);
}
END_TEST

START_TEST(tells_the_loss_of_the_runner)
{
	struct bench bench;
	struct ended running, waiting;
	pid_t pid;

	bench_init(
		&bench, "setsid sleep 300 & echo $! >&3; echo $$ >&3; echo up >&2; exec sleep 300");
	bench.options.concurrency = 1;
	bench_start(&bench);
	(void)bench_ask(&bench, &running, NULL, 0);
	(void)bench_ask(&bench, &waiting, NULL, 0);
	while (running.log.length == 0)
		bench_turn(&bench);
	pid = runner_pid(bench.runner);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	bench_wait(&bench, &bench.lost);
	ck_assert_int_eq(running.result.outcome, RUNNER_LOST);
	ck_assert_int_eq(waiting.result.outcome, RUNNER_LOST);
	ck_assert_uint_eq(running.calls + waiting.calls, 2);
	assert_all_gone(running.answer.data);
	ck_assert_int_eq(
		runner_start(bench.runner, &(struct runner_request){0}, NULL, NULL), -ESHUTDOWN);
	bench_free(&bench);
	/* Reaped. */
	ck_assert(is_gone(pid));
	ended_free(&running);
	ended_free(&waiting);
}
END_TEST

/* Someone stopped it: its runs are answered nevertheless. */
START_TEST(gives_up_a_runner_that_hangs)
{
	struct bench bench;
	struct ended ended;
	pid_t pid;

	bench_init(&bench, "exit 0");
	bench.command.timeout_ns = 100 * NSEC_PER_MSEC;
	bench_start(&bench);
	pid = runner_pid(bench.runner);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	(void)bench_ask(&bench, &ended, NULL, 0);
	bench_wait(&bench, &bench.lost);
	ck_assert_int_eq(ended.result.outcome, RUNNER_LOST);
	/* It sees what has come to pass as soon as it goes on, and leaves. */
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	bench_free(&bench);
	ended_free(&ended);
}
END_TEST

/* In a child: starts a program that writes its pids to the pipe, and lives on. */
static void __attribute__((noreturn)) be_a_worker(int fd, bool leave)
{
	struct bench bench;
	struct ended ended;

	bench_init(
		&bench, "setsid sleep 300 & echo $! >&3; echo $$ >&3; echo up >&2; exec sleep 300");
	bench_start(&bench);
	(void)bench_ask(&bench, &ended, NULL, 0);
	while (ended.log.length == 0)
		bench_turn(&bench);
	(void)dprintf(fd, "%d\n", (int)runner_pid(bench.runner));
	/* The answer so far is not public: the programs are found as the runner's descendants, which must all go with it. */
	if (leave) {
		bench_free(&bench);
		ended_free(&ended);
		_exit(0);
	}
	for (;;)
		(void)pause();
}

static size_t
descendants(pid_t pid, pid_t *out, size_t n, size_t max)
{
	char path[64];
	FILE *file;
	int child;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return n;
	while (n < max && fscanf(file, "%d", &child) == 1) {
		out[n++] = child;
		n = descendants(child, out, n, max);
	}
	(void)fclose(file);
	return n;
}

/* E177: with its worker go the runner and all its programs, however the worker goes. */
START_TEST(dies_with_its_worker)
{
	int ends[2], status;
	char line[32] = "";
	pid_t worker, runner, all[16];
	size_t n;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	worker = fork();
	if (worker == 0)
		be_a_worker(ends[1], false);
	ck_assert_int_gt(worker, 0);
	ck_assert_int_gt(read(ends[0], line, sizeof(line) - 1), 0);
	runner = (pid_t)strtol(line, NULL, 10);
	/* The keeper, the program and its runaway child. */
	n = descendants(runner, all, 0, 16);
	ck_assert_uint_eq(n, 3);
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	ck_assert_int_eq(waitpid(worker, &status, 0), worker);
	for (size_t i = 0; i < n; i++)
		ck_assert(is_gone(all[i]));
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

START_TEST(freeing_it_kills_what_runs)
{
	int ends[2], status;
	pid_t worker;
	int64_t before = clock_monotonic_ns();

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	worker = fork();
	if (worker == 0)
		be_a_worker(ends[1], true);
	ck_assert_int_gt(worker, 0);
	ck_assert_int_eq(waitpid(worker, &status, 0), worker);
	ck_assert_int_eq(status, 0);
	ck_assert(clock_monotonic_ns() - before < 10 * NSEC_PER_SEC);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

/* --- many --- */

static unsigned
open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n;
}

static long
resident_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	while (kib < 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	(void)fclose(file);
	return kib;
}

static void
run_many(struct bench *bench, int n)
{
	struct ended ended;

	for (int i = 0; i < n; i++) {
		(void)bench_ask(bench, &ended, "input", 5);
		bench_wait(bench, NULL);
		ck_assert_str_eq(ended.text, "exited with code 0");
		ended_free(&ended);
	}
}

#ifdef __SANITIZE_ADDRESS__
#define GROWTH_KIB (8 << 10) /* the sanitizer keeps what is freed, for a while */
#else
#define GROWTH_KIB 64
#endif

/* E145, E187: runs leave nothing behind, their orphans included. */
START_TEST(stays_flat)
{
	struct bench bench;
	unsigned fds;
	long before, after;

	bench_init(&bench, "(sleep 0.001 &); cat >&3; echo line >&2");
	bench_start(&bench);
	run_many(&bench, 100);
	fds = open_fds();
	before = resident_kib(runner_pid(bench.runner));
	run_many(&bench, 400);
	after = resident_kib(runner_pid(bench.runner));
	ck_assert_uint_eq(open_fds(), fds);
	ck_assert_int_eq(children_of(runner_pid(bench.runner)), 0);
	ck_assert_msg(
		after - before <= GROWTH_KIB, "the runner grew from %ld to %ld KiB", before, after);
	bench_free(&bench);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("runner, hostile programs");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	if (argc > 1 && strcmp(argv[1], "runaway") == 0)
		run_away();
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(
		tcase, ends_with_all_its_processes, 0, (int)(sizeof(programs) / sizeof(*programs)));
	tcase_add_test(tcase, ends_one_that_answers_without_end);
	tcase_add_test(tcase, takes_an_answer_up_to_its_limit);
	tcase_add_test(tcase, bounds_a_log_without_end);
	tcase_add_test(tcase, lets_a_talkative_one_end);
	tcase_add_test(tcase, catches_a_runaway);
	tcase_add_test(tcase, survives_a_killed_keeper);
	tcase_add_test(tcase, tells_the_loss_of_the_runner);
	tcase_add_test(tcase, gives_up_a_runner_that_hangs);
	tcase_add_test(tcase, dies_with_its_worker);
	tcase_add_test(tcase, freeing_it_kills_what_runs);
	tcase_add_test(tcase, stays_flat);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
