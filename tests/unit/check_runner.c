/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of programs that mean well: what they get, what comes back, and what is told of those that can't be started. The messages to the
 * runner are checked as data. Programs that mean ill are check_runner_hostile's.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/runner/client.h"
#include "tests/unit/runner_fixture.h"

/* --- what a program gets --- */

/* Whatever the parent has: descriptors, signals, variables. Each script leaves with 0 when it likes what it sees. */
START_TEST(starts_clean)
{
	static const char *const scripts[] = {
		"exec grep -q '^SigBlk:.0*$' /proc/self/status",
		/* 32 and 33 are the C library's own: it lets nobody touch them, and make leaves them ignored in what it starts. */
		"exec grep -Eq '^SigIgn:.0*(180000000|0)$' /proc/self/status",
		"grep -q '^NoNewPrivs:.1$' /proc/$$/status",
		"[ \"$(ulimit -c)\" = 0 ] && [ \"$(ulimit -n)\" = 99 ]",
		"[ \"$(pwd)\" = / ]",
		/* Pid, group and session are one: fields 1, 5 and 6 of proc(5)'s stat. */
		"read -r pid comm state parent group session rest < /proc/$$/stat; "
		"[ $group = $$ ] && [ $session = $$ ]",
		"[ \"$(env | sed 's/=.*//' | grep -v '^_$' | sort | xargs)\" = 'PATH PWD ZONE' ] "
		"&& [ \"$ZONE\" = 'a=b c' ]",
	};
	static const char *const env[] = {"ZONE=a=b c", NULL};

	/* No limit to look at. */
	if (under_valgrind())
		return;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		struct bench bench;
		struct ended ended;
		bench_init(&bench, scripts[i]);
		bench.command.file_limit = 99;
		bench.command.env = env;
		bench_run(&bench, &ended);
		ck_assert_msg(ended.result.outcome == RUNNER_EXITED && ended.result.code == 0,
			"%s: %s: %s", scripts[i], ended.text, ended.log.data);
		ended_free(&ended);
	}
}
END_TEST

/* E151: 0 to 2, and 3 where it answers there. The end of one is seen while another, started before it, lives. */
START_TEST(has_its_own_descriptors_only)
{
	struct bench bench;
	struct ended slow, quick;

	bench_init(&bench, "read -r s; [ $s = 0 ] || exec sleep $s; exec ls /proc/self/fd >&3");
	bench_start(&bench);
	(void)bench_ask(&bench, &slow, "300\n", 4);
	while (runner_running(bench.runner) == 0)
		bench_turn(&bench);
	(void)bench_ask(&bench, &quick, "0\n", 2);
	while (quick.calls == 0)
		bench_turn(&bench);
	/* The last is ls's own, of the directory. */
	ck_assert_str_eq(quick.answer.data, "0\n1\n2\n3\n4\n");
	ck_assert_uint_eq(slow.calls, 0);
	ended_free(&quick);
	bench_free(&bench);

	bench_init(&bench, "exec ls /proc/self/fd");
	bench.command.answer = RUNNER_ANSWER_STDOUT;
	bench_run(&bench, &quick);
	ck_assert_str_eq(quick.answer.data, "0\n1\n2\n3\n");
	ended_free(&quick);
}
END_TEST

/* E197: what belongs to the service manager is not inherited, all else is, and the configured comes over it. */
START_TEST(inherits_the_environment_when_told)
{
	static const char *const env[] = {"COLOUR=red", NULL};
	struct bench bench;
	struct ended ended;

	ck_assert_int_eq(setenv("NOTIFY_SOCKET", "/run/x", 1) | setenv("WATCHDOG_USEC", "1", 1) |
				 setenv("LISTEN_FDS", "1", 1) | setenv("COLOUR", "blue", 1) |
				 setenv("SIZE", "7", 1),
		0);
	bench_init(&bench, "echo \"$COLOUR $SIZE ${NOTIFY_SOCKET-none} ${WATCHDOG_USEC-none} "
			   "${LISTEN_FDS-none}\" >&3");
	bench.command.env = env;
	bench.command.inherit_env = true;
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.answer.data, "red 7 none none none\n");
	ended_free(&ended);
	ck_assert_int_eq(unsetenv("NOTIFY_SOCKET") | unsetenv("WATCHDOG_USEC") |
				 unsetenv("LISTEN_FDS") | unsetenv("COLOUR") | unsetenv("SIZE"),
		0);
}
END_TEST

