/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label and field selectors, as kubectl's -l and --field-selector take them. Only the grammar is checked: what a field
 * selector may name depends on the resource, and the server says so.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/config/syntax.h"

#define SELECTOR_LENGTH_MAX 4096

struct scanner {
	const char *p;
	struct error *err;
};

static int
bad(struct scanner *s, const char *what)
{
	return error_set(s->err, -EINVAL,
		"%s; write a selector such as app=web,tier in (a,b),!canary", what);
}

static void
blanks(struct scanner *s)
{
	while (*s->p == ' ')
		s->p++;
}

static bool
take(struct scanner *s, const char *token)
{
	size_t n = strlen(token);

	blanks(s);
	if (strncmp(s->p, token, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* A run of bytes that are no delimiter. */
static size_t
word(struct scanner *s, const char **ret)
{
	size_t n;

	blanks(s);
	n = strcspn(s->p, " ,=!()<>");
	*ret = s->p;
	s->p += n;
	return n;
}

static int
value(struct scanner *s)
{
	const char *text;
	size_t n = word(s, &text);

	return syntax_is_label_value(text, n) ? 0 : bad(s, "not a label value");
}

/* "(a, b)" */
static int
set(struct scanner *s)
{
	if (!take(s, "("))
		return bad(s, "a list in parentheses is missing");
	do {
		int r = value(s);
		if (r < 0)
			return r;
	} while (take(s, ","));
	return take(s, ")") ? 0 : bad(s, "a closing parenthesis is missing");
}

static int
requirement(struct scanner *s)
{
	const char *key;
	bool absent = take(s, "!");
	size_t n = word(s, &key);

	if (!syntax_is_label_key(key, n))
		return bad(s, n ? "not a label key" : "a label key is missing");
	if (absent)
		return 0;
	if (take(s, "!=") || take(s, "==") || take(s, "="))
		return value(s);
	if (s->p[0] == ' ' || *s->p == '(')
		blanks(s);
	if (take(s, "notin") || take(s, "in"))
		return set(s);
	if (take(s, ">") || take(s, "<"))
		return value(s);
	return 0;
}

int
syntax_label_selector(const char *text, struct error *err)
{
	struct scanner s = {.p = text, .err = err};

	if (strlen(text) > SELECTOR_LENGTH_MAX)
		return error_set(err, -EINVAL, "is longer than %d bytes", SELECTOR_LENGTH_MAX);
	do {
		int r = requirement(&s);
		if (r < 0)
			return r;
	} while (take(&s, ","));
	return *s.p ? bad(&s, "an operator or ',' is missing") : 0;
}

/* "status.phase!=Running": the path, an operator and any value without ',' or '='. */
static bool
is_field_requirement(const char *text, size_t length)
{
	size_t path = strcspn(text, "=!,");

	if (path == 0 || path >= length)
		return false;
	for (size_t i = 0; i < path; i++)
		if (text[i] <= ' ' || text[i] == 0x7f)
			return false;
	text += path;
	length -= path;
	if (length >= 2 && (!memcmp(text, "!=", 2) || !memcmp(text, "==", 2)))
		return !memchr(text + 2, '=', length - 2);
	return text[0] == '=' && !memchr(text + 1, '=', length - 1);
}

int
syntax_field_selector(const char *text, struct error *err)
{
	size_t n;

	if (strlen(text) > SELECTOR_LENGTH_MAX)
		return error_set(err, -EINVAL, "is longer than %d bytes", SELECTOR_LENGTH_MAX);
	for (const char *p = text;; p += n + 1) {
		n = strcspn(p, ",");
		if (!is_field_requirement(p, n))
			return error_set(err, -EINVAL,
				"write FIELD=VALUE or FIELD!=VALUE, several joined by ',', such as "
				"metadata.name=one");
		if (!p[n])
			return 0;
	}
}
