/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a worker as a table, and the delays between its lives. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "supervisor/restart.h"

#define LIVE_FOR_LONG_NS (120 * NSEC_PER_SEC)
#define CRASHLOOP_DEATHS 5
#define CRASHLOOP_NS     (300 * NSEC_PER_SEC)
#define CONFIG_RETRY_NS  (300 * NSEC_PER_SEC)

static const struct backoff_policy policy = {
	.first_ns = NSEC_PER_SEC, .max_ns = 60 * NSEC_PER_SEC, .factor = 2, .jitter = 0.2};

static const char *const names[LIFE_MAX] = {"stopped", "running", "waiting", "stopping", "ending"};

struct step {
	enum life_action action;
	enum life next;
};

#define STEP(action, next)                    \
	{                                     \
		LIFE_DO_##action, LIFE_##next \
	}

static const struct step table[LIFE_MAX][LIFE_EVENT_MAX] =
	{
		[LIFE_STOPPED] =
			{
				[LIFE_EVENT_START] = STEP(SPAWN, RUNNING),
				[LIFE_EVENT_STOP] = STEP(FINISH, STOPPED),
				[LIFE_EVENT_DIED] = STEP(NOTHING, STOPPED),
				[LIFE_EVENT_NOT_FORKED] = STEP(NOTHING, STOPPED),
				[LIFE_EVENT_DUE] = STEP(NOTHING, STOPPED),
				[LIFE_EVENT_HUNG] = STEP(NOTHING, STOPPED),
				[LIFE_EVENT_LATE] = STEP(NOTHING, STOPPED),
			},
		[LIFE_RUNNING] =
			{
				[LIFE_EVENT_START] = STEP(NOTHING, RUNNING),
				[LIFE_EVENT_STOP] = STEP(ASK, STOPPING),
				[LIFE_EVENT_DIED] = STEP(SCHEDULE, WAITING),
				[LIFE_EVENT_NOT_FORKED] = STEP(SCHEDULE, WAITING),
				[LIFE_EVENT_DUE] = STEP(NOTHING, RUNNING),
				[LIFE_EVENT_HUNG] = STEP(ABORT, ENDING),
				[LIFE_EVENT_LATE] = STEP(NOTHING, RUNNING),
			},
		[LIFE_WAITING] =
			{
				/* A reload starts it at once. */
				[LIFE_EVENT_START] = STEP(SPAWN, RUNNING),
				[LIFE_EVENT_STOP] = STEP(CANCEL, STOPPED),
				[LIFE_EVENT_DIED] = STEP(NOTHING, WAITING),
				[LIFE_EVENT_NOT_FORKED] = STEP(NOTHING, WAITING),
				[LIFE_EVENT_DUE] = STEP(SPAWN, RUNNING),
				[LIFE_EVENT_HUNG] = STEP(NOTHING, WAITING),
				[LIFE_EVENT_LATE] = STEP(NOTHING, WAITING),
			},
		[LIFE_STOPPING] =
			{
				[LIFE_EVENT_START] = STEP(NOTHING, STOPPING),
				[LIFE_EVENT_STOP] =
					STEP(PRESS,
						STOPPING), /* asked a second time: the grace is shortened */
				[LIFE_EVENT_DIED] = STEP(FINISH, STOPPED),
				[LIFE_EVENT_NOT_FORKED] = STEP(FINISH, STOPPED),
				[LIFE_EVENT_DUE] = STEP(NOTHING, STOPPING),
				[LIFE_EVENT_HUNG] = STEP(NOTHING, STOPPING), /* the grace ends it */
				[LIFE_EVENT_LATE] = STEP(PRESS, STOPPING),
			},
		[LIFE_ENDING] =
			{
				[LIFE_EVENT_START] = STEP(NOTHING, ENDING),
				[LIFE_EVENT_STOP] = STEP(PRESS, STOPPING),
				[LIFE_EVENT_DIED] = STEP(SCHEDULE, WAITING),
				[LIFE_EVENT_NOT_FORKED] = STEP(SCHEDULE, WAITING),
				[LIFE_EVENT_DUE] = STEP(NOTHING, ENDING),
				[LIFE_EVENT_HUNG] = STEP(NOTHING, ENDING),
				[LIFE_EVENT_LATE] = STEP(PRESS, ENDING),
			},
};

const char *
life_name(enum life state)
{
	return (unsigned)state < LIFE_MAX ? names[state] : "unknown";
}

const char *
restart_cause_name(enum restart_cause cause)
{
	static const char *const words[RESTART_CAUSE_MAX] = {
		"exited", "killed", "hung", "config-invalid", "not-forked"};

	return (unsigned)cause < RESTART_CAUSE_MAX ? words[cause] : "unknown";
}

enum life_action
life_step(enum life state, enum life_event event, enum life *ret_next)
{
	*ret_next = table[state][event].next;
	return table[state][event].action;
}

void
restart_note(struct restart *r, int64_t now_ns, int64_t wall_ns, int64_t live_ns, const char *text)
{
	struct death *death = &r->deaths[r->total++ % DEATHS_KEPT];

	if (live_ns >= LIVE_FOR_LONG_NS)
		r->failures = 0;
	r->failures++;
	death->when_ns = now_ns;
	death->wall_ns = wall_ns;
	snprintf(death->text, sizeof(death->text), "%s", text);
}

int64_t
restart_delay(const struct restart *r, enum restart_class class_, uint64_t random)
{
	struct backoff backoff = {.failures = r->failures};

	if (class_ == RESTART_CONFIG)
		return CONFIG_RETRY_NS;
	if (class_ == RESTART_DEATH) {
		if (r->failures <= 1)
			return 0;
		backoff.failures = r->failures - 2; /* the first death was free */
	} else if (backoff.failures > 0) {
		backoff.failures--;
	}
	return backoff_next(&backoff, &policy, 0, random);
}

const char *
restart_reason(enum restart_class class_, bool crashloop)
{
	if (class_ == RESTART_CONFIG)
		return " or at the next reload (its configuration can't be used)";
	return crashloop ? " (crashloop: five deaths within 300 s)" : "";
}

bool
restart_crashloop(const struct restart *r, int64_t now_ns)
{
	if (r->total < CRASHLOOP_DEATHS)
		return false;
	return now_ns - r->deaths[(r->total - CRASHLOOP_DEATHS) % DEATHS_KEPT].when_ns <=
	       CRASHLOOP_NS;
}
