/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text. Apart from clock.c, which the simulator replaces. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"

void
clock_format_rfc3339(char out[32], int64_t wall_ns, int digits)
{
	time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
	long fraction = (long)(wall_ns % NSEC_PER_SEC);
	struct tm utc;

	if (fraction < 0) {
		fraction += NSEC_PER_SEC;
		seconds--;
	}
	gmtime_r(&seconds, &utc);
	size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &utc);
	if (digits == 3)
		snprintf(out + n, 32 - n, ".%03ldZ", fraction / 1000000);
	else if (digits == 6)
		snprintf(out + n, 32 - n, ".%06ldZ", fraction / 1000);
	else
		snprintf(out + n, 32 - n, "Z");
}

/* ".123": nanoseconds; moves *text behind it. */
static int64_t
take_fraction(const char **text)
{
	int64_t ns = 0, unit = NSEC_PER_SEC / 10;

	if (**text != '.')
		return 0;
	for ((*text)++; isdigit((unsigned char)**text); (*text)++, unit /= 10)
		ns += (**text - '0') * unit;
	return ns;
}

/* "Z" or "+01:30", which must be all that is left. */
static int
read_zone(const char *text, int64_t *ret_seconds)
{
	int hours, minutes, n = 0;
	char sign;

	if (strcmp(text, "Z") == 0) {
		*ret_seconds = 0;
		return 0;
	}
	if (strlen(text) != 6 || sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &n) != 3 ||
		n != 6 || (sign != '+' && sign != '-') || hours < 0 || hours > 23 || minutes < 0 ||
		minutes > 59)
		return -EINVAL;
	*ret_seconds = (sign == '-' ? -60 : 60) * (hours * 60 + minutes);
	return 0;
}

int
clock_parse_rfc3339(const char *text, int64_t *ret_wall_ns)
{
	struct tm tm = {0};
	int64_t fraction, zone, seconds;
	const char *rest;

	/* strptime(3) takes white space and fewer digits. */
	if (strnlen(text, 20) < 20 || strspn(text, "0123456789-:T") < 19)
		return -EINVAL;
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (rest != text + 19)
		return -EINVAL;
	fraction = take_fraction(&rest);
	if (read_zone(rest, &zone) < 0)
		return -EINVAL;
	seconds = (int64_t)timegm(&tm) - zone;
	/* What 64 bits of nanoseconds hold: up to the year 2262. */
	if (seconds < INT64_MIN / NSEC_PER_SEC + 1 || seconds > INT64_MAX / NSEC_PER_SEC - 1)
		return -EINVAL;
	*ret_wall_ns = seconds * NSEC_PER_SEC + fraction;
	return 0;
}
