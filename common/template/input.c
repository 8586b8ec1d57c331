/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program sees: {object, children, error, uuid, item, self, group, mark}. The object and the children are kept parsed from one group to the next, as long as their
 * bytes are the same, and they are not big.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "common/template/program.h"
#include "common/template/value.h"

#define CACHED_MAX 32768 /* bytes of JSON; a tree takes about ten times as much */

static void
cached_clear(struct template_cached *cached)
{
	if (cached->valid)
		jv_free(cached->value);
	cached->valid = false;
}

static jv
parse_cached(struct template_cached *cached, const char *bytes, size_t length)
{
	if (cached->valid && cached->bytes.length == length &&
		memcmp(cached->bytes.data, bytes, length) == 0)
		return jv_copy(cached->value);
	cached_clear(cached);
	jv value = value_parse(bytes, length);
	if (length > CACHED_MAX || !jv_is_valid(value))
		return value;
	buf_reset(&cached->bytes);
	buf_add(&cached->bytes, bytes, length);
	cached->valid = !cached->bytes.failed;
	if (cached->valid)
		cached->value = jv_copy(value);
	return value;
}

void
template_input_init(struct template_program *program)
{
	program->object.bytes = program->children.bytes = BUF_INIT;
	program->mark = jv_array();
}

void
template_input_clear(struct template_program *program)
{
	cached_clear(&program->object);
	cached_clear(&program->children);
	buf_free(&program->object.bytes);
	buf_free(&program->children.bytes);
	jv_free(program->mark);
}

int
template_input_make(
	struct template_program *program, size_t group, const struct template_input *input, jv *ret)
{
	const struct {
		const char *key;
		jv value;
	} members[] = {
		{"object", parse_cached(&program->object, input->object, input->object_length)},
		{"children", input->children ? parse_cached(&program->children, input->children,
						       input->children_length)
					     : jv_object()},
		{"error",
			input->error ? value_parse(input->error, input->error_length) : jv_null()},
		{"uuid", input->uuid ? jv_string(input->uuid) : jv_null()},
		{"item", input->item ? value_parse(input->item, input->item_length) : jv_null()},
		{"self", input->self ? value_parse(input->self, input->self_length) : jv_null()},
		{"group", jv_number((double)group)},
		{"mark", jv_copy(program->mark)},
	};
	jv all = jv_object();
	bool valid = true;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		valid = valid && jv_is_valid(members[i].value);
		if (valid)
			all = jv_object_set(all, jv_string(members[i].key), members[i].value);
		else
			jv_free(members[i].value);
	}
	if (!valid) {
		jv_free(all);
		return -EINVAL;
	}
	*ret = all;
	return 0;
}
