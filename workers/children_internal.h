/* SPDX-License-Identifier: Apache-2.0 */
/* Between children.c (the kinds and their mirrors) and child.c (one child). Nobody else includes it. */
#ifndef WORKERS_CHILDREN_INTERNAL_H
#define WORKERS_CHILDREN_INTERNAL_H

#include "workers/children.h"
#include "workers/mirror.h"

enum { CHILD_NOTE_FIELDS, CHILD_NOTE_HASH, CHILD_NOTE_REPAIRS };
enum {
	CHILD_FLAG_LEAVING = 1,
	CHILD_FLAG_OURS = 2,
	CHILD_FLAG_REFERENCED = 4, /* by an owner reference to its owner */
	CHILD_FLAG_RETAINED = 8,   /* by its annotation */
	CHILD_FLAG_TAKEN = 1 << 8  /* and the next seven: another manager owns that field of createOnly */
};

struct child_kind {
	struct children *children;
	const char *api_version, *name;
	char *former_version; /* api_version, when it is our own */
	struct mirror *mirror;
	bool usable;
	bool former; /* no child of the configuration has it: looked at for what is left to prune */
	char owner[256], id[256]; /* of the entry that is being put */
};

struct children {
	struct children_options options;
	char *selector;
	struct child_kind *kinds;
	size_t n_kinds;
	size_t *kind_of; /* of each child */
};

/* Of the fields that our manager holds; never 0. */
uint64_t children_fields_hash(
	const struct children *children, const char *bytes, const struct json_object_info *info);
/* children_fields.c: the child in the configuration that has this id; NULL: there is none any more. */
const struct config_child *children_config(const struct children *children, const char *id);
/* CHILD_FLAG_TAKEN of an entry. */
uint32_t children_taken(const struct children *children, const char *id, const char *bytes,
	const struct json_object_info *info);
/* children_deletion.c: marks of an entry whose owner and id are known; may it be pruned? */
uint32_t children_tie_flags(
	const char *owner, const char *bytes, const struct json_object_info *info);
bool children_retained(const struct child_kind *kind, const struct store_view *view);
/* A child of this kind may be outside of the controller's namespaces. */
bool children_kind_anywhere(const struct children *children, size_t kind);
struct mirror *children_mirror(const struct children *children, size_t child);

#endif
