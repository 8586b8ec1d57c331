/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a worker is started again: one table (states x events -> action) and one policy for delays. Pure: time and chance come as arguments.
 *
 * At once after the first death, then 1 s doubling to 60 s with 20 % jitter; the count clears after 120 s live; five deaths within 300 s show as
 * crashloop. An invalid configuration (exit code 78) is tried again every 300 s and at each reload, a failed fork with the delays of deaths.
 * Nothing is ever given up.
 */
#ifndef SUPERVISOR_RESTART_H
#define SUPERVISOR_RESTART_H

#include <stdbool.h>
#include <stdint.h>

enum life { LIFE_STOPPED, LIFE_RUNNING, LIFE_WAITING, LIFE_STOPPING, LIFE_ENDING, LIFE_MAX };
enum life_event {
	LIFE_EVENT_START,      /* it is meant to run */
	LIFE_EVENT_STOP,       /* it is meant to stop */
	LIFE_EVENT_DIED,       /* its process has ended */
	LIFE_EVENT_NOT_FORKED, /* there was no process */
	LIFE_EVENT_DUE,        /* its delay is over */
	LIFE_EVENT_HUNG,       /* its heartbeat is stale */
	LIFE_EVENT_LATE, /* it was told to stop or end, and has not within the time for that */
	LIFE_EVENT_MAX
};
enum life_action {
	LIFE_DO_NOTHING,
	LIFE_DO_SPAWN,    /* fork now */
	LIFE_DO_SCHEDULE, /* wait for the policy's delay */
	LIFE_DO_ASK,      /* send RECORD_STOP, start the grace */
	LIFE_DO_CANCEL,   /* drop the delay: it is stopped */
	LIFE_DO_ABORT,  /* SIGABRT, for a core dump where those are on, then the time until LATE */
	LIFE_DO_PRESS,  /* SIGTERM, later SIGKILL */
	LIFE_DO_FINISH, /* it has stopped as asked */
	LIFE_ACTION_MAX
};

const char *life_name(enum life state);
/* What to do, and the state that follows. */
enum life_action life_step(enum life state, enum life_event event, enum life *ret_next);

/* Why a worker ended without being asked, for the label reason of operatord_worker_restarts_total. */
enum restart_cause {
	RESTART_CAUSE_EXITED,
	RESTART_CAUSE_KILLED, /* by a signal, its own fault's or another's */
	RESTART_CAUSE_HUNG,
	RESTART_CAUSE_CONFIG,
	RESTART_CAUSE_NOT_FORKED,
	RESTART_CAUSE_MAX
};
const char *restart_cause_name(enum restart_cause cause);

#define DEATHS_KEPT 8

struct death {
	int64_t when_ns, wall_ns;
	char text[96];
};

struct restart {
	uint32_t failures; /* deaths since it last was live for long */
	uint64_t total;
	struct death deaths[DEATHS_KEPT]; /* the latest at (total - 1) % DEATHS_KEPT */
};

enum restart_class { RESTART_DEATH, RESTART_CONFIG, RESTART_NOT_FORKED };

/* Notes a death. live_ns: the longest that it had been live without a break, 0: never; from 120 s on earlier deaths do not count. */
void restart_note(
	struct restart *r, int64_t now_ns, int64_t wall_ns, int64_t live_ns, const char *text);
/* The delay until the next start, after restart_note(). */
int64_t restart_delay(const struct restart *r, enum restart_class class_, uint64_t random);
/* The delay in words, for the log: why it is that long. */
const char *restart_reason(enum restart_class class_, bool crashloop);
/* Five deaths within 300 s. */
bool restart_crashloop(const struct restart *r, int64_t now_ns);

#endif
