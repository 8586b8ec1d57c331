/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems end in logs, conditions and terminals, and hold pieces of what users wrote and objects hold: here they become one line of valid UTF-8.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/template/problem.h"
#include "common/utf8.h"

/* to holds size bytes. */
static void
put_line(char *to, size_t size, const char *from, size_t length)
{
	length = utf8_cut(from, length, size - 1);
	memmove(to, from, length);
	to[length] = '\0';
	utf8_clean_line(to);
}

int
problem_text(struct template_problem *problem, size_t offset, const char *format, ...)
{
	char text[2 * sizeof(problem->text)];
	va_list args;

	if (!problem)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_line(problem->text, sizeof(problem->text), text, strlen(text));
	problem->offset = (unsigned)offset;
	return -EINVAL;
}

void
problem_place(
	struct template_problem *problem, const char *path, const char *expression, size_t length)
{
	if (!problem)
		return;
	put_line(problem->path, sizeof(problem->path), path, strlen(path));
	put_line(problem->expression, sizeof(problem->expression), expression, length);
}
