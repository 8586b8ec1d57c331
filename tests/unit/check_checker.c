/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker's process with a check that misbehaves: whatever becomes of it, the supervisor gets a document or a cause. config_check() is this file's;
 * the path says what it does.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/config/check.h"
#include "common/json.h"
#include "common/sandbox/sandbox.h"
#include "supervisor/checker.h"

/* What parses has no network and writes no file, where the kernel can see to it. */
static bool
is_caged(void)
{
	return sandbox_missing() || (socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0 &&
					    open("/dev/null", O_WRONLY | O_CLOEXEC) < 0);
}

/* Takes no notice of signals that can be left alone. */
static void
hang(bool busy)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (;;)
		if (!busy)
			(void)pause();
}

bool
config_check(const char *path, bool strict, struct buf *document)
{
	(void)strict;
	if (strcmp(path, "good") == 0)
		buf_adds(document, "{\"valid\":true}");
	else if (strcmp(path, "caged") == 0)
		buf_adds(document, is_caged() ? "{\"valid\":true}" : "{\"valid\":false}");
	else if (strcmp(path, "large") == 0) /* far more than a pipe takes at once */
		buf_addf(document, "{\"valid\":true,\"text\":\"%0*d\"}", 8 << 20, 7);
	else if (strcmp(path, "crash") == 0)
		abort();
	else if (strcmp(path, "killed") == 0)
		(void)raise(SIGKILL);
	else if (strcmp(path, "leaves") == 0)
		_exit(3);
	else if (strcmp(path, "nonsense") == 0)
		buf_adds(document, "{\"valid\":tru");
	else if (strcmp(path, "waits") == 0)
		hang(false);
	else if (strcmp(path, "turns") == 0)
		hang(true);
	else if (strcmp(path, "oversize") == 0)
		document->failed = true;
	return true;
}

struct result {
	struct loop *loop;
	cJSON *document;
	struct error err;
	int calls;
};

static void
on_done(void *data, cJSON *document, const struct error *err)
{
	struct result *result = data;

	result->document = document;
	result->calls++;
	if (err)
		result->err = *err;
	loop_stop(result->loop);
}

static void
check(const char *path, struct result *result)
{
	*result = (struct result){.loop = loop_new(true)};
	ck_assert_ptr_nonnull(checker_start(result->loop, path, on_done, result, NULL));
	ck_assert_int_eq(result->calls, 0);
	loop_run(result->loop);
	ck_assert_int_eq(result->calls, 1);
	loop_free(result->loop);
}

static const char *const good[] = {"good", "large", "caged"};

START_TEST(test_a_document_comes_through)
{
	struct result result;

	check(good[_i], &result);
	ck_assert_ptr_nonnull(result.document);
	ck_assert(json_bool(result.document, "valid", false));
	cJSON_Delete(result.document);
}
END_TEST

static const struct {
	const char *path, *words;
} bad[] = {{"crash", "killed by SIGABRT"}, {"killed", "killed by SIGKILL"},
	{"leaves", "exited with code 3"}, {"nonsense", "can't be read"}, {"empty", "can't be read"},
	{"oversize", "the configuration is refused"}, {"waits", "took longer than 2 s"},
	{"turns", "the configuration is refused"}};

START_TEST(test_anything_else_is_a_refused_configuration)
{
	struct result result;

	check(bad[_i].path, &result);
	ck_assert_ptr_null(result.document);
	ck_assert_int_lt(result.err.code, 0);
	ck_assert_int_eq(strncmp(result.err.text, bad[_i].path, strlen(bad[_i].path)), 0);
	if (!strstr(result.err.text, bad[_i].words))
		ck_abort_msg("not '%s' in: %s", bad[_i].words, result.err.text);
}
END_TEST

static void
on_reaped(void *data, pid_t pid, int status)
{
	struct result *result = data;

	(void)pid;
	(void)status;
	loop_stop(result->loop);
}

/* Cancelled, it is killed and reaped, and nobody is called. */
START_TEST(test_cancel)
{
	struct result result = {.loop = loop_new(true)};
	struct loop_child *any = loop_child_new(result.loop, 0, on_reaped, &result);

	for (int i = 0; i < 20; i++) {
		checker_free(checker_start(result.loop, "large", on_done, &result, NULL));
		loop_run(result.loop);
	}
	ck_assert_int_eq(result.calls, 0);
	loop_child_free(any);
	loop_free(result.loop);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("checker");
	TCase *tcase = tcase_create("checker");
	SRunner *runner = srunner_create(suite);

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(
		tcase, test_a_document_comes_through, 0, (int)(sizeof(good) / sizeof(*good)));
	tcase_add_loop_test(tcase, test_anything_else_is_a_refused_configuration, 0,
		(int)(sizeof(bad) / sizeof(*bad)));
	tcase_add_test(tcase, test_cancel);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
