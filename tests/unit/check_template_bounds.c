/* SPDX-License-Identifier: Apache-2.0 */
/* Templates under load and after trouble: nothing grows, nothing is left behind, size and number have the bounds that they should have. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/template/template.h"

#define AMPLE (30 * NSEC_PER_SEC) /* for what is to end by itself, valgrind included */

/* A program of groups, each a JSON text; the texts are gone when it is back. */
static struct template_program *
compile(const char *const *texts, size_t n)
{
	struct template_group *groups = calloc(n, sizeof(*groups));
	cJSON **values = calloc(n, sizeof(cJSON *));
	struct template_source source = {.groups = groups, .n_groups = n};
	struct error err = {0};

	for (size_t i = 0; i < n; i++) {
		values[i] = json_parse(texts[i], strlen(texts[i]), NULL);
		ck_assert_msg(values[i] != NULL, "not JSON: %s", texts[i]);
		groups[i] = (struct template_group){.path = "status", .value = values[i]};
	}
	struct template_program *program = template_compile(&source, &err);
	ck_assert_msg(program != NULL, "%s", err.text);
	for (size_t i = 0; i < n; i++)
		cJSON_Delete(values[i]);
	free(values);
	free(groups);
	return program;
}

static int
render(struct template_program *program, size_t group, const char *object, int64_t timeout_ns,
	struct buf *out, struct template_problem *problem)
{
	struct template_input input = {
		.object = object, .object_length = strlen(object), .timeout_ns = timeout_ns};

	buf_reset(out);
	return template_render(program, group, &input, out, problem);
}

START_TEST(a_program_goes_on_after_failures)
{
	static const char *const text =
		"\"${if .spin then last(repeat(1)) elif .fail then error(\\\"f\\\") elif .two then "
		"1, 2 else .n end}\"";
	struct template_program *program = compile(&text, 1);
	struct buf out = BUF_INIT;
	struct template_problem problem;

	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(
			render(program, 0, "{\"spin\":true}", 2 * NSEC_PER_MSEC, &out, &problem),
			-ETIMEDOUT);
		ck_assert_int_eq(
			render(program, 0, "{\"fail\":true}", AMPLE, &out, &problem), -EINVAL);
		ck_assert_int_eq(
			render(program, 0, "{\"two\":true}", AMPLE, &out, &problem), -EINVAL);
		ck_assert_int_eq(render(program, 0, "{\"no JSON", AMPLE, &out, &problem), -EINVAL);
		ck_assert_int_eq(render(program, 0, "{\"n\":1}", AMPLE, &out, &problem), 0);
		ck_assert_str_eq(out.data, "1");
	}
	template_free(program);
	buf_free(&out);
}
END_TEST

START_TEST(memory_stays_flat)
{
	static const char *const text =
		"{\"a\":\"${.n}-${.s}\",\"b\":\"${if .n % 7 == 0 then error(\\\"x\\\") elif "
		".n % 7 == 1 then empty elif .n % 7 == 2 then 1, 2 else [.n] end}\"}";
	struct template_program *program = compile(&text, 1);
	struct buf out = BUF_INIT;
	struct template_problem problem;
	size_t before = 0;

	for (int i = 0; i < 6000; i++) {
		char object[64];
		snprintf(object, sizeof(object), "{\"n\":%d,\"s\":\"some text\"}", i);
		render(program, 0, object, AMPLE, &out, &problem);
		if (i == 3000)
			before = mallinfo2().uordblks;
	}
	ck_assert_uint_le(mallinfo2().uordblks, before + 4096);
	template_free(program);
	buf_free(&out);
}
END_TEST

/* What a render held is given back, and a big object is not kept for the next. */
START_TEST(nothing_big_is_kept)
{
	static const char *const text = "\"${.n}\"";
	struct template_program *program = compile(&text, 1);
	struct buf out = BUF_INIT, object = BUF_INIT;
	struct template_problem problem;

	buf_adds(&object, "{\"n\":1,\"list\":[0");
	while (object.length < 100000)
		buf_adds(&object, ",{\"a\":\"b\"}");
	buf_adds(&object, "]}");
	ck_assert_int_eq(render(program, 0, "{}", AMPLE, &out, &problem), 0);
	size_t before = mallinfo2().uordblks;
	ck_assert_int_eq(render(program, 0, object.data, AMPLE, &out, &problem), 0);
	ck_assert_str_eq(out.data, "1");
	ck_assert_uint_le(mallinfo2().uordblks, before + 4096);
	template_free(program);
	buf_free(&object);
	buf_free(&out);
}
END_TEST

