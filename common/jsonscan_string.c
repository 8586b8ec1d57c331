/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of JSON: UTF-8, escapes, and what they stand for.
 *
 * Stricter than RFC 8259 in one point: "\ud800" without its other half is refused, since it is no text and since the parsers
 * that read these bytes later refuse it. The way through plain ASCII is in jsonscan_token.h, for speed.
 */
#include "config.h"

#include <stdint.h>

#include "common/jsonscan.h"
#include "common/jsonscan_token.h"

size_t
scan_utf8(const char *p, const char *end)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t left = (size_t)(end - p), n;
	unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */

	if (left == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	n = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	if (left < n || u[1] < low || u[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The code unit of \uXXXX at p, or -1. */
static long
escape_unit(const char *p, const char *end)
{
	long unit = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* The character of the \u escape at p, two halves taken together; its length in bytes in *ret_n, 0 when it is not valid. */
static uint32_t
escape_character(const char *p, const char *end, size_t *ret_n)
{
	long unit = escape_unit(p, end), low;

	*ret_n = 0;
	if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
		return 0;
	if (unit < 0xd800 || unit > 0xdfff) {
		*ret_n = 6;
		return (uint32_t)unit;
	}
	low = escape_unit(p + 6, end);
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	*ret_n = 12;
	return 0x10000 + (((uint32_t)unit - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
}

/* The byte that \x stands for, 0 for none. */
static char
escape_byte(char c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/':
		return c;
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return 0;
	}
}

static size_t
escape_length(const char *p, const char *end)
{
	size_t n;

	if (end - p < 2)
		return 0;
	if (p[1] != 'u')
		return escape_byte(p[1]) ? 2 : 0;
	escape_character(p, end, &n);
	return n;
}

const char *
scan_string_rest(struct scan *s, const char *p)
{
	for (;;) {
		size_t n;

		p = scan_plain_run(p, s->end);
		if (p == s->end)
			return scan_fail(s, p, "");
		if (*p == '"')
			return p;
		if (*p == '\\') {
			s->escaped = true;
			n = escape_length(p, s->end);
			if (n == 0)
				return scan_fail(s, p, "not a valid escape in a string");
			p += n;
			continue;
		}
		if ((signed char)*p >= 0)
			return scan_fail(s, p, "a control character in a string");
		while (p < s->end && (signed char)*p < 0) {
			n = scan_utf8(p, s->end);
			if (n == 0)
				return scan_fail(s, p, "not valid UTF-8");
			p += n;
		}
	}
}

size_t
scan_put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t
jsonscan_unescape(const char *bytes, size_t n, char *out)
{
	const char *p = bytes, *end = bytes + n;
	size_t length = 0, taken;

	while (p < end) {
		if (*p != '\\' || end - p < 2) {
			out[length++] = *p++;
		} else if (p[1] != 'u') {
			char c = escape_byte(p[1]);

			out[length++] = c ? c : p[1];
			p += 2;
		} else {
			uint32_t c = escape_character(p, end, &taken);

			if (taken == 0) { /* not from a valid string: keep the bytes */
				out[length++] = *p++;
				continue;
			}
			length += scan_put_utf8(out + length, c);
			p += taken;
		}
	}
	return length;
}
