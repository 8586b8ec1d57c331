/* SPDX-License-Identifier: Apache-2.0 */
/* Between children.c (the kinds and their mirrors) and child.c (one child). Nobody else includes it. */
#ifndef WORKERS_CHILDREN_INTERNAL_H
#define WORKERS_CHILDREN_INTERNAL_H

#include "workers/children.h"
#include "workers/mirror.h"

enum { CHILD_NOTE_FIELDS, CHILD_NOTE_HASH, CHILD_NOTE_REPAIRS };
enum { CHILD_FLAG_LEAVING = 1, CHILD_FLAG_OURS = 2 };

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
struct mirror *children_mirror(const struct children *children, size_t child);

#endif
