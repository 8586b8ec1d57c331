/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts of bytes as Kubernetes writes them: "64Mi", "1Gi", "500M", "1048576". */
#ifndef COMMON_CONFIG_QUANTITY_H
#define COMMON_CONFIG_QUANTITY_H

#include <stdint.h>

/* A whole number with one of the suffixes Ki Mi Gi Ti, k M G T, or none. 0 and bytes, or -EINVAL, -ERANGE. */
int quantity_parse(const char *text, int64_t *ret_bytes);
/* The one spelling of a value: the suffix that makes the number smallest without a fraction. */
void quantity_format(char out[32], int64_t bytes);

#endif
