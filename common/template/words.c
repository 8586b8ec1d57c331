/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of an expression: those that reach outside (files, environment, time, messages) or that this jq does not have are refused by name,
 * $children names what exists, and a known trap is named. Field names, object keys and text are not words: a small tokeniser tells them apart.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "common/json.h"
#include "common/template/expression.h"
#include "common/template/problem.h"

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
	{"get_prog_origin", "get_prog_origin is not available: expressions stand alone"},
	{"get_jq_origin", "get_jq_origin is not available: expressions stand alone"},
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
	{"trimstr", "trimstr is from jq 1.8; write ltrimstr(\"a\") | rtrimstr(\"a\") instead"},
	{"skip", "skip is from jq 1.8; write .[N:] instead"},
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
	unsigned n_if, n_else;
	size_t last_if; /* where */
	size_t string; /* where the innermost open text, or the last one, began */
	char before; /* last byte of code that is no blank: '.' before a field, '{' or ',' before a key */
};

static int
complain(struct words *w, size_t offset, const char *text)
{
	return problem_text(w->problem, offset, "%s", text);
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

/* What there is instead: "there are a, b, c". */
static int
complain_child(struct words *w, size_t start, const char *id, size_t length)
{
	const struct expression_scope *scope = w->scope;
	struct buf known = BUF_INIT_LIMIT(256);

	for (size_t i = 0; i < scope->n_children; i++)
		buf_addf(&known, "%s%s", i ? ", " : "", scope->children_ids[i]);
	const char *what = scope->n_children == 1 ? "there is " : "there are ";
	int code = problem_text(w->problem, start, "$children.%.*s: no child has this id; %s%s%s",
		(int)length, id, scope->n_children ? what : "the controller has no children",
		known.data, known.failed ? ", ..." : "");
	buf_free(&known);
	return code;
}

static int
check_children(struct words *w, size_t start)
{
	size_t id, length, end;

	if (!w->scope->children)
		return complain(w, start, "$children can't be used here");
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
	return complain_child(w, start, w->text + id, length);
}

/* w->at stands behind '$'. */
static int
check_variable(struct words *w)
{
	size_t start = w->at - 1, from = w->at;

	w->at = skip_word(w, w->at);
	const char *word = w->text + from;
	size_t n = w->at - from;
	if (n == 0)
		return complain(w, start, "a $ needs its name directly behind it");
	if (n >= 2 && strncmp(word, "__", 2) == 0)
		return complain(w, start, "names that begin with $__ are reserved");
	if (is(word, n, "ENV"))
		return complain(w, start,
			"$ENV is not available: expressions see the object, not the environment; "
			"put the value into vars");
	if (is(word, n, "related"))
		return complain(w, start, "$related is not supported yet");
	if (is(word, n, "self") && !w->scope->self)
		return complain(w, start, "$self, the child, can only be used in readyWhen");
	for (size_t i = 0; i < w->scope->n_names; i++)
		if (is(word, n, w->scope->names[i].name) && w->scope->uses_name)
			w->scope->uses_name[i] = true;
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

/* jq itself finds a wrong one only when it runs, and in a plain text never. */
static int
check_format(struct words *w, size_t start)
{
	static const char *const formats[] = {
		"text", "json", "csv", "tsv", "html", "uri", "sh", "base64", "base64d"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (is(w->text + start, w->at - start, formats[i]))
			return 0;
	}
	return problem_text(w->problem, start - 1, "@%.*s is no format of jq 1.6",
		(int)(w->at - start), w->text + start);
}

static int
check_word(struct words *w)
{
	size_t start = w->at;

	w->at = skip_word(w, w->at);
	if (w->before == '@')
		return check_format(w, start);
	if (w->before == '.' || is_key(w, w->at))
		return 0;
	if (is(w->text + start, w->at - start, "if")) {
		w->n_if++;
		w->last_if = start;
	}
	w->n_else += is(w->text + start, w->at - start, "else");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (is(w->text + start, w->at - start, refused[i].word))
			return complain(w, start, refused[i].text);
	}
	if (w->at - start > 2 && strncmp(w->text + start, "__", 2) == 0)
		return complain(w, start, "names that begin with __ are reserved");
	return 0;
}

/* jq's numbers are doubles: one that would not come out as it is written is better not taken. */
static int
check_number(struct words *w)
{
	size_t start = w->at;

	w->at = skip_word(w, w->at);
	while (w->at < w->length &&
		(w->text[w->at] == '.' || isdigit((unsigned char)w->text[w->at])))
		w->at = skip_word(w, w->at + 1);
	char last = w->text[w->at - 1];
	if ((last == 'e' || last == 'E') && w->at < w->length &&
		(w->text[w->at] == '+' || w->text[w->at] == '-'))
		w->at = skip_word(w, w->at + 1);
	if (w->before != '.' && !json_number_exact(w->text + start, w->at - start))
		return complain(w, start,
			"jq can't hold this number without losing digits; write it outside of ${ "
			"}, or as text");
	return 0;
}

/* "X // true": false counts as absent there, so that a false can never be said. */
static int
check_alternative(struct words *w)
{
	size_t word = w->at + 2;

	word += word < w->length && w->text[word] == '='; /* X //= true is the same trap */
	word = skip_blanks(w, word);
	size_t end = skip_word(w, word);

	if (is(w->text + word, end - word, "true"))
		return complain(
			w, w->at, "X // true is true also when X is false; write get(X; true)");
	w->at += 2;
	return 0;
}

/* An amount as Kubernetes writes it, with a suffix: as text "500m" is above "1" and "10Gi" below "9Gi". */
static bool
is_quantity(const char *text, size_t n)
{
	static const char *const suffixes[] = {"m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi",
		"Ti", "Pi", "Ei"};
	size_t digits = 0;

	while (digits < n && (isdigit((unsigned char)text[digits]) || text[digits] == '.'))
		digits++;
	for (size_t i = 0; digits > 0 && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (is(text + digits, n - digits, suffixes[i]))
			return true;
	return false;
}

/* w->at stands at < or >: what is compared must not be an amount as text. */
static int
check_comparison(struct words *w)
{
	size_t start = w->at, next = w->at + 1;
	bool amount = false;

	if (w->before == '"' && w->string < start) {
		size_t end = start;

		while (w->text[end - 1] != '"')
			end--;
		amount = is_quantity(w->text + w->string, end - 1 - w->string);
	}
	next = skip_blanks(w, next + (next < w->length && w->text[next] == '='));
	if (next < w->length && w->text[next] == '"') {
		const char *end = memchr(w->text + next + 1, '"', w->length - next - 1);

		if (end)
			amount = amount || is_quantity(w->text + next + 1,
						   (size_t)(end - w->text) - next - 1);
	}
	w->at++;
	w->before = '<';
	if (amount)
		return complain(w, start,
			"compares an amount as text; write quantity(A) < quantity(\"1Gi\")");
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

	if (c == '"')
		w->string = w->at;
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
			code = check_number(&w);
			w.before = '0';
		} else if (word_char(c)) {
			code = check_word(&w);
			w.before = 'x';
		} else if (c == '/' && w.at + 1 < length && expression[w.at + 1] == '/') {
			code = check_alternative(&w);
			w.before = '/';
		} else if (c == '<' || c == '>') {
			code = check_comparison(&w);
		} else {
			punctuation(&w);
		}
	}
	if (code == 0 && w.n_if > w.n_else)
		code = complain(&w, w.last_if,
			"an if needs an else in jq 1.6: if CONDITION then A else B end (null "
			"leaves the key out)");
	return code;
}
