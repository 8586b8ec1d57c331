/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON for control documents (cJSON) and the only printer of JSON in the program.
 *
 * cJSON's own parser and printer lose data in silence (1e1000 becomes null, 2^53+1 and 1e15 change their text,
 * "\u0000" cuts a string, duplicate keys stay, 01 is taken), so json_parse() checks the bytes first, by the strict
 * grammar of RFC 8259, and json_print() writes numbers and strings by itself.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/error.h"

#define JSON_DEPTH_MAX 128

/* Strict parse of exactly one document of at most JSON_DEPTH_MAX levels; a UTF-8 byte order mark is skipped. The error names the
 * byte. Of a key given twice the last counts. Numbers that a double can't hold exactly and strings with U+0000 are kept by wrapping (below).
 * NULL on failure; cJSON_Delete(). */
cJSON *json_parse(const char *bytes, size_t length, struct error *err);
/* Compact, keys in order of the document; unwraps. */
void json_print(struct buf *out, const cJSON *value);
/* The same with the keys of every object sorted by byte: equal documents give equal bytes. */
void json_print_canonical(struct buf *out, const cJSON *value);
void json_put_string(struct buf *out, const char *bytes, size_t length); /* quoted and escaped; unwraps */
void json_put_number(struct buf *out, double value); /* shortest that reads back the same; integers up to 21 digits without exponent or point (1.0 gives 1); null for NaN, infinity */

/*
 * Wrapping. A number that a double can't hold (more than 17 significant digits or 60 bytes, or whose shortest form reads back otherwise) becomes
 * the string U+E000 "n" TEXT; U+0000 in a string becomes U+E000 "0", and U+E000 itself U+E000 "e". json_put_string() turns
 * them back. So values that are only passed on keep every digit, and arithmetic on them is a type error, not a wrong result.
 * json_wrap() does this for a whole document before jv_parse sees it: appends to out; input must be valid JSON. When nothing needs
 * wrapping it returns false and appends nothing: use the input as it is.
 */
bool json_wrap(struct buf *out, const char *bytes, size_t length);
/* Whether a valid JSON number goes through a double unchanged in value, so that it needs no wrapping. */
bool json_number_exact(const char *text, size_t length);
/* The digits of a wrapped number, within text; NULL when text is anything else. */
const char *json_wrapped_number(const char *text);
/* New nodes, wrapped where needed; number: text is a valid JSON number. NULL: no memory. */
cJSON *json_new_number(const char *text, size_t length);
cJSON *json_new_string(const char *bytes, size_t length);

/*
 * Case-sensitive getters; path members are given one by one, NULL ends: json_get(obj, "metadata", "name", NULL). NULL when absent. The others
 * give the fallback for another type; json_int() for what is no integer of 64 bits, wrapped ones included.
 */
const cJSON *json_get(const cJSON *object, ...) __attribute__((sentinel));
const char *json_string(const cJSON *object, const char *key, const char *fallback);
int64_t json_int(const cJSON *object, const char *key, int64_t fallback);
bool json_bool(const cJSON *object, const char *key, bool fallback);

#endif
