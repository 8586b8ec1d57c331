/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts of bytes: the part of Kubernetes' quantities that makes sense for memory (no milli-bytes, no exponents). */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/config/quantity.h"

static const struct suffix {
	const char *name;
	int64_t bytes;
} suffixes[] = {
	{"Ti", INT64_C(1) << 40},
	{"Gi", INT64_C(1) << 30},
	{"Mi", INT64_C(1) << 20},
	{"Ki", INT64_C(1) << 10},
	{"T", INT64_C(1000000000000)},
	{"G", INT64_C(1000000000)},
	{"M", INT64_C(1000000)},
	{"k", INT64_C(1000)},
	{"", INT64_C(1)},
};
#define N_SUFFIXES (sizeof suffixes / sizeof suffixes[0])

int
quantity_parse(const char *text, int64_t *ret_bytes)
{
	int64_t value = 0;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, *text - '0', &value))
			return -ERANGE;
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (!strcmp(suffixes[i].name, text)) {
			if (__builtin_mul_overflow(value, suffixes[i].bytes, &value))
				return -ERANGE;
			*ret_bytes = value;
			return 0;
		}
	return -EINVAL;
}

void
quantity_format(char out[32], int64_t bytes)
{
	const struct suffix *best = &suffixes[N_SUFFIXES - 1];

	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (bytes % suffixes[i].bytes == 0 &&
			bytes / suffixes[i].bytes < bytes / best->bytes)
			best = &suffixes[i];
	snprintf(out, 32, "%" PRId64 "%s", bytes / best->bytes, best->name);
}
