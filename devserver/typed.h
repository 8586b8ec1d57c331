/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a document can be read as a typed one: what server-side apply asks of its body before anything else. */
#ifndef DEVSERVER_TYPED_H
#define DEVSERVER_TYPED_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "common/buf.h"

/* true, or false with what is wrong appended to problem: ".spec.x: field not declared in schema". */
bool typed_check(const cJSON *value, const cJSON *schema, struct buf *problem);

#endif
