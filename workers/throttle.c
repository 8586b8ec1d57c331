/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens are added by the time that passed, when they are asked for; one timer wakes the first who waits. Owns no waiter. */
#include "config.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/throttle.h"

struct throttle {
	double per_second, burst, tokens;
	int64_t filled_ns;
	struct loop_timer *timer;
	struct throttle_waiter *first, *last;
};

static void
fill(struct throttle *throttle)
{
	int64_t now = clock_monotonic_ns();

	throttle->tokens +=
		throttle->per_second * (double)(now - throttle->filled_ns) / NSEC_PER_SEC;
	if (throttle->tokens > throttle->burst)
		throttle->tokens = throttle->burst;
	throttle->filled_ns = now;
}

static void
set_timer(struct throttle *throttle)
{
	double missing = 1 - throttle->tokens;

	if (throttle->first == NULL)
		loop_timer_clear(throttle->timer);
	else if (missing <= 0)
		loop_timer_set(throttle->timer, 0);
	else
		loop_timer_set(throttle->timer,
			(int64_t)(missing / throttle->per_second * NSEC_PER_SEC) + 1);
}

static void
take_out(struct throttle *throttle, struct throttle_waiter *waiter)
{
	if (waiter->previous != NULL)
		waiter->previous->next = waiter->next;
	else
		throttle->first = waiter->next;
	if (waiter->next != NULL)
		waiter->next->previous = waiter->previous;
	else
		throttle->last = waiter->previous;
	waiter->next = waiter->previous = NULL;
	waiter->waiting = false;
}

static void
on_timer(void *data)
{
	struct throttle *throttle = data;

	fill(throttle);
	while (throttle->first != NULL && throttle->tokens >= 1) {
		struct throttle_waiter *waiter = throttle->first;

		take_out(throttle, waiter);
		throttle->tokens -= 1;
		metric_observe(M_THROTTLE_DURATION, 0, clock_monotonic_ns() - waiter->since_ns);
		waiter->go(waiter->data);
	}
	set_timer(throttle);
}

struct throttle *
throttle_new(struct loop *loop, double per_second, unsigned burst)
{
	struct throttle *throttle = xcalloc(1, sizeof(*throttle));

	throttle->per_second = per_second;
	throttle->burst = burst < 1 ? 1 : burst;
	throttle->tokens = throttle->burst;
	throttle->filled_ns = clock_monotonic_ns();
	throttle->timer = loop_timer_new(loop, on_timer, throttle);
	return throttle;
}

void
throttle_free(struct throttle *throttle)
{
	if (throttle == NULL)
		return;
	loop_timer_free(throttle->timer);
	free(throttle);
}

bool
throttle_take(struct throttle *throttle, struct throttle_waiter *waiter)
{
	if (throttle->per_second <= 0)
		return true;
	fill(throttle);
	if (throttle->first == NULL && throttle->tokens >= 1) {
		throttle->tokens -= 1;
		metric_observe(M_THROTTLE_DURATION, 0, 0);
		return true;
	}
	waiter->next = NULL;
	waiter->previous = throttle->last;
	if (throttle->last != NULL)
		throttle->last->next = waiter;
	else
		throttle->first = waiter;
	throttle->last = waiter;
	waiter->waiting = true;
	waiter->since_ns = throttle->filled_ns;
	set_timer(throttle);
	return false;
}

void
throttle_cancel(struct throttle *throttle, struct throttle_waiter *waiter)
{
	if (!waiter->waiting)
		return;
	take_out(throttle, waiter);
	set_timer(throttle);
}
