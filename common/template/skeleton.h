/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's JSON prepared for rendering: a tree whose leaves are ready JSON bytes or slots, each slot one expression. Built once, when a
 * program is compiled; no libjq here.
 */
#ifndef COMMON_TEMPLATE_SKELETON_H
#define COMMON_TEMPLATE_SKELETON_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/template/template.h"

enum node_type {
	NODE_OBJECT, /* children with keys */
	NODE_LIST,
	NODE_LITERAL, /* text: JSON bytes */
	NODE_NULL,    /* drops its key or item */
	NODE_VALUE,   /* a whole expression: slot */
	NODE_SPREAD,  /* the items of slot's list */
	NODE_TEXT,    /* children are text (raw bytes) and slots, put together to one string */
	NODE_RAW      /* raw text within NODE_TEXT */
};

struct node {
	enum node_type type;
	bool as_text; /* NODE_VALUE: numbers and booleans, also those that are members of an object, become strings (E123) */
	char *key; /* within an object */
	char *text;
	size_t length;
	size_t slot;
	struct node *children, *next;
};

/* One expression of a group. */
struct slot {
	char *expression;
	char path[TEMPLATE_PATH_MAX];
	unsigned offset; /* of the expression within its string */
};

struct skeleton {
	struct node *root;
	struct slot *slots;
	size_t n_slots, capacity;
	bool boolean;
	char path[TEMPLATE_PATH_MAX];
	bool *uses_child; /* a flag for each child id */
	bool *uses_name;  /* a flag for each name of the group */
};

/*
 * Builds a group's skeleton; each problem is reported (report may be NULL) and counted in the return value. A skeleton with problems is only to be freed.
 */
unsigned skeleton_build(struct skeleton *skeleton, const struct template_group *group,
	const struct template_source *source,
	void (*report)(void *data, const struct template_problem *problem), void *data);
void skeleton_clear(struct skeleton *skeleton);

#endif
