/* SPDX-License-Identifier: Apache-2.0 */
/* What check.c collects and document.c writes; not for others. */
#ifndef COMMON_CONFIG_CHECKER_H
#define COMMON_CONFIG_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/config/files.h"
#include "common/yaml.h"

/* A controller as it stands in its file. Borrows from the file. */
struct checker_entry {
	struct config_file *file;
	const struct yaml_node *node, *name_node;
	const cJSON *written;
	const char *name; /* NULL when it can't be read */
	char *path;       /* "controllers[nginx]" */
	struct buf document;
	char *selection; /* which objects it reconciles, as canonical JSON; NULL: not known */
};

struct checker {
	struct config_files files;
	struct checker_entry *entries;
	size_t n_entries;
	cJSON *supervisor, *vars;
	cJSON *warnings;
};

/* For qsort(3) of pointers to entries that have a name. */
int checker_by_name(const void *left, const void *right);
/* A problem of the main file when the document would be larger than CONFIG_DOCUMENT_MAX. */
void checker_bound(struct checker *c);
/* Appends the document; true if it is valid. */
bool checker_write(struct checker *c, bool strict, struct buf *out);

#endif
