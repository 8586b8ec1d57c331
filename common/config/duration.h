/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as people write them: "5ms", "70s", "1h30m", "1.5s". */
#ifndef COMMON_CONFIG_DURATION_H
#define COMMON_CONFIG_DURATION_H

#include <stdint.h>

/* Numbers with the units ms, s, m, h, one after another, a fraction allowed. 0 and nanoseconds, or -EINVAL, -ERANGE (over 290 years). */
int duration_parse(const char *text, int64_t *ret_ns);
/* The one spelling of a value: the largest unit that needs no fraction ("70s", "10h", "90m"); whole milliseconds only. */
void duration_format(char out[32], int64_t ns);

#endif
