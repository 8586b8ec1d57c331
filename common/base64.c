/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict base64. A lenient decoder hides damage: certificates with a lost tail still "work" until the day they are compared.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/memory.h"

static int
value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four; returns the bytes it holds (1 to 3), or -1. */
static int
decode_group(const char group[4], unsigned char *out)
{
	int padding = group[3] == '=' ? (group[2] == '=' ? 2 : 1) : 0;
	uint32_t bits = 0;

	for (int i = 0; i < 4 - padding; i++) {
		int v = value_of(group[i]);

		if (v < 0)
			return -1;
		bits |= (uint32_t)v << (18 - 6 * i);
	}
	if ((padding == 1 && (bits & 0xffU) != 0) || (padding == 2 && (bits & 0xffffU) != 0))
		return -1;
	for (int i = 0; i < 3 - padding; i++)
		out[i] = (unsigned char)(bits >> (16 - 8 * i));
	return 3 - padding;
}

static int
decode(const char *text, size_t n, unsigned char *out, size_t *ret_length)
{
	char group[4];
	size_t have = 0, length = 0;
	bool ended = false;

	for (size_t i = 0; i < n; i++) {
		int got;

		if (text[i] == '\n' || text[i] == '\r')
			continue;
		if (ended)
			return -EBADMSG;
		group[have++] = text[i];
		if (have < 4)
			continue;
		have = 0;
		got = decode_group(group, out + length);
		if (got < 0)
			return -EBADMSG;
		length += (size_t)got;
		ended = got < 3;
	}
	if (have != 0)
		return -EBADMSG;
	*ret_length = length;
	return 0;
}

int
base64_decode(const char *text, size_t n, char **ret, size_t *ret_length)
{
	size_t size = n / 4 * 3 + 4, length = 0;
	char *out = malloc(size);
	int r;

	if (out == NULL)
		return -ENOMEM;
	r = decode(text, n, (unsigned char *)out, &length);
	if (r < 0) {
		memory_burn(out, size);
		return r;
	}
	out[length] = '\0';
	*ret = out;
	*ret_length = length;
	return 0;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(struct buf *out, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		unsigned int bits = (unsigned int)p[i] << 16 |
				    (left > 1 ? (unsigned int)p[i + 1] << 8 : 0) |
				    (left > 2 ? p[i + 2] : 0);

		buf_addc(out, digits[bits >> 18]);
		buf_addc(out, digits[bits >> 12 & 63]);
		buf_addc(out, left > 1 ? digits[bits >> 6 & 63] : '=');
		buf_addc(out, left > 2 ? digits[bits & 63] : '=');
	}
}
