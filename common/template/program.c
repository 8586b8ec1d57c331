/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller's templates as one jq program. The program gets {object, children, error, uuid, group} and gives, for the group that is asked for,
 * a list with an entry for each of its expressions: {v: VALUE}, {n: COUNT} when it gave none or several, {e: ERROR} when it failed.
 * Each expression stands between parentheses that it can't leave (expression_split() has matched its brackets).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/template/program.h"

/* Helpers for expressions. What begins with __ is refused in expressions, so it can't be redefined or called. */
static const char prelude[] =
	"def get(p; d): p as $v | if $v == null then d else $v end;\n"
	"def __trim(c): until(startswith(c) | not; .[1:]) | until(endswith(c) | not; .[:-1]);\n"
	"def __hash: reduce explode[] as $c (5381; (. * 33 + $c) % 4294967296);\n"
	"def __hex: reduce range(8) as $i ({n: ., s: \"\"}; (.n % 16) as $d |"
	" {n: ((.n - $d) / 16), s: (\"0123456789abcdef\"[$d:$d + 1] + .s)}) | .s;\n"
	"def __short(max; c): . as $t | if length <= max then . else (.[:max - 9] | __trim(c)) + "
	"\"-\" + ($t | __hash | __hex) end;\n"
	"def dnsName(parts): parts | map(tostring) | join(\"-\") | ascii_downcase | explode |"
	" map(if (. >= 97 and . <= 122) or (. >= 48 and . <= 57) then . else 45 end) | implode | "
	"__trim(\"-\") | __short(63; \"-\");\n"
	"def labelValue: tostring | explode | map(if (. >= 97 and . <= 122) or (. >= 65 and . <= "
	"90) or (. >= 48 and . <= 57)"
	" or . == 45 or . == 46 or . == 95 then . else 45 end) | implode | __trim(\"-\") | "
	"__trim(\".\") | __trim(\"_\") | __short(63; \"-\");\n"
	"def labelValue(v): v | labelValue;\n"
	"def quantity: if type == \"number\" then . else . as $q |"
	" (try "
	"capture(\"^(?<n>[+-]?[0-9]*[.]?[0-9]+([eE][+-]?[0-9]+)?)(?<u>[KMGTPE]i|[numkMGTPE]?)$\") "
	"catch null) as $m |"
	" if $m == null then error(\"not a quantity: \" + ($q | tostring)) else ($m.n | tonumber) *"
	" {\"\": 1, \"n\": 1e-9, \"u\": 1e-6, \"m\": 1e-3, \"k\": 1e3, \"M\": 1e6, \"G\": 1e9, "
	"\"T\": 1e12, \"P\": 1e15, \"E\": 1e18,"
	" \"Ki\": 1024, \"Mi\": 1048576, \"Gi\": 1073741824, \"Ti\": 1099511627776, \"Pi\": "
	"1125899906842624,"
	" \"Ei\": 1152921504606846976}[$m.u] end end;\n"
	"def quantity(q): q | quantity;\n";
static const char head[] = ".object as $__object | .children as $children | .error as $error | "
			   ".uuid as $uuid | .group as $__group |"
			   " $__object |\n";

static jv
vars_value(const cJSON *vars)
{
	struct buf bytes = BUF_INIT, wrapped = BUF_INIT;
	jv value = jv_object();

	if (vars) {
		json_print(&bytes, vars);
		const struct buf *text =
			json_wrap(&wrapped, bytes.data, bytes.length) ? &wrapped : &bytes;
		jv_free(value);
		value = jv_parse_sized(text->data, (int)text->length);
		if (!jv_is_valid(value)) {
			jv_free(value);
			value = jv_object();
		}
	}
	buf_free(&bytes);
	buf_free(&wrapped);
	return value;
}

static void
put_slot(struct buf *out, const char *expression)
{
	buf_adds(out, "(try ([limit(2; (");
	buf_adds(out, expression);
	buf_adds(out, "\n))] | if length == 1 then {v: .[0]} else {n: length} end) catch {e: .})");
}

static void
put_group(struct buf *out, size_t index, const struct skeleton *skeleton)
{
	buf_addf(out, "%s $__group == %zu then [", index == 0 ? "if" : "elif", index);
	for (size_t i = 0; i < skeleton->n_slots; i++) {
		buf_adds(out, i ? ",\n" : "\n");
		put_slot(out, skeleton->slots[i].expression);
	}
	buf_adds(out, "]\n");
}

