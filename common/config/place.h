/* SPDX-License-Identifier: Apache-2.0 */
/* From a path in a controller's templates ("children[deploy].template.spec.replicas") back to the place in its file. */
#ifndef COMMON_CONFIG_PLACE_H
#define COMMON_CONFIG_PLACE_H

#include <stddef.h>
#include "common/yaml.h"

/* The deepest node on the path; the controller itself when even the first step is not there. */
const struct yaml_node *place_find(const struct yaml_node *controller, const char *path);
/* Line and column of a byte of a scalar's text: exact when the text stands in the file as it is, else the scalar's beginning. */
void place_of_byte(const struct yaml_node *node, size_t offset, const char *bytes, size_t length,
	int *ret_line, int *ret_column);

#endif
