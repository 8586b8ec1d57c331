/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and cuts UTF-8. It converts nothing and knows nothing of characters beyond their length: width, case and
 * normalisation are nobody's business here. No allocation, no failure.
 */
#include "config.h"

#include "common/utf8.h"

static bool
is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The second byte decides what the first leaves open: overlong forms, surrogates and what is above U+10FFFF. */
static bool
second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

size_t
utf8_sequence(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t left = (size_t)(end - p), n;

	if (s[0] < 0x80)
		return 1;
	n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
	    : (s[0] & 0xf0) == 0xe0        ? 3
	    : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
					   : 0;
	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (!is_tail(s[i]))
			return 0;
	return second_fits(s[0], s[1]) ? n : 0;
}

bool
utf8_valid(const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		size_t n = utf8_sequence(text, end);
		if (n == 0)
			return false;
		text += n;
	}
	return true;
}

size_t
utf8_cut(const char *text, size_t length, size_t most)
{
	if (length <= most)
		return length;
	/* A character has at most three tail bytes; more of them are no UTF-8 and are cut where they are. */
	for (size_t back = 0; back < 4 && back <= most; back++)
		if (!is_tail((unsigned char)text[most - back]))
			return most - back;
	return most;
}

void
utf8_clean_line(char *text)
{
	char *end = text;

	while (*end)
		end++;
	while (text < end) {
		size_t n = utf8_sequence(text, end);
		if (n == 0)
			*text++ = '?';
		else if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))
			*text++ = ' ';
		else
			text += n;
	}
}
