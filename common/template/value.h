/* SPDX-License-Identifier: Apache-2.0 */
/* libjq's values to JSON and back, through common/json, so that numbers keep their digits. */
#ifndef COMMON_TEMPLATE_VALUE_H
#define COMMON_TEMPLATE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <jv.h>
#include "common/buf.h"

/* JSON to a value, wrapped as json_wrap() has it. Invalid when it is no JSON, too deep, or longer than 64 MiB. jv_free(). */
jv value_parse(const char *bytes, size_t length);
/* "a string", "null": for messages. Does not consume it. */
const char *value_kind(jv value);

/*
 * Appends a value as compact JSON, keys in the order of their bytes; consumes it. null is no value: its key or item is left out, at any depth
 * (alone it is printed, which callers look for first). depth: levels around it. 0; -EFBIG when out has grown beyond limit; -ELOOP: deeper than JSON_DEPTH_MAX; -EDOM: a number that is
 * infinite or none, which JSON does not have. What was appended before a failure stays.
 */
int value_print(struct buf *out, jv value, unsigned depth, size_t limit);
/* The items of a list without its brackets. *ret_any: there were some. */
int value_print_items(struct buf *out, jv list, unsigned depth, size_t limit, bool *ret_any);
/* The same for an object whose members that are numbers or booleans become strings. */
int value_print_texts(struct buf *out, jv object, unsigned depth, size_t limit);
/* Appends a string, number or boolean as plain text, not quoted; consumes it. -EINVAL: another kind; -EDOM. */
int value_to_text(struct buf *out, jv value);

#endif
