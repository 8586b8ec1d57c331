/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of RFC 8259 that json.c and the jsonscan_*.c files share; not for others.
 *
 * Functions take a place and return the place behind what they read, or NULL after filling bad and why. Nothing is
 * read at or behind end, nothing recurses.
 */
#ifndef COMMON_JSONSCAN_TOKEN_H
#define COMMON_JSONSCAN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && !defined(JSONSCAN_PORTABLE)
#include <emmintrin.h>
#define SCAN_SSE2 1
#else
#define SCAN_SSE2 0
#endif

struct scan {
	const char *end;
	const char *bad; /* where it went wrong */
	const char *why; /* a constant text */
	bool escaped;    /* set, never cleared, by a string that holds a backslash */
};

/* White space; the only one that can't fail. */
static inline const char *
scan_space(const struct scan *s, const char *p)
{
	while (p < s->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

/* Fills bad and why; returns NULL. */
const char *scan_fail(struct scan *s, const char *p, const char *why) __attribute__((cold));
static inline bool
scan_plain(char c)
{
	return (signed char)c >= 0x20 && c != '"' && c != '\\';
}

/* To the first byte that is a quote, a backslash, a control character or not ASCII. */
static inline const char *
scan_plain_run(const char *p, const char *end)
{
#if SCAN_SSE2
	const __m128i space = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'),
		      backslash = _mm_set1_epi8('\\');

	for (; end - p >= 16; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* Signed: bytes from 0x80 are below the space too. */
		__m128i stop = _mm_or_si128(_mm_cmplt_epi8(v, space),
			_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)));
		unsigned mask = (unsigned)_mm_movemask_epi8(stop);

		if (mask)
			return p + __builtin_ctz(mask);
	}
#else
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;

	for (; end - p >= 8; p += 8) {
		uint64_t w, q, b;

		memcpy(&w, p, 8);
		q = w ^ (ones * '"');
		b = w ^ (ones * '\\');
		/* Borrows may mark a byte too many, never one too few: the loop below decides. */
		if ((w | (w - ones * 0x20) | (q - ones) | (b - ones)) & tops)
			break;
	}
#endif
	while (p < end && scan_plain(*p))
		p++;
	return p;
}

/* scan_string() for strings that are not all plain. */
const char *scan_string_rest(struct scan *s, const char *p);

/* p behind the opening quote; returns the place of the closing one. */
static inline const char *
scan_string(struct scan *s, const char *p)
{
	p = scan_plain_run(p, s->end);
	return p < s->end && *p == '"' ? p : scan_string_rest(s, p);
}

const char *scan_number(struct scan *s, const char *p);
/* Any value, p at its first byte; levels: how many lists and objects may nest in it, itself included (at most JSON_DEPTH_MAX). */
const char *scan_value(struct scan *s, const char *p, int levels);
/* One value and white space around it, to the end. */
bool scan_document(struct scan *s, const char *p, int levels);

/*
 * Walks the members of an object (p at its brace). For each one member() is called with the key (unescaped; NULL when it is too
 * long to be anybody's), the place of the key's quote and that of the value, and returns the place behind the value.
 */
struct scan_key {
	const char *text;
	size_t length;
	const char *quote;
};
typedef const char *scan_member_fn(
	struct scan *s, const struct scan_key *key, const char *value, int levels, void *data);
const char *scan_object(
	struct scan *s, const char *p, int levels, scan_member_fn *member, void *data);

bool scan_key_is(const struct scan_key *key, const char *text);

/* The length of the UTF-8 sequence at p, 1 to 4, or 0 when it is not one (RFC 3629: no surrogates, nothing longer than needed). */
size_t scan_utf8(const char *p, const char *end);
/* UTF-8 of one character (at most U+10FFFF) to out; returns its length, at most 4. */
size_t scan_put_utf8(char *out, uint32_t c);

#endif
