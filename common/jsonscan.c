/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of JSON over bytes: numbers, values, the members of an object. Strings are in jsonscan_string.c.
 *
 * Nothing is allocated, nothing recurses: an open list or object costs one byte of a fixed stack. On failure the place and a
 * text are left in struct scan, and NULL comes back through all callers.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "common/jsonscan.h"
#include "common/jsonscan_token.h"

const char *
scan_fail(struct scan *s, const char *p, const char *why)
{
	s->bad = p;
	s->why = p < s->end ? why : "it ends too early";
	return NULL;
}

/* --- numbers and words -------------------------------------------------------- */

static inline bool
digit_at(const struct scan *s, const char *p)
{
	return p < s->end && *p >= '0' && *p <= '9';
}

static inline const char *
digits(const struct scan *s, const char *p)
{
	while (digit_at(s, p))
		p++;
	return p;
}

const char *
scan_number(struct scan *s, const char *p)
{
	if (p < s->end && *p == '-')
		p++;
	if (!digit_at(s, p))
		return scan_fail(s, p, "not a valid number");
	if (*p == '0') {
		p++;
		if (digit_at(s, p))
			return scan_fail(s, p, "a number with a leading zero");
	} else {
		p = digits(s, p);
	}
	if (p < s->end && *p == '.') {
		p++;
		if (!digit_at(s, p))
			return scan_fail(s, p, "not a valid number");
		p = digits(s, p);
	}
	if (p < s->end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < s->end && (*p == '+' || *p == '-'))
			p++;
		if (!digit_at(s, p))
			return scan_fail(s, p, "not a valid number");
		p = digits(s, p);
	}
	return p;
}

static const char *
scan_word(struct scan *s, const char *p, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++, p++)
		if (p == s->end || *p != word[i])
			return scan_fail(s, p, "not a value");
	return p;
}

/* What is no list and no object; p < end. */
static inline const char *
scan_scalar(struct scan *s, const char *p)
{
	switch (*p) {
	case '"':
		p = scan_string(s, p + 1);
		return p ? p + 1 : NULL;
	case 't':
		return scan_word(s, p, "true", 4);
	case 'f':
		return scan_word(s, p, "false", 5);
	case 'n':
		return scan_word(s, p, "null", 4);
	case '-':
	case '0' ... '9':
		return scan_number(s, p);
	default:
		return scan_fail(s, p, "not a value");
	}
}

/* --- values ------------------------------------------------------------------- */

/* p where a key must stand; to the first byte of its value. */
static inline const char *
to_value(struct scan *s, const char *p)
{
	if (p >= s->end || *p != '"')
		return scan_fail(s, p, "a key in double quotes is missing");
	p = scan_string(s, p + 1);
	if (!p)
		return NULL;
	p = scan_space(s, p + 1);
	if (p >= s->end || *p != ':')
		return scan_fail(s, p, "a ':' is missing");
	return scan_space(s, p + 1);
}

const char *
scan_value(struct scan *s, const char *p, int levels)
{
	char close[JSON_DEPTH_MAX]; /* the bracket that each open list or object waits for */
	int depth = 0;

value:
	if (p >= s->end)
		return scan_fail(s, p, "");
	if (*p == '{' || *p == '[') {
		if (depth >= levels)
			return scan_fail(s, p, "nested too deep");
		close[depth] = (char)(*p + 2); /* ASCII has ] two behind [, and } two behind { */
		p = scan_space(s, p + 1);
		if (p < s->end && *p == close[depth])
			goto behind;
		if (close[depth++] == ']')
			goto value;
		p = to_value(s, p);
		if (!p)
			return NULL;
		goto value;
	}
	p = scan_scalar(s, p);
	if (!p || depth == 0)
		return p;
	goto next;
behind:
	p++;
	if (depth == 0)
		return p;
next:
	p = scan_space(s, p);
	if (p < s->end && *p == ',') {
		p = scan_space(s, p + 1);
		if (close[depth - 1] == '}')
			p = to_value(s, p);
		if (!p)
			return NULL;
		goto value;
	}
	if (p >= s->end || *p != close[depth - 1])
		return scan_fail(s, p, "a ',' or a closing bracket is missing");
	depth--;
	goto behind;
}

bool
scan_document(struct scan *s, const char *p, int levels)
{
	p = scan_value(s, scan_space(s, p), levels);
	if (!p)
		return false;
	p = scan_space(s, p);
	if (p < s->end)
		scan_fail(s, p, "more follows behind the value");
	return p == s->end;
}

const char *
jsonscan_skip(const char *p, const char *end)
{
	struct scan s = {.end = end};

	return scan_value(&s, p, JSON_DEPTH_MAX);
}

/* --- members ------------------------------------------------------------------ */

/* Six bytes of escape for each byte of the longest key that anybody looks for. */
#define KEY_ROOM (6 * 64)

static const char *
read_key(struct scan *s, const char *p, struct scan_key *ret, char *room)
{
	const char *value;

	ret->quote = p;
	s->escaped = false;
	value = to_value(s, p);
	if (!value)
		return NULL;
	/* Behind the key only ':' and white space stand before the value. */
	for (p = value - 1; *p != '"'; p--)
		;
	ret->text = ret->quote + 1;
	ret->length = (size_t)(p - ret->text);
	if (!s->escaped)
		return value;
	if (ret->length > KEY_ROOM) {
		ret->text = NULL;
		return value;
	}
	ret->length = jsonscan_unescape(ret->text, ret->length, room);
	ret->text = room;
	return value;
}

const char *
scan_object(struct scan *s, const char *p, int levels, scan_member_fn *member, void *data)
{
	char room[KEY_ROOM];
	struct scan_key key;

	if (p >= s->end || *p != '{')
		return scan_fail(s, p, "not an object");
	if (levels <= 0)
		return scan_fail(s, p, "nested too deep");
	p = scan_space(s, p + 1);
	if (p < s->end && *p == '}')
		return p + 1;
	for (;;) {
		p = read_key(s, p, &key, room);
		if (p)
			p = member(s, &key, p, levels - 1, data);
		if (!p)
			return NULL;
		p = scan_space(s, p);
		if (p < s->end && *p == '}')
			return p + 1;
		if (p >= s->end || *p != ',')
			return scan_fail(s, p, "a ',' or a '}' is missing");
		p = scan_space(s, p + 1);
	}
}

bool
scan_key_is(const struct scan_key *key, const char *text)
{
	size_t n = strlen(text);

	return key->text && key->length == n && memcmp(key->text, text, n) == 0;
}
