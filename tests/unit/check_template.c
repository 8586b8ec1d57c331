/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: what renders to what, what is refused with which words, and that nothing ends or grows the process. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/template/template.h"

static const char *const ids[] = {"deploy", "my-child"};

struct fixture {
	cJSON *value, *vars;
	struct template_group group;
	struct template_source source;
};

static void
set_up(struct fixture *f, const char *template_, bool boolean)
{
	f->value = json_parse(template_, strlen(template_), NULL);
	ck_assert_msg(f->value != NULL, "not JSON: %s", template_);
	f->vars = json_parse("{\"region\":\"eu\"}", 15, NULL);
	f->group = (struct template_group){.path = "status",
		.value = f->value,
		.boolean = boolean,
		.allow_children = true,
		.allow_error = true,
		.allow_uuid = true};
	f->source = (struct template_source){.groups = &f->group,
		.n_groups = 1,
		.children_ids = ids,
		.n_children = 2,
		.vars = f->vars};
}

static void
tear_down(struct fixture *f)
{
	cJSON_Delete(f->value);
	cJSON_Delete(f->vars);
}

static const char object[] =
	"{\"metadata\":{\"name\":\"web\",\"labels\":{\"a.b/"
	"c\":\"x\"}},\"spec\":{\"n\":3,\"off\":false,\"nil\":null,\"big\":9007199254740993,"
	"\"long\":1234567890123460,\"list\":[\"p\",\"q\"],\"text\":\"a\\u0000b\",\"q\":\"1.5Gi\","
	"\"deep\":{\"x\":[1,{\"y\":2}]}}}";
static const char children[] = "{\"deploy\":{\"status\":{\"ready\":2}},\"my-child\":null}";

static int
render_group(const char *template_, bool boolean, struct buf *out, struct template_problem *problem)
{
	struct fixture f;
	struct error err = {0};
	struct template_input input = {.object = object,
		.object_length = strlen(object),
		.children = children,
		.children_length = strlen(children),
		.error = "{\"message\":\"m\",\"reason\":\"R\"}",
		.error_length = 28,
		.uuid = "u-1",
		.timeout_ns = 400 * NSEC_PER_MSEC};

	set_up(&f, template_, boolean);
	struct template_program *program = template_compile(&f.source, &err);
	ck_assert_msg(program != NULL, "%s: %s", template_, err.text);
	int code = template_render(program, 0, &input, out, problem);
	template_free(program);
	tear_down(&f);
	return code;
}

