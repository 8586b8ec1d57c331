/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal digits of numbers, for json_wrap.c and json_print.c.
 */
#ifndef COMMON_JSON_NUMBER_H
#define COMMON_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* 0.DIGITS times ten to the power of point; no zeros at either end, n 0 for zero. */
struct decimal {
	char digits[17];
	int n;
	long point;
	bool negative;
	bool too_long; /* more digits than these count */
};

/* Of a valid JSON number, or what printf's %e writes. */
void decimal_read(struct decimal *ret, const char *text, size_t length);
/* The fewest digits that read back as value, which is finite. */
void decimal_shortest(struct decimal *ret, double value);

#endif
