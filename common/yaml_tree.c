/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree itself: its arena, copies, look-up. All counts are kept here, so that a few bytes of aliases can't ask for gigabytes.
 */
#include "config.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonscan_token.h"
#include "common/yaml_parts.h"

#define BLOCK_SIZE (16 * 1024)

struct yaml_block {
	struct yaml_block *next;
	size_t used, size;
	alignas(max_align_t) char data[];
};

bool
yaml_error(struct yaml_tree *tree, int line, int column, const char *format, ...)
{
	struct yaml_place_error *err = tree->err;
	va_list args;
	size_t n;

	err->line = line;
	err->column = column;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	/* Where the text was cut, half a character may stand. */
	n = strlen(err->text);
	if (n == sizeof(err->text) - 1) {
		size_t at = n;

		while (at > 0 && ((unsigned char)err->text[at - 1] & 0xc0) == 0x80)
			at--;
		if (at > 0 && scan_utf8(err->text + at - 1, err->text + n) != n - at + 1)
			err->text[at - 1] = '\0';
	}
	return false;
}

/* --- arena -------------------------------------------------------------------------- */

void *
yaml_alloc(struct yaml_tree *tree, size_t size)
{
	struct yaml_block *block = tree->blocks;
	size_t room =
		(size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
	void *p;

	if (!block || block->size - block->used < room) {
		size_t capacity = room > BLOCK_SIZE ? room : BLOCK_SIZE;

		block = malloc(sizeof(*block) + capacity);
		if (!block) {
			yaml_error(tree, 1, 1, "no memory");
			return NULL;
		}
		*block = (struct yaml_block){.next = tree->blocks, .size = capacity};
		tree->blocks = block;
	}
	p = block->data + block->used;
	block->used += room;
	return p;
}

void
yaml_free(struct yaml_node *node)
{
	struct yaml_tree *tree = (struct yaml_tree *)(void *)node;
	struct yaml_block *block, *next;

	if (!tree)
		return;
	for (block = tree->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(tree);
}

bool
yaml_count(struct yaml_tree *tree, size_t n, int line, int column)
{
	if (n > YAML_NODES_MAX - tree->nodes)
		return yaml_error(tree, line, column, "more than %d values, aliases expanded",
			YAML_NODES_MAX);
	tree->nodes += n;
	return true;
}

struct yaml_node *
yaml_new_node(struct yaml_tree *tree, int line, int column)
{
	struct yaml_node *node;

	if (!yaml_count(tree, 1, line, column))
		return NULL;
	node = yaml_alloc(tree, sizeof(*node));
	if (node)
		*node = (struct yaml_node){.line = line, .column = column};
	return node;
}

char *
yaml_copy_text(struct yaml_tree *tree, const char *bytes, size_t n)
{
	char *text = yaml_alloc(tree, n + 1);

	if (text) {
		memcpy(text, bytes, n);
		text[n] = '\0';
	}
	return text;
}

static bool
count_expanded(struct yaml_tree *tree, const struct yaml_node *node, int line, int column)
{
	size_t n = node->length + (node->key ? strlen(node->key) : 0);

	if (n > YAML_EXPANDED_MAX - tree->expanded)
		return yaml_error(tree, line, column,
			"more than %u bytes of text, aliases expanded", YAML_EXPANDED_MAX);
	tree->expanded += n;
	return true;
}

struct yaml_node *
yaml_clone(struct yaml_tree *tree, const struct yaml_node *node, int depth, int line, int column)
{
	struct yaml_node *copy, **last;

	if (depth > YAML_DEPTH_MAX) {
		yaml_error(tree, line, column, "nested deeper than %d levels, aliases expanded",
			YAML_DEPTH_MAX);
		return NULL;
	}
	copy = count_expanded(tree, node, line, column) ? yaml_new_node(tree, line, column) : NULL;
	if (!copy)
		return NULL;
	*copy = *node;
	copy->next = copy->children = NULL;
	last = &copy->children;
	for (const struct yaml_node *child = node->children; child; child = child->next) {
		*last = yaml_clone(tree, child, depth + 1, line, column);
		if (!*last)
			return NULL;
		last = &(*last)->next;
	}
	return copy;
}

const struct yaml_node *
yaml_get(const struct yaml_node *map, const char *key)
{
	if (!map || map->type != YAML_MAP)
		return NULL;
	for (const struct yaml_node *node = map->children; node; node = node->next)
		if (strcmp(node->key, key) == 0)
			return node;
	return NULL;
}
