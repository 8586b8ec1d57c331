/* SPDX-License-Identifier: Apache-2.0 */
/* Strings with ${ expressions } in them: where each begins and ends, and which words it may not use. No libjq here. */
#ifndef COMMON_TEMPLATE_EXPRESSION_H
#define COMMON_TEMPLATE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include "common/template/template.h"

/* A stretch of a string: text (with $${ already taken as ${ when it is copied by expression_text()), or an expression without its ${ }. */
struct expression_part {
	bool is_expression;
	size_t start, length; /* bytes of the string */
};

#define EXPRESSION_PARTS_MAX 64

/*
 * Splits text; 0 and the number of parts, or -EINVAL with problem's offset and text filled (an unclosed ${, brackets that do not
 * match, more than EXPRESSION_PARTS_MAX parts). Brackets of an expression always match, so it can be put between parentheses.
 */
int expression_split(const char *text, struct expression_part parts[EXPRESSION_PARTS_MAX],
	size_t *ret_n, struct template_problem *problem);

/* What a group may use. */
struct expression_scope {
	bool children, error, uuid, self;
	const char *const *children_ids;
	size_t n_children;
	const struct template_name *names;
	size_t n_names;
	bool *uses_name;  /* n_names flags, as uses_child */
	bool *uses_child; /* n_children flags, set where $children.ID is read; NULL: not wanted */
};

/* Checks the words of one expression. 0, or -EINVAL with problem's offset (from the expression's start) and text. */
int expression_check(const char *expression, size_t length, const struct expression_scope *scope,
	struct template_problem *problem);
/* For ${spread(LIST)}: the range of LIST within the expression. False: it is not one. */
bool expression_is_spread(
	const char *expression, size_t length, size_t *ret_start, size_t *ret_length);

#endif
