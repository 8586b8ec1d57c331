/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: what renders to what, what is refused with which words, and that nothing ends or grows the process. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/template/template.h"
#include "common/utf8.h"

#define AMPLE (30 * NSEC_PER_SEC)

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
render_group(const char *template_, bool boolean, int64_t timeout_ns, struct buf *out,
	struct template_problem *problem)
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
		.timeout_ns = timeout_ns};

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
	{"{\"metadata\":{\"labels\":{\"n\":\"${.spec.n}\",\"b\":\"${.spec.off}\"}}}",
		"{\"metadata\":{\"labels\":{\"n\":\"3\",\"b\":\"false\"}}}"}, /* E123: but not in labels */
	{"{\"metadata\":{\"annotations\":\"${{a: .spec.n, b: \\\"x\\\", c: .spec.big, d: "
	 "null}}\"}}",
		"{\"metadata\":{\"annotations\":{\"a\":\"3\",\"b\":\"x\",\"c\":"
		"\"9007199254740993\"}}}"},
	{"{\"metadata\":{\"labels\":{\"n\":\"${.spec.big}\",\"o\":\"${null}\"}}}",
		"{\"metadata\":{\"labels\":{\"n\":\"9007199254740993\"}}}"},
	{"{\"spec\":{\"labels\":{\"n\":\"${.spec.n}\"}}}", "{\"spec\":{\"labels\":{\"n\":3}}}"},
	{"[{\"metadata\":{\"labels\":{\"n\":\"${.spec.n}\"}}}]",
		"[{\"metadata\":{\"labels\":{\"n\":\"3\"}}}]"},
	{"{\"spec\":{\"selector\":{\"matchLabels\":{\"n\":\"${.spec.n}\"}}}}",
		"{\"spec\":{\"selector\":{\"matchLabels\":{\"n\":\"3\"}}}}"},
	{"\"a-${.metadata.name}-${.spec.n}\"", "\"a-web-3\""},
	{"{\"a\":\"${.spec.nil}\",\"b\":\"${.nothing}\",\"c\":1}",
		"{\"c\":1}"}, /* E99, E103: null drops its key */
	{"[\"${.spec.nil}\",1]", "[1]"},
	{"{\"a\":null,\"b\":{}}", "{\"b\":{}}"},
	{"\"${.spec.nil}\"", ""},
	{"{\"a\":\"${{b: .nothing, c: [null, {d: null}, 1]}}\"}",
		"{\"a\":{\"c\":[{},1]}}"}, /* E99, E103: deep too */
	{"[\"${spread([null, 1, null])}\",\"${spread(.nothing)}\",\"${spread([null])}\",2]",
		"[1,2]"},
	{"\"${get(first(.spec.none[]?); 5)}\"", "5"},
	{"\"${get(.spec.n; error)}\"", "3"},
	{"\"${.spec.big | tostring}\"", "\"9007199254740993\""},
	{"\"${dnsName([.spec.big])}\"", "\"9007199254740993\""},
	{"\"${\\\"n=\\\" + (.spec.big | tostring)}\"", "\"n=9007199254740993\""},
	{"\"${.5 + 1.25e-1}\"", "0.625"},
	{"\"${1e20}\"", "100000000000000000000"}, /* E125 */
	{"\"${@base64 \\\"\\\\(.metadata.name)\\\"}\"", "\"d2Vi\""},
	{"\"${if .spec.off then 1 elif .spec.n then 2 else 3 end}\"", "2"},
	{"\"${{if: 1} | .if}\"", "1"},
	{"\"${label $out | foreach (1, 2, 3) as $i (0; . + $i; if . > 2 then ., break $out else "
	 "empty end)}\"",
		"3"},
	{"\"${try error(\\\"x\\\") catch .}\"", "\"x\""},
	{"\"${limit(1; repeat(1))}\"", "1"},
	{"\"${[(1, 2) * (10, 20), 3 * .spec.n, (\\\"ab\\\" * 2), ({a: {b: 1}} * {a: {c: 2}}), "
	 "(\\\"a\\\" * 0)]}\"",
		"[10,20,20,40,9,\"abab\",{\"a\":{\"b\":1,\"c\":2}}]"}, /* * is ours, and means the same */
	{"\"$$${.spec.n}\"",
		"\"$${.spec.n}\""}, /* the first dollar is text, then comes an escape */
	{"\"${1 # a } and a ) in a comment, to the end\\n}\"", "1"},
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
	int code = render_group(good[_i].template_, false, AMPLE, &out, &problem);

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
	{"{\"metadata\":{\"labels\":{\"a\":\"${.spec.list}\"}}}", "a list", -EINVAL},
	{"\"${error({__jq: 0})}\"", "__jq", -EINVAL}, /* what libjq uses within */
	{"\"${nan}\"", "no number", -EINVAL},
	{"\"${[infinite]}\"", "infinite", -EINVAL},
	{"\"a ${nan}\"", "no number", -EINVAL},
	{"\"${1, error(\\\"late\\\")}\"", "late", -EINVAL},
	{"\"${\\\"%%%\\\" | @base64d}\"", "base64", -EINVAL},
	{"\"${\\\"[\\\" * 10000 | fromjson}\"", "depth limit", -EINVAL},
	{"\"${\\\"abc\\\" | gsub(\\\"^\\\"; \\\"x\\\")}\"", "longer than", -ETIMEDOUT},
	{"\"${def f: 1 + f; f}\"", "longer than", -ETIMEDOUT},
	{"\"${def f(x): f(x | x); f(.)}\"", "longer than", -ETIMEDOUT},
	{"\"${repeat(1)}\"", "several values", -EINVAL},
	/* bombs of one instruction, which no timer would end */
	{"\"${\\\"a\\\" * 1000000000}\"", "longer than 1048576", -EINVAL},
	{"\"${\\\"a\\\" | . *= 1e12}\"", "longer than 1048576", -EINVAL},
	{"\"${\\\"a\\\" * infinite}\"", "longer than 1048576", -EINVAL},
	{"\"${(\\\"a\\\" * 1000000) as $m | $m + $m}\"", "larger than", -EFBIG},
	{"\"x ${(\\\"a\\\" * 1000000) as $m | $m + $m}\"", "larger than", -EFBIG},
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
	/* Ample for what is to end by itself, valgrind included. */
	int64_t timeout_ns = bad[_i].code == -ETIMEDOUT ? 50 * NSEC_PER_MSEC : AMPLE;
	int code = render_group(bad[_i].template_, false, timeout_ns, &out, &problem);

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
	{"\"${nosuch(1)}\"", "there are get, spread, dnsName"},
	{"\"${get(.a)}\"", "get(PATH; DEFAULT)"},
	{"\"${$childs}\"", "there are $children, $vars"},
	{"\"${.a | }\"", "something is missing at the end"},
	{"\"${if .a then 1 else 2}\"", "syntax error"},
	{"\"${.a b}\"", "syntax error"},
	{"\"a ${spread(.x)}\"", "stands alone"},
	{"\"${sha256}\"", "not supported yet"},
	{"\"${until(1)}\"", "until/1 is not defined"},
	{"\"${$ children}\"", "directly behind"}, /* jq allows the blank */
	{"\"${$ ENV}\"", "directly behind"},
	{"\"${[$__loc__]}\"", "reserved"},
	{"\"${.x //= true}\"", "get(X; true)"},
	{"\"${.cpu < \\\"500m\\\"}\"", "quantity(A)"},
	{"\"${\\\"1.5Gi\\\" >= .memory}\"", "quantity(A)"},
	{"\"${quantity(.a) > \\\"10Ki\\\"}\"", "quantity(A)"},
	{"\"${.a | trimstr(\\\"x\\\")}\"", "jq 1.8"},
	{"\"${if .a then 1 end}\"", "needs an else"},
	{"\"${@foo \\\"x\\\"}\"", "@foo is no format"},
	{"\"${12345678901234567890}\"", "losing digits"},
	{"\"${1e1000}\"", "losing digits"},
	{"\"${break $x}\"", "not defined"},
	{"\"${get_prog_origin}\"", "stand alone"},
	{"\"${1 as $x | $x; 2}\"", "syntax error"},
	{"\"${def f: 1;}\"", "syntax error"},
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
		int code = render_group(cases[i].template_, true, AMPLE, &out, &problem);
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

