/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of fields in the form of fieldsV1: {"f:spec":{"f:replicas":{}}}. A path is in the set when its node is empty or
 * has a member "."; path elements are f:NAME, k:{KEYS} of a map list's element, v:VALUE of a set's. The empty set is
 * NULL. Functions never change their arguments; what they return is the caller's (cJSON_Delete).
 */
#ifndef DEVSERVER_FIELDS_H
#define DEVSERVER_FIELDS_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "common/buf.h"

/* The fields that an applied document names. */
cJSON *fields_of(const cJSON *value, const cJSON *schema);
/* What changed: added or modified, and removed. before may be NULL. */
void fields_compare(const cJSON *before, const cJSON *after, const cJSON *schema,
	cJSON **ret_changed, cJSON **ret_removed);

cJSON *fields_union(const cJSON *a, const cJSON *b);
cJSON *fields_subtract(const cJSON *a, const cJSON *b);
cJSON *fields_intersect(const cJSON *a, const cJSON *b);
/* Without what no manager owns: apiVersion, kind, and the server's own metadata. Takes set. */
cJSON *fields_strip_server(cJSON *set);
bool fields_member(const cJSON *node); /* node not NULL */

/* Calls path for each path of the set, written as in the server's messages: .spec.containers[name="a"].image */
void fields_each(const cJSON *set, void (*path)(void *data, const char *text), void *data);

/* The path element of a list's item; free(). NULL when it lacks its keys. */
char *fields_element(const cJSON *item, const cJSON *list_schema);
/* The value below value that a path element names; NULL: none. */
cJSON *fields_find(const cJSON *value, const char *element, const cJSON *schema);
/* The schema below schema for a path element. */
const cJSON *fields_schema(const cJSON *schema, const char *element);

#endif