/* E147: a big request comes whole, and the program can't change it. */
START_TEST(reads_its_request)
{
	size_t length = (size_t)1 << 20;
	char *input = malloc(length);
	struct bench bench;
	struct ended ended;

	ck_assert_ptr_nonnull(input);
	for (size_t i = 0; i < length; i++)
		input[i] = (char)(i * 7);
	bench_init(&bench, "echo x 2>/dev/null >&0 && exit 9; cat >&3");
	bench_start(&bench);
	(void)bench_ask(&bench, &ended, input, length);
	bench_wait(&bench, NULL);
	ck_assert_str_eq(ended.text, "exited with code 0");
	ck_assert_uint_eq(ended.answer.length, length);
	ck_assert_mem_eq(ended.answer.data, input, length);
	ended_free(&ended);
	bench_free(&bench);
	free(input);
}
END_TEST

static void
take_result(void *data, const struct runner_result *result)
{
	struct ended *ended = data;

	buf_add(&ended->answer, result->answer, result->answer_length);
	if (--ended->bench->pending == 0)
		loop_stop(ended->bench->loop);
}

/* Values come with each run, under names that were fixed before; as many as there are names, within bounds. */
START_TEST(gets_values_of_its_run)
{
	static const char *const names[] = {"KEY", "NAME", NULL};
	static const char long_value[RUNNER_VALUES_MAX + 1] = {[0 ... RUNNER_VALUES_MAX - 1] = 'x'};
	const char *values[] = {"uid-7", "it's $(one) \"word\""}, *few[] = {"uid-7", NULL},
		   *many[] = {long_value, ""};
	struct bench bench;
	struct ended ended = {.answer = BUF_INIT, .log = BUF_INIT, .bench = &bench};
	struct runner_request request = {.done = take_result, .data = &ended};
	struct error err;

	bench_init(&bench, "printf '%s|' \"$KEY\" \"$NAME\" >&3");
	bench.command.run_env = names;
	bench_start(&bench);
	ck_assert_int_eq(runner_start(bench.runner, &request, NULL, &err), -EINVAL);
	ck_assert_str_eq(err.text, "no value for KEY");
	request.values = few;
	ck_assert_int_eq(runner_start(bench.runner, &request, NULL, &err), -EINVAL);
	request.values = many;
	ck_assert_int_eq(runner_start(bench.runner, &request, NULL, &err), -E2BIG);
	request.values = values;
	ck_assert_int_eq(runner_start(bench.runner, &request, NULL, NULL), 0);
	bench.pending = 1;
	bench_wait(&bench, NULL);
	ck_assert_str_eq(ended.answer.data, "uid-7|it's $(one) \"word\"|");
	ended_free(&ended);
	bench_free(&bench);
}
END_TEST

/* --- what comes back --- */

