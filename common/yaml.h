/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML 1.2 (core schema) to a tree that knows where each value stood. The only user of libfyaml.
 *
 * Checked here because the library does not: UTF-8 and NUL before parsing, duplicate keys, undefined aliases, depth, one
 * document only, the expansion of aliases (bounded). Merge keys (<<) are honoured, keys of the map itself win.
 * A UTF-8 byte order mark is skipped, UTF-16 refused by name, a tab as indentation named as such.
 */
#ifndef COMMON_YAML_H
#define COMMON_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/buf.h"

enum yaml_type { YAML_NULL, YAML_BOOL, YAML_NUMBER, YAML_STRING, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_type type;
	int line, column;     /* of the value, from 1 */
	int key_line, key_column; /* of its key, 0 in a list */
	bool plain;           /* a scalar without quotes and tag: what YAML slips are made of */
	char *key;            /* in a map, else NULL */
	char *text;           /* a scalar as written (unquoted), NUL-terminated; NULL for lists and maps */
	size_t length;
	const void *origin;   /* NULL; for a caller that puts trees of several files together */
	struct yaml_node *children, *next; /* in order of the document */
};

struct yaml_place_error {
	int line, column; /* from 1 */
	char text[256];
};

#define YAML_DEPTH_MAX 64
#define YAML_NODES_MAX 500000 /* after expansion of aliases */

/*
 * NULL and *ret_error filled on failure; an empty document is an empty map. yaml_free() frees the tree, given what yaml_parse() returned.
 * What an alias stands for has the alias's place, what is in it that of the original. Tags: those of the core schema; others are errors, as are
 * %YAML 1.1, .inf and .nan, keys that are lists or maps, a byte order mark that is not the first, more than 1000 anchors and more than 32 MiB of
 * text that aliases stand for. Numbers keep their text (0400, 0x1F); a key of any type is its text.
 */
struct yaml_node *yaml_parse(const char *bytes, size_t length, struct yaml_place_error *ret_error);
void yaml_free(struct yaml_node *node);
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key); /* NULL when absent */
/* The tree as JSON: numbers keep their digits (common/json's wrapping), nulls stay null. */
cJSON *yaml_to_json(const struct yaml_node *node);

#endif
