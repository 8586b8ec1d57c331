/* SPDX-License-Identifier: Apache-2.0 */
/* Lists cut into items: the same items at any chunking (E49). */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/jsonscan.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LIMIT    (64 * 1024)

/* What came out, as text: each item and a line's end. */
static void
take(void *data, const char *bytes, size_t length)
{
	buf_add(data, bytes, length);
	buf_addc(data, '\n');
}

static const struct list_case {
	const char *name, *text, *items, *version, *continue_;
	int error;
} cases[] = {
	{"empty", "{\"items\":[]}", "", "", "", 0},
	{"null", "{\"items\":null,\"metadata\":{\"resourceVersion\":\"5\"}}", "", "5", "", 0},
	{"usual",
		"{\"kind\":\"NginxList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		"\"10\",\"continue\":\"abc\"},"
		"\"items\":[{\"a\":1},{\"b\":\"}]\"}]}\n",
		"{\"a\":1}\n{\"b\":\"}]\"}\n", "10", "abc", 0},
	{"metadata last",
		"{\"items\":[{\"metadata\":{\"resourceVersion\":\"1\"}}],\"metadata\":{"
		"\"continue\":\"\","
		"\"resourceVersion\":\"11\",\"remainingItemCount\":4}}",
		"{\"metadata\":{\"resourceVersion\":\"1\"}}\n", "11", "", 0},
	{"spaces",
		" { \"items\" : [ { \"a\" : [ ] } , { } ] , \"x\" : -1.5e3 , \"y\":true , \"z\" : "
		"null } \r\n ",
		"{ \"a\" : [ ] }\n{ }\n", "", "", 0},
	{"other members",
		"{\"items2\":[{}],\"o\":{\"items\":[{\"no\":1}]},\"n\":12,\"l\":[1,[2]],\"items\":["
		"{\"yes\":1}],\"t\":false}",
		"{\"yes\":1}\n", "", "", 0},
	{"nested items", "{\"items\":[{\"items\":[{\"a\":1}]},{\"spec\":{\"items\":null}}]}",
		"{\"items\":[{\"a\":1}]}\n{\"spec\":{\"items\":null}}\n", "", "", 0},
	{"escapes",
		"{\"\\u0069tems\":[{\"q\":\"\\\"\\\\\"}],\"metadata\":{\"resourceVersion\":"
		"\"\\u0031\\/2\",\"continue\":\"a\\u003db\"}}",
		"{\"q\":\"\\\"\\\\\"}\n", "1/2", "a=b", 0},
	{"last metadata",
		"{\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"c\"},\"items\":[],"
		"\"metadata\":{\"resourceVersion\":\"2\"}}",
		"", "2", "", 0},
	{"metadata of other types",
		"{\"metadata\":{\"resourceVersion\":5,\"continue\":null},\"items\":[]}", "", "", "",
		0},
	{"metadata null", "{\"metadata\":null,\"items\":[]}", "", "", "", 0},

	{"status", "{\"kind\":\"Status\",\"items\":[{}]}", "", "", "", -EBADMSG},
	{"real status",
		"{\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"code\":410}", "",
		"", "", -EBADMSG},
	{"table", "{\"kind\":\"Table\",\"rows\":[{\"object\":{}}]}", "", "", "", -EBADMSG},
	{"no items", "{}", "", "", "", -EBADMSG},
	{"items twice", "{\"items\":[{\"a\":1}],\"items\":[{\"a\":2}]}", "{\"a\":1}\n", "", "",
		-EBADMSG},
	{"items null twice", "{\"items\":null,\"items\":null}", "", "", "", -EBADMSG},
	{"items an object", "{\"items\":{\"a\":1}}", "", "", "", -EBADMSG},
	{"items a string", "{\"items\":\"null\"}", "", "", "", -EBADMSG},
	{"item a number", "{\"items\":[1]}", "", "", "", -EBADMSG},
	{"item null", "{\"items\":[null]}", "", "", "", -EBADMSG},
	{"comma too many", "{\"items\":[{},]}", "{}\n", "", "", -EBADMSG},
	{"comma first", "{\"items\":[,{}]}", "", "", "", -EBADMSG},
	{"comma missing", "{\"items\":[{}{}]}", "{}\n", "", "", -EBADMSG},
	{"member comma", "{\"items\":[],}", "", "", "", -EBADMSG},
	{"bad item", "{\"items\":[{\"a\":01}]}", "", "", "", -EBADMSG},
	{"crossed brackets", "{\"items\":[{\"a\":[}]}]}", "", "", "", -EBADMSG},
	{"bad member", "{\"x\":nul,\"items\":[]}", "", "", "", -EBADMSG},
	{"word and string", "{\"x\":1\"a\",\"items\":[]}", "", "", "", -EBADMSG},
	{"colon missing", "{\"x\" 1}", "", "", "", -EBADMSG},
	{"value missing", "{\"x\":,\"items\":[]}", "", "", "", -EBADMSG},
	{"more behind", "{\"items\":[]}{", "", "", "", -EBADMSG},
	{"a list", "[]", "", "", "", -EBADMSG},
	{"html", "<html>", "", "", "", -EBADMSG},
	{"not UTF-8", "{\"items\":[{\"a\":\"\xff\"}]}", "", "", "", -EBADMSG},
	{"not UTF-8 in a key", "{\"\xff\":1,\"items\":[]}", "", "", "", -EBADMSG},
};

