/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `file:` of a child: a YAML file with its template, put into the configuration's tree as if it stood there. Its nodes keep their places in their own file.
 *
 * A path is relative to the file that names it, and stays within that file's directory; links are followed as long as they do.
 */
#ifndef COMMON_CONFIG_TEMPLATE_FILE_H
#define COMMON_CONFIG_TEMPLATE_FILE_H

#include <stddef.h>
#include "common/config/files.h"
#include "common/yaml.h"

#define TEMPLATE_FILE_MAX  (1u << 20) /* bytes: a controller's part of the document holds no more */
#define TEMPLATE_FILES_MAX 1000       /* of one configuration file */

/* Reads what the file's children name, and puts each as "template" beside its "file". What is wrong is a problem of the file. */
void template_files_read(struct config_file *file);
void template_files_clear(struct config_file *file);
/* The file that a node comes from; NULL: the configuration file itself. */
const struct config_file *template_file_of(const struct yaml_node *node);
const char *template_file_path(const struct yaml_node *node);

#endif
