/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value of the schema's simple types: from YAML or from the table's default to its one spelling in the document.
 * Equal settings become equal JSON: "60s" and "1m" both "1m", "65536Ki" and "64Mi" both "64Mi".
 */
#ifndef COMMON_CONFIG_VALUE_H
#define COMMON_CONFIG_VALUE_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "common/config/schema.h"
#include "common/error.h"
#include "common/yaml.h"

/* NULL with what is wrong and what to write; the caller adds the place. */
cJSON *value_from_yaml(const struct schema_key *key, const struct yaml_node *node, struct error *err);
/* The default; NULL if the key has none. */
cJSON *value_fallback(const struct schema_key *key);
/* What YAML 1.1 read as another type, as people still write it: 0400, 1_000 is no number; yes, no, on, off are no booleans. */
bool value_is_octal_slip(const struct yaml_node *node);
bool value_is_boolean_slip(const struct yaml_node *node);
/* "text", "a number", "a list": what stands there. */
const char *value_type_name(const struct yaml_node *node);

#endif
