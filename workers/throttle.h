/* SPDX-License-Identifier: Apache-2.0 */
/* A bucket of tokens for writes, with those that wait for one in order of arrival. Waiters are embedded by their owners. */
#ifndef WORKERS_THROTTLE_H
#define WORKERS_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>
#include "common/loop/loop.h"

struct throttle;
struct throttle_waiter {
	void (*go)(void *data); /* its token is taken */
	void *data;
	struct throttle_waiter *next, *previous; /* the throttle's own */
	int64_t since_ns;
	bool waiting;
};

/* per_second 0: no bound. burst: tokens at most, at least 1. */
struct throttle *throttle_new(struct loop *loop, double per_second, unsigned burst);
/* Nobody may wait any more. */
void throttle_free(struct throttle *throttle);
/* True: go on now, a token is taken. False: go() is called from the loop when there is one. */
bool throttle_take(struct throttle *throttle, struct throttle_waiter *waiter);
/* Stops waiting; does nothing when it does not wait. */
void throttle_cancel(struct throttle *throttle, struct throttle_waiter *waiter);

#endif