static const struct {
	const char *template_, *result;
} good[] = {
	{"{\"a\":1,\"b\":[true,\"x\"]}", "{\"a\":1,\"b\":[true,\"x\"]}"},
	{"\"${.metadata.name}\"", "\"web\""},
	{"\"${.spec.n}\"", "3"}, /* E123: the type is kept */
	{"{\"labels\":{\"n\":\"${.spec.n}\",\"b\":\"${.spec.off}\"}}",
		"{\"labels\":{\"n\":\"3\",\"b\":\"false\"}}"}, /* E123: but not in labels */
	{"{\"spec\":{\"selector\":{\"matchLabels\":{\"n\":\"${.spec.n}\"}}}}",
		"{\"spec\":{\"selector\":{\"matchLabels\":{\"n\":\"3\"}}}}"},
	{"\"a-${.metadata.name}-${.spec.n}\"", "\"a-web-3\""},
	{"{\"a\":\"${.spec.nil}\",\"b\":\"${.nothing}\",\"c\":1}",
		"{\"c\":1}"}, /* E99, E103: null drops its key */
	{"[\"${.spec.nil}\",1]", "[1]"},
	{"{\"a\":null,\"b\":{}}", "{\"b\":{}}"},
	{"\"${.spec.nil}\"", ""},
	{"\"${get(.spec.replicas; 1)}\"", "1"}, /* E97 */
	{"\"${get(.spec.off; true)}\"", "false"},
	{"\"${.spec.big}\"", "9007199254740993"}, /* every digit */
	{"\"n=${.spec.big}\"", "\"n=9007199254740993\""},
	{"\"${.spec.long}\"", "1234567890123460"}, /* E125 */
	{"\"${.spec.n * 1000000}\"", "3000000"},   /* E125 */
	{"\"${.spec.text}\"", "\"a\\u0000b\""},    /* E223 */
	{"[1,\"${spread(.spec.list)}\",2]", "[1,\"p\",\"q\",2]"},
	{"[\"${spread([])}\"]", "[]"},
	{"\"$${HOME} $${X}\"", "\"${HOME} ${X}\""}, /* E121 */
	{"\"cost: $5 {x} $\"", "\"cost: $5 {x} $\""},
	{"\"${{a: .spec.n, \\\"b}\\\": \\\"}\\\"}}\"", "{\"a\":3,\"b}\":\"}\"}"},
	{"\"${\\\"in \\\\(.metadata.name + \\\"}\\\")\\\"}\"", "\"in web}\""},
	{"\"${.spec.n # a comment with } in it\\n}\"", "3"},
	{"\"${.metadata.labels[\\\"a.b/c\\\"]}\"", "\"x\""},
	{"\"${$children.deploy.status.ready // 0}\"", "2"},
	{"\"${$children[\\\"my-child\\\"].status.ready // 0}\"", "0"},
	{"\"${$vars.region}\"", "\"eu\""},
	{"\"${$error.message} ${$error.reason}\"", "\"m R\""},
	{"\"${$uuid}\"", "\"u-1\""},
	{"\"${.spec | .n as $x | $x + 1}\"", "4"},
	{"\"${reduce .spec.list[] as $i (\\\"\\\"; . + $i)}\"", "\"pq\""},
	{"\"${def f(x): x + 1; f(.spec.n)}\"", "4"},
	{"\"${.spec.q | quantity}\"", "1610612736"},
	{"\"${quantity(\\\"250m\\\")}\"", "0.25"},
	{"\"${dnsName([.metadata.name, \\\"A_b\\\"])}\"", "\"web-a-b\""},
	{"\"${\\\"a b!\\\" | labelValue}\"", "\"a-b\""},
	{"\"${.env.input}\"", ""}, /* fields are no words */
	{"\"${{env: 1, now: 2}}\"", "{\"env\":1,\"now\":2}"},
	{"\"${.spec.deep}\"", "{\"x\":[1,{\"y\":2}]}"},
	{"\"${\\\"\\u00e4\\\"}\"", "\"\xc3\xa4\""},
};

START_TEST(renders)
{
	struct buf out = BUF_INIT;
	struct template_problem problem = {0};
	int code = render_group(good[_i].template_, false, &out, &problem);

	ck_assert_msg(code == 0, "%s: %s: %s", good[_i].template_, problem.path, problem.text);
	ck_assert_str_eq(out.data, good[_i].result);
	buf_free(&out);
}
END_TEST

static const struct {
	const char *template_, *word; /* which must be in the problem's text */
	int code;
} bad[] = {
	{"\"${empty}\"", "no value", -EINVAL},
	{"\"${1, 2}\"", "several values", -EINVAL},
	{"\"${.spec.list[]}\"", "several values", -EINVAL},
	{"\"a ${.spec.nil}\"", "null within text", -EINVAL},
	{"\"a ${.spec.list}\"", "a list within text", -EINVAL},
	{"\"${error(\\\"no good\\\")}\"", "no good", -EINVAL},
	{"\"${error(null)}\"", "no value", -EINVAL}, /* jq 1.6 takes it for empty */
	{"\"${error({a: 1})}\"", "{\"a\":1}", -EINVAL},
	{"\"${.metadata.name.x}\"", "Cannot index", -EINVAL},
	{"\"${.spec.big + 1}\"", "cannot be added",
		-EINVAL}, /* arithmetic on a number that is no double: an error, not a wrong result */
	{"[\"${spread(.spec.n)}\"]", "needs a list", -EINVAL},
	{"{\"labels\":{\"a\":\"${.spec.list}\"}}", "a list", -EINVAL},
	{"\"${def f: f; f}\"", "longer than", -ETIMEDOUT},
	{"\"${[range(1e12)] | length}\"", "longer than", -ETIMEDOUT},
	{"\"${last(repeat(1))}\"", "longer than", -ETIMEDOUT},
	{"\"${[range(300000)]}\"", "larger than", -EFBIG},
	{"\"${reduce range(200) as $i (1; [.])}\"", "deeper", -EINVAL},
};

