/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a group's expressions, and prints its skeleton with their values.
 *
 * The program gives a mark before each expression's values, so that what went wrong has its place, a render that takes too long too, and a second
 * value is noticed before there are many.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/template/problem.h"
#include "common/template/program.h"
#include "common/template/value.h"

#define RESULT_MAX      (1u << 20)
#define DEFAULT_TIMEOUT (100 * NSEC_PER_MSEC)
#define NO_SLOT         ((size_t)-1)

struct render {
	struct template_program *program;
	const struct skeleton *skeleton;
	struct buf *out;
	size_t limit;   /* length of out that must not be passed */
	unsigned depth; /* of the node */
	struct template_problem *problem;
};

/* Puts the place before the text that problem_text() sets. Returns code. */
static int
place(const struct render *r, size_t slot, int code)
{
	const struct slot *s = slot == NO_SLOT ? NULL : &r->skeleton->slots[slot];

	if (r->problem && s)
		r->problem->offset = s->offset;
	if (s)
		problem_place(r->problem, s->path, s->expression, strlen(s->expression));
	else
		problem_place(r->problem, r->skeleton->path, "", 0);
	return code;
}

static int
fail(const struct render *r, size_t slot, int code, const char *text)
{
	problem_text(r->problem, 0, "%s", text);
	return place(r, slot, code);
}

/* A failure of value.h in words. */
static int
fail_value(const struct render *r, size_t slot, int code)
{
	switch (code) {
	case -EFBIG:
		problem_text(r->problem, 0, "the result is larger than %u bytes", RESULT_MAX);
		return place(r, slot, code);
	case -ELOOP:
		problem_text(r->problem, 0, "the result is nested deeper than %d levels",
			JSON_DEPTH_MAX);
		return place(r, slot, -EINVAL);
	case -EDOM:
		return fail(r, slot, -EINVAL, "gives a number that is infinite or no number");
	default:
		return fail(r, slot, code, strerror(-code));
	}
}

/* --- the skeleton --- */

static int print_node(struct render *r, const struct node *node, bool *ret_null);

static jv
slot_value(const struct render *r, size_t slot)
{
	return jv_copy(r->program->values[slot]);
}

/* One value within text, unquoted. */
static int
put_in_text(const struct render *r, struct buf *text, size_t slot)
{
	jv value = slot_value(r, slot);
	const char *kind = value_kind(value);
	bool null = jv_get_kind(value) == JV_KIND_NULL;
	int code = value_to_text(text, value);

	if (code != -EINVAL)
		return code < 0 ? fail_value(r, slot, code) : 0;
	problem_text(r->problem, 0,
		"gives %s within text; a string, a number or a boolean is needed%s", kind,
		null ? " (get(PATH; DEFAULT) gives a default)" : "");
	return place(r, slot, code);
}

static int
print_text(struct render *r, const struct node *first)
{
	struct buf text = BUF_INIT_LIMIT(RESULT_MAX);
	int code = 0;

	for (const struct node *part = first; part && code == 0; part = part->next) {
		if (part->type == NODE_RAW)
			buf_add(&text, part->text, part->length);
		else
			code = put_in_text(r, &text, part->slot);
	}
	if (code == 0 && text.failed)
		code = fail_value(r, NO_SLOT, -EFBIG);
	if (code == 0)
		json_put_string(r->out, text.data, text.length);
	buf_free(&text);
	return code;
}

static int
print_expression(struct render *r, const struct node *node, bool *ret_null)
{
	jv value = slot_value(r, node->slot);
	jv_kind kind = jv_get_kind(value);
	int code;

	if (kind == JV_KIND_NULL) {
		jv_free(value);
		*ret_null = true;
		return 0;
	}
	if (node->as_text && kind != JV_KIND_OBJECT) {
		struct node alone = *node;
		jv_free(value);
		alone.next = NULL;
		return print_text(r, &alone);
	}
	code = node->as_text ? value_print_texts(r->out, value, r->depth, r->limit)
			     : value_print(r->out, value, r->depth, r->limit);
	return code < 0 ? fail_value(r, node->slot, code) : 0;
}

static int
print_spread(struct render *r, const struct node *node, bool *ret_null)
{
	jv value = slot_value(r, node->slot);
	const char *kind = value_kind(value);
	bool any = false;
	int code = 0;

	if (jv_get_kind(value) == JV_KIND_ARRAY) {
		code = value_print_items(r->out, value, r->depth, r->limit, &any);
	} else if (jv_get_kind(value) == JV_KIND_NULL) {
		jv_free(value);
	} else {
		jv_free(value);
		problem_text(r->problem, 0, "spread() needs a list, and this gives %s", kind);
		return place(r, node->slot, -EINVAL);
	}
	*ret_null = !any;
	return code < 0 ? fail_value(r, node->slot, code) : 0;
}

/* Members of an object or items of a list; null ones are left out. */
static int
print_members(struct render *r, const struct node *node)
{
	bool first = true, object = node->type == NODE_OBJECT;
	int code = 0;

	buf_addc(r->out, object ? '{' : '[');
	r->depth++;
	for (const struct node *member = node->children; member && code == 0;
		member = member->next) {
		size_t before = r->out->length;
		bool null = false;
		if (!first)
			buf_addc(r->out, ',');
		if (object) {
			json_put_string(r->out, member->key, strlen(member->key));
			buf_addc(r->out, ':');
		}
		code = print_node(r, member, &null);
		if (null && !r->out->failed)
			r->out->data[r->out->length = before] = '\0';
		first = first && null;
	}
	r->depth--;
	buf_addc(r->out, object ? '}' : ']');
	return code;
}

