/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller's templates as one jq program: helpers, the variables, a function for each group, and a choice by number. A group's function gives a mark, then
 * the values of its first expression, a mark, those of its second, and so on; render.c takes them apart. It costs a tenth of
 * collecting them in jq, to compile and to run.
 *
 * Each expression stands between parentheses that it can't leave: expression_split() has matched its brackets, and the newline ends a comment.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/template/hint.h"
#include "common/template/problem.h"
#include "common/template/program.h"
#include "common/template/value.h"

/* No more culprits are looked for than this: each costs several compilations. */
#define CULPRITS_MAX 20

/* Helpers for expressions. What begins with __ is refused in expressions, so it can't be redefined or called. */
static const char prelude[] =
	/* A number that came in wrapped is text to jq; as text it is its digits. */
	"def __text: tostring;\n"
	"def tostring: if type == \"string\" and startswith(\"\\ue000n\") then .[2:] else __text "
	"end;\n"
	/* Also where there is no value at all, as in first(.list[]). */
	"def get(p; d): [p] as $v | if ($v | length) == 0 then d else $v[] as $x | if $x == null "
	"then d else $x end end;\n"
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
	"def quantity(q): q | quantity;\n"
	/* "a" * 1e9 is one instruction of jq's, which no timer ends. What * stands for is called by this name. */
	"def __times(a; b): a * b;\n"
	"def _multiply(a; b): b as $b | a as $a |"
	" if ($a | type) == \"string\" and ($b | type) == \"number\" and __times($a | "
	"utf8bytelength; $b) > 1048576"
	" then error(\"the text would be longer than 1048576 bytes\") else __times($a; $b) end;\n";
static const char head[] = ".object as $__object | .children as $children | .error as $error | "
			   ".uuid as $uuid | .item as $__item | .self as $self | .group as $__group | .mark as $__mark | "
			   "$__object |\n";

static jv
vars_value(const cJSON *vars)
{
	struct buf bytes = BUF_INIT;
	jv value;

	if (!vars)
		return jv_object();
	json_print(&bytes, vars);
	value = value_parse(bytes.data, bytes.length);
	buf_free(&bytes);
	return value;
}

static struct machine *
compile(const struct template_source *source, const struct buf *text, struct error *err)
{
	jv vars = vars_value(source->vars);

	if (text->failed || !jv_is_valid(vars)) {
		jv_free(vars);
		error_set(err, -ENOMEM, "no memory for the templates");
		return NULL;
	}
	return machine_new(text->data, vars, err);
}

static void
put_slot(struct buf *out, const struct slot *slot)
{
	buf_adds(out, "$__mark, (");
	buf_adds(out, slot->expression);
	buf_adds(out, "\n)");
}

/* Also what the names that it uses use themselves: their groups have the same names in front. Children that those read are read by this group. */
static void
follow_names(struct template_program *program, size_t index, const struct template_group *group)
{
	struct skeleton *skeleton = &program->groups[index];

	for (size_t k = group->n_names; k-- > 0;) {
		const struct skeleton *let;

		if (!skeleton->uses_name[k] || group->names[k].group == TEMPLATE_ITEM)
			continue;
		let = &program->groups[group->names[k].group];
		for (size_t i = 0; i < k; i++)
			skeleton->uses_name[i] = skeleton->uses_name[i] || let->uses_name[i];
		for (size_t i = 0; i < program->n_children; i++)
			skeleton->uses_child[i] = skeleton->uses_child[i] || let->uses_child[i];
	}
}

/* The values that the group uses by name, each exactly one; an error in one says which. */
static void
put_names(struct buf *out, const struct template_program *program, size_t index,
	const struct template_group *group)
{
	for (size_t k = 0; k < group->n_names; k++) {
		const struct template_name *name = &group->names[k];

		if (!program->groups[index].uses_name[k])
			continue;
		if (name->group == TEMPLATE_ITEM)
			buf_addf(out, "$__item as $%s |\n", name->name);
		else
			buf_addf(out,
				"((try [%s\n] catch error(\"let %s: \" + tostring)) |"
				" if length == 1 then .[0] else error(\"let %s: gives "
				"\\(length) values; an expression gives exactly one\") end) as "
				"$%s |\n",
				program->groups[name->group].slots[0].expression, name->name,
				name->name, name->name);
	}
}

static void
put_group(struct buf *out, const struct template_program *program, size_t index,
	const struct template_group *group)
{
	const struct skeleton *skeleton = &program->groups[index];

	if (skeleton->n_slots == 0)
		return;
	buf_addf(out, "def __group%zu: ", index);
	put_names(out, program, index, group);
	for (size_t i = 0; i < skeleton->n_slots; i++) {
		buf_adds(out, i ? ",\n" : "");
		put_slot(out, &skeleton->slots[i]);
	}
	buf_adds(out, ";\n");
}

/* The call of the group $__group, which is first or above and below end; by halves, so that many groups cost little. */
static void
put_choice(struct buf *out, const struct template_program *program, size_t first, size_t end)
{
	size_t middle = first + (end - first) / 2;

	if (end - first > 1) {
		buf_addf(out, "if $__group < %zu then ", middle);
		put_choice(out, program, first, middle);
		buf_adds(out, " else ");
		put_choice(out, program, middle, end);
		buf_adds(out, " end");
	} else if (end > first && program->groups[first].n_slots > 0) {
		buf_addf(out, "__group%zu", first);
	} else {
		buf_adds(out, "empty");
	}
}

static struct machine *
compile_all(const struct template_program *program, const struct template_source *source,
	struct error *err)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, prelude);
	buf_adds(&text, head);
	for (size_t i = 0; i < program->n_groups; i++)
		put_group(&text, program, i, &source->groups[i]);
	put_choice(&text, program, 0, program->n_groups);
	struct machine *machine = compile(source, &text, err);
	buf_free(&text);
	return machine;
}