/* Feeds text in chunks of these sizes, the last one again and again; each chunk in a block of its own size. */
static int
feed(struct jsonscan_list *list, const char *text, size_t n, size_t first, size_t then)
{
	size_t at = 0, size = first;
	int r = 0;

	while (at < n && r == 0) {
		char *chunk;

		if (size > n - at)
			size = n - at;
		chunk = malloc(size ? size : 1);
		memcpy(chunk, text + at, size);
		r = jsonscan_list_feed(list, chunk, size);
		free(chunk);
		at += size;
		size = then;
	}
	return r;
}

static void
run(const struct list_case *c, size_t first, size_t then)
{
	struct buf items = BUF_INIT;
	const struct jsonscan_list_callbacks callbacks = {.item = take, .data = &items};
	struct jsonscan_list *list = jsonscan_list_new(&callbacks, LIMIT);
	int r = feed(list, c->text, strlen(c->text), first, then);

	ck_assert_msg(r == c->error, "%s at %zu, %zu: %d", c->name, first, then, r);
	ck_assert_msg(strcmp(items.data, c->items) == 0, "%s at %zu, %zu: %s", c->name, first, then,
		items.data);
	ck_assert_int_eq(jsonscan_list_done(list), r == 0);
	if (r == 0) {
		ck_assert_str_eq(jsonscan_list_resource_version(list), c->version);
		ck_assert_str_eq(jsonscan_list_continue(list), c->continue_);
	} else {
		ck_assert_int_eq(jsonscan_list_feed(list, " ", 1), r);
	}
	jsonscan_list_free(list);
	buf_free(&items);
}

START_TEST(cuts_whole_documents)
{
	run(&cases[_i], strlen(cases[_i].text), 1);
}
END_TEST

START_TEST(cuts_at_any_split_e49)
{
	for (size_t split = 0; split <= strlen(cases[_i].text); split++)
		run(&cases[_i], split, strlen(cases[_i].text) + 1);
}
END_TEST

START_TEST(cuts_in_small_chunks_e49)
{
	for (size_t size = 1; size < 20; size++)
		run(&cases[_i], size, size);
}
END_TEST

/* The beginning of a list is not done, and no error. */
START_TEST(is_not_done_before_the_end)
{
	const char *t = cases[2].text;
	size_t n = strlen(t) - 1; /* without the line's end */

	for (size_t cut = 0; cut < n; cut++) {
		struct buf items = BUF_INIT;
		const struct jsonscan_list_callbacks callbacks = {.item = take, .data = &items};
		struct jsonscan_list *list = jsonscan_list_new(&callbacks, LIMIT);

		ck_assert_int_eq(feed(list, t, cut, cut, 1), 0);
		ck_assert(!jsonscan_list_done(list));
		jsonscan_list_free(list);
		buf_free(&items);
	}
}
END_TEST

START_TEST(bounds_the_item)
{
	static const struct {
		const char *text;
		size_t limit;
		int error;
	} bounds[] = {
		{"{\"items\":[{\"a\":\"1234\"}]}", 12, 0},
		{"{\"items\":[{\"a\":\"1234\"}]}", 11, -EFBIG},
		{"{\"items\":[{\"a\":\"12345678901234567890", 11, -EFBIG},
		{"{\"x\":\"0123456789\",\"items\":[]}", 12, 0},
		{"{\"x\":\"0123456789\",\"items\":[]}", 11, -EFBIG},
		{"{\"x\":1234567890123,\"items\":[]}", 12, -EFBIG},
		{"{\"a long key that is long\":1,\"items\":[]}", 12, -EFBIG},
	};

	for (size_t i = 0; i < COUNT(bounds); i++) {
		size_t n = strlen(bounds[i].text);

		for (size_t size = 1; size <= n; size++) {
			struct buf items = BUF_INIT;
			const struct jsonscan_list_callbacks callbacks = {
				.item = take, .data = &items};
			struct jsonscan_list *list = jsonscan_list_new(&callbacks, bounds[i].limit);

			ck_assert_msg(feed(list, bounds[i].text, n, size, size) == bounds[i].error,
				"%s by %zu", bounds[i].text, size);
			jsonscan_list_free(list);
			buf_free(&items);
		}
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("jsonscan_list");
	TCase *tc = tcase_create("list");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, cuts_whole_documents, 0, COUNT(cases));
	tcase_add_loop_test(tc, cuts_at_any_split_e49, 0, COUNT(cases));
	tcase_add_loop_test(tc, cuts_in_small_chunks_e49, 0, COUNT(cases));
	tcase_add_test(tc, is_not_done_before_the_end);
	tcase_add_test(tc, bounds_the_item);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
