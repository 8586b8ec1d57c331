/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers keep their invariants, stop at their limit and read files of a bounded size only. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"

static void
assert_holds(const struct buf *b, const char *text)
{
	ck_assert_ptr_nonnull(b->data);
	ck_assert_uint_eq(b->length, strlen(text));
	ck_assert_str_eq(b->data, text);
}

START_TEST(appends)
{
	struct buf b = BUF_INIT;

	assert_holds(&b, "");
	buf_add(&b, "", 0);
	assert_holds(&b, "");
	buf_add(&b, "abc", 2);
	buf_adds(&b, "cd");
	buf_addc(&b, '!');
	buf_addf(&b, "%d-%s", 7, "x");
	assert_holds(&b, "abcd!7-x");
	buf_consume(&b, 0);
	buf_consume(&b, 3);
	assert_holds(&b, "d!7-x");
	buf_consume(&b, 5);
	assert_holds(&b, "");
	buf_reset(&b);
	buf_adds(&b, "again");
	assert_holds(&b, "again");
	buf_free(&b);
	assert_holds(&b, "");
	buf_free(&b);
}
END_TEST

/* Each length around each growth: formatted text must fit or grow, never be cut. */
START_TEST(formats_at_every_size)
{
	char text[400];

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct buf b = BUF_INIT;

		memset(text, 'x', n);
		text[n] = '\0';
		buf_addf(&b, "%s", text);
		assert_holds(&b, text);
		buf_addf(&b, "%s|", text);
		ck_assert_uint_eq(b.length, 2 * n + 1);
		ck_assert_int_eq(b.data[2 * n], '|');
		buf_free(&b);
	}
}
END_TEST

START_TEST(stops_at_its_limit)
{
	struct buf b = BUF_INIT_LIMIT(5);

	buf_adds(&b, "abc");
	ck_assert_int_eq(buf_reserve(&b, 2), 0);
	buf_adds(&b, "def");
	ck_assert(b.failed);
	assert_holds(&b, "abc");
	/* What follows is dropped, although it would fit. */
	buf_addc(&b, 'd');
	buf_addf(&b, "%d", 1);
	assert_holds(&b, "abc");
	buf_reset(&b);
	ck_assert(!b.failed);
	buf_addf(&b, "%s", "12345");
	assert_holds(&b, "12345");
	buf_addf(&b, "%s", "6");
	ck_assert(b.failed);
	assert_holds(&b, "12345");
	ck_assert_ptr_null(buf_detach(&b, NULL));
	ck_assert_uint_eq(b.limit, 5);
	ck_assert(!b.failed);
}
END_TEST

START_TEST(refuses_absurd_sizes)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "x");
	ck_assert_int_eq(buf_reserve(&b, SIZE_MAX), -EFBIG);
	ck_assert_int_eq(buf_reserve(&b, 1) < 0, 1);
	assert_holds(&b, "x");
	buf_free(&b);
}
END_TEST

START_TEST(detaches)
{
	struct buf b = BUF_INIT;
	size_t length = 9;
	char *data;

	data = buf_detach(&b, &length);
	ck_assert_str_eq(data, "");
	ck_assert_uint_eq(length, 0);
	free(data);
	buf_add(&b, "a\0b", 3);
	data = buf_detach(&b, &length);
	ck_assert_uint_eq(length, 3);
	ck_assert_mem_eq(data, "a\0b", 4);
	free(data);
	assert_holds(&b, "");
}
END_TEST

static char directory[] = "/tmp/check_buf.XXXXXX";
static char path[64];

static void
make_file(size_t size)
{
	FILE *file;

	ck_assert_ptr_nonnull(
		mkdtemp(memcpy(directory, "/tmp/check_buf.XXXXXX", sizeof(directory))));
	(void)snprintf(path, sizeof(path), "%s/f", directory);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < size; i++)
		(void)fputc('a' + (int)(i % 26), file);
	ck_assert_int_eq(fclose(file), 0);
}

static void
remove_file(void)
{
	(void)unlink(path);
	(void)rmdir(directory);
}

static const struct {
	size_t size, limit, own_limit;
	int result;
} files[] = {
	{0, 10, 0, 0},
	{1, 1, 0, 0},
	{10, 10, 0, 0},
	{11, 10, 0, -EFBIG},
	{1, 0, 0, -EFBIG},
	{0, 0, 0, 0},
	{4096, 4096, 0, 0},
	{200000, 1 << 20, 0, 0},
	{200000, 199999, 0, -EFBIG},
	/* The buffer holds three bytes already. */
	{10, 1 << 20, 13, 0},
	{11, 1 << 20, 13, -EFBIG},
};

START_TEST(reads_files_up_to_the_limit)
{
	struct buf b = BUF_INIT_LIMIT(files[_i].own_limit);

	make_file(files[_i].size);
	buf_adds(&b, "pre");
	ck_assert_int_eq(buf_read_file(&b, path, files[_i].limit), files[_i].result);
	ck_assert_uint_eq(b.length, files[_i].result ? 3 : 3 + files[_i].size);
	ck_assert_uint_eq(strlen(b.data), b.length);
	ck_assert_mem_eq(b.data, "pre", 3);
	ck_assert_uint_eq(b.limit, files[_i].own_limit);
	/* A token of a kilobyte must not hold a big buffer. */
	ck_assert_uint_le(b.capacity, 2 * files[_i].size + 8192);
	buf_free(&b);
	remove_file();
}
END_TEST

START_TEST(reads_files_of_unknown_size)
{
	struct buf b = BUF_INIT;

	ck_assert_int_eq(buf_read_file(&b, "/proc/self/status", 1 << 20), 0);
	ck_assert_uint_gt(b.length, 100);
	ck_assert_int_eq(buf_read_file(&b, "/proc/self/status", 10), -EFBIG);
	buf_free(&b);
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
	struct buf b = BUF_INIT;

	make_file(1);
	ck_assert_int_eq(buf_read_file(&b, directory, 10), -EISDIR);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(buf_read_file(&b, path, 10), -ENOENT);
	/* A named pipe without a writer: opening it must not wait. */
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(buf_read_file(&b, path, 10), -EINVAL);
	assert_holds(&b, "");
	remove_file();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("buf");
	TCase *tcase = tcase_create("buf");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, appends);
	tcase_add_test(tcase, formats_at_every_size);
	tcase_add_test(tcase, stops_at_its_limit);
	tcase_add_test(tcase, refuses_absurd_sizes);
	tcase_add_test(tcase, detaches);
	tcase_add_loop_test(tcase, reads_files_up_to_the_limit, 0, sizeof(files) / sizeof(*files));
	tcase_add_test(tcase, reads_files_of_unknown_size);
	tcase_add_test(tcase, refuses_what_is_no_file);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
