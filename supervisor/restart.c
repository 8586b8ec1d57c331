/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a worker as a table, its ends, and the delays between its lives. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "common/memory.h"
#include "supervisor/restart.h"
#include "workers/worker.h"

#define LIVE_FOR_LONG_NS (120 * NSEC_PER_SEC)
#define CRASHLOOP_DEATHS 5
#define CRASHLOOP_NS     (300 * NSEC_PER_SEC)
#define CONFIG_RETRY_NS  (300 * NSEC_PER_SEC)

static const struct backoff_policy policy = {
	.first_ns = NSEC_PER_SEC, .max_ns = 60 * NSEC_PER_SEC, .factor = 2, .jitter = 0.2};

static const char *const names[LIFE_MAX] = {
	"stopped", "running", "waiting", "removing", "stopping", "ending"};

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
				[LIFE_EVENT_REMOVE] = STEP(FINISH, STOPPED),
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
				[LIFE_EVENT_REMOVE] = STEP(REMOVE, REMOVING),
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
				[LIFE_EVENT_REMOVE] = STEP(CANCEL, STOPPED),
				[LIFE_EVENT_DIED] = STEP(NOTHING, WAITING),
				[LIFE_EVENT_NOT_FORKED] = STEP(NOTHING, WAITING),
				[LIFE_EVENT_DUE] = STEP(SPAWN, RUNNING),
				[LIFE_EVENT_HUNG] = STEP(NOTHING, WAITING),
				[LIFE_EVENT_LATE] = STEP(NOTHING, WAITING),
			},
		[LIFE_REMOVING] =
			{
				[LIFE_EVENT_START] = STEP(NOTHING, REMOVING),
				[LIFE_EVENT_STOP] = STEP(ASK, STOPPING),
				[LIFE_EVENT_REMOVE] = STEP(NOTHING, REMOVING),
				[LIFE_EVENT_DIED] = STEP(FINISH, STOPPED),
				[LIFE_EVENT_NOT_FORKED] = STEP(FINISH, STOPPED),
				[LIFE_EVENT_DUE] = STEP(NOTHING, REMOVING),
				[LIFE_EVENT_HUNG] = STEP(PRESS, STOPPING),
				[LIFE_EVENT_LATE] = STEP(ASK, STOPPING),
			},
		[LIFE_STOPPING] =
			{
				[LIFE_EVENT_START] = STEP(NOTHING, STOPPING),
				[LIFE_EVENT_STOP] =
					STEP(PRESS,
						STOPPING), /* asked a second time: the grace is shortened */
				[LIFE_EVENT_REMOVE] = STEP(NOTHING, STOPPING),
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
				[LIFE_EVENT_REMOVE] = STEP(PRESS, STOPPING),
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

enum life_action
life_step(enum life state, enum life_event event, enum life *ret_next)
{
	*ret_next = table[state][event].next;
	return table[state][event].action;
}

/* --- causes --- */

/* class: which delays follow. */
static const struct {
	const char *name;
	enum { DEATH, CONFIG, NOT_FORKED } class_;
} causes[RESTART_CAUSE_MAX] = {
	[RESTART_CAUSE_EXITED] = {"exited", DEATH},
	[RESTART_CAUSE_KILLED] = {"killed", DEATH},
	[RESTART_CAUSE_HUNG] = {"hung", DEATH},
	[RESTART_CAUSE_MEMORY] = {"out-of-memory", DEATH},
	[RESTART_CAUSE_CONFIG] = {"config-invalid", CONFIG},
	[RESTART_CAUSE_NOT_FORKED] = {"not-forked", NOT_FORKED},
};

/* The exit codes that say more than that it ended. */
static const struct {
	int code;
	enum restart_cause cause;
} exits[] = {
	{WORKER_EXIT_CONFIG, RESTART_CAUSE_CONFIG},
	{WORKER_EXIT_NO_PERMISSION, RESTART_CAUSE_CONFIG},
	{MEMORY_EXIT, RESTART_CAUSE_MEMORY},
};

const char *
restart_cause_name(enum restart_cause cause)
{
	return (unsigned)cause < RESTART_CAUSE_MAX ? causes[cause].name : "unknown";
}

enum restart_cause
restart_cause_of(int status, bool hung)
{
	if (hung)
		return RESTART_CAUSE_HUNG;
	if (!WIFEXITED(status))
		return RESTART_CAUSE_KILLED;
	for (size_t i = 0; i < sizeof(exits) / sizeof(*exits); i++)
		if (WEXITSTATUS(status) == exits[i].code)
			return exits[i].cause;
	return RESTART_CAUSE_EXITED;
}

/* --- the history --- */

void
restart_note(struct restart *r, const struct death *death, int64_t live_ns)
{
	r->deaths[r->total++ % DEATHS_KEPT] = *death;
	if (live_ns >= LIVE_FOR_LONG_NS)
		r->failures = 0;
	r->failures++;
}

const struct death *
restart_death(const struct restart *r, uint64_t i)
{
	return i < r->total && i < DEATHS_KEPT ? &r->deaths[(r->total - 1 - i) % DEATHS_KEPT]
					       : NULL;
}

unsigned
restart_recent(const struct restart *r, int64_t now_ns)
{
	const struct death *death;
	unsigned n = 0;

	while ((death = restart_death(r, n)) && now_ns - death->when_ns <= CRASHLOOP_NS)
		n++;
	return n;
}

bool
restart_crashloop(const struct restart *r, int64_t now_ns)
{
	return restart_recent(r, now_ns) >= CRASHLOOP_DEATHS;
}

/* --- delays --- */

int64_t
restart_delay(const struct restart *r, uint64_t random)
{
	const struct death *last = restart_death(r, 0);
	struct backoff backoff = {.failures = r->failures};

	switch (last ? causes[last->cause].class_ : DEATH) {
	case CONFIG:
		return CONFIG_RETRY_NS;
	case DEATH:
		if (r->failures <= 1)
			return 0;
		backoff.failures = r->failures - 2; /* the first death was free */
		break;
	case NOT_FORKED:
		backoff.failures = r->failures - 1;
		break;
	}
	return backoff_next(&backoff, &policy, 0, random);
}

static const char *
ordinal_ending(unsigned n)
{
	static const char *const endings[] = {"th", "st", "nd", "rd"};

	return n % 10 < 4 && n / 10 % 10 != 1 ? endings[n % 10] : "th";
}

void
restart_text(const struct restart *r, int64_t now_ns, int64_t delay_ns, char out[RESTART_TEXT_MAX])
{
	const struct death *last = restart_death(r, 0);
	unsigned recent = restart_recent(r, now_ns);
	char when[32], history[96], lifetime[32] = "";

	snprintf(
		when, sizeof(when), delay_ns > 0 ? "in %.1f s" : "at once", (double)delay_ns / 1e9);
	if (last->cause == RESTART_CAUSE_CONFIG) {
		snprintf(out, RESTART_TEXT_MAX,
			"%s: its configuration or credentials can't be used; trying again %s, or "
			"at the "
			"next reload",
			last->text, when);
		return;
	}
	if (last->cause != RESTART_CAUSE_NOT_FORKED)
		snprintf(lifetime, sizeof(lifetime), " after %.1f s",
			(double)last->lifetime_ns / 1e9);
	snprintf(history, sizeof(history), "%u%s death within 300 s%s", recent,
		recent == DEATHS_KEPT ? " or a later" : ordinal_ending(recent),
		recent >= CRASHLOOP_DEATHS ? ", crashloop" : "");
	snprintf(out, RESTART_TEXT_MAX, "%s%s (%s): restarting %s", last->text, lifetime, history,
		when);
}
