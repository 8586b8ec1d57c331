/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and checks configuration files and writes the checker's document (config.h). Runs in a process of its own (supervisor/checker.c), or in operatorctl.
 * All errors of all files are collected, each "file:line:column: path: problem", with a suggestion for an unknown key.
 */
#ifndef COMMON_CONFIG_CHECK_H
#define COMMON_CONFIG_CHECK_H

#include <stdbool.h>
#include "common/buf.h"

#define CONFIG_FILE_MAX  (4u << 20) /* bytes of one file */
#define CONFIG_FILES_MAX 1000
#define CONFIG_DOCUMENT_MAX (64u << 20) /* bytes of the document: what a reader of the checker's pipe must take */

/*
 * Appends the document as canonical JSON; returns true if it is usable (its "valid"). strict: a bad conf.d file makes the whole invalid.
 * Reads environment variables for vars, then clears the environment by template_init(): not to be called before, nor from a process that
 * needs its environment later.
 */
bool config_check(const char *main_path, bool strict, struct buf *ret_document);
/* The effective configuration as YAML that parses back to itself (--check --print), from the document.
 * Variables of the environment stay {fromEnv: NAME}: they may be secrets. Nothing is printed of an invalid document. */
void config_print_yaml(struct buf *out, const char *document, size_t length);
/* Every key of the schema table with type, default and meaning (--schema), for people; tests hold the manual to it. */
void config_print_schema(struct buf *out);

#endif
