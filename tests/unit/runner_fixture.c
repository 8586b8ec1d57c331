/* SPDX-License-Identifier: Apache-2.0 */
/* See the header. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "tests/unit/runner_fixture.h"

#define TEST_NS (30 * NSEC_PER_SEC)

static void
on_deadline(void *data)
{
	(void)data;
	ck_abort_msg("no answer in time");
}

static void
on_lost(void *data)
{
	struct bench *bench = data;

	bench->lost = true;
	loop_stop(bench->loop);
}

void
bench_init(struct bench *bench, const char *script)
{
	*bench = (struct bench){.argv = {"/bin/sh", "-c", script, "script"}};
	bench->command = (struct runner_command){.name = "test",
		.argv = bench->argv,
		.answer = RUNNER_ANSWER_FD3,
		.answer_limit = (size_t)1 << 20,
		.timeout_ns = 10 * NSEC_PER_SEC,
		.kill_grace_ns = 200 * NSEC_PER_MSEC};
	bench->options = (struct runner_options){.commands = &bench->command,
		.n_commands = 1,
		.concurrency = 4,
		.title = "runner of a test",
		.lost = on_lost,
		.data = bench};
}

void
bench_start(struct bench *bench)
{
	struct error err = {0};

	bench->loop = loop_new(false);
	bench->deadline = loop_timer_new(bench->loop, on_deadline, bench);
	ck_assert_msg(runner_new(bench->loop, &bench->options, &bench->runner, &err) == 0, "%s",
		err.text);
}

void
bench_free(struct bench *bench)
{
	runner_free(bench->runner);
	loop_timer_free(bench->deadline);
	loop_free(bench->loop);
}

static void
on_done(void *data, const struct runner_result *result)
{
	struct ended *ended = data;

	ended->calls++;
	ended->result = *result;
	runner_result_text(result, ended->text, sizeof(ended->text));
	(void)snprintf(ended->last_line, sizeof(ended->last_line), "%s", result->last_line);
	buf_add(&ended->answer, result->answer, result->answer_length);
	if (--ended->bench->pending == 0)
		loop_stop(ended->bench->loop);
}

static void
on_line(void *data, int fd, const char *text, size_t length)
{
	struct ended *ended = data;

	ck_assert(fd == 1 || fd == 2);
	buf_add(&ended->log, text, length);
	buf_addc(&ended->log, '\n');
}

struct runner_run *
bench_ask(struct bench *bench, struct ended *ended, const char *input, size_t length)
{
	const struct runner_request request = {.input = input,
		.input_length = length,
		.done = on_done,
		.line = on_line,
		.data = ended};
	struct runner_run *run;

	*ended = (struct ended){.answer = BUF_INIT, .log = BUF_INIT, .bench = bench};
	ck_assert_int_eq(runner_start(bench->runner, &request, &run, NULL), 0);
	bench->pending++;
	return run;
}

void
bench_wait(struct bench *bench, const bool *until)
{
	loop_timer_set(bench->deadline, TEST_NS);
	while (until != NULL ? !*until : bench->pending > 0)
		loop_run(bench->loop);
	loop_timer_clear(bench->deadline);
}

static void
on_turn(void *data)
{
	loop_stop(data);
}

void
bench_turn(struct bench *bench)
{
	struct loop_timer *turn = loop_timer_new(bench->loop, on_turn, bench->loop);

	loop_timer_set(turn, NSEC_PER_MSEC);
	loop_run(bench->loop);
	loop_timer_free(turn);
}

void
bench_run(struct bench *bench, struct ended *ended)
{
	bench_start(bench);
	(void)bench_ask(bench, ended, NULL, 0);
	bench_wait(bench, NULL);
	bench_free(bench);
	ck_assert_uint_eq(ended->calls, 1);
}

void
ended_free(struct ended *ended)
{
	buf_free(&ended->answer);
	buf_free(&ended->log);
}

bool
is_gone(pid_t pid)
{
	int64_t deadline = clock_monotonic_ns() + 5 * NSEC_PER_SEC;

	ck_assert_int_gt(pid, 1);
	while (kill(pid, 0) == 0 || errno != ESRCH) {
		const struct timespec pause = {0, 1000000};
		if (clock_monotonic_ns() > deadline)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return true;
}

int
children_of(pid_t pid)
{
	char path[64], word[16];
	FILE *file;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (fscanf(file, "%15s", word) == 1)
		n++;
	(void)fclose(file);
	return n;
}

bool
under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "vgpreload") != NULL;
}
