/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding expressions in strings. An expression ends at the } that closes its ${; braces in jq's strings, objects and comments do not count.
 * Interpolations in jq strings, "\( ... )", nest expressions in strings in expressions: one stack of open brackets follows them, on which a
 * quote stands for an open string.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "common/template/expression.h"
#include "common/template/problem.h"

#define NESTING_MAX 64

struct scan {
	const char *text;
	size_t at;
	char stack[NESTING_MAX];
	size_t depth;
};

static bool
push(struct scan *scan, char c)
{
	if (scan->depth == NESTING_MAX)
		return false;
	scan->stack[scan->depth++] = c;
	return true;
}

static char
opener_of(char closer)
{
	return closer == ')' ? '(' : closer == ']' ? '[' : '{';
}

/* One step within a jq string: its end, an escape, or the start of an interpolation. */
static bool
step_string(struct scan *scan)
{
	char c = scan->text[scan->at];

	if (c == '"') {
		scan->depth--;
	} else if (c == '\\' && scan->text[scan->at + 1]) {
		scan->at++;
		if (scan->text[scan->at] == '(')
			return push(scan, '(');
	}
	return true;
}

/* One step within jq code. *ret_end: this is the } that ends the expression. False: brackets do not match or nest too deep. */
static bool
step_code(struct scan *scan, bool *ret_end)
{
	char c = scan->text[scan->at];

	switch (c) {
	case '#':
		while (scan->text[scan->at + 1] && scan->text[scan->at + 1] != '\n')
			scan->at++;
		return true;
	case '"':
	case '(':
	case '[':
	case '{':
		return push(scan, c);
	case '}':
		if (scan->depth == 0) {
			*ret_end = true;
			return true;
		}
		/* fall through */
	case ')':
	case ']':
		return scan->depth > 0 && scan->stack[--scan->depth] == opener_of(c);
	default:
		return true;
	}
}

/* text[start] is the first byte behind "${"; gives the offset of the closing brace. */
static int
find_end(const char *text, size_t start, size_t *ret_end, struct template_problem *problem)
{
	struct scan scan = {.text = text, .at = start};
	bool end = false;

	for (; text[scan.at]; scan.at++) {
		bool in_string = scan.depth > 0 && scan.stack[scan.depth - 1] == '"';
		if (!(in_string ? step_string(&scan) : step_code(&scan, &end)))
			return problem_text(problem, scan.at,
				"brackets do not match in the expression, or nest deeper than %d",
				NESTING_MAX);
		if (end) {
			*ret_end = scan.at;
			return 0;
		}
	}
	return problem_text(problem, start - 2,
		"unclosed ${: the expression has no closing } (a literal ${ is written $${)");
}

static bool
add_part(struct expression_part parts[EXPRESSION_PARTS_MAX], size_t *n, bool is_expression,
	size_t start, size_t end)
{
	if (start == end && !is_expression)
		return true;
	if (*n == EXPRESSION_PARTS_MAX)
		return false;
	parts[(*n)++] = (struct expression_part){is_expression, start, end - start};
	return true;
}

int
expression_split(const char *text, struct expression_part parts[EXPRESSION_PARTS_MAX],
	size_t *ret_n, struct template_problem *problem)
{
	size_t n = 0, from = 0, at = 0, end;
	bool fits = true;

	while (text[at] && fits) {
		if (strncmp(text + at, "$${", 3) == 0) {
			/* The text up to here; then "${" without its first dollar begins the next stretch. */
			fits = add_part(parts, &n, false, from, at);
			from = at + 1;
			at += 3;
		} else if (strncmp(text + at, "${", 2) == 0) {
			if (find_end(text, at + 2, &end, problem) < 0)
				return -EINVAL;
			fits = add_part(parts, &n, false, from, at) &&
			       add_part(parts, &n, true, at + 2, end);
			at = from = end + 1;
		} else {
			at++;
		}
	}
	if (!fits || !add_part(parts, &n, false, from, at))
		return problem_text(problem, 0, "more than %d expressions in one string",
			EXPRESSION_PARTS_MAX / 2);
	*ret_n = n;
	return 0;
}

bool
expression_is_spread(const char *expression, size_t length, size_t *ret_start, size_t *ret_length)
{
	static const char word[] = "spread(";
	size_t start = 0, depth_end;
	struct template_problem ignored;

	while (length && strchr(" \t\r\n", expression[length - 1]))
		length--;
	while (start < length && strchr(" \t\r\n", expression[start]))
		start++;
	if (length - start <= sizeof(word) ||
		strncmp(expression + start, word, sizeof(word) - 1) != 0 ||
		expression[length - 1] != ')')
		return false;
	start += sizeof(word) - 1;
	/* "spread(.a) + (.b)" also ends with a parenthesis: what is inside must match by itself. */
	char inside[4096];
	if (length - 1 - start >= sizeof(inside) - 1)
		return false;
	memcpy(inside, expression + start, length - 1 - start);
	inside[length - 1 - start] = '}';
	inside[length - start] = '\0';
	if (find_end(inside, 0, &depth_end, &ignored) < 0 || depth_end != length - 1 - start)
		return false;
	*ret_start = start;
	*ret_length = length - 1 - start;
	return true;
}
