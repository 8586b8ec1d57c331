/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a program that does nothing, one after the other and several at once, beside posix_spawn(3) and waitpid(2) in this process: the
 * time a run, and what is left of descriptors and memory behind them.
 * Usage: bench_runner [RUNS]
 */
#include "config.h"

#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/runner/runner.h"

static const char *const argv[] = {"/bin/true", NULL};

static struct bench {
	struct loop *loop;
	struct runner *runner;
	long left, pending, failed;
} bench;

static void start(void);

static void
on_done(void *data, const struct runner_result *result)
{
	(void)data;
	bench.failed += result->outcome != RUNNER_EXITED || result->code != 0;
	bench.pending--;
	if (bench.left > 0)
		start();
	else if (bench.pending == 0)
		loop_stop(bench.loop);
}

static void
start(void)
{
	const struct runner_request request = {.input = "{}", .input_length = 2, .done = on_done};
	struct error err;

	if (runner_start(bench.runner, &request, NULL, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	bench.left--;
	bench.pending++;
}

static double
run_many(long n, int at_once)
{
	int64_t before_ns = clock_monotonic_ns();

	bench.left = n;
	for (int i = 0; i < at_once; i++)
		start();
	loop_run(bench.loop);
	return (double)(clock_monotonic_ns() - before_ns) / 1e3 / (double)n;
}

static double
spawn_many(long n)
{
	int64_t before_ns = clock_monotonic_ns();

	for (long i = 0; i < n; i++) {
		pid_t pid;
		int status = 1;
		if (posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv,
			    environ) != 0 ||
			waitpid(pid, &status, 0) != pid || status != 0)
			bench.failed++;
	}
	return (double)(clock_monotonic_ns() - before_ns) / 1e3 / (double)n;
}

/* A line of /proc/PID/smaps_rollup in KiB; -1: not to be read. */
static long
memory_kib(pid_t pid, const char *key)
{
	char path[64], line[256];
	long kib = -1;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	while (file != NULL && kib < 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			kib = strtol(line + strlen(key), NULL, 10);
	if (file != NULL)
		(void)fclose(file);
	return kib;
}

static int
open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		(void)closedir(dir);
	return n;
}

int
main(int argc, char **arguments)
{
	const struct runner_command command = {.name = "true",
		.argv = argv,
		.answer = RUNNER_ANSWER_FD3,
		.answer_limit = 1 << 20,
		.timeout_ns = 10 * NSEC_PER_SEC};
	const struct runner_options options = {.commands = &command,
		.n_commands = 1,
		.concurrency = 4,
		.title = "bench_runner: runner"};
	long runs = argc > 1 ? strtol(arguments[1], NULL, 10) : 1000;
	struct error err;
	double base, one, four;
	long before, anonymous;
	int fds;

	bench.loop = loop_new(false);
	if (runs < 8 || runner_new(bench.loop, &options, &bench.runner, &err) < 0)
		return 1;
	base = spawn_many(runs);
	(void)run_many(100, 4);
	fds = open_fds();
	before = memory_kib(runner_pid(bench.runner), "Pss_Anon:");
	one = run_many(runs, 1);
	four = run_many(runs, 4);
	anonymous = memory_kib(runner_pid(bench.runner), "Pss_Anon:");
	(void)printf("posix_spawn and waitpid: %.0f us; a run: %.0f us (%.1f x); four at once: "
		     "%.0f us a run\n",
		base, one, one / base, four);
	(void)printf(
		"runner: %ld KiB anonymous (%+ld after %ld runs); descriptors %+d; failed %ld\n",
		anonymous, anonymous - before, 2 * runs, open_fds() - fds, bench.failed);
	runner_free(bench.runner);
	loop_free(bench.loop);
	return bench.failed != 0;
}
