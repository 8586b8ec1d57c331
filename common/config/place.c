/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths back to places. A key that is no plain word stands as ["key"], others after a dot; at each step the longest key that fits is taken.
 * Ends early, at the last node that was found, rather than fail: a place that is a little too wide still helps.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <stdlib.h>
#include <string.h>

#include "common/config/place.h"

/* What may follow a key. */
static bool
is_end(const char *rest, bool quoted)
{
	return quoted ? rest[0] == '"' && rest[1] == ']' : !*rest || *rest == '.' || *rest == '[';
}

static const struct yaml_node *
step_key(const struct yaml_node *map, const char **path)
{
	bool quoted = !strncmp(*path, "[\"", 2);
	const char *name = *path + (quoted ? 2 : 0);
	const struct yaml_node *best = NULL;
	size_t best_length = 0;

	for (const struct yaml_node *node = map->children; node; node = node->next) {
		size_t n = strlen(node->key);

		if (n < best_length || strncmp(name, node->key, n) != 0 ||
			!is_end(name + n, quoted))
			continue;
		best = node;
		best_length = n;
	}
	*path = name + best_length + (quoted && best ? 2 : 0);
	return best;
}

static bool
has_id(const struct yaml_node *item, const char *name, size_t n)
{
	const struct yaml_node *id = item->type == YAML_MAP ? yaml_get(item, "id") : NULL;

	return id && id->text && strlen(id->text) == n && !memcmp(id->text, name, n);
}

/* "[deploy]" or "[3]": the item whose id is that, else by number. */
static const struct yaml_node *
step_item(const struct yaml_node *list, const char **path)
{
	const char *name = *path + 1;
	size_t n = strcspn(name, "]");
	const struct yaml_node *node;
	unsigned long number;
	char *end;

	if (name[n] != ']')
		return NULL;
	*path = name + n + 1;
	for (node = list->children; node; node = node->next)
		if (has_id(node, name, n))
			return node;
	number = strtoul(name, &end, 10);
	if (n == 0 || end != name + n)
		return NULL;
	for (node = list->children; node && number; number--)
		node = node->next;
	return node;
}

const struct yaml_node *
place_find(const struct yaml_node *controller, const char *path)
{
	const struct yaml_node *node = controller, *next;

	while (*path) {
		if (*path == '.')
			path++;
		if (*path == '[' && node->type == YAML_LIST)
			next = step_item(node, &path);
		else
			next = node->type == YAML_MAP ? step_key(node, &path) : NULL;
		if (!next)
			break;
		node = next;
	}
	return node;
}

static const char *
line_start(const char *bytes, size_t length, int line)
{
	const char *p = bytes, *end = bytes + length;

	for (; line > 1 && p < end; line--) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return end;
		p++;
	}
	return p;
}

void
place_of_byte(const struct yaml_node *node, size_t offset, const char *bytes, size_t length,
	int *ret_line, int *ret_column)
{
	const char *end = bytes + length, *line = line_start(bytes, length, node->line), *text;
	size_t column = node->column > 0 ? (size_t)node->column - 1 : 0;

	*ret_line = node->line;
	*ret_column = node->column;
	if (!node->text || offset > node->length || (size_t)(end - line) <= column)
		return;
	/* Columns count characters: only where every byte before it is one does the text lie there. */
	for (size_t i = 0; i < column; i++)
		if ((unsigned char)line[i] >= 0x80)
			return;
	text = line + column;
	if (*text == '"' || *text == '\'') {
		text++;
		column++;
	}
	if ((size_t)(end - text) < node->length || memcmp(text, node->text, node->length) != 0 ||
		memchr(node->text, '\n', node->length))
		return;
	*ret_column = (int)(column + offset + 1);
}
