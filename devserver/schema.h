/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structural schemas (OpenAPI v3 as CRDs hold them): what a value may hold, what it gets by default, how it merges.
 * A NULL schema knows nothing: maps merge by key, lists are atomic, everything is kept.
 */
#ifndef DEVSERVER_SCHEMA_H
#define DEVSERVER_SCHEMA_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "common/buf.h"

enum list_type { LIST_ATOMIC, LIST_SET, LIST_MAP };

const cJSON *schema_property(const cJSON *schema, const char *key); /* declared by name */
const cJSON *schema_child(
	const cJSON *schema, const char *key); /* declared, or the schema of all members */
const cJSON *schema_items(const cJSON *schema);
enum list_type schema_list_type(const cJSON *schema);
const cJSON *schema_list_keys(const cJSON *schema); /* array of strings */
bool schema_atomic_map(const cJSON *schema);
/* Whether a member of this name may exist. */
bool schema_declares(const cJSON *schema, const char *key);
/* There even when it was not sent: a change that makes it owns only what is in it. */
bool schema_always(const cJSON *schema);

/* Removes what the schema does not know; appends each removed path to unknown, one per line, when that is not NULL. */
void schema_prune(cJSON *value, const cJSON *schema, struct buf *unknown);
/* Removes null members that the schema does not let be null. */
void schema_prune_nulls(cJSON *value, const cJSON *schema);
void schema_default(cJSON *value, const cJSON *schema);
/* NULL, or the causes of a refusal (causes.h); cJSON_Delete(). */
cJSON *schema_validate(const cJSON *value, const cJSON *schema);

/* Expands the shorthand of builtin_schemas.c, at any depth; what it refers to must be expanded already. */
void schema_expand(cJSON *schema, const cJSON *definitions);

#endif