START_TEST(trouble_in_the_string_has_its_offset)
{
	static const struct {
		const char *template_;
		unsigned offset;
	} cases[] = {{"\"ab ${.x\"", 3}, /* E121: of the ${ that is not closed */
		{"\"ab ${(.x]}\"", 8}, {"\"ab ${.x} ${ now }\"", 12},
		{"\"ab ${.x | $nobody}\"",
			5}}; /* libjq does not say where: the expression's start */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;
		struct template_problem problem = {0};
		set_up(&f, cases[i].template_, false);
		ck_assert_uint_eq(template_check(&f.source, keep, &problem), 1);
		ck_assert_uint_eq(problem.offset, cases[i].offset);
		tear_down(&f);
	}
}
END_TEST

START_TEST(children_that_exist_are_named)
{
	struct fixture f;
	struct template_problem problem = {0};

	set_up(&f, "\"${$children.my-child}\"", false);
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 1);
	ck_assert_str_eq(
		problem.text, "$children.my: no child has this id; there are deploy, my-child");
	f.source.n_children = 1;
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 1);
	ck_assert_str_eq(problem.text, "$children.my: no child has this id; there is deploy");
	f.source.n_children = 0;
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 1);
	ck_assert_str_eq(
		problem.text, "$children.my: no child has this id; the controller has no children");
	tear_down(&f);
}
END_TEST

START_TEST(keys_hold_no_expressions)
{
	struct fixture f;
	struct template_problem problem = {0};

	set_up(&f, "{\"a\":{\"${.x}\":1}}", false);
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 1);
	ck_assert(strstr(problem.text, "a key can't hold") != NULL);
	ck_assert_str_eq(problem.path, "status.a[\"${.x}\"]");
	f.group.literal = true;
	ck_assert_uint_eq(template_check(&f.source, keep, &problem), 0);
	tear_down(&f);
}
END_TEST

START_TEST(errors_are_one_line_of_utf8)
{
	struct buf out = BUF_INIT;
	struct template_problem problem = {0};

	ck_assert_int_eq(
		render_group("\"${error(\\\"x\\\\n\\u00e4\\\" + \\\"\\u00e4\\\" * 1000)}\"", false,
			AMPLE, &out, &problem),
		-EINVAL);
	ck_assert(utf8_valid(problem.text, strlen(problem.text)));
	ck_assert_uint_ge(strlen(problem.text), sizeof(problem.text) - 3);
	ck_assert_ptr_null(strchr(problem.text, '\n'));
	buf_free(&out);
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
	tcase_add_test(tc, which_child_is_read);
	tcase_add_test(tc, trouble_in_the_string_has_its_offset);
	tcase_add_test(tc, children_that_exist_are_named);
	tcase_add_test(tc, keys_hold_no_expressions);
	tcase_add_test(tc, errors_are_one_line_of_utf8);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
