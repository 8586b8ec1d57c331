/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finishing a map: keys given twice, and merge keys.
 *
 * All members that may belong to the map, its own first, then those of what it merges in the order given, are sorted by key and
 * rank; of equal keys the first wins, and two own ones are an error. What is merged but overridden is counted, though no copy
 * is made of it, so that maps merging large maps cost no more than they may.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/yaml_parts.h"

struct entry {
	struct yaml_node *node;
	size_t rank;
};

struct entries {
	struct entry *all;
	size_t n, own;
};

static int
by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->node->key, y->node->key);

	return order ? order : x->rank < y->rank ? -1 : 1;
}

static int
by_rank(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->rank < y->rank ? -1 : 1;
}

static size_t
count_children(const struct yaml_node *node)
{
	size_t n = 0;

	for (node = node->children; node; node = node->next)
		n++;
	return n;
}

/* How many members merge holds; false with the error when it is not a map or a list of maps. */
static bool
count_merged(struct yaml_tree *tree, const struct yaml_node *merge, size_t *ret_n)
{
	const struct yaml_node *map = merge->type == YAML_LIST ? merge->children : merge;

	for (*ret_n = 0; map; map = merge->type == YAML_LIST ? map->next : NULL) {
		size_t n;

		if (map->type != YAML_MAP)
			return yaml_error(tree, map->line, map->column,
				"\"<<\" takes a map or a list of maps");
		n = count_children(map);
		if (!yaml_count(tree, n, map->line, map->column))
			return false;
		*ret_n += n;
	}
	return true;
}

static void
add(struct entries *e, const struct yaml_node *map)
{
	for (struct yaml_node *node = map->children; node; node = node->next, e->n++)
		e->all[e->n] = (struct entry){.node = node, .rank = e->n};
}

static bool
fill(struct yaml_tree *tree, struct entries *e, const struct yaml_node *map,
	const struct yaml_node *merge)
{
	size_t merged = 0;

	e->own = count_children(map);
	if (merge && !count_merged(tree, merge, &merged))
		return false;
	e->all = calloc(e->own + merged + 1, sizeof(*e->all));
	if (!e->all)
		return yaml_error(tree, map->line, map->column, "no memory");
	add(e, map);
	if (merge && merge->type == YAML_MAP)
		add(e, merge);
	else if (merge)
		for (const struct yaml_node *node = merge->children; node; node = node->next)
			add(e, node);
	return true;
}

/* Keeps the first of equal keys; false with the error when two are the map's own. */
static bool
keep_first(struct yaml_tree *tree, struct entries *e)
{
	const struct yaml_node *twice = NULL, *first = NULL; /* of the earliest such pair */
	size_t rank = SIZE_MAX;
	size_t kept = 0;

	qsort(e->all, e->n, sizeof(*e->all), by_key);
	for (size_t i = 0; i < e->n; i++) {
		struct entry *last = kept ? &e->all[kept - 1] : NULL;

		if (!last || strcmp(last->node->key, e->all[i].node->key) != 0) {
			e->all[kept++] = e->all[i];
		} else if (e->all[i].rank < e->own && e->all[i].rank < rank) {
			rank = e->all[i].rank;
			twice = e->all[i].node;
			first = last->node;
		}
	}
	e->n = kept;
	if (!twice)
		return true;
	return yaml_error(tree, twice->key_line, twice->key_column,
		"the key \"%.100s\" is given twice, first in line %d", twice->key, first->key_line);
}

/* Copies of the merged members behind the map's own. */
static bool
append(struct yaml_tree *tree, struct entries *e, struct yaml_node *map,
	const struct yaml_node *merge, int depth)
{
	struct yaml_node **last = &map->children;

	while (*last)
		last = &(*last)->next;
	qsort(e->all, e->n, sizeof(*e->all), by_rank);
	for (size_t i = 0; i < e->n; i++) {
		if (e->all[i].rank < e->own)
			continue;
		*last = yaml_clone(tree, e->all[i].node, depth + 1, merge->line, merge->column);
		if (!*last)
			return false;
		last = &(*last)->next;
	}
	return true;
}

bool
yaml_finish_map(
	struct yaml_tree *tree, struct yaml_node *map, const struct yaml_node *merge, int depth)
{
	struct entries e = {0};
	bool ok;

	if (!merge && (!map->children || !map->children->next))
		return true;
	ok = fill(tree, &e, map, merge) && keep_first(tree, &e) &&
	     (!merge || append(tree, &e, map, merge, depth));
	free(e.all);
	return ok;
}
