/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for names, labels and annotations that the server enforces on metadata. */
#ifndef DEVSERVER_NAMES_H
#define DEVSERVER_NAMES_H

#include <cjson/cJSON.h>
#include "devserver/kinds.h"

/* NULL, or the causes of a refusal of an object's metadata. */
cJSON *names_check(const cJSON *object, const struct resource *resource);

#endif
