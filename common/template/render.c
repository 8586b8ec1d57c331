/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a group's expressions and prints its skeleton with their values. Printing is common/json's, so numbers keep their digits. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/template/program.h"

#define RESULT_MAX      (1u << 20)
#define DEFAULT_TIMEOUT (100 * NSEC_PER_MSEC)

struct render {
	const struct skeleton *skeleton;
	jv slots; /* the program's list */
	struct buf *out;
	size_t limit; /* length of out that must not be passed */
	struct template_problem *problem;
};

static int fail(struct render *r, size_t slot, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int
fail(struct render *r, size_t slot, int code, const char *format, ...)
{
	struct template_problem *problem = r->problem;
	va_list args;

	if (!problem)
		return code;
	*problem = (struct template_problem){0};
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	if (slot < r->skeleton->n_slots) {
		snprintf(problem->path, sizeof(problem->path), "%s", r->skeleton->slots[slot].path);
		snprintf(problem->expression, sizeof(problem->expression), "%s",
			r->skeleton->slots[slot].expression);
		problem->offset = r->skeleton->slots[slot].offset;
	} else {
		snprintf(problem->path, sizeof(problem->path), "%s", r->skeleton->path);
	}
	return code;
}

/* --- values --- */

static int print_value(struct render *r, size_t slot, jv value, unsigned depth);

static int
print_list(struct render *r, size_t slot, jv list, unsigned depth, bool brackets)
{
	int n = jv_array_length(jv_copy(list)), code = 0;

	if (brackets)
		buf_addc(r->out, '[');
	for (int i = 0; i < n && code == 0; i++) {
		if (i)
			buf_addc(r->out, ',');
		code = print_value(r, slot, jv_array_get(jv_copy(list), i), depth + 1);
	}
	if (brackets)
		buf_addc(r->out, ']');
	jv_free(list);
	return code;
}

static int
print_object(struct render *r, size_t slot, jv object, unsigned depth)
{
	bool first = true;
	int code = 0;

	buf_addc(r->out, '{');
	/* Keys in the order of their bytes: equal values give equal bytes, whatever built them. */
	jv keys = jv_keys(jv_copy(object));
	int n = jv_array_length(jv_copy(keys));
	for (int i = 0; i < n && code == 0; i++) {
		jv key = jv_array_get(jv_copy(keys), i);
		if (!first)
			buf_addc(r->out, ',');
		first = false;
		json_put_string(
			r->out, jv_string_value(key), (size_t)jv_string_length_bytes(jv_copy(key)));
		buf_addc(r->out, ':');
		code = print_value(r, slot, jv_object_get(jv_copy(object), key), depth + 1);
	}
	buf_addc(r->out, '}');
	jv_free(keys);
	jv_free(object);
	return code;
}

/* Consumes value. */
static int
print_value(struct render *r, size_t slot, jv value, unsigned depth)
{
	if (depth > JSON_DEPTH_MAX || r->out->length > r->limit) {
		jv_free(value);
		return depth > JSON_DEPTH_MAX
			       ? fail(r, slot, -EINVAL, "the value is nested deeper than %d levels",
					 JSON_DEPTH_MAX)
			       : fail(r, slot, -EFBIG, "the result is larger than %u bytes",
					 RESULT_MAX);
	}
	switch (jv_get_kind(value)) {
	case JV_KIND_OBJECT:
		return print_object(r, slot, value, depth);
	case JV_KIND_ARRAY:
		return print_list(r, slot, value, depth, true);
	case JV_KIND_STRING:
		json_put_string(r->out, jv_string_value(value),
			(size_t)jv_string_length_bytes(jv_copy(value)));
		break;
	case JV_KIND_NUMBER:
		json_put_number(r->out, jv_number_value(value));
		break;
	case JV_KIND_TRUE:
		buf_adds(r->out, "true");
		break;
	case JV_KIND_FALSE:
		buf_adds(r->out, "false");
		break;
	case JV_KIND_NULL:
	case JV_KIND_INVALID:
		buf_adds(r->out, "null");
		break;
	}
	jv_free(value);
	return 0;
}

static const char *
kind_name(jv_kind kind)
{
	switch (kind) {
	case JV_KIND_OBJECT:
		return "an object";
	case JV_KIND_ARRAY:
		return "a list";
	case JV_KIND_STRING:
		return "a string";
	case JV_KIND_NUMBER:
		return "a number";
	case JV_KIND_TRUE:
	case JV_KIND_FALSE:
		return "a boolean";
	case JV_KIND_NULL:
	case JV_KIND_INVALID:
		break;
	}
	return "null";
}

/* The message of an expression that failed: error("text") as it is, anything else as JSON. Consumes it. */
static int
fail_error(struct render *r, size_t slot, jv message)
{
	if (jv_get_kind(message) == JV_KIND_STRING) {
		fail(r, slot, -EINVAL, "%s", jv_string_value(message));
		jv_free(message);
		return -EINVAL;
	}
	struct buf text = BUF_INIT_LIMIT(4096);
	struct render aside = *r;
	aside.out = &text;
	aside.limit = 4096;
	aside.problem = NULL;
	print_value(&aside, slot, message, 0);
	fail(r, slot, -EINVAL, "error(%s)", text.failed ? "..." : text.data);
	buf_free(&text);
	return -EINVAL;
}

/* The value of a slot: 0 and *ret, which the caller frees. */
static int
slot_value(struct render *r, size_t slot, jv *ret)
{
	jv entry = jv_array_get(jv_copy(r->slots), (int)slot);
	jv value = jv_object_get(jv_copy(entry), jv_string("v"));

	if (jv_is_valid(value)) {
		jv_free(entry);
		*ret = value;
		return 0;
	}
	jv_free(value);
	jv count = jv_object_get(jv_copy(entry), jv_string("n"));
	if (jv_is_valid(count)) {
		double n = jv_number_value(count);
		jv_free(count);
		jv_free(entry);
		return fail(r, slot, -EINVAL,
			n > 0 ? "gives several values; an expression gives exactly one ([...] "
				"makes a list of them)"
			      : "gives no value; an expression gives exactly one (get(PATH; "
				"DEFAULT) helps where one may be absent)");
	}
	jv_free(count);
	return fail_error(r, slot, jv_object_get(entry, jv_string("e")));
}

/* --- the skeleton --- */

/* One value within text, unquoted. Consumes it. */
static int
put_in_text(struct render *r, struct buf *text, size_t slot, jv value)
{
	jv_kind kind = jv_get_kind(value);

	if (kind == JV_KIND_STRING) {
		const char *bytes = jv_string_value(value), *digits = json_wrapped_number(bytes);
		if (digits)
			buf_adds(text, digits);
		else
			buf_add(text, bytes, (size_t)jv_string_length_bytes(jv_copy(value)));
	} else if (kind == JV_KIND_NUMBER) {
		json_put_number(text, jv_number_value(value));
	} else if (kind == JV_KIND_TRUE || kind == JV_KIND_FALSE) {
		buf_adds(text, kind == JV_KIND_TRUE ? "true" : "false");
	} else {
		jv_free(value);
		return fail(r, slot, -EINVAL,
			"gives %s within text; a string, a number or a boolean is needed%s",
			kind_name(kind),
			kind == JV_KIND_NULL ? " (get(PATH; DEFAULT) gives a default)" : "");
	}
	jv_free(value);
	return 0;
}

static int
print_text(struct render *r, const struct node *node)
{
	struct buf text = BUF_INIT_LIMIT(RESULT_MAX);
	int code = 0;
	jv value;

	for (const struct node *part = node->children; part && code == 0; part = part->next) {
		if (part->type == NODE_RAW) {
			buf_add(&text, part->text, part->length);
			continue;
		}
		code = slot_value(r, part->slot, &value);
		if (code == 0)
			code = put_in_text(r, &text, part->slot, value);
	}
	if (code == 0 && text.failed)
		code = fail(r, r->skeleton->n_slots, -EFBIG, "the result is larger than %u bytes",
			RESULT_MAX);
	if (code == 0)
		json_put_string(r->out, text.data, text.length);
	buf_free(&text);
	return code;
}

/* A label's value: numbers and booleans as strings, since the server takes nothing else there. Consumes it. */
static int
print_as_text(struct render *r, size_t slot, jv value)
{
	struct buf text = BUF_INIT_LIMIT(RESULT_MAX);
	int code = put_in_text(r, &text, slot, value);

	if (code == 0)
		json_put_string(r->out, text.data, text.length);
	buf_free(&text);
	return code;
}

/* Prints a node; *ret_null: it is null, and nothing was printed. */
static int print_node(struct render *r, const struct node *node, bool *ret_null);

static int
print_expression(struct render *r, const struct node *node, bool *ret_null)
{
	jv value;
	int code = slot_value(r, node->slot, &value);

	if (code < 0)
		return code;
	if (jv_get_kind(value) == JV_KIND_NULL) {
		jv_free(value);
		*ret_null = true;
		return 0;
	}
	return node->as_text ? print_as_text(r, node->slot, value)
			     : print_value(r, node->slot, value, 0);
}

static int
print_spread(struct render *r, const struct node *node, bool *ret_null)
{
	jv value;
	int code = slot_value(r, node->slot, &value);

	if (code < 0)
		return code;
	jv_kind kind = jv_get_kind(value);
	if (kind == JV_KIND_NULL ||
		(kind == JV_KIND_ARRAY && jv_array_length(jv_copy(value)) == 0)) {
		jv_free(value);
		*ret_null = true;
		return 0;
	}
	if (kind != JV_KIND_ARRAY) {
		jv_free(value);
		return fail(r, node->slot, -EINVAL, "spread() needs a list, and this gives %s",
			kind_name(kind));
	}
	return print_list(r, node->slot, value, 0, false);
}

/* Members of an object or items of a list; null ones are left out. */
static int
print_members(struct render *r, const struct node *node)
{
	bool first = true, object = node->type == NODE_OBJECT;
	int code = 0;

	buf_addc(r->out, object ? '{' : '[');
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
		if (null)
			r->out->data[r->out->length = before] = '\0';
		else
			first = false;
	}
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
		return print_text(r, node);
	}
	return -EINVAL;
}

