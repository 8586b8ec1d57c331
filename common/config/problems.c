/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded list of problems with places. Owns the texts. */
#include <config.h> /* of the build, not the one beside this file */

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/config/problems.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/utf8.h"

#define TEXT_MAX 1024

static void
cut(struct buf *b, size_t length)
{
	if (b->length <= length)
		return;
	b->length = utf8_cut(b->data, b->length, length);
	b->data[b->length] = '\0';
	buf_adds(b, "...");
}

__attribute__((format(printf, 6, 0))) static void
add(struct problems *problems, const char *file, int line, int column, const char *path,
	const char *format, va_list args)
{
	struct buf text = BUF_INIT;
	struct problem *problem;

	if (problems->n == PROBLEMS_MAX) {
		problems->dropped++;
		return;
	}
	if (*path) {
		buf_adds(&text, path);
		cut(&text, TEXT_MAX / 2);
		buf_adds(&text, ": ");
	}
	buf_vaddf(&text, format, args);
	cut(&text, TEXT_MAX);
	utf8_clean_line(text.data);
	problems->list = xreallocarray(problems->list, problems->n + 1, sizeof *problems->list);
	problem = &problems->list[problems->n];
	*problem = (struct problem){
		.line = line, .column = column, .order = problems->n, .file = file};
	problem->text = xstrdup(text.data);
	problems->n++;
	buf_free(&text);
}

void
problems_add(
	struct problems *problems, int line, int column, const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(problems, NULL, line, column, path, format, args);
	va_end(args);
}

void
problems_add_in(struct problems *problems, const char *file, int line, int column,
	const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(problems, file, line, column, path, format, args);
	va_end(args);
}

static int
by_place(const void *left, const void *right)
{
	const struct problem *a = left, *b = right;
	int order = strcmp(a->file ? a->file : "", b->file ? b->file : "");

	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void
problems_report(struct problems *problems, const char *file, cJSON *array)
{
	struct buf line = BUF_INIT;

	if (problems->n)
		qsort(problems->list, problems->n, sizeof *problems->list, by_place);
	for (size_t i = 0; i < problems->n; i++) {
		const struct problem *problem = &problems->list[i];
		const char *where = problem->file ? problem->file : file;

		buf_reset(&line);
		if (problem->line)
			buf_addf(&line, "%s:%d:%d: %s", where, problem->line, problem->column,
				problem->text);
		else
			buf_addf(&line, "%s: %s", where, problem->text);
		cJSON_AddItemToArray(array, json_new_string(line.data, line.length));
	}
	buf_reset(&line);
	buf_addf(&line, "%s: %zu more problems", file, problems->dropped);
	if (problems->dropped)
		cJSON_AddItemToArray(array, json_new_string(line.data, line.length));
	buf_free(&line);
}

void
problems_clear(struct problems *problems)
{
	for (size_t i = 0; i < problems->n; i++)
		free(problems->list[i].text);
	free(problems->list);
	*problems = (struct problems){0};
}