START_TEST(fails_with_words)
{
	struct buf out = BUF_INIT;
	struct template_problem problem = {0};
	int code = render_group(bad[_i].template_, false, &out, &problem);

	ck_assert_msg(code == bad[_i].code, "%s: %d: %s", bad[_i].template_, code, problem.text);
	ck_assert_msg(strstr(problem.text, bad[_i].word) != NULL, "%s: %s", bad[_i].template_,
		problem.text);
	ck_assert_str_eq(out.data, "");
	ck_assert_msg(strncmp(problem.path, "status", 6) == 0, "%s", problem.path);
	buf_free(&out);
}
END_TEST

static const struct {
	const char *template_, *word;
} refused[] = {
	{"\"${.a\"", "unclosed"}, /* E121 */
	{"\"x $${a} ${\"", "unclosed"},
	{"\"${1) | (2}\"", "do not match"},
	{"\"${]}\"", "do not match"},
	{"\"${}\"", "empty"},
	{"\"${  }\"", "empty"},
	{"\"${env.HOME}\"", "env is not available"},
	{"\"${$ENV.HOME}\"", "$ENV is not available"},
	{"\"${input}\"", "input is not"},
	{"\"${[inputs]}\"", "inputs is not"},
	{"\"${now}\"", "now is not"},
	{"\"${.a | debug}\"", "debug is not"},
	{"\"${halt}\"", "halt is not"},
	{"\"${import \\\"a\\\" as b; 1}\"", "import is not"},
	{"\"${\\\"\\\\(env)\\\"}\"", "env is not"}, /* within an interpolation too */
	{"\"${{a: env}}\"", "env is not"},
	{"\"${pick(.a)}\"", "jq 1.7"},
	{"\"${.a | toarray}\"", "jq 1.7"},
	{"\"${.x // true}\"", "get(X; true)"},
	{"\"${$children.nobody}\"", "no child has this id"},
	{"\"${$children}\"", "needs the id"},
	{"\"${$children[.a]}\"", "needs the id"},
	{"\"${$related.x}\"", "not supported yet"},
	{"\"${$__object}\"", "reserved"},
	{"\"${__hash}\"", "reserved"},
	{"\"${$nobody}\"", "nobody"},
	{"\"${nosuch(1)}\"", "nosuch"}, /* E119 */
	{"\"${if .a then 1}\"", "syntax error"},
	{"\"${.a b}\"", "syntax error"},
	{"\"a ${spread(.x)}\"", "stands alone"},
	{"\"${sha256}\"", "not supported yet"},
};

static void
keep(void *data, const struct template_problem *problem)
{
	*(struct template_problem *)data = *problem;
}

START_TEST(refuses_at_the_check)
{
	struct fixture f;
	struct template_problem problem = {0};

	set_up(&f, refused[_i].template_, false);
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 1);
	ck_assert_msg(strstr(problem.text, refused[_i].word) != NULL, "%s: %s",
		refused[_i].template_, problem.text);
	ck_assert_str_eq(problem.path, "status");
	ck_assert_ptr_null(template_compile(&f.source, NULL));
	tear_down(&f);
}
END_TEST

START_TEST(scopes_are_kept)
{
	static const char *const only_some[] = {
		"\"${$children.deploy}\"", "\"${$error.message}\"", "\"${$uuid}\""};

	for (size_t i = 0; i < 3; i++) {
		struct fixture f;
		set_up(&f, only_some[i], false);
		f.group.allow_children = f.group.allow_error = f.group.allow_uuid = false;
		ck_assert_uint_eq(template_check(&f.source, NULL, NULL), 1);
		tear_down(&f);
	}
}
END_TEST

START_TEST(each_problem_is_named_with_its_place)
{
	struct fixture f;
	struct template_problem problem = {0};

	set_up(&f, "{\"a\":[{\"b c\":\"text ${now}\"}],\"d\":\"${env}\"}", false);
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 2);
	ck_assert_str_eq(problem.path, "status.d");
	ck_assert_uint_eq(problem.offset, 2);
	tear_down(&f);
}
END_TEST

START_TEST(when_wants_a_boolean)
{
	static const struct {
		const char *template_;
		const char *result; /* NULL: refused */
	} cases[] = {{"\"${.spec.n > 2}\"", "true"}, {"\"${.spec.off}\"", "false"},
		{"true", "true"}, {"\"${.spec.n}\"", NULL}, {"\"${.metadata.name}\"", NULL},
		{"\"${.spec.nil}\"", NULL}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT;
		struct template_problem problem = {0};
		int code = render_group(cases[i].template_, true, &out, &problem);
		if (cases[i].result)
			ck_assert_str_eq(out.data, cases[i].result);
		else
			ck_assert_msg(code == -EINVAL && strstr(problem.text, "true or false"),
				"%s: %s", cases[i].template_, problem.text);
		buf_free(&out);
	}
	struct fixture f;
	set_up(&f, "\"a ${.x}\"", true);
	ck_assert_uint_eq(template_check(&f.source, NULL, NULL), 1);
	tear_down(&f);
}
END_TEST