/* --- running --- */

static void
cached_clear(struct template_cached *cached)
{
	if (cached->valid)
		jv_free(cached->value);
	cached->valid = false;
}

void
template_cache_clear(struct template_program *program)
{
	cached_clear(&program->object);
	cached_clear(&program->children);
}

/* The document as a value, parsed unless it is the one that was parsed last. Invalid: not JSON. */
static jv
parse_cached(struct template_cached *cached, const char *bytes, size_t length)
{
	uint64_t hash = XXH3_64bits(bytes, length);

	if (cached->valid && cached->hash == hash && cached->length == length)
		return jv_copy(cached->value);
	cached_clear(cached);
	struct buf wrapped = BUF_INIT;
	jv value = json_wrap(&wrapped, bytes, length)
			   ? jv_parse_sized(wrapped.data, (int)wrapped.length)
			   : jv_parse_sized(bytes, (int)length);
	buf_free(&wrapped);
	if (jv_is_valid(value))
		*cached = (struct template_cached){
			.hash = hash, .length = length, .valid = true, .value = jv_copy(value)};
	return value;
}

static jv
parse_error(const struct template_input *input)
{
	return input->error ? jv_parse_sized(input->error, (int)input->error_length) : jv_null();
}

static int
make_input(
	struct template_program *program, size_t group, const struct template_input *input, jv *ret)
{
	jv object = parse_cached(&program->object, input->object, input->object_length);
	jv children = input->children ? parse_cached(&program->children, input->children,
						input->children_length)
				      : jv_object();
	jv error = parse_error(input);

