/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of an expression: those that reach outside (files, environment, time, messages) or that this jq does not have are refused by name,
 * $children names what exists, and a known trap is named. Field names, object keys and text are not words: a small tokeniser tells them apart.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/template/expression.h"

static const struct {
	const char *word, *text;
} refused[] = {
	{"env", "env is not available: expressions see the object, not the environment; put the "
		"value into vars"},
	{"input", "input is not available: an expression has one input, the object"},
	{"inputs", "inputs is not available: an expression has one input, the object"},
	{"debug", "debug is not available: expressions write nothing"},
	{"stderr", "stderr is not available: expressions write nothing"},
	{"halt", "halt is not available; error(\"text\") fails the object with a message"},
	{"halt_error",
		"halt_error is not available; error(\"text\") fails the object with a message"},
	{"import", "import is not available: expressions stand alone"},
	{"include", "include is not available: expressions stand alone"},
	{"modulemeta", "modulemeta is not available: expressions stand alone"},
	{"get_search_list", "get_search_list is not available: expressions stand alone"},
	{"input_filename",
		"input_filename is not available: an expression has one input, the object"},
	{"input_line_number",
		"input_line_number is not available: an expression has one input, the object"},
	{"now", "now is not available: a result that changes by itself would be written for ever"},
	{"localtime",
		"localtime is not available: the result would depend on the machine; use gmtime"},
	{"strflocaltime", "strflocaltime is not available: the result would depend on the machine; "
			  "use strftime"},
	{"sha256", "sha256 is not supported yet"},
	{"age", "age is not supported yet"},
	{"pick", "pick is from jq 1.7; write {a: .a} instead"},
	{"abs", "abs is from jq 1.7; write if . < 0 then -. else . end instead"},
	{"toarray",
		"toarray is from jq 1.7; write if type == \"array\" then . else [.] end instead"},
	{"trim", "trim is from jq 1.7; write sub(\"^\\\\s+\"; \"\") | sub(\"\\\\s+$\"; \"\") "
		 "instead"},
	{"ltrim", "ltrim is from jq 1.7; write sub(\"^\\\\s+\"; \"\") instead"},
	{"rtrim", "rtrim is from jq 1.7; write sub(\"\\\\s+$\"; \"\") instead"},
	{"have_literal_numbers",
		"have_literal_numbers is from jq 1.7 and not needed: numbers keep their digits"},
	{"have_decnum", "have_decnum is from jq 1.7 and not needed: numbers keep their digits"},
	{"spread", "spread stands alone, as an item of a list: - \"${spread(.hosts)}\""},
};

struct words {
	const char *text;
	size_t length, at;
	const struct expression_scope *scope;
	struct template_problem *problem;
	char brackets[64]; /* open ones; '{' tells that a word before ':' may be a key */
	size_t depth;
	char before; /* last byte of code that is no blank: '.' before a field, '{' or ',' before a key */
};

static int
complain(struct words *w, size_t offset, const char *text)
{
	w->problem->offset = (unsigned)offset;
	snprintf(w->problem->text, sizeof(w->problem->text), "%s", text);
	return -EINVAL;
}

static bool
word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool
is(const char *word, size_t n, const char *what)
{
	return strlen(what) == n && strncmp(word, what, n) == 0;
}

static size_t
skip_blanks(const struct words *w, size_t at)
{
	while (at < w->length && isspace((unsigned char)w->text[at]))
		at++;
	return at;
}

static size_t
skip_word(const struct words *w, size_t at)
{
	while (at < w->length && word_char(w->text[at]))
		at++;
	return at;
}

/* The ID behind $children: .ID, ."ID" or ["ID"]. False: something else stands there. */
static bool
child_id(struct words *w, size_t at, size_t *ret_start, size_t *ret_length, size_t *ret_end)
{
	at = skip_blanks(w, at);
	if (at >= w->length || (w->text[at] != '.' && w->text[at] != '['))
		return false;
	bool bracket = w->text[at] == '[';
	at = skip_blanks(w, at + 1);
	bool quoted = at < w->length && w->text[at] == '"';
	if (bracket && !quoted)
		return false;
	at += quoted;
	*ret_start = at;
	while (at < w->length && (word_char(w->text[at]) || (quoted && w->text[at] == '-')))
		at++;
	*ret_length = at - *ret_start;
	if (*ret_length == 0 || (quoted && (at >= w->length || w->text[at] != '"')))
		return false;
	at += quoted;
	if (bracket) {
		at = skip_blanks(w, at);
		if (at >= w->length || w->text[at] != ']')
			return false;
		at++;
	}
	*ret_end = at;
	return true;
}

