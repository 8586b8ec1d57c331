/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a text setting must look like. Each function of the syntax_ family has one type, so that the schema table can name it:
 * 0, or -EINVAL with what to write instead (the text that is wrong is not repeated: the caller shows it).
 */
#ifndef COMMON_CONFIG_SYNTAX_H
#define COMMON_CONFIG_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include "common/error.h"

/* RFC 1123: a label is 1 to 63 of [a-z0-9-], begins and ends with a letter or digit; a subdomain is labels with dots, at most 253. */
bool syntax_is_label(const char *text, size_t length);
bool syntax_is_subdomain(const char *text, size_t length);
/* A Kubernetes label key: [subdomain/]name, name at most 63 of [A-Za-z0-9._-]; or a label value (may be empty). */
bool syntax_is_label_key(const char *text, size_t length);
bool syntax_is_label_value(const char *text, size_t length);
/* [A-Za-z_][A-Za-z0-9_]*, at most 63: what can follow a "$" or "." in an expression. */
bool syntax_is_identifier(const char *text);

typedef int syntax_check(const char *text, struct error *err);
syntax_check syntax_label;          /* names of controllers, children, instances, namespaces */
syntax_check syntax_resource;       /* plural.version.group */
/* Begins as v1 and v1beta2 do; any other label is a version too, but more often a group whose version was forgotten. */
bool syntax_is_usual_version(const char *text);
syntax_check syntax_listen;         /* auto, off, HOST:PORT, :PORT, unix:/PATH */
syntax_check syntax_text;           /* anything but nothing */
syntax_check syntax_label_selector; /* selector.c: app=web,tier in (a,b),!canary */
syntax_check syntax_field_selector; /* selector.c: metadata.name=a,status.phase!=b */

#endif