static void
put_program(struct buf *out, const struct template_program *program)
{
	buf_adds(out, prelude);
	buf_adds(out, head);
	for (size_t i = 0; i < program->n_groups; i++)
		put_group(out, i, &program->groups[i]);
	buf_adds(out, program->n_groups ? "else [] end" : "[]");
}

/* Compiles one expression alone, to find whose fault it is. */
static bool
compiles_alone(const struct template_source *source, const char *expression, struct error *err)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, prelude);
	buf_adds(&text, head);
	put_slot(&text, expression);
	struct machine *machine = machine_new(text.data, vars_value(source->vars), err);
	buf_free(&text);
	machine_free(machine);
	return machine != NULL;
}

typedef void report_fn(void *data, const struct template_problem *problem);

static unsigned
report_slot(const struct slot *slot, const struct error *err, report_fn *report, void *data)
{
	struct template_problem problem = {.offset = slot->offset};

	snprintf(problem.path, sizeof(problem.path), "%s", slot->path);
	snprintf(problem.expression, sizeof(problem.expression), "%s", slot->expression);
	snprintf(problem.text, sizeof(problem.text), "%s", err->text);
	if (report)
		report(data, &problem);
	return 1;
}

/* The program does not compile: says which expressions do not. */
static unsigned
find_culprits(const struct template_program *program, const struct template_source *source,
	const struct error *whole, report_fn *report, void *data)
{
	unsigned problems = 0;

	for (size_t i = 0; i < program->n_groups; i++) {
		for (size_t k = 0; k < program->groups[i].n_slots; k++) {
			struct error err = {0};
			if (!compiles_alone(source, program->groups[i].slots[k].expression, &err))
				problems += report_slot(
					&program->groups[i].slots[k], &err, report, data);
		}
	}
	if (problems == 0) {
		struct slot all = {.expression = (char[]){""}, .path = "templates"};
		problems = report_slot(&all, whole, report, data);
	}
	return problems;
}

/* Builds everything; NULL when there are problems, which are reported and counted. */
static struct template_program *
build(const struct template_source *source, unsigned *ret_problems, report_fn *report, void *data,
	struct error *err)
{
	struct template_program *program = xcalloc(1, sizeof(*program));
	struct buf text = BUF_INIT;
	unsigned problems = 0;

	program->n_groups = source->n_groups;
	program->n_children = source->n_children;
	program->groups = xcalloc(source->n_groups, sizeof(*program->groups));
	for (size_t i = 0; i < source->n_groups; i++)
		problems += skeleton_build(
			&program->groups[i], &source->groups[i], source, report, data);
	if (problems == 0) {
		put_program(&text, program);
		program->machine = machine_new(text.data, vars_value(source->vars), err);
		if (!program->machine)
			problems = find_culprits(program, source, err, report, data);
	}
	buf_free(&text);
	*ret_problems = problems;
	if (problems == 0)
		return program;
	template_free(program);
	return NULL;
}

unsigned
template_check(const struct template_source *source, report_fn *report, void *data)
{
	struct error err = {0};
	unsigned problems;

	template_free(build(source, &problems, report, data, &err));
	return problems;
}

static void
keep_first(void *data, const struct template_problem *problem)
{
	struct error *err = data;

	if (err->code == 0)
		error_set(err, -EINVAL, "%s: %s: %s", problem->path, problem->expression,
			problem->text);
}

struct template_program *
template_compile(const struct template_source *source, struct error *err)
{
	struct error first = {0}, whole = {0};
	unsigned problems;
	struct template_program *program = build(source, &problems, keep_first, &first, &whole);

	if (!program)
		error_set(err, -EINVAL, "%s", first.text);
	return program;
}

void
template_free(struct template_program *program)
{
	if (!program)
		return;
	template_cache_clear(program);
	for (size_t i = 0; i < program->n_groups; i++)
		skeleton_clear(&program->groups[i]);
	free(program->groups);
	machine_free(program->machine);
	free(program);
}

bool
template_uses_child(const struct template_program *program, size_t group, size_t child)
{
	return group < program->n_groups && child < program->n_children &&
	       program->groups[group].uses_child[child];
}
