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

/* Appends the document as canonical JSON; returns true if the main file is usable. strict: a bad conf.d file makes the whole invalid. */
bool config_check(const char *main_path, bool strict, struct buf *ret_document);
/* The effective configuration as YAML that parses back to itself (--check --print), from the document. */
void config_print_yaml(struct buf *out, const char *document, size_t length);
/* Every key of the schema table with type, default and meaning (--schema), for people; tests hold the manual to it. */
void config_print_schema(struct buf *out);

#endif