START_TEST(tells_its_end)
{
	static const struct {
		const char *script;
		enum runner_outcome outcome;
		int code;
		const char *text;
	} cases[] = {
		{"exit 0", RUNNER_EXITED, 0, "exited with code 0"},
		{"exit 3", RUNNER_EXITED, 3, "exited with code 3"},
		{"exit 127", RUNNER_EXITED, 127, "exited with code 127"},
		{"kill -9 $$", RUNNER_SIGNALED, SIGKILL, "killed by SIGKILL"},
		{"ulimit -c unlimited 2>&1; kill -ABRT $$", RUNNER_SIGNALED, SIGABRT,
			"killed by SIGABRT"},
		{"kill -TERM $$", RUNNER_SIGNALED, SIGTERM, "killed by SIGTERM"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bench bench;
		struct ended ended;
		bench_init(&bench, cases[i].script);
		bench_run(&bench, &ended);
		ck_assert_str_eq(ended.text, cases[i].text);
		ck_assert_int_eq(ended.result.outcome, cases[i].outcome);
		ck_assert_int_eq(ended.result.code, cases[i].code);
		ck_assert_uint_eq(ended.result.leftovers + ended.result.survivors, 0);
		ended_free(&ended);
	}
}
END_TEST

/* The answer and the log are apart, wherever the answer goes; secrets are masked in the last line; long lines are cut and counted. */
START_TEST(keeps_answer_and_log_apart)
{
	static const char script[] = "printf 'answer'; echo one >&2; printf 'two\\r\\n\\n' >&2; "
				     "printf 'secret-token-1' >&2";
	struct bench bench;
	struct ended ended;

	log_mask("secret-token-1", 14);
	bench_init(&bench, script);
	bench.command.answer = RUNNER_ANSWER_STDOUT;
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.answer.data, "answer");
	ck_assert_str_eq(ended.log.data, "one\ntwo\nsecret-token-1\n");
	ck_assert_ptr_null(strstr(ended.last_line, "secret-token"));
	ended_free(&ended);

	bench_init(&bench, "echo out; printf 'on three' >&3; head -c 5000 /dev/zero | tr '\\0' x; "
			   "echo; echo last");
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.answer.data, "on three");
	ck_assert_uint_eq(
		ended.log.length, strlen("out\n") + RUNNER_LINE_MAX + 1 + strlen("last\n"));
	ck_assert_uint_eq(ended.result.log_dropped, 5000 - RUNNER_LINE_MAX);
	ck_assert_str_eq(ended.last_line, "last");
	ended_free(&ended);
}
END_TEST

START_TEST(measures)
{
	struct bench bench;
	struct ended ended;

	bench_init(&bench, "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; (exec sleep 0.05)");
	bench_run(&bench, &ended);
	ck_assert_str_eq(ended.text, "exited with code 0");
	ck_assert(ended.result.duration_ns >= 50 * NSEC_PER_MSEC);
	ck_assert(ended.result.cpu_ns > 0 && ended.result.max_rss > 100000);
	ended_free(&ended);
}
END_TEST

/* --- what can't be started --- */

static void
make_file(const char *path, const char *content, mode_t mode)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert(fputs(content, file) >= 0 && fclose(file) == 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

/* errno and what it was of, never an exit code. */
START_TEST(tells_why_it_was_not_started)
{
	char dir[] = "/tmp/check_runner.XXXXXX", plain[64], bare[64], lost[64], expected[256];
	struct {
		const char *program, *directory;
		int error;
		const char *failed, *hint;
	} cases[] = {
		{"/nonexistent/program", NULL, ENOENT, "execve",
			" (the file, or the interpreter in its first line)"},
		{plain, NULL, EACCES, "execve", ""},
		{bare, NULL, ENOEXEC, "execve",
			" (a script must begin with #! and its interpreter)"},
		{lost, NULL, ENOENT, "execve", " (the file, or the interpreter in its first line)"},
		{dir, NULL, EACCES, "execve", ""},
		{"/bin/sh", "/nonexistent", ENOENT, "chdir", ""},
	};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(plain, sizeof(plain), "%s/plain", dir);
	(void)snprintf(bare, sizeof(bare), "%s/bare", dir);
	(void)snprintf(lost, sizeof(lost), "%s/lost", dir);
	make_file(plain, "#!/bin/sh\nexit 0\n", 0644);
	make_file(bare, "exit 0\n", 0755);
	make_file(lost, "#!/nonexistent/sh\n", 0755);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bench bench;
		struct ended ended;
		if (cases[i].program == lost && under_valgrind())
			continue;
		bench_init(&bench, "exit 0");
		bench.argv[0] = cases[i].program;
		bench.command.directory = cases[i].directory;
		bench_run(&bench, &ended);
		(void)snprintf(expected, sizeof(expected), "can't start %s%s%s: %s%s",
			cases[i].program, cases[i].directory ? " in " : "",
			cases[i].directory ? cases[i].directory : "", strerror(cases[i].error),
			cases[i].hint);
		ck_assert_str_eq(ended.text, expected);
		ck_assert_int_eq(ended.result.outcome, RUNNER_NOT_STARTED);
		ck_assert_int_eq(ended.result.error, cases[i].error);
		ck_assert_str_eq(ended.result.failed, cases[i].failed);
		ck_assert_str_eq(ended.log.data, "");
		ended_free(&ended);
	}
	ck_assert_int_eq(unlink(plain) | unlink(bare) | unlink(lost) | rmdir(dir), 0);
}
END_TEST

