/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to trees with places: types, aliases and merging, and every refusal with its line and column. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/json.h"
#include "common/yaml.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MARK     "\xef\xbb\xbf"

/* In a block of its own size, so that a sanitizer sees each byte read too far. */
static struct yaml_node *
parse_bytes(const char *text, size_t n, struct yaml_place_error *err)
{
	char *copy = malloc(n ? n : 1);
	struct yaml_node *node;

	memcpy(copy, text, n);
	node = yaml_parse(copy, n, err);
	free(copy);
	return node;
}

static struct yaml_node *
parse(const char *text)
{
	struct yaml_place_error err;
	struct yaml_node *node = parse_bytes(text, strlen(text), &err);

	ck_assert_msg(node != NULL, "%s: %d:%d: %s", text, err.line, err.column, err.text);
	return node;
}

static void
assert_json(const struct yaml_node *node, const char *expected)
{
	cJSON *json = yaml_to_json(node);
	struct buf out = BUF_INIT;

	ck_assert_ptr_nonnull(json);
	json_print(&out, json);
	ck_assert_str_eq(out.data, expected);
	cJSON_Delete(json);
	buf_free(&out);
}

static const struct {
	const char *text, *json;
} documents[] = {
	{"", "{}"},
	{"# nothing\n", "{}"},
	{"---\n", "{}"},
	{"--- # nothing\n...\n", "{}"},
	{"null", "null"},
	{"[]", "[]"},
	{"text", "\"text\""},
	{"a: 1\nb: [x, \"y\", {c: d}]\ne:\nf: ''\n",
		"{\"a\":1,\"b\":[\"x\",\"y\",{\"c\":\"d\"}],\"e\":null,\"f\":\"\"}"},
	{"- a\n-\n- - b\n  - c: d\n    e: f\n", "[\"a\",null,[\"b\",{\"c\":\"d\",\"e\":\"f\"}]]"},
	{"a: |\n  x\n  \ty\nb: >-\n  x\n  y\n", "{\"a\":\"x\\n\\ty\\n\",\"b\":\"x y\"}"},
	{"a: x\r\nb: y\r\n", "{\"a\":\"x\",\"b\":\"y\"}"},
	{"a: \"\\x41\\u00e9\\0\\uE000\"", "{\"a\":\"A\xc3\xa9\\u0000\xee\x80\x80\"}"},
	{"{\"json\": [1, true, null, \"x\"]}", "{\"json\":[1,true,null,\"x\"]}"},
	{"a: ${.spec.n}\nb: \"${get(.a; 1)}\"", "{\"a\":\"${.spec.n}\",\"b\":\"${get(.a; 1)}\"}"},
	/* what the parser's own texts get wrong */
	{"'a''''b'", "\"a''b\""},
	{"''''''''''''''''''''''", "\"''''''''''\""},
	{"' a \n\n  \t b'' '", "\" a\\nb' \""},
	{"\" \\ \n  `\\/b c\\n\\\"\"", "\"   `/b c\\n\\\"\""},
	{"\"a\\\n  b \\\n\n  c\\\r\n d\"", "\"ab \\ncd\""},
	{"\"\\a\\e\\v\\_\\N\\L\\P\\U0001F600\\ud83d\\ude00\\\t\"",
		"\"\\u0007\\u001b\\u000b\xc2\xa0\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xf0\x9f\x98\x80"
		"\xf0\x9f\x98\x80\\t\""},
	{"a: >\n  x\n   - y\n\n   - z\n  t\n  u\n\n", "{\"a\":\"x\\n - y\\n\\n - z\\nt u\\n\"}"},
	{"\"k > # x\": &a !!str # >+\n  >- # >+\n\n\n    x\n\n\n    y\n\n\nb: *a",
		"{\"k > # x\":\"\\n\\nx\\n\\ny\",\"b\":\"\\n\\nx\\n\\ny\"}"},
	{"- >+\n\n\n- >+\n  x\n\n\n- >\n- >-\n  y", "[\"\\n\\n\",\"x\\n\\n\\n\",\"\",\"y\"]"},
	{"a: >", "{\"a\":\"\"}"},
	{"a: >\r\n  x\r\n  y\r\n", "{\"a\":\"x y\\n\"}"},
	/* E159: only the words of the core schema */
	{"[no, on, y, off, No, yes, tRUE, 12:30, 1_000, 2024-01-01, 1.2.3, 0b1, 0xZ, 0o9, -0x1, "
	 "'1', \"true\", 1e, .e1]",
		"[\"no\",\"on\",\"y\",\"off\",\"No\",\"yes\",\"tRUE\",\"12:30\",\"1_000\",\"2024-"
		"01-01\",\"1.2.3\",\"0b1\",\"0xZ\","
		"\"0o9\",\"-0x1\",\"1\",\"true\",\"1e\",\".e1\"]"},
	{"[~, null, Null, NULL, true, True, TRUE, false, False, FALSE]",
		"[null,null,null,null,true,true,true,false,false,false]"},
	{"[0, -1, +2, 0400, 007, 00, 0x1F, 0xff, 0o17, 0xFFFFFFFFFFFFFFFF]",
		"[0,-1,2,400,7,0,31,255,15,18446744073709551615]"},
	{"[1.5, -.5, +.5, 1., 1e3, 1.5E+3, 00.10, -0.0, 1234567890123460, 9007199254740993, "
	 "0.1000000000000000055]",
		"[1.5,-0.5,0.5,1,1000,1500,0.1,-0,1234567890123460,9007199254740993,0."
		"1000000000000000055]"},
	/* keys are text */
	{"1: x\ntrue: y\n~: z\n0x1: w\n", "{\"1\":\"x\",\"true\":\"y\",\"~\":\"z\",\"0x1\":\"w\"}"},
	{"\"a b\": 1\n'c': 2\n? d\n: 3\n\"\": 4\n\"\\uE000\": 5",
		"{\"a b\":1,\"c\":2,\"d\":3,\"\":4,\"\xee\x80\x80\":5}"},
	/* tags */
	{"[!!str 1, !!str true, ! 2, !!int '3', !!int 0x10, !!float 4, !!float '5.5', !!bool "
	 "'true', !!null '', !!seq [!!map {}]]",
		"[\"1\",\"true\",\"2\",3,16,4,5.5,true,null,[{}]]"},
	{"!!str 1: x", "{\"1\":\"x\"}"},
	{"[!<tag:yaml.org,2002:str> 1, !!str ]", "[\"1\",\"\"]"},
	/* aliases, E157: the latest anchor */
	{"a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}"},
	{"a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "{\"a\":1,\"b\":1,\"c\":2,\"d\":2}"},
	{"a: &x {k: &y [1]}\nb: *x\nc: *y\n", "{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]},\"c\":[1]}"},
	{"a: &x k\n*x : *x\n", "{\"a\":\"k\",\"k\":\"k\"}"},
	{"a: &e\nb: *e\n", "{\"a\":null,\"b\":null}"},
	{"&k a: 1\nb: *k\n", "{\"a\":1,\"b\":\"a\"}"},
	/* E155: merge keys */
	{"base: &b {x: 1, y: 2}\nm:\n  <<: *b\n  y: 3\n",
		"{\"base\":{\"x\":1,\"y\":2},\"m\":{\"y\":3,\"x\":1}}"},
	{"base: &b {x: 1, y: 2}\nm:\n  y: 3\n  <<: *b\n",
		"{\"base\":{\"x\":1,\"y\":2},\"m\":{\"y\":3,\"x\":1}}"},
	{"a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nm: {<<: [*a, *b], w: 0}\n",
		"{\"a\":{\"x\":1,\"y\":1},\"b\":{\"y\":2,\"z\":2},\"m\":{\"w\":0,\"x\":1,\"y\":1,"
		"\"z\":2}}"},
	{"m: {<<: {x: 1}, <: 2}", "{\"m\":{\"<\":2,\"x\":1}}"},
	{"m: {<<: &in {x: 1}}\nn: *in", "{\"m\":{\"x\":1},\"n\":{\"x\":1}}"},
	{"a: &a {x: {d: 1}}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n",
		"{\"a\":{\"x\":{\"d\":1}},\"b\":{\"y\":2,\"x\":{\"d\":1}},\"c\":{\"y\":2,\"x\":{"
		"\"d\":1}}}"},
	{"m: {\"<<\": {x: 1}}", "{\"m\":{\"<<\":{\"x\":1}}}"},
	{"m: {!!str <<: {x: 1}}", "{\"m\":{\"<<\":{\"x\":1}}}"},
	{"m: {<<: [], x: 1}", "{\"m\":{\"x\":1}}"},
	/* E161, E165: a byte order mark before all */
	{MARK "a: 1\nb: 2\n", "{\"a\":1,\"b\":2}"},
	{MARK, "{}"},
	{MARK "# c\na: 1", "{\"a\":1}"},
};

START_TEST(reads_documents)
{
	for (size_t i = 0; i < COUNT(documents); i++) {
		struct yaml_node *node = parse(documents[i].text);

		assert_json(node, documents[i].json);
		yaml_free(node);
	}
}
END_TEST

static const struct {
	const char *text;
	int line, column;
	const char *error;
} refusals[] = {
	/* E163 */
	{"a:\n\tb: 1\n", 2, 1, "tab"},
	{"\ta: 1\n", 1, 1, "tab"},
	{"a:\n  b: 1\n\tc: 2\n", 3, 2, "tab"},
	{"a:\n  - x\n\t- y\n", 3, 2, "tab"},
	{"a: x\n\ty: 1\n", 2, 1, "tab"},
	{"a: {\n\tb: 1}\n", 2, 1, "tab"},
	/* E155 */
	{"a: 1\nb: 2\na: 3\n", 3, 1, "the key \"a\" is given twice, first in line 1"},
	{"m:\n  <<: {x: 1}\n  y: 1\n  y: 2\n", 4, 3,
		"the key \"y\" is given twice, first in line 3"},
	{"a: 1\n\"a\": 2\n", 2, 1, "given twice"},
	{"1: x\n'1': y\n", 2, 1, "given twice"},
	{"b: 1\na: 1\na: 2\nb: 2\n", 3, 1, "the key \"a\""},
	{"m: {<<: {}, <<: {}}", 1, 13, "the key \"<<\" is given twice"},
	{"<<: 1", 1, 5, "takes a map or a list of maps"},
	{"<<: [{}, x]", 1, 10, "takes a map or a list of maps"},
	/* E161, E165 */
	{"---\n" MARK "a: 1\n", 2, 1, "byte order mark"},
	{"a: 1\n" MARK "b: 2\n", 2, 1, "byte order mark"},
	{MARK MARK "a: 1", 1, 1, "byte order mark"},
	{"\xff\xfe"
	 "a",
		1, 1, "UTF-16"},
	{"\xfe\xff"
	 "a",
		1, 1, "UTF-16"},
	{"a: \xff\n", 1, 4, "UTF-8"},
	{"\xc3\xa9: 1\nb: \xc3\xa9\xc3(\n", 2, 5, "UTF-8"},
	{"a: \x07\n", 1, 4, "control character"},
	{"a: \"\\ud800\"", 1, 5, "escape"},
	{"a: \"\\U00110000\"", 1, 5, "escape"},
	{"a: \"\\q\"", 1, 5, "escape"},
	{"a: >2\n   x\n", 2, 1, "indentation given by number"},
	{"%YAML 1.1\n---\na: 1\n", 1, 1, "%YAML 1.1 is not supported"},
	/* one document */
	{"a: 1\n---\nb: 2\n", 2, 1, "second document"},
	{"a: 1\n---\n", 2, 1, "second document"},
	{"a: 1\n...\nb: 2\n", 3, 1, ""},
	/* aliases */
	{"a: *nope\n", 1, 4, "the alias *nope has no anchor before it"},
	{"a: *x\nb: &x 1\n", 1, 4, "no anchor"},
	{"a: &x [1, *x]\n", 1, 11, "within its own anchor"},
	{"a: &x {k: [*x]}\n", 1, 12, "within its own anchor"},
	{"a: &x 1\nb: &x [*x]\n", 2, 8, "within its own anchor"},
	/* keys */
	{"? [a]\n: b\n", 1, 3, "a key must be a text"},
	{"{{a: b}: c}", 1, 2, "a key must be a text"},
	{"a: &x [1]\n*x : 1\n", 2, 1, "a key must be a text"},
	{": x\n", 1, 1, "a key is missing"},
	{"\"a\\0b\": 1\n", 1, 1, "U+0000"},
	/* numbers and tags */
	{"a: .inf\n", 1, 4, "JSON"},
	{"a:\n  - -.INF\n", 2, 5, "JSON"},
	{"a: .nan\n", 1, 4, "quote it"},
	{"a: !!float .NaN\n", 1, 12, "JSON"},
	{"a: 0x10000000000000000\n", 1, 4, "64 bits"},
	{"a: !!int x\n", 1, 10, "not what its tag !!int says"},
	{"a: !!int 1.5\n", 1, 10, "!!int"},
	{"a: !!bool yes\n", 1, 11, "!!bool"},
	{"a: !!null x\n", 1, 11, "!!null"},
	{"a: !foo x\n", 1, 9, "the tag !foo is not supported"},
	{"a: !!binary eA==\n", 1, 13, "is not supported"},
	{"a: !!set {x}\n", 1, 10, "is not supported"},
	{"a: !!map [x]\n", 1, 10, "is not supported"},
	/* the parser's own */
	{"a: [", 2, 1, "bracket"},
	{"a: \"x\n", 1, 5, "quote"},
	{"a: b: c\n", 1, 5, "nested"},
	{"@a: 1\n", 1, 1, "'@'"},
	{"a: 1\n b: 2\n", 1, 4, "multiline"},
	{"a: 1\n\nb\n", 3, 1, ""},
};

START_TEST(refuses_with_the_place)
{
	struct yaml_place_error err;

	for (size_t i = 0; i < COUNT(refusals); i++) {
		const char *text = refusals[i].text;

		ck_assert_msg(parse_bytes(text, strlen(text), &err) == NULL, "%s", text);
		ck_assert_msg(
			strstr(err.text, refusals[i].error) != NULL, "%s: %s", text, err.text);
		ck_assert_msg(err.line == refusals[i].line && err.column == refusals[i].column,
			"%s: %d:%d: %s", text, err.line, err.column, err.text);
		ck_assert_ptr_null(yaml_parse(text, strlen(text), NULL));
	}
	ck_assert_ptr_null(parse_bytes("a: x\0y\n", 7, &err));
	ck_assert_int_eq(err.column, 5);
	ck_assert_ptr_nonnull(strstr(err.text, "NUL"));
	ck_assert_ptr_null(parse_bytes("a\0:\0 \0001\0", 8, &err)); /* E161 */
	ck_assert_ptr_nonnull(strstr(err.text, "UTF-16"));
}
END_TEST

static void
assert_node(const struct yaml_node *node, enum yaml_type type, const char *text, int line,
	int column, int key_line, int key_column)
{
	ck_assert_ptr_nonnull(node);
	ck_assert_int_eq(node->type, type);
	if (text) {
		ck_assert_str_eq(node->text, text);
		ck_assert_uint_eq(node->length, strlen(text));
	} else {
		ck_assert_ptr_null(node->text);
	}
	ck_assert_msg(node->line == line && node->column == column && node->key_line == key_line &&
			      node->key_column == key_column,
		"%s: %d:%d, key %d:%d", node->key, node->line, node->column, node->key_line,
		node->key_column);
}

START_TEST(knows_places)
{
	struct yaml_node *root =
		parse(MARK "# c\nmap: &m\n  n: 0400\n  q: 'a'\n  d: \"b\"\n\xc3\xa9\xc3\xa9: {t: "
			   "!!str 1, e: , l: [x, *m]}\n"
			   "empty:\nlast: |\n  text\n");
	const struct yaml_node *map = yaml_get(root, "map"),
			       *flow = yaml_get(root, "\xc3\xa9\xc3\xa9"),
			       *list = yaml_get(flow, "l");

	assert_node(root, YAML_MAP, NULL, 2, 1, 0, 0);
	assert_node(map, YAML_MAP, NULL, 3, 3, 2, 1);
	assert_node(yaml_get(map, "n"), YAML_NUMBER, "0400", 3, 6, 3, 3);
	ck_assert(yaml_get(map, "n")->plain);
	assert_node(yaml_get(map, "q"), YAML_STRING, "a", 4, 6, 4, 3);
	ck_assert(!yaml_get(map, "q")->plain);
	assert_node(yaml_get(map, "d"), YAML_STRING, "b", 5, 6, 5, 3);
	assert_node(flow, YAML_MAP, NULL, 6, 5, 6, 1);
	assert_node(yaml_get(flow, "t"), YAML_STRING, "1", 6, 15, 6, 6);
	ck_assert(!yaml_get(flow, "t")->plain);
	assert_node(yaml_get(flow, "e"), YAML_NULL, "", 6, 18, 6, 18);
	assert_node(list, YAML_LIST, NULL, 6, 26, 6, 23);
	assert_node(list->children, YAML_STRING, "x", 6, 27, 0, 0);
	/* the alias stands here, what is in it there */
	assert_node(list->children->next, YAML_MAP, NULL, 6, 30, 0, 0);
	assert_node(yaml_get(list->children->next, "n"), YAML_NUMBER, "0400", 3, 6, 3, 3);
	assert_node(yaml_get(root, "empty"), YAML_NULL, "", 7, 1, 7, 1);
	ck_assert_int_eq(yaml_get(root, "last")->key_line, 8);
	ck_assert_ptr_null(yaml_get(root, "none"));
	ck_assert_ptr_null(yaml_get(list, "x"));
	ck_assert_ptr_null(yaml_get(NULL, "x"));
	yaml_free(root);
	yaml_free(NULL);
}
END_TEST

/* --- bounds ------------------------------------------------------------------------- */

static long
peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void
refused_at_little_cost(const char *text, const char *error)
{
	struct yaml_place_error err;
	struct timespec from, to;
	long before = peak_kib();

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	ck_assert_ptr_null(parse_bytes(text, strlen(text), &err));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	ck_assert_msg(strstr(err.text, error) != NULL, "%s", err.text);
#ifndef WITH_SANITIZERS
	ck_assert_int_lt(peak_kib() - before, 100 * 1024);
	if (!getenv("CK_FORK")) /* a debugger or valgrind is slow by itself */
		ck_assert_int_lt(to.tv_sec * 1000 + to.tv_nsec / 1000000 - from.tv_sec * 1000 -
					 from.tv_nsec / 1000000,
			1000);
#else
	(void)before;
#endif
}

/* levels of lists that hold the level before n times; the first holds item. */
static void
laughs(struct buf *b, int levels, int n, const char *item)
{
	for (int level = 0; level < levels; level++) {
		buf_addf(b, "%c: &%c [", 'a' + level, 'a' + level);
		for (int i = 0; i < n; i++)
			if (level == 0)
				buf_addf(b, "%s%s", i ? "," : "", item);
			else
				buf_addf(b, "%s*%c", i ? ", " : "", 'a' + level - 1);
		buf_adds(b, "]\n");
	}
}

START_TEST(bounds_aliases_e153)
{
	struct buf b = BUF_INIT;
	char *text = malloc(1000001);

	laughs(&b, 9, 9, "lol");
	refused_at_little_cost(b.data, "more than 500000 values, aliases expanded");
	/* few values, much text */
	memset(text, 'x', 1000000);
	text[1000000] = '\0';
	buf_reset(&b);
	laughs(&b, 3, 9, text);
	refused_at_little_cost(b.data, "bytes of text, aliases expanded");
	/* merged again and again */
	buf_reset(&b);
	buf_adds(&b, "a: &a {");
	for (int i = 0; i < 20000; i++)
		buf_addf(&b, "k%d: ,", i);
	buf_adds(&b, "}\nb: {<<: [");
	for (int i = 0; i < 20000; i++)
		buf_adds(&b, "*a,");
	buf_adds(&b, "]}\n");
	refused_at_little_cost(b.data, "more than 500000 values");
	/* anchors without number */
	buf_reset(&b);
	for (int i = 0; i < 1001; i++)
		buf_addf(&b, "- &a%d x\n", i);
	refused_at_little_cost(b.data, "more than 1000 anchors");
	buf_free(&b);
	free(text);
}
END_TEST

START_TEST(bounds_the_depth)
{
	char text[2 * YAML_DEPTH_MAX + 3];
	struct yaml_place_error err;
	struct buf b = BUF_INIT;

	for (int depth = YAML_DEPTH_MAX; depth <= YAML_DEPTH_MAX + 1; depth++) {
		struct yaml_node *node;

		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		node = parse_bytes(text, 2 * (size_t)depth, &err);
		ck_assert_int_eq(node != NULL, depth <= YAML_DEPTH_MAX);
		if (!node)
			ck_assert_str_eq(err.text, "nested deeper than 64 levels");
		yaml_free(node);
	}
	ck_assert_int_eq(err.column, YAML_DEPTH_MAX + 1);
	/* deep by aliases: each level one more */
	buf_adds(&b, "- &a0 []\n");
	for (int i = 1; i < 70; i++)
		buf_addf(&b, "- &a%d [*a%d]\n", i, i - 1);
	ck_assert_ptr_null(parse_bytes(b.data, b.length, &err));
	ck_assert_str_eq(err.text, "nested deeper than 64 levels, aliases expanded");
	buf_free(&b);
}
END_TEST

START_TEST(cuts_long_errors_between_characters)
{
	struct yaml_place_error err;
	struct buf b = BUF_INIT;

	buf_adds(&b, "a: *");
	for (int i = 0; i < 300; i++)
		buf_adds(&b, "\xe2\x82\xac");
	ck_assert_ptr_null(parse_bytes(b.data, b.length, &err));
	ck_assert_uint_eq(strlen(err.text) % 3, strlen("the alias *") % 3);
	ck_assert_uint_gt(strlen(err.text), 240);
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("yaml");
	TCase *tc = tcase_create("yaml");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, reads_documents);
	tcase_add_test(tc, refuses_with_the_place);
	tcase_add_test(tc, knows_places);
	tcase_add_test(tc, bounds_aliases_e153);
	tcase_add_test(tc, bounds_the_depth);
	tcase_add_test(tc, cuts_long_errors_between_characters);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
