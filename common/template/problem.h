/* SPDX-License-Identifier: Apache-2.0 */
/* Filling struct template_problem: one line of valid UTF-8 each, cut to fit at a whole character. problem may be NULL. */
#ifndef COMMON_TEMPLATE_PROBLEM_H
#define COMMON_TEMPLATE_PROBLEM_H

#include <stddef.h>
#include "common/template/template.h"

/* The trouble and its offset. Returns -EINVAL. */
int problem_text(struct template_problem *problem, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Where it stands; of an expression too long to show, the start. */
void problem_place(struct template_problem *problem, const char *path, const char *expression,
	size_t length);

#endif