START_TEST(an_object_is_not_taken_for_another)
{
	static const char *const texts[] = {"\"${.n}\"", "\"${.n + 1}\""};
	struct template_program *program = compile(texts, 2);
	struct buf out = BUF_INIT;
	struct template_problem problem;

	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(render(program, 0, i % 2 ? "{\"n\":5}" : "{\"n\":7}", AMPLE, &out,
					 &problem),
			0);
		ck_assert_str_eq(out.data, i % 2 ? "5" : "7");
		ck_assert_int_eq(render(program, 1, i % 2 ? "{\"n\":5}" : "{\"n\":7}", AMPLE, &out,
					 &problem),
			0);
		ck_assert_str_eq(out.data, i % 2 ? "6" : "8");
	}
	template_free(program);
	buf_free(&out);
}
END_TEST

/* libjq's code of one function has a bound, and compiling could grow with the square. */
START_TEST(many_expressions_in_many_groups)
{
	enum { GROUPS = 60, EACH = 25 };
	const char *texts[GROUPS];
	struct buf text[GROUPS], out = BUF_INIT;
	struct template_problem problem;

	for (int i = 0; i < GROUPS; i++) {
		text[i] = BUF_INIT;
		for (int k = 0; k < EACH; k++)
			buf_addf(&text[i], "%s\"x${.n + %d}-${get(.m; %d)}\"", k ? "," : "[", i, k);
		buf_addc(&text[i], ']');
		texts[i] = text[i].data;
	}
	struct template_program *program = compile(texts, GROUPS);
	for (size_t i = 0; i < GROUPS; i++) {
		char start[32];
		snprintf(start, sizeof(start), "[\"x%zu-0\",\"x%zu-1\",", i + 1, i + 1);
		ck_assert_int_eq(render(program, i, "{\"n\":1}", AMPLE, &out, &problem), 0);
		ck_assert_msg(strncmp(out.data, start, strlen(start)) == 0, "%s", out.data);
		buf_free(&text[i]);
	}
	template_free(program);
	buf_free(&out);
}
END_TEST

START_TEST(the_slow_expression_is_named)
{
	static const char *const text =
		"{\"a\":\"${.n}\",\"b\":\"${.n | last(repeat(1))}\",\"c\":\"${1}\"}";
	struct template_program *program = compile(&text, 1);
	struct buf out = BUF_INIT;
	struct template_problem problem = {0};

	ck_assert_int_eq(
		render(program, 0, "{\"n\":1}", 5 * NSEC_PER_MSEC, &out, &problem), -ETIMEDOUT);
	ck_assert_str_eq(problem.path, "status.b");
	ck_assert_str_eq(problem.expression, ".n | last(repeat(1))");
	ck_assert_str_eq(problem.text, "took longer than 5 ms");
	ck_assert_uint_eq(problem.offset, 2);
	template_free(program);
	buf_free(&out);
}
END_TEST

static void
note_path(void *data, const struct template_problem *problem)
{
	struct buf *paths = data;

	buf_addf(paths, "%s ", problem->path);
}

START_TEST(culprits_are_found_among_many)
{
	struct buf text = BUF_INIT, paths = BUF_INIT;

	for (int i = 0; i < 100; i++)
		buf_addf(&text, "%c\"${%s}\"", i ? ',' : '[',
			i == 3    ? "nosuch"
			: i == 97 ? ".a b"
				  : ".a");
	buf_addc(&text, ']');
	cJSON *value = json_parse(text.data, text.length, NULL);
	struct template_group group = {.path = "status", .value = value};
	struct template_source source = {.groups = &group, .n_groups = 1};
	ck_assert_uint_eq(template_check(&source, note_path, &paths), 2);
	ck_assert_str_eq(paths.data, "status[3] status[97] ");
	cJSON_Delete(value);
	buf_free(&text);
	buf_free(&paths);
}
END_TEST

