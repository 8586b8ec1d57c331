/* SPDX-License-Identifier: Apache-2.0 */
/* The system's clocks and its source of chance. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "common/clock.h"

static int64_t
read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

int64_t
clock_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t
clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

void
clock_random_bytes(void *out, size_t n)
{
	unsigned char *p = out;

	while (n > 0) {
		ssize_t got = getrandom(p, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			abort(); /* the kernel has no random numbers: nothing here may go on without */
		p += got;
		n -= (size_t)got;
	}
}

uint64_t
clock_random(void)
{
	uint64_t value;

	clock_random_bytes(&value, sizeof(value));
	return value;
}
