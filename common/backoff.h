/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential delays with jitter. Pure: the caller keeps the struct and the timer. */
#ifndef COMMON_BACKOFF_H
#define COMMON_BACKOFF_H

#include <stdint.h>

struct backoff_policy {
	int64_t first_ns;     /* delay after the first failure */
	int64_t max_ns;       /* never more than this, jitter included */
	double factor;        /* growth a failure, >= 1 */
	double jitter;        /* 0..1: the delay is drawn from [d*(1-jitter), d*(1+jitter)], capped at max_ns */
	int64_t reset_ns;     /* a success that lasted this long clears the count; 0: at once */
};
struct backoff {
	uint32_t failures;
	int64_t good_since_ns; /* 0: not good now */
};

/* Counts a failure and returns the delay until the next try; random is clock_random()'s. */
int64_t backoff_next(struct backoff *b, const struct backoff_policy *policy, int64_t now_ns, uint64_t random);
/* Tells that it works now; the count is cleared once it has worked for reset_ns (seen at the next failure, or at once if that is 0). */
void backoff_good(struct backoff *b, const struct backoff_policy *policy, int64_t now_ns);

#endif
