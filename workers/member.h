/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in an object of JSON bytes, without building a tree. Values are compared and copied raw: labels, names and uids have no escapes. */
#ifndef WORKERS_MEMBER_H
#define WORKERS_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include "common/jsonscan.h"

/* bytes + at holds one object; at->length 0: it is absent, which has no members. */
bool member_is(const char *bytes, const struct json_range *at, const char *key, const char *value);
/* "" when it is absent, no string or too long. */
void member_copy(const char *bytes, const struct json_range *at, const char *key, char out[256]);

#endif
