/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential delays with jitter; no clock and no chance of its own. */
#include "config.h"

#include "common/backoff.h"

/* A value in [0, 1) from random bits. */
static double
fraction(uint64_t random)
{
	return (double)(random >> 11) * 0x1.0p-53;
}

int64_t
backoff_next(
	struct backoff *b, const struct backoff_policy *policy, int64_t now_ns, uint64_t random)
{
	double delay = (double)policy->first_ns, max = (double)policy->max_ns;

	if (b->good_since_ns && now_ns - b->good_since_ns >= policy->reset_ns)
		b->failures = 0;
	b->good_since_ns = 0;
	for (uint32_t i = 0; i < b->failures && delay < max; i++)
		delay *= policy->factor;
	if (delay > max)
		delay = max;
	if (b->failures < UINT32_MAX)
		b->failures++;
	delay *= 1 - policy->jitter + 2 * policy->jitter * fraction(random);
	return (int64_t)(delay > max ? max : delay);
}

void
backoff_good(struct backoff *b, const struct backoff_policy *policy, int64_t now_ns)
{
	if (policy->reset_ns == 0)
		*b = (struct backoff){0};
	else if (!b->good_since_ns)
		b->good_since_ns = now_ns ? now_ns : 1;
}
