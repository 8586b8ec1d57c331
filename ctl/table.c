/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned tables as kubectl prints them: columns as wide as their widest cell, three blanks between. Width is counted in characters.
 * Cells come from the cluster: control characters are shown as '?', so that no name can drive the terminal.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "ctl/ctl.h"

struct ctl_table {
	size_t n_columns, n_cells, capacity;
	char **cells; /* n_columns a row, the headings first */
};

struct ctl_table *
ctl_table_new(const char *const *headings, size_t n_columns)
{
	struct ctl_table *table = xcalloc(1, sizeof(*table));

	table->n_columns = n_columns;
	for (size_t i = 0; i < n_columns; i++)
		ctl_table_cell(table, headings[i], strlen(headings[i]));
	return table;
}

void
ctl_table_cell(struct ctl_table *table, const char *bytes, size_t length)
{
	if (table->n_cells == table->capacity) {
		table->capacity = table->capacity ? 2 * table->capacity : 64;
		table->cells = xreallocarray(table->cells, table->capacity, sizeof(*table->cells));
	}
	char *cell = xstrndup(bytes, length);
	for (char *p = cell; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	table->cells[table->n_cells++] = cell;
}

/* Characters of UTF-8 text: bytes that do not continue one. */
static size_t
characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void
ctl_table_print(const struct ctl_table *table)
{
	size_t *widths = xcalloc(table->n_columns, sizeof(*widths));

	for (size_t i = 0; i < table->n_cells; i++) {
		size_t width = characters(table->cells[i]);
		if (width > widths[i % table->n_columns])
			widths[i % table->n_columns] = width;
	}
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t column = i % table->n_columns;
		fputs(table->cells[i], stdout);
		if (column + 1 == table->n_columns) {
			putchar('\n');
			continue;
		}
		for (size_t n = characters(table->cells[i]); n < widths[column] + 3; n++)
			putchar(' ');
	}
	free(widths);
}

void
ctl_table_free(struct ctl_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}
