/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading the files of a configuration, and refusing those that others could write. */
#ifndef COMMON_CONFIG_FILES_H
#define COMMON_CONFIG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/config/problems.h"
#include "common/yaml.h"

/* A file on its way through the checker. Owned by its list. */
struct config_file {
	char *path; /* as shown: the main file's as given, "DIR/conf.d/NAME" */
	bool main;
	bool readable; /* bytes holds the file */
	struct buf bytes;
	struct problems problems;
	/* filled by the checker */
	struct yaml_node *tree;
	cJSON *settings;
	struct config_file **templates; /* that its children name (template_file.h) */
	size_t n_templates;
};

struct config_files {
	struct config_file *list; /* list[0] is the main file, then conf.d by the bytes of the names */
	size_t n;
	char *directory; /* of the main file */
};

/* Reads all. Trouble with a file is a problem of that file; with a directory, of the main file. */
void config_files_load(struct config_files *files, const char *main_path);
void config_files_clear(struct config_files *files);
/* Reads one file, held to the same rules; what is wrong becomes its problem. */
void config_file_read(struct config_file *file, int dirfd, const char *name);
/* A name in conf.d that is read: *.yaml and *.yml, but for those of editors and of links that swap a whole directory. */
bool config_file_wanted(const char *name);

#endif
