/* SPDX-License-Identifier: Apache-2.0 */
/* For fuzz targets: libFuzzer's entry, and an assertion. A target that finds a broken promise aborts. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
fuzz_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (a_length != b_length || memcmp(a, b, a_length) != 0)
		abort();
}

#endif
