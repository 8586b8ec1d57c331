/* SPDX-License-Identifier: Apache-2.0 */
/* Changing cJSON documents: case-sensitive, duplicates impossible. common/json.h reads, parses and prints them. */
#ifndef DEVSERVER_TREE_H
#define DEVSERVER_TREE_H

#include <stdbool.h>
#include "common/json.h"

cJSON *tree_get(const cJSON *object, const char *key); /* NULL when absent or object is no object */
/* The member as an object; made, or put in the place of something else, if it is none. */
cJSON *tree_object(cJSON *object, const char *key);
cJSON *tree_array(cJSON *object, const char *key); /* the same with an array */
/* Sets a member in place or appends it; takes value (NULL removes). */
void tree_set(cJSON *object, const char *key, cJSON *value);
void tree_set_string(cJSON *object, const char *key, const char *text);
void tree_set_int(cJSON *object, const char *key, int64_t value);
void tree_remove(cJSON *object, const char *key);
/* Takes the member out; the caller owns it. NULL when absent. */
cJSON *tree_take(cJSON *object, const char *key);
/* Member key of from, copied into to; removed there when from has none. */
void tree_copy_member(cJSON *to, const cJSON *from, const char *key);
/* The value at a path of keys given one by one, NULL ends; for changing. */
cJSON *tree_find(const cJSON *object, ...) __attribute__((sentinel));
bool tree_empty(const cJSON *value); /* NULL, or an object or array without members */
/* Same document; the order of keys is no difference. */
bool tree_equal(const cJSON *a, const cJSON *b);
/* Removes null members of objects, at any depth. */
void tree_drop_nulls(cJSON *value);
/* Numbers that common/json wraps count as numbers. */
bool tree_is_number(const cJSON *value);
bool tree_is_integer(const cJSON *value);
/* Parses text of ours that is right by construction. */
cJSON *tree_literal(const char *json);

/* Walks children, allowing for the removal of the current one. */
#define tree_each_safe(item, next, parent)                                                      \
	for (cJSON *item = (parent) ? (parent)->child : NULL, *next = item ? item->next : NULL; \
		item; item = next, next = item ? item->next : NULL)

#endif