typedef void report_fn(void *data, const struct template_problem *problem);

/* --- whose fault it is --- */

struct hunt {
	const struct template_source *source;
	const struct slot **slots; /* of all groups */
	const struct template_group **groups; /* of each slot */
	report_fn *report;
	void *data;
	unsigned problems;
};

static void
report_problem(struct hunt *h, const struct slot *slot, const char *text)
{
	struct template_problem problem = {0};

	problem_text(&problem, slot ? slot->offset : 0, "%s", text);
	problem_place(&problem, slot ? slot->path : "templates", slot ? slot->expression : "",
		slot ? strlen(slot->expression) : 0);
	if (h->report)
		h->report(h->data, &problem);
	h->problems++;
}

/* Compiles some expressions apart from the others. */
static bool
compiles(struct hunt *h, size_t first, size_t end, struct error *err)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, prelude);
	buf_adds(&text, head);
	for (size_t i = first; i < end; i++) {
		buf_adds(&text, i > first ? ",\n(" : "(");
		for (size_t k = 0; k < h->groups[i]->n_names; k++)
			buf_addf(&text, "null as $%s | ", h->groups[i]->names[k].name);
		put_slot(&text, h->slots[i]);
		buf_addc(&text, ')');
	}
	struct machine *machine = compile(h->source, &text, err);
	buf_free(&text);
	machine_free(machine);
	return machine != NULL;
}

/* By halves: a compilation takes tens of milliseconds, mostly for jq's own library. */
static void
find_culprits(struct hunt *h, size_t first, size_t end)
{
	struct error err = {0};
	size_t middle = first + (end - first) / 2;

	if (first == end || h->problems == CULPRITS_MAX || compiles(h, first, end, &err))
		return;
	if (end - first == 1) {
		hint_add(&err, h->slots[first]->expression);
		report_problem(h, h->slots[first], err.text);
		return;
	}
	find_culprits(h, first, middle);
	find_culprits(h, middle, end);
}

/* The program does not compile: says which expressions do not, and why. */
static unsigned
report_culprits(const struct template_program *program, const struct template_source *source,
	const char *whole, report_fn *report, void *data)
{
	struct hunt hunt = {.source = source, .report = report, .data = data};
	size_t n = 0;

	for (size_t i = 0; i < program->n_groups; i++)
		n += program->groups[i].n_slots;
	hunt.slots = xcalloc(n + 1, sizeof(*hunt.slots));
	hunt.groups = xcalloc(n + 1, sizeof(*hunt.groups));
	n = 0;
	for (size_t i = 0; i < program->n_groups; i++)
		for (size_t k = 0; k < program->groups[i].n_slots; k++)
			{
			hunt.groups[n] = &source->groups[i];
			hunt.slots[n++] = &program->groups[i].slots[k];
			}
	find_culprits(&hunt, 0, n);
	if (hunt.problems == 0)
		report_problem(&hunt, NULL, whole);
	else if (hunt.problems == CULPRITS_MAX)
		report_problem(&hunt, NULL, "there may be more wrong expressions than these");
	free(hunt.slots);
	free(hunt.groups);
	return hunt.problems;
}

/* --- programs --- */

static struct template_program *
program_new(const struct template_source *source)
{
	struct template_program *program = xcalloc(1, sizeof(*program));

	program->n_groups = source->n_groups;
	program->n_children = source->n_children;
	program->groups = xcalloc(source->n_groups, sizeof(*program->groups));
	template_input_init(program);
	return program;
}

/* Room for the values of any group. */
static jv *
values_new(const struct template_program *program)
{
	size_t most = 0;

	for (size_t i = 0; i < program->n_groups; i++)
		if (program->groups[i].n_slots > most)
			most = program->groups[i].n_slots;
	return xcalloc(most + 1, sizeof(jv));
}

/* Builds everything; NULL when there are problems, which are reported and counted. */
static struct template_program *
build(const struct template_source *source, unsigned *ret_problems, report_fn *report, void *data)
{
	struct template_program *program = program_new(source);
	struct error err = {0};
	unsigned problems = 0;

	for (size_t i = 0; i < source->n_groups; i++)
		problems += skeleton_build(
			&program->groups[i], &source->groups[i], source, report, data);
	for (size_t i = 0; i < source->n_groups && problems == 0; i++)
		follow_names(program, i, &source->groups[i]);
	if (problems == 0) {
		program->machine = compile_all(program, source, &err);
		if (!program->machine)
			problems = report_culprits(program, source, err.text, report, data);
	}
	program->values = values_new(program);
	*ret_problems = problems;
	if (problems == 0)
		return program;
	template_free(program);
	return NULL;
}

unsigned
template_check(const struct template_source *source, report_fn *report, void *data)
{
	unsigned problems;

	template_free(build(source, &problems, report, data));
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
	struct error first = {0};
	unsigned problems;
	struct template_program *program = build(source, &problems, keep_first, &first);

	if (!program)
		error_set(err, -EINVAL, "%s", first.text);
	return program;
}

void
template_free(struct template_program *program)
{
	if (!program)
		return;
	template_input_clear(program);
	for (size_t i = 0; i < program->n_groups; i++)
		skeleton_clear(&program->groups[i]);
	free(program->groups);
	free(program->values);
	machine_free(program->machine);
	free(program);
}

bool
template_uses_child(const struct template_program *program, size_t group, size_t child)
{
	return group < program->n_groups && child < program->n_children &&
	       program->groups[group].uses_child[child];
}
