/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of values into libjq and out of it. libjq's own printer is not used: it gives big integers an exponent and writes broken JSON beyond its
 * depth without an error.
 *
 * Every function that consumes a value does so on failure too.
 */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "common/json.h"
#include "common/template/value.h"

#define INPUT_MAX (64u << 20)

jv
value_parse(const char *bytes, size_t length)
{
	struct buf wrapped = BUF_INIT;
	jv value;

	if (length > INPUT_MAX)
		return jv_invalid();
	if (!json_wrap(&wrapped, bytes, length))
		return jv_parse_sized(bytes, (int)length);
	value = wrapped.failed ? jv_invalid() : jv_parse_sized(wrapped.data, (int)wrapped.length);
	buf_free(&wrapped);
	return value;
}

const char *
value_kind(jv value)
{
	switch (jv_get_kind(value)) {
	case JV_KIND_OBJECT:
		return "an object";
	case JV_KIND_ARRAY:
		return "a list";
	case JV_KIND_STRING:
		return json_wrapped_number(jv_string_value(value)) ? "a number" : "a string";
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

static void
put_string(struct buf *out, jv string)
{
	json_put_string(
		out, jv_string_value(string), (size_t)jv_string_length_bytes(jv_copy(string)));
}

static int
put_number(struct buf *out, double number)
{
	if (!isfinite(number))
		return -EDOM;
	json_put_number(out, number);
	return 0;
}

int
value_to_text(struct buf *out, jv value)
{
	jv_kind kind = jv_get_kind(value);
	int code = 0;

	if (kind == JV_KIND_STRING) {
		const char *bytes = jv_string_value(value), *digits = json_wrapped_number(bytes);
		if (digits)
			buf_adds(out, digits);
		else
			buf_add(out, bytes, (size_t)jv_string_length_bytes(jv_copy(value)));
	} else if (kind == JV_KIND_NUMBER) {
		code = put_number(out, jv_number_value(value));
	} else if (kind == JV_KIND_TRUE || kind == JV_KIND_FALSE) {
		buf_adds(out, kind == JV_KIND_TRUE ? "true" : "false");
	} else {
		code = -EINVAL;
	}
	jv_free(value);
	return code;
}

int
value_print_items(struct buf *out, jv list, unsigned depth, size_t limit, bool *ret_any)
{
	int n = jv_array_length(jv_copy(list)), code = 0;
	bool any = false;

	for (int i = 0; i < n && code == 0; i++) {
		jv item = jv_array_get(jv_copy(list), i);
		if (jv_get_kind(item) == JV_KIND_NULL) {
			jv_free(item);
			continue;
		}
		if (any)
			buf_addc(out, ',');
		any = true;
		code = value_print(out, item, depth, limit);
	}
	jv_free(list);
	if (ret_any)
		*ret_any = any;
	return code;
}

/* A member of a map of labels; lists and objects stay what they are, for the server to refuse. */
static int
print_as_text(struct buf *out, jv value, unsigned depth, size_t limit)
{
	struct buf text = BUF_INIT;
	jv_kind kind = jv_get_kind(value);
	int code;

	if (kind == JV_KIND_OBJECT || kind == JV_KIND_ARRAY)
		return value_print(out, value, depth, limit);
	code = value_to_text(&text, value);
	if (code == 0)
		json_put_string(out, text.data, text.length);
	buf_free(&text);
	return code;
}

static int
print_object(struct buf *out, jv object, unsigned depth, size_t limit, bool texts)
{
	jv keys = jv_keys(jv_copy(object)); /* sorted: equal values give equal bytes */
	int n = jv_array_length(jv_copy(keys)), code = 0;
	bool any = false;

	buf_addc(out, '{');
	for (int i = 0; i < n && code == 0; i++) {
		jv key = jv_array_get(jv_copy(keys), i);
		jv value = jv_object_get(jv_copy(object), jv_copy(key));
		if (jv_get_kind(value) == JV_KIND_NULL) {
			jv_free(key);
			jv_free(value);
			continue;
		}
		if (any)
			buf_addc(out, ',');
		any = true;
		put_string(out, key);
		jv_free(key);
		buf_addc(out, ':');
		code = texts ? print_as_text(out, value, depth + 1, limit)
			     : value_print(out, value, depth + 1, limit);
	}
	buf_addc(out, '}');
	jv_free(keys);
	jv_free(object);
	return code;
}

/* A container that there is still room for. */
static int
enter(const struct buf *out, unsigned depth, size_t limit)
{
	if (depth >= JSON_DEPTH_MAX)
		return -ELOOP;
	return out->length > limit ? -EFBIG : 0;
}

int
value_print_texts(struct buf *out, jv object, unsigned depth, size_t limit)
{
	int code = enter(out, depth, limit);

	if (code < 0)
		jv_free(object);
	return code < 0 ? code : print_object(out, object, depth, limit, true);
}

/* Consumes it. */
static int
print_container(struct buf *out, jv value, unsigned depth, size_t limit)
{
	int code = enter(out, depth, limit);

	if (code < 0) {
		jv_free(value);
		return code;
	}
	if (jv_get_kind(value) == JV_KIND_OBJECT)
		return print_object(out, value, depth, limit, false);
	buf_addc(out, '[');
	code = value_print_items(out, value, depth + 1, limit, NULL);
	buf_addc(out, ']');
	return code;
}

int
value_print(struct buf *out, jv value, unsigned depth, size_t limit)
{
	int code = 0;

	switch (jv_get_kind(value)) {
	case JV_KIND_OBJECT:
	case JV_KIND_ARRAY:
		return print_container(out, value, depth, limit);
	case JV_KIND_STRING:
		if ((size_t)jv_string_length_bytes(jv_copy(value)) > limit)
			code = -EFBIG;
		else
			put_string(out, value);
		break;
	case JV_KIND_NUMBER:
		code = put_number(out, jv_number_value(value));
		break;
	case JV_KIND_TRUE:
		buf_adds(out, "true");
		break;
	case JV_KIND_FALSE:
		buf_adds(out, "false");
		break;
	case JV_KIND_NULL:
	case JV_KIND_INVALID:
		buf_adds(out, "null");
		break;
	}
	jv_free(value);
	return code == 0 && out->length > limit ? -EFBIG : code;
}