START_TEST(refuses_commands_out_of_bounds)
{
	struct runner *runner = NULL;
	struct loop *loop = loop_new(false);
	struct error err;

	for (int i = 0; i < 8; i++) {
		struct bench b;
		bench_init(&b, "exit 0");
		switch (i) {
		case 0:
			b.argv[0] = "sh";
			break;
		case 1:
			b.command.answer_limit = 0;
			break;
		case 2:
			b.command.answer_limit = RUNNER_ANSWER_MAX + 1;
			break;
		case 3:
			b.command.timeout_ns = 0;
			break;
		case 4:
			b.command.kill_grace_ns = -1;
			break;
		case 5:
			b.options.concurrency = 0;
			break;
		case 6:
			b.options.concurrency = RUNNER_CONCURRENCY_MAX + 1;
			break;
		default:
			b.options.n_commands = 0;
			break;
		}
		ck_assert_int_eq(runner_new(loop, &b.options, &runner, &err), -EINVAL);
		ck_assert_ptr_null(runner);
	}
	loop_free(loop);
}
END_TEST

/* --- many --- */

START_TEST(waits_its_turn)
{
	struct bench bench;
	struct ended ended[7];
	struct error err;
	const struct runner_request wrong = {.command = 1};

	bench_init(&bench, "cat >&3; sleep 0.05");
	bench.options.concurrency = 2;
	bench_start(&bench);
	ck_assert_int_eq(runner_start(bench.runner, &wrong, NULL, &err), -EINVAL);
	for (int i = 0; i < 7; i++)
		(void)bench_ask(&bench, &ended[i], &"abcdefg"[i], 1);
	ck_assert_uint_eq(runner_waiting(bench.runner), 7);
	bench_wait(&bench, NULL);
	for (int i = 0; i < 7; i++) {
		ck_assert_str_eq(ended[i].text, "exited with code 0");
		ck_assert_int_eq(ended[i].answer.data[0], 'a' + i);
		/* Three pairs went before the last. */
		if (i == 6)
			ck_assert(ended[i].result.waited_ns >= 150 * NSEC_PER_MSEC);
		ended_free(&ended[i]);
	}
	bench_free(&bench);
}
END_TEST

/* E173: ends that come at once are all told, those of programs that can't be started too. */
START_TEST(misses_no_quick_end)
{
	struct bench bench;
	static struct ended ended[400];

	bench_init(&bench, "");
	bench.argv[0] = "/nonexistent";
	bench.options.concurrency = 16;
	bench_start(&bench);
	for (int i = 0; i < 400; i++)
		(void)bench_ask(&bench, &ended[i], NULL, 0);
	bench_wait(&bench, NULL);
	for (int i = 0; i < 400; i++) {
		ck_assert_int_eq(ended[i].result.error, ENOENT);
		ended_free(&ended[i]);
	}
	ck_assert_int_eq(children_of(runner_pid(bench.runner)), 0);
	bench_free(&bench);
}
END_TEST

/* --- the end of it --- */

static void
on_stopped(void *data)
{
	struct bench *bench = data;

	ck_assert_uint_eq(runner_running(bench->runner) + runner_waiting(bench->runner), 0);
	bench->stopped = true;
	loop_stop(bench->loop);
}

