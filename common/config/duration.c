/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations. Integer arithmetic throughout, so that what is written is what is meant; a negative one cannot be written.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/config/duration.h"

static const struct unit {
	const char *name;
	int64_t ns;
} units[] = {
	{"h", 3600 * NSEC_PER_SEC},
	{"m", 60 * NSEC_PER_SEC},
	{"s", NSEC_PER_SEC},
	{"ms", NSEC_PER_MSEC},
};
#define N_UNITS (sizeof units / sizeof units[0])

static const struct unit *
unit_find(const char *text, size_t length)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (strlen(units[i].name) == length && !memcmp(units[i].name, text, length))
			return &units[i];
	return NULL;
}

/* "12.5" at *text: the whole part and the fraction in billionths. */
static int
number(const char **text, int64_t *whole, int64_t *billionths)
{
	const char *p = *text;
	int64_t scale = NSEC_PER_SEC / 10;

	*whole = *billionths = 0;
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
			__builtin_add_overflow(*whole, *p - '0', whole))
			return -ERANGE;
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return -EINVAL;
		for (; isdigit((unsigned char)*p); p++, scale /= 10)
			*billionths += (*p - '0') * scale;
	}
	*text = p;
	return 0;
}

int
duration_parse(const char *text, int64_t *ret_ns)
{
	int64_t total = 0, whole, billionths, part;
	const struct unit *unit;
	size_t length;
	int r;

	if (!*text)
		return -EINVAL;
	while (*text) {
		r = number(&text, &whole, &billionths);
		if (r < 0)
			return r;
		for (length = 0; isalpha((unsigned char)text[length]);)
			length++;
		unit = unit_find(text, length);
		if (!unit)
			return -EINVAL;
		if (__builtin_mul_overflow(whole, unit->ns, &part) ||
			__builtin_add_overflow(total, part, &total) ||
			__builtin_add_overflow(
				total, billionths * (unit->ns / NSEC_PER_MSEC) / 1000, &total))
			return -ERANGE;
		text += length;
	}
	*ret_ns = total;
	return 0;
}

void
duration_format(char out[32], int64_t ns)
{
	if (ns == 0) {
		snprintf(out, 32, "0s");
		return;
	}
	for (size_t i = 0; i < N_UNITS; i++)
		if (ns % units[i].ns == 0) {
			snprintf(out, 32, "%" PRId64 "%s", ns / units[i].ns, units[i].name);
			return;
		}
	snprintf(out, 32, "%" PRId64 "ms", (int64_t)(ns / NSEC_PER_MSEC));
}