static int
print_node(struct render *r, const struct node *node, bool *ret_null)
{
	switch (node->type) {
	case NODE_OBJECT:
	case NODE_LIST:
		return print_members(r, node);
	case NODE_LITERAL:
	case NODE_RAW:
		buf_add(r->out, node->text, node->length);
		return 0;
	case NODE_NULL:
		*ret_null = true;
		return 0;
	case NODE_VALUE:
		return print_expression(r, node, ret_null);
	case NODE_SPREAD:
		return print_spread(r, node, ret_null);
	case NODE_TEXT:
		return print_text(r, node->children);
	}
	return -EINVAL;
}

static int
print_group(struct render *r)
{
	size_t before = r->out->length;
	bool null = false;

	r->limit = before + RESULT_MAX;
	int code = print_node(r, r->skeleton->root, &null);
	if (code == 0 && r->out->failed)
		code = fail(r, NO_SLOT, -ENOMEM, "no room for the result");
	if (code == 0 && r->out->length > r->limit)
		code = fail_value(r, NO_SLOT, -EFBIG);
	if (code < 0 && r->out->length > before)
		r->out->data[r->out->length = before] = '\0';
	return code;
}

/* --- running --- */

/* The error of an expression: error("text") as it is, anything else as JSON. Consumes it. */
static int
fail_error(const struct render *r, size_t slot, jv message)
{
	struct buf text = BUF_INIT_LIMIT(2048);

	if (jv_get_kind(message) == JV_KIND_STRING) {
		problem_text(r->problem, 0, "%s", jv_string_value(message));
		jv_free(message);
	} else {
		if (value_print(&text, message, 0, 2048) < 0)
			buf_reset(&text);
		problem_text(r->problem, 0, "error(%s)", text.length ? text.data : "...");
	}
	buf_free(&text);
	return place(r, slot, -EINVAL);
}

static int
fail_timeout(const struct render *r, size_t slot, int64_t timeout_ns)
{
	problem_text(
		r->problem, 0, "took longer than %lld ms", (long long)(timeout_ns / NSEC_PER_MSEC));
	return place(r, slot, -ETIMEDOUT);
}

/* n values of one expression, where one is wanted. */
static int
check_count(const struct render *r, size_t slot, unsigned n)
{
	if (n == 1)
		return 0;
	return fail(r, slot, -EINVAL,
		n > 1 ? "gives several values; an expression gives exactly one ([...] makes a "
			"list of them)"
		      : "gives no value; an expression gives exactly one (get(EXPRESSION; DEFAULT) "
			"gives a default)");
}

/* Takes the program's outputs apart into values; *ret_n: how many there are to free. */
static int
collect(struct render *r, size_t *ret_n, int64_t timeout_ns)
{
	size_t begun = 0; /* expressions; values holds one of each but perhaps the last */
	unsigned count = 1;
	jv output;
	int code;

	while ((code = machine_next(r->program->machine, &output)) == 1) {
		if (jv_identical(jv_copy(output), jv_copy(r->program->mark))) {
			jv_free(output);
			code = begun ? check_count(r, begun - 1, count) : 0;
			begun++;
			count = 0;
		} else if (++count == 1) {
			r->program->values[(*ret_n)++] = output;
			code = 0;
		} else {
			jv_free(output);
			code = check_count(r, begun - 1, count);
		}
		if (code < 0)
			return code;
	}
	if (code == -ETIMEDOUT)
		return fail_timeout(r, begun ? begun - 1 : NO_SLOT, timeout_ns);
	if (code < 0)
		return fail_error(r, begun ? begun - 1 : NO_SLOT, output);
	return check_count(r, begun - 1, count);
}

static int
check_boolean(const struct render *r)
{
	const struct node *root = r->skeleton->root;
	jv value;

	if (!r->skeleton->boolean || root->type != NODE_VALUE)
		return 0;
	value = r->program->values[root->slot];
	if (jv_get_kind(value) == JV_KIND_TRUE || jv_get_kind(value) == JV_KIND_FALSE)
		return 0;
	problem_text(r->problem, 0,
		"gives %s; true or false is needed, as in .spec.enabled == true",
		value_kind(value));
	return place(r, root->slot, -EINVAL);
}

static int
run(struct render *r, size_t group, const struct template_input *input, size_t *ret_n)
{
	int64_t timeout_ns = input->timeout_ns ? input->timeout_ns : DEFAULT_TIMEOUT;
	struct error err = {0};
	jv value;
	int code;

	if (template_input_make(r->program, group, input, &value) < 0)
		return fail(r, NO_SLOT, -EINVAL, "the object is not JSON that can be read");
	code = machine_start(r->program->machine, value, timeout_ns, &err);
	if (code < 0)
		return fail(r, NO_SLOT, code, err.text);
	code = collect(r, ret_n, timeout_ns);
	machine_end(r->program->machine);
	return code == 0 ? check_boolean(r) : code;
}

int
template_render(struct template_program *program, size_t group, const struct template_input *input,
	struct buf *out, struct template_problem *ret_problem)
{
	struct render r = {.program = program, .out = out, .problem = ret_problem};
	size_t n = 0;
	int code = 0;

	assert(group < program->n_groups);
	r.skeleton = &program->groups[group];
	if (r.skeleton->n_slots > 0)
		code = run(&r, group, input, &n);
	if (code == 0)
		code = print_group(&r);
	for (size_t i = 0; i < n; i++)
		jv_free(program->values[i]);
	return code;
}