/* What ends within the grace is as good as ever; what does not is stopped; what waits is not begun. */
START_TEST(drains)
{
	static const char *const argv[] = {
		"/bin/sh", "-c", "read -r s; echo started >&3; sleep $s; echo slept >&3", NULL};
	struct bench bench;
	struct ended quick, slow, waiting;
	const struct runner_request late = {0};

	bench_init(&bench, "");
	bench.command.argv = argv;
	bench.options.concurrency = 2;
	bench_start(&bench);
	(void)bench_ask(&bench, &quick, "0.2\n", 4);
	(void)bench_ask(&bench, &slow, "300\n", 4);
	(void)bench_ask(&bench, &waiting, "0\n", 2);
	while (runner_running(bench.runner) < 2)
		bench_turn(&bench);
	runner_stop(bench.runner, NSEC_PER_SEC, on_stopped, &bench);
	ck_assert_int_eq(runner_start(bench.runner, &late, NULL, NULL), -ESHUTDOWN);
	bench_wait(&bench, &bench.stopped);
	ck_assert_str_eq(quick.text, "exited with code 0");
	ck_assert_str_eq(quick.answer.data, "started\nslept\n");
	ck_assert_int_eq(slow.result.outcome, RUNNER_STOPPED);
	ck_assert_str_eq(slow.answer.data, "started\n");
	ck_assert_int_eq(waiting.result.outcome, RUNNER_STOPPED);
	ck_assert_str_eq(waiting.answer.data, "");
	ended_free(&quick);
	ended_free(&slow);
	ended_free(&waiting);
	bench_free(&bench);
}
END_TEST

START_TEST(cancels)
{
	struct bench bench;
	struct ended running, waiting, last;
	struct runner_run *runs[2];

	bench_init(&bench, "exec sleep 300");
	bench.options.concurrency = 1;
	bench_start(&bench);
	runs[0] = bench_ask(&bench, &running, NULL, 0);
	runs[1] = bench_ask(&bench, &waiting, NULL, 0);
	while (runner_running(bench.runner) == 0)
		bench_turn(&bench);
	runner_cancel(runs[1]);
	runner_cancel(runs[0]);
	bench.pending -= 2;
	/* Its turn comes when the cancelled one has ended. */
	(void)bench_ask(&bench, &last, NULL, 0);
	while (runner_waiting(bench.runner) > 0)
		bench_turn(&bench);
	runner_stop(bench.runner, 0, on_stopped, &bench);
	bench_wait(&bench, &bench.stopped);
	ck_assert_uint_eq(running.calls + waiting.calls, 0);
	ck_assert_int_eq(last.result.outcome, RUNNER_STOPPED);
	ended_free(&last);
	bench_free(&bench);
}
END_TEST

/* --- messages as data --- */

static struct runner_message
sound_message(void)
{
	return (struct runner_message){.version = RUNNER_MESSAGE_VERSION,
		.type = RUNNER_START,
		.id = 7,
		.timeout_ns = NSEC_PER_SEC};
}

START_TEST(drops_packets_that_are_no_messages)
{
	struct runner_message message = sound_message(), got;
	int ends[2], fds[RUNNER_FDS_MAX], pipe_ends[2];
	size_t n_fds;
	char bytes[2048] = "";

	ck_assert_int_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	ck_assert_int_eq(runner_message_receive(ends[1], &got, fds, &n_fds), -EAGAIN);
	ck_assert_int_eq(send(ends[0], bytes, 1, 0), 1);
	ck_assert_int_eq(runner_message_receive(ends[1], &got, fds, &n_fds), -EBADMSG);
	ck_assert_int_eq(send(ends[0], bytes, sizeof(bytes), 0), (int)sizeof(bytes));
	ck_assert_int_eq(runner_message_receive(ends[1], &got, fds, &n_fds), -EBADMSG);
	for (int i = 0; i < 5; i++) {
		struct runner_message bad = message;
		switch (i) {
		case 0:
			bad.version++;
			break;
		case 1:
			bad.type = 0;
			break;
		case 2:
			bad.type = RUNNER_ENDED + 1;
			break;
		case 3:
			bad.report.stage = RUNNER_STAGE_MAX;
			break;
		default:
			bad.report.error = -1;
			break;
		}
		ck_assert_int_eq(pipe2(pipe_ends, O_CLOEXEC), 0);
		ck_assert_int_eq(runner_message_send(ends[0], &bad, &pipe_ends[1], 1), 0);
		(void)close(pipe_ends[1]);
		ck_assert_int_eq(runner_message_receive(ends[1], &got, fds, &n_fds), -EBADMSG);
		/* The descriptor that came with it was closed. */
		ck_assert_int_eq(read(pipe_ends[0], bytes, 1), 0);
		(void)close(pipe_ends[0]);
	}
	ck_assert_int_eq(runner_message_send(ends[0], &message, NULL, 0), 0);
	ck_assert_int_eq(runner_message_receive(ends[1], &got, fds, &n_fds), 1);
	ck_assert_uint_eq(got.id, 7);
	(void)close(ends[0]);
	ck_assert_int_eq(runner_message_receive(ends[1], &got, fds, &n_fds), 0);
	(void)close(ends[1]);
}
END_TEST

