/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The printer: values to compact JSON, unwrapping what json_wrap.c wrapped.
 *
 * Integers get neither point nor exponent as long as they have up to 21 digits (1.0 and 1e6 print as 1 and 1000000: for
 * Kubernetes the same numbers), the rest the fewest digits that read back the same. JSON has no infinity and no NaN: null.
 * Bytes that are not UTF-8 become U+FFFD. What does not fit or can't be allocated shows in out->failed.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/json_number.h"
#include "common/jsonscan_token.h"

#define MARK        "\xee\x80\x80" /* U+E000 */
#define MARK_LENGTH 3

/* Trees that programs build may be deeper than parsed ones, but not without end. */
#define PRINT_DEPTH_MAX (2 * JSON_DEPTH_MAX)

/* --- numbers ---------------------------------------------------------------------- */

static void
put_zeros(struct buf *out, long n)
{
	for (; n > 0; n--)
		buf_addc(out, '0');
}

static void
put_decimal(struct buf *out, const struct decimal *d)
{
	size_t n = (size_t)d->n;

	if (d->negative)
		buf_addc(out, '-');
	if (d->point > 21 || d->point < -5) {
		buf_add(out, d->digits, 1);
		if (n > 1)
			buf_addc(out, '.');
		buf_add(out, d->digits + 1, n - 1);
		buf_addf(out, "e%ld", d->point - 1);
	} else if (d->point <= 0) {
		buf_adds(out, "0.");
		put_zeros(out, -d->point);
		buf_add(out, d->digits, n);
	} else if (d->point >= d->n) {
		buf_add(out, d->digits, n);
		put_zeros(out, d->point - d->n);
	} else {
		buf_add(out, d->digits, (size_t)d->point);
		buf_addc(out, '.');
		buf_add(out, d->digits + d->point, n - (size_t)d->point);
	}
}

void
json_put_number(struct buf *out, double value)
{
	struct decimal d;

	if (!isfinite(value)) {
		buf_adds(out, "null");
	} else if (value == 0) {
		buf_adds(out, signbit(value) ? "-0" : "0");
	} else if (fabs(value) <= 0x1p53 && value == floor(value)) {
		buf_addf(out, "%" PRId64, (int64_t)value);
	} else {
		decimal_shortest(&d, value);
		put_decimal(out, &d);
	}
}

/* --- strings ---------------------------------------------------------------------- */

static void
put_escape(struct buf *out, char c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *p = named; *p; p += 2) {
		if (*p == c) {
			buf_addc(out, '\\');
			buf_addc(out, p[1]);
			return;
		}
	}
	buf_addf(out, "\\u%04x", (unsigned)(unsigned char)c);
}

static bool
at_mark(const char *p, const char *end)
{
	return end - p >= MARK_LENGTH && memcmp(p, MARK, MARK_LENGTH) == 0;
}

/* What stands for the mark at p; returns the place behind it and its letter. */
static const char *
put_unwrapped(struct buf *out, const char *p, const char *end)
{
	char letter = end - p > MARK_LENGTH ? p[MARK_LENGTH] : '\0';

	if (letter == '0')
		buf_adds(out, "\\u0000");
	else if (letter != 'n') /* a number that became part of a text is its digits */
		buf_adds(out, MARK);
	return p + MARK_LENGTH + (letter == '0' || letter == 'n' || letter == 'e');
}

static void
put_quoted(struct buf *out, const char *p, const char *end)
{
	buf_addc(out, '"');
	while (p < end) {
		const char *from = p;
		size_t n;

		p = scan_plain_run(p, end);
		buf_add(out, from, (size_t)(p - from));
		if (p == end)
			break;
		if ((signed char)*p >= 0) {
			put_escape(out, *p++);
		} else if (at_mark(p, end)) {
			p = put_unwrapped(out, p, end);
		} else {
			n = scan_utf8(p, end);
			if (n == 0)
				buf_adds(out, "\xef\xbf\xbd");
			else
				buf_add(out, p, n);
			p += n ? n : 1;
		}
	}
	buf_addc(out, '"');
}

void
json_put_string(struct buf *out, const char *bytes, size_t length)
{
	const char *end = bytes + length, *number = bytes + MARK_LENGTH + 1;
	struct scan s = {.end = end};

	/* Only what is a number as a whole: a text that was cut or joined must not write into the document. */
	if (at_mark(bytes, end) && number < end && number[-1] == 'n' &&
		scan_number(&s, number) == end)
		buf_add(out, number, (size_t)(end - number));
	else
		put_quoted(out, bytes, end);
}

/* --- values ----------------------------------------------------------------------- */

static void print(struct buf *out, const cJSON *value, bool sorted, int depth);

static void
print_member(struct buf *out, const cJSON *node, bool sorted, int depth)
{
	put_quoted(out, node->string, node->string + strlen(node->string));
	buf_addc(out, ':');
	print(out, node, sorted, depth);
}

static int
compare_keys(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;

	return strcmp((*x)->string, (*y)->string);
}

static void
print_sorted(struct buf *out, const cJSON *object, int depth)
{
	size_t n = 0, count = (size_t)cJSON_GetArraySize(object);
	const cJSON **nodes = calloc(count + 1, sizeof(const cJSON *));

	if (!nodes) {
		out->failed = true;
		return;
	}
	for (const cJSON *node = object->child; node; node = node->next)
		nodes[n++] = node;
	qsort(nodes, n, sizeof(const cJSON *), compare_keys);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(out, ',');
		print_member(out, nodes[i], true, depth);
	}
	free(nodes);
}

static void
print_children(struct buf *out, const cJSON *value, bool sorted, int depth)
{
	bool object = cJSON_IsObject(value);

	if (depth >= PRINT_DEPTH_MAX) {
		out->failed = true;
		return;
	}
	buf_addc(out, object ? '{' : '[');
	if (object && sorted) {
		print_sorted(out, value, depth + 1);
	} else {
		for (const cJSON *node = value->child; node; node = node->next) {
			if (node != value->child)
				buf_addc(out, ',');
			if (object)
				print_member(out, node, sorted, depth + 1);
			else
				print(out, node, sorted, depth + 1);
		}
	}
	buf_addc(out, object ? '}' : ']');
}

static void
print(struct buf *out, const cJSON *value, bool sorted, int depth)
{
	switch (value->type & 0xff) {
	case cJSON_False:
		buf_adds(out, "false");
		break;
	case cJSON_True:
		buf_adds(out, "true");
		break;
	case cJSON_Number:
		json_put_number(out, value->valuedouble);
		break;
	case cJSON_String:
		json_put_string(out, value->valuestring, strlen(value->valuestring));
		break;
	case cJSON_Raw:
		buf_adds(out, value->valuestring);
		break;
	case cJSON_Array:
	case cJSON_Object:
		print_children(out, value, sorted, depth);
		break;
	default:
		buf_adds(out, "null");
		break;
	}
}

void
json_print(struct buf *out, const cJSON *value)
{
	print(out, value, false, 0);
}

void
json_print_canonical(struct buf *out, const cJSON *value)
{
	print(out, value, true, 0);
}