START_TEST(literal_groups_have_no_expressions)
{
	struct fixture f;
	struct buf out = BUF_INIT;
	struct template_input input = {.object = "{}", .object_length = 2};

	set_up(&f, "{\"script\":\"echo ${HOME} ${\"}", false);
	f.group.literal = true;
	struct template_program *program = template_compile(&f.source, NULL);
	ck_assert_int_eq(template_render(program, 0, &input, &out, NULL), 0);
	ck_assert_str_eq(out.data, "{\"script\":\"echo ${HOME} ${\"}");
	template_free(program);
	buf_free(&out);
	tear_down(&f);
}
END_TEST

START_TEST(a_program_goes_on_after_failures)
{
	struct fixture f;
	struct buf out = BUF_INIT;
	struct template_problem problem;
	static const char slow[] = "{\"spin\":true}", fails[] = "{\"fail\":true}",
			  fine[] = "{\"n\":1}";

	set_up(&f,
		"\"${if .spin then last(repeat(1)) elif .fail then error(\\\"f\\\") else .n end}\"",
		false);
	struct template_program *program = template_compile(&f.source, NULL);
	for (int i = 0; i < 20; i++) {
		struct template_input input = {.object = slow,
			.object_length = strlen(slow),
			.timeout_ns = 2 * NSEC_PER_MSEC};
		ck_assert_int_eq(template_render(program, 0, &input, &out, &problem), -ETIMEDOUT);
		input.object = fails;
		input.object_length = strlen(fails);
		ck_assert_int_eq(template_render(program, 0, &input, &out, &problem), -EINVAL);
		input = (struct template_input){.object = fine, .object_length = strlen(fine)};
		ck_assert_int_eq(template_render(program, 0, &input, &out, &problem), 0);
		ck_assert_str_eq(out.data, "1");
		buf_reset(&out);
	}
	template_free(program);
	buf_free(&out);
	tear_down(&f);
}
END_TEST

START_TEST(memory_stays_flat)
{
	struct fixture f;
	struct buf out = BUF_INIT;
	struct template_problem problem;
	size_t before = 0;

	set_up(&f,
		"{\"a\":\"${.n}-${.s}\",\"b\":\"${if .n % 7 == 0 then error(\\\"x\\\") else [.n] "
		"end}\"}",
		false);
	struct template_program *program = template_compile(&f.source, NULL);
	for (int i = 0; i < 6000; i++) {
		char text[64];
		int n = snprintf(text, sizeof(text), "{\"n\":%d,\"s\":\"some text\"}", i);
		struct template_input input = {
			.object = text, .object_length = (size_t)n, .timeout_ns = NSEC_PER_SEC};
		buf_reset(&out);
		template_render(program, 0, &input, &out, &problem);
		if (i == 3000)
			before = mallinfo2().uordblks;
	}
	ck_assert_uint_le(mallinfo2().uordblks, before + 4096);
	template_free(program);
	buf_free(&out);
	tear_down(&f);
}
END_TEST

START_TEST(which_child_is_read)
{
	struct fixture f;

	set_up(&f, "{\"a\":\"${$children.deploy.x // 1}\"}", false);
	struct template_program *program = template_compile(&f.source, NULL);
	ck_assert(template_uses_child(program, 0, 0));
	ck_assert(!template_uses_child(program, 0, 1));
	template_free(program);
	tear_down(&f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("template");
	TCase *tc = tcase_create("template");

	template_init();
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, renders, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tc, fails_with_words, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_loop_test(
		tc, refuses_at_the_check, 0, (int)(sizeof(refused) / sizeof(refused[0])));
	tcase_add_test(tc, scopes_are_kept);
	tcase_add_test(tc, each_problem_is_named_with_its_place);
	tcase_add_test(tc, when_wants_a_boolean);
	tcase_add_test(tc, literal_groups_have_no_expressions);
	tcase_add_test(tc, a_program_goes_on_after_failures);
	tcase_add_test(tc, memory_stays_flat);
	tcase_add_test(tc, which_child_is_read);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
