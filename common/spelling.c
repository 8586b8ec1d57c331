/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The optimal string alignment distance, with three rows of its table: a typing slip (a letter too many, too few, wrong, or two swapped) counts one.
 */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/spelling.h"

#define LENGTH_MAX 63

static bool
same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned char
least(unsigned a, unsigned b, unsigned c)
{
	unsigned two = a < b ? a : b;

	return (unsigned char)(two < c ? two : c);
}

unsigned
spelling_distance(const char *a, const char *b)
{
	unsigned char rows[3][LENGTH_MAX + 1];
	unsigned char *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t n = strnlen(b, LENGTH_MAX + 1);

	if (n > LENGTH_MAX || strnlen(a, LENGTH_MAX + 1) > LENGTH_MAX)
		return SPELLING_FAR;
	for (size_t j = 0; j <= n; j++)
		last[j] = (unsigned char)j;
	for (size_t i = 1; a[i - 1]; i++) {
		now[0] = (unsigned char)i;
		for (size_t j = 1; j <= n; j++) {
			now[j] = least(last[j - 1] + !same(a[i - 1], b[j - 1]),
				last[j] + 1u, now[j - 1] + 1u);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
				same(a[i - 2], b[j - 1]) && before[j - 2] + 1u < now[j])
				now[j] = (unsigned char)(before[j - 2] + 1u);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[n];
}
