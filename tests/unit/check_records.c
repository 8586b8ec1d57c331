/* SPDX-License-Identifier: Apache-2.0 */
/* Records come whole or not at all, and what a hostile sender puts in them is refused. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/records.h"
#include "common/utf8.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int fds[2]; /* read end, write end; neither blocks */

static void
open_pipe(void)
{
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
}

static void
close_pipe(void)
{
	(void)close(fds[0]);
	if (fds[1] >= 0)
		(void)close(fds[1]);
}

START_TEST(sets_all_fields)
{
	struct record record;
	int64_t before = clock_monotonic_ns();

	memset(&record, 0xff, sizeof(record));
	record_set(&record, RECORD_STATE, 7, -3, "why");
	ck_assert_uint_eq(record.version, RECORD_VERSION);
	ck_assert_uint_eq(record.type, RECORD_STATE);
	ck_assert_uint_eq(record.generation, 7);
	ck_assert_int_eq(record.value, -3);
	ck_assert_uint_eq(record.length, 3);
	ck_assert_str_eq(record.text, "why");
	ck_assert_int_ge(record.when_ns, before);
	for (size_t i = 3; i < RECORD_TEXT_MAX; i++)
		ck_assert_int_eq(record.text[i], 0);
	record_set(&record, RECORD_STOP, 0, 0, NULL);
	ck_assert_uint_eq(record.length, 0);
	ck_assert_int_eq(record_check(&record), 0);
}
END_TEST

START_TEST(cuts_texts_at_a_character)
{
	struct record record;
	char text[1000];

	/* Characters of two bytes, from an even and from an odd place on. */
	for (size_t skip = 0; skip < 2; skip++) {
		text[0] = 'x';
		for (size_t i = skip; i + 2 < sizeof(text); i += 2)
			memcpy(text + i, "\xc3\xa9", 3);
		record_set(&record, RECORD_LINE, 0, 0, text);
		ck_assert_int_eq(record_check(&record), 0);
		ck_assert_uint_ge(record.length, RECORD_TEXT_MAX - 2);
		ck_assert(utf8_valid(record.text, record.length));
	}
}
END_TEST

START_TEST(reads_byte_by_byte)
{
	struct record_reader reader = {0};
	struct record sent[2], got;

	record_set(&sent[0], RECORD_STATE, 1, 3, "first");
	record_set(&sent[1], RECORD_END, 2, 0, NULL);
	for (size_t i = 0; i < sizeof(sent); i++) {
		ck_assert_int_eq(record_read(&reader, fds[0], &got), 0);
		ck_assert_int_eq(write(fds[1], (char *)sent + i, 1), 1);
		if ((i + 1) % RECORD_SIZE == 0) {
			ck_assert_int_eq(record_read(&reader, fds[0], &got), 1);
			ck_assert_mem_eq(&got, &sent[i / RECORD_SIZE], RECORD_SIZE);
		}
	}
	ck_assert_int_eq(record_read(&reader, fds[0], &got), 0);
}
END_TEST

START_TEST(ends_with_the_stream)
{
	struct record_reader reader = {0};
	struct record record, got;

	record_set(&record, RECORD_STATE, 1, 3, "whole");
	ck_assert_int_eq(record_write(fds[1], &record), 0);
	ck_assert_int_eq(write(fds[1], &record, 100), 100);
	(void)close(fds[1]);
	fds[1] = -1;
	ck_assert_int_eq(record_read(&reader, fds[0], &got), 1);
	ck_assert_int_eq(record_read(&reader, fds[0], &got), -EPIPE);
	ck_assert_int_eq(record_read(&reader, fds[0], &got), -EPIPE);
}
END_TEST

static void
version(struct record *r)
{
	r->version = RECORD_VERSION + 1;
}
static void
no_version(struct record *r)
{
	r->version = 0;
}
static void
no_type(struct record *r)
{
	r->type = 0;
}
static void
gap_type(struct record *r)
{
	r->type = RECORD_LOG_LEVEL + 1;
}
static void
high_type(struct record *r)
{
	r->type = RECORD_TYPE_MAX;
}
static void
huge_type(struct record *r)
{
	r->type = UINT32_MAX;
}
static void
long_text(struct record *r)
{
	r->length = RECORD_TEXT_MAX;
}
static void
huge_length(struct record *r)
{
	r->length = UINT32_MAX;
}
static void
short_length(struct record *r)
{
	r->length = 2;
}
static void
inner_nul(struct record *r)
{
	r->text[1] = '\0';
}
static void
bad_utf8(struct record *r)
{
	r->text[1] = (char)0xff;
}
static void
unterminated(struct record *r)
{
	memset(r->text, 'x', RECORD_TEXT_MAX);
	r->length = RECORD_TEXT_MAX - 1;
}

static void (*const spoilers[])(struct record *r) = {version, no_version, no_type, gap_type,
	high_type, huge_type, long_text, huge_length, short_length, inner_nul, bad_utf8,
	unterminated};

START_TEST(drops_what_is_wrong)
{
	struct record_reader reader = {0};
	struct record record, got = {.value = 42};

	record_set(&record, RECORD_STATE, 1, 3, "text");
	ck_assert_int_eq(record_check(&record), 0);
	spoilers[_i](&record);
	ck_assert_int_eq(record_check(&record), -EBADMSG);
	ck_assert_int_eq(record_write(fds[1], &record), 0);
	record_set(&record, RECORD_STATE, 1, 5, "next");
	ck_assert_int_eq(record_write(fds[1], &record), 0);
	ck_assert_int_eq(record_read(&reader, fds[0], &got), -EBADMSG);
	ck_assert_int_eq(got.value, 42);
	/* The frame is not lost. */
	ck_assert_int_eq(record_read(&reader, fds[0], &got), 1);
	ck_assert_int_eq(got.value, 5);
}
END_TEST

START_TEST(a_full_pipe_takes_nothing)
{
	struct record_reader reader = {0};
	struct record record, got;
	int written = 0, read = 0;

	record_set(&record, RECORD_STATE, 1, 3, "x");
	while (record_write(fds[1], &record) == 0)
		written++;
	ck_assert_int_gt(written, 7);
	ck_assert_int_eq(record_write(fds[1], &record), -EAGAIN);
	while (record_read(&reader, fds[0], &got) == 1)
		read++;
	ck_assert_int_eq(read, written);
}
END_TEST

START_TEST(other_failures)
{
	struct record_reader reader = {0};
	struct record record, got;

	record_set(&record, RECORD_STOP, 1, 3, NULL);
	ck_assert_int_eq(record_read(&reader, -1, &got), -EBADF);
	ck_assert_int_eq(record_write(-1, &record), -EBADF);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("records");
	TCase *tcase = tcase_create("records");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, open_pipe, close_pipe);
	tcase_add_test(tcase, sets_all_fields);
	tcase_add_test(tcase, cuts_texts_at_a_character);
	tcase_add_test(tcase, reads_byte_by_byte);
	tcase_add_test(tcase, ends_with_the_stream);
	tcase_add_loop_test(tcase, drops_what_is_wrong, 0, COUNT(spoilers));
	tcase_add_test(tcase, a_full_pipe_takes_nothing);
	tcase_add_test(tcase, other_failures);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