	if (!jv_is_valid(object) || !jv_is_valid(children) || !jv_is_valid(error)) {
		jv_free(object);
		jv_free(children);
		jv_free(error);
		return -EINVAL;
	}
	jv all = jv_object_set(jv_object(), jv_string("object"), object);
	all = jv_object_set(all, jv_string("children"), children);
	all = jv_object_set(all, jv_string("error"), error);
	all = jv_object_set(
		all, jv_string("uuid"), input->uuid ? jv_string(input->uuid) : jv_null());
	*ret = jv_object_set(all, jv_string("group"), jv_number((double)group));
	return 0;
}

static int
check_boolean(struct render *r, size_t before, bool null)
{
	const char *text = r->out->data + before;

	if (!null && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
		return 0;
	return fail(r, r->skeleton->n_slots ? 0 : 1, -EINVAL,
		"gives %.60s; true or false is needed, as in .spec.enabled == true",
		null ? "null" : text);
}

static int
print_group(struct render *r)
{
	size_t before = r->out->length;
	bool null = false;

	r->limit = before + RESULT_MAX;
	int code = print_node(r, r->skeleton->root, &null);
	if (code == 0 && r->skeleton->boolean)
		code = check_boolean(r, before, null);
	if (code == 0 && r->out->length > r->limit)
		code = fail(r, r->skeleton->n_slots, -EFBIG, "the result is larger than %u bytes",
			RESULT_MAX);
	if (code == 0 && r->out->failed)
		code = fail(r, r->skeleton->n_slots, -ENOMEM, "no memory for the result");
	if (code < 0 && r->out->capacity)
		r->out->data[r->out->length = before] = '\0';
	return code;
}

int
template_render(struct template_program *program, size_t group, const struct template_input *input,
	struct buf *out, struct template_problem *ret_problem)
{
	struct render r = {.skeleton = &program->groups[group],
		.out = out,
		.problem = ret_problem,
		.slots = jv_null()};
	struct error err = {0};
	jv value;

	if (r.skeleton->n_slots == 0)
		return print_group(&r);
	if (make_input(program, group, input, &value) < 0)
		return fail(&r, r.skeleton->n_slots, -EINVAL,
			"the object is not JSON that can be read");
	int code = machine_run(program->machine, value,
		input->timeout_ns ? input->timeout_ns : DEFAULT_TIMEOUT, &r.slots, &err);
	if (code < 0)
		return fail(&r, r.skeleton->n_slots == 1 ? 0 : r.skeleton->n_slots, code, "%s",
			err.text);
	code = print_group(&r);
	jv_free(r.slots);
	return code;
}
