/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text. Apart from clock.c, which the simulator replaces. */
#include "config.h"

#include <stdio.h>
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