static int
check_children(struct words *w, size_t start)
{
	char text[256];
	size_t id, length, end;

	if (!w->scope->children)
		return complain(w, start, "$children can't be used here: it is for status");
	if (!child_id(w, w->at, &id, &length, &end))
		return complain(w, start,
			"$children needs the id of a child behind it, as in $children.deploy or "
			"$children[\"my-child\"]");
	for (size_t i = 0; i < w->scope->n_children; i++) {
		if (is(w->text + id, length, w->scope->children_ids[i])) {
			if (w->scope->uses_child)
				w->scope->uses_child[i] = true;
			w->at = end;
			return 0;
		}
	}
	int n = snprintf(text, sizeof(text), "$children.%.*s: no child has this id; there ",
		(int)length, w->text + id);
	if (w->scope->n_children == 0)
		snprintf(text + n, sizeof(text) - (size_t)n, "are none");
	else
		snprintf(text + n, sizeof(text) - (size_t)n, "is %s%s", w->scope->children_ids[0],
			w->scope->n_children > 1 ? " and others" : "");
	return complain(w, start, text);
}

/* w->at stands behind '$'. */
static int
check_variable(struct words *w)
{
	size_t start = w->at - 1, from = w->at;

	w->at = skip_word(w, w->at);
	const char *word = w->text + from;
	size_t n = w->at - from;
	if (n >= 2 && strncmp(word, "__", 2) == 0)
		return complain(w, start, "names that begin with $__ are reserved");
	if (is(word, n, "ENV"))
		return complain(w, start,
			"$ENV is not available: expressions see the object, not the environment; "
			"put the value into vars");
	if (is(word, n, "related"))
		return complain(w, start, "$related is not supported yet");
	if (is(word, n, "self"))
		return complain(w, start, "$self is not supported yet");
	if (is(word, n, "error") && !w->scope->error)
		return complain(w, start, "$error can only be used in statusOnError");
	if (is(word, n, "uuid") && !w->scope->uuid)
		return complain(w, start,
			"$uuid can only be used in a once field: {once: \"${$uuid}\"}, or it would "
			"change at each write");
	if (is(word, n, "children"))
		return check_children(w, start);
	return 0;
}

/* A word is a key of an object being built when it stands behind { or , of one, and : or , or } follows. */
static bool
is_key(const struct words *w, size_t end)
{
	if (w->depth == 0 || w->brackets[w->depth - 1] != '{' ||
		(w->before != '{' && w->before != ','))
		return false;
	end = skip_blanks(w, end);
	return end >= w->length || w->text[end] == ':' || w->text[end] == ',' ||
	       w->text[end] == '}';
}

static int
check_word(struct words *w)
{
	size_t start = w->at;

	w->at = skip_word(w, w->at);
	if (w->before == '.' || w->before == '@' || is_key(w, w->at))
		return 0;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (is(w->text + start, w->at - start, refused[i].word))
			return complain(w, start, refused[i].text);
	}
	if (w->at - start > 2 && strncmp(w->text + start, "__", 2) == 0)
		return complain(w, start, "names that begin with __ are reserved");
	return 0;
}

/* "X // true": false counts as absent there, so that a false can never be said. */
static int
check_alternative(struct words *w)
{
	size_t word = skip_blanks(w, w->at + 2), end = skip_word(w, word);

	if (is(w->text + word, end - word, "true"))
		return complain(
			w, w->at, "X // true is true also when X is false; write get(X; true)");
	w->at += 2;
	return 0;
}

static void
skip_comment(struct words *w)
{
	while (w->at < w->length && w->text[w->at] != '\n')
		w->at++;
}

/* A byte of a string: its end, or the start of an interpolation, whose code is read like any other. */
static void
in_string(struct words *w)
{
	char c = w->text[w->at++];

	if (c == '"') {
		w->depth--;
		w->before = '"';
	} else if (c == '\\' && w->at < w->length) {
		c = w->text[w->at++];
		if (c == '(' && w->depth < sizeof(w->brackets)) {
			w->brackets[w->depth++] = '(';
			w->before = '(';
		}
	}
}

static void
punctuation(struct words *w)
{
	char c = w->text[w->at++];

	if ((c == '(' || c == '[' || c == '{' || c == '"') && w->depth < sizeof(w->brackets))
		w->brackets[w->depth++] = c;
	else if ((c == ')' || c == ']' || c == '}') && w->depth > 0)
		w->depth--;
	if (!isspace((unsigned char)c))
		w->before = c;
}

int
expression_check(const char *expression, size_t length, const struct expression_scope *scope,
	struct template_problem *problem)
{
	struct words w = {.text = expression, .length = length, .scope = scope, .problem = problem};
	size_t blank = skip_blanks(&w, 0);
	int code = 0;

	if (blank == length)
		return complain(&w, 0, "an empty expression");
	while (code == 0 && w.at < length) {
		char c = expression[w.at];
		if (w.depth > 0 && w.brackets[w.depth - 1] == '"') {
			in_string(&w);
		} else if (c == '#') {
			skip_comment(&w);
		} else if (c == '$') {
			w.at++;
			code = check_variable(&w);
			w.before = 'x';
		} else if (isdigit((unsigned char)c)) {
			w.at = skip_word(&w, w.at);
			w.before = '0';
		} else if (word_char(c)) {
			code = check_word(&w);
			w.before = 'x';
		} else if (c == '/' && w.at + 1 < length && expression[w.at + 1] == '/') {
			code = check_alternative(&w);
			w.before = '/';
		} else {
			punctuation(&w);
		}
	}
	return code;
}