/* Timers do not live through a fork; the child's own must bound its renders, and the parent's go on. */
START_TEST(the_bound_holds_after_a_fork)
{
	static const char *const text = "\"${last(repeat(1))}\"";
	struct template_program *program = compile(&text, 1);
	struct buf out = BUF_INIT;
	struct template_problem problem;
	int status;

	ck_assert_int_eq(render(program, 0, "{}", NSEC_PER_MSEC, &out, &problem), -ETIMEDOUT);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(30);
		int code = render(program, 0, "{}", NSEC_PER_MSEC, &out, &problem);
		template_free(program);
		_exit(code == -ETIMEDOUT ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(render(program, 0, "{}", NSEC_PER_MSEC, &out, &problem), -ETIMEDOUT);
	template_free(program);
	buf_free(&out);
}
END_TEST

START_TEST(long_texts_pass_up_to_the_bound)
{
	static const char *const texts[] = {"\"${.s}\"", "\"${.s}!\""};
	struct template_program *program = compile(texts, 2);
	struct buf out = BUF_INIT, object = BUF_INIT;
	struct template_problem problem;

	buf_adds(&object, "{\"s\":\"");
	for (int i = 0; i < (1 << 20) - 2; i++)
		buf_addc(&object, 'a');
	buf_adds(&object, "\"}");
	ck_assert_int_eq(render(program, 0, object.data, AMPLE, &out, &problem), 0);
	ck_assert_uint_eq(out.length, 1 << 20);
	ck_assert_int_eq(render(program, 1, object.data, AMPLE, &out, &problem), -EFBIG);
	ck_assert_str_eq(out.data, "");
	template_free(program);
	buf_free(&object);
	buf_free(&out);
}
END_TEST

/* What comes out can be read: as deep as json_parse() goes, counted from the outside, and no deeper. */
START_TEST(depth_counts_from_the_outside)
{
	struct buf out = BUF_INIT, text = BUF_INIT;
	struct template_problem problem;

	for (int inner = JSON_DEPTH_MAX - 11; inner <= JSON_DEPTH_MAX - 9; inner++) {
		buf_reset(&text);
		for (int i = 0; i < 10; i++)
			buf_addc(&text, '[');
		buf_addf(&text, "\"${reduce range(%d) as $i (1; [.])}\"", inner);
		for (int i = 0; i < 10; i++)
			buf_addc(&text, ']');
		const char *texts = text.data;
		struct template_program *program = compile(&texts, 1);
		int code = render(program, 0, "{}", AMPLE, &out, &problem);
		ck_assert_int_eq(code, inner + 10 <= JSON_DEPTH_MAX ? 0 : -EINVAL);
		cJSON *value = json_parse(out.data, out.length, NULL);
		ck_assert((value != NULL) == (code == 0));
		cJSON_Delete(value);
		template_free(program);
	}
	buf_free(&text);
	buf_free(&out);
}
END_TEST

START_TEST(appends_behind_what_is_there)
{
	static const char *const texts[] = {
		"{\"a\":\"${.n}\"}", "\"${error(\\\"x\\\")}\"", "[1]", "null"};
	struct template_program *program = compile(texts, 4);
	struct template_input input = {
		.object = "{\"n\":1}", .object_length = 7, .timeout_ns = AMPLE};
	struct buf out = BUF_INIT;

	buf_adds(&out, "before ");
	ck_assert_int_eq(template_render(program, 0, &input, &out, NULL), 0);
	ck_assert_int_eq(template_render(program, 1, &input, &out, NULL), -EINVAL);
	ck_assert_int_eq(template_render(program, 2, &input, &out, NULL), 0);
	ck_assert_int_eq(template_render(program, 3, &input, &out, NULL), 0);
	ck_assert_str_eq(out.data, "before {\"a\":1}[1]");
	template_free(program);
	buf_free(&out);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("template_bounds");
	TCase *tc = tcase_create("template_bounds");

	template_init();
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_program_goes_on_after_failures);
	tcase_add_test(tc, memory_stays_flat);
	tcase_add_test(tc, nothing_big_is_kept);
	tcase_add_test(tc, an_object_is_not_taken_for_another);
	tcase_add_test(tc, many_expressions_in_many_groups);
	tcase_add_test(tc, the_slow_expression_is_named);
	tcase_add_test(tc, culprits_are_found_among_many);
	tcase_add_test(tc, the_bound_holds_after_a_fork);
	tcase_add_test(tc, long_texts_pass_up_to_the_bound);
	tcase_add_test(tc, depth_counts_from_the_outside);
	tcase_add_test(tc, appends_behind_what_is_there);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