START_TEST(takes_values_within_the_message_only)
{
	struct runner_message message = sound_message();
	const char *values[2];

	memcpy(message.values, "a\0bc", 5);
	message.n_values = 2;
	ck_assert_int_eq(runner_message_values(&message, 2, values), 0);
	ck_assert_str_eq(values[1], "bc");
	ck_assert_int_eq(runner_message_values(&message, 1, values), -EBADMSG);
	memset(message.values, 'x', sizeof(message.values));
	ck_assert_int_eq(runner_message_values(&message, 2, values), -EBADMSG);
}
END_TEST

static struct runner_message
ask_raw(struct bench *bench, const struct runner_message *message, size_t n_fds)
{
	int fds[RUNNER_FDS_MAX], got_fds[RUNNER_FDS_MAX];
	struct runner_message got;
	size_t n_got;

	for (size_t i = 0; i < n_fds; i++)
		fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(fcntl(bench->runner->fd, F_SETFL, 0), 0);
	ck_assert_int_eq(runner_message_send(bench->runner->fd, message, fds, n_fds), 0);
	for (size_t i = 0; i < n_fds; i++)
		(void)close(fds[i]);
	ck_assert_int_eq(runner_message_receive(bench->runner->fd, &got, got_fds, &n_got), 1);
	ck_assert_uint_eq(n_got, 0);
	ck_assert_uint_eq(got.id, message->id);
	return got;
}

/* A process that was taken over can ask for what is configured, within the bounds, and for nothing else. */
START_TEST(runner_checks_what_it_is_asked)
{
	struct bench bench;
	struct runner_message got;

	bench_init(&bench, "exit 5");
	bench_start(&bench);
	for (int i = 0; i < 7; i++) {
		struct runner_message message = sound_message();
		size_t n_fds = 4;
		switch (i) {
		case 0:
			message.command = 1;
			break;
		case 1:
			message.command = UINT32_MAX;
			break;
		case 2:
			message.timeout_ns = 0;
			break;
		case 3:
			message.timeout_ns = RUNNER_TIMEOUT_MAX + 1;
			break;
		case 4:
			n_fds = 3;
			break;
		case 5:
			n_fds = 0;
			break;
		default:
			message.n_values = 1;
			break;
		}
		got = ask_raw(&bench, &message, n_fds);
		ck_assert_int_eq(got.report.error, EBADMSG);
		ck_assert_uint_eq(got.report.stage, RUNNER_STAGE_REQUEST);
	}
	got = sound_message();
	got = ask_raw(&bench, &got, 4);
	ck_assert_int_eq(got.report.error, 0);
	ck_assert_int_eq(got.report.status, 5 << 8);
	bench_free(&bench);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("runner");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, starts_clean);
	tcase_add_test(tcase, has_its_own_descriptors_only);
	tcase_add_test(tcase, inherits_the_environment_when_told);
	tcase_add_test(tcase, reads_its_request);
	tcase_add_test(tcase, gets_values_of_its_run);
	tcase_add_test(tcase, tells_its_end);
	tcase_add_test(tcase, keeps_answer_and_log_apart);
	tcase_add_test(tcase, measures);
	tcase_add_test(tcase, tells_why_it_was_not_started);
	tcase_add_test(tcase, refuses_commands_out_of_bounds);
	tcase_add_test(tcase, waits_its_turn);
	tcase_add_test(tcase, misses_no_quick_end);
	tcase_add_test(tcase, drains);
	tcase_add_test(tcase, cancels);
	tcase_add_test(tcase, drops_packets_that_are_no_messages);
	tcase_add_test(tcase, takes_values_within_the_message_only);
	tcase_add_test(tcase, runner_checks_what_it_is_asked);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
