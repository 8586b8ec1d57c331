/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the yaml*.c files share; not for others.
 *
 * A tree is one arena: nodes, keys and texts lie in its blocks and go at once, and a copy that an alias makes shares the
 * texts of the original. Functions that fail fill the place error and return NULL or false.
 */
#ifndef COMMON_YAML_PARTS_H
#define COMMON_YAML_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include "common/yaml.h"

struct yaml_block;
struct yaml_tree {
	struct yaml_node root; /* first: yaml_free() gets its address */
	struct yaml_block *blocks;
	size_t nodes;    /* of YAML_NODES_MAX, what merging looked at included */
	size_t expanded; /* bytes of text that copies stand for, of YAML_EXPANDED_MAX */
	struct yaml_place_error *err;
};

/* Copies share their text here but not in what is made of the tree. */
#define YAML_EXPANDED_MAX (32u << 20)

/* Fills the error; returns false. */
bool yaml_error(struct yaml_tree *tree, int line, int column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void *yaml_alloc(struct yaml_tree *tree, size_t size);
struct yaml_node *yaml_new_node(struct yaml_tree *tree, int line, int column);
/* Counts n nodes that are not made but worked for; false with the error when there are too many. */
bool yaml_count(struct yaml_tree *tree, size_t n, int line, int column);
/* NUL-terminated. */
char *yaml_copy_text(struct yaml_tree *tree, const char *bytes, size_t n);
/* A copy of the whole node that stands at this depth (from 1), without key; the place is for errors. */
struct yaml_node *yaml_clone(
	struct yaml_tree *tree, const struct yaml_node *node, int depth, int line, int column);

/* UTF-8, no NUL and no other control characters, no byte order mark but at the start; *ret_skip: its length. */
bool yaml_check_bytes(struct yaml_tree *tree, const char *bytes, size_t length, size_t *ret_skip);
/* Where a tab indents the given line (from 1), its column, else 0. */
int yaml_tab_indents(const char *bytes, size_t length, int line);

/* The length of the line break at p, 0 for none. */
size_t yaml_line_break(const char *p, const char *end);
/* Set text and length: of n bytes between quotes of this kind; of the n bytes of a folded block, its header between before and them. */
bool yaml_unquote(struct yaml_tree *tree, struct yaml_node *node, const char *bytes, size_t n, char quote);
bool yaml_fold(struct yaml_tree *tree, struct yaml_node *node, const char *before, const char *bytes, size_t n);

/* The type of a scalar whose text, length and place are set. tag: in full, NULL for none; quoted: any style but plain. */
bool yaml_type_scalar(struct yaml_tree *tree, struct yaml_node *node, const char *tag, bool quoted);

/* After a map's own members: no key twice, and the members of merge (NULL: none), a map or a list of maps, where the map has none of its own. */
bool yaml_finish_map(struct yaml_tree *tree, struct yaml_node *map, const struct yaml_node *merge, int depth);

#endif
