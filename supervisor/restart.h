/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a worker is started again: one table (states x events -> action) and one policy for delays. Pure: time and chance come as arguments.
 *
 * At once after the first death, then 1 s doubling to 60 s with 20 % jitter; the count clears after 120 s live; five deaths within 300 s show as
 * crashloop. A configuration that can't be used (exit code 78) is tried again every 300 s and at each reload (credentials are waited for in the worker), a failed fork with
 * the delays of deaths, but never at once. Any other exit code is a death like any other, 0 too. Nothing is ever given up.
 */
#ifndef SUPERVISOR_RESTART_H
#define SUPERVISOR_RESTART_H

#include <stdbool.h>
#include <stdint.h>

enum life {
	LIFE_STOPPED,
	LIFE_RUNNING,
	LIFE_WAITING,
	LIFE_REMOVING, /* its controller was removed: it lets go of its objects */
	LIFE_STOPPING,
	LIFE_ENDING,
	LIFE_MAX
};
enum life_event {
	LIFE_EVENT_START,      /* it is meant to run */
	LIFE_EVENT_STOP,       /* it is meant to stop */
	LIFE_EVENT_REMOVE,     /* it is meant to let go of its objects, then to stop */
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
	LIFE_DO_REMOVE,   /* send it with the wish to remove first, start the time for that */
	LIFE_DO_CANCEL,   /* drop the delay: it is stopped */
	LIFE_DO_ABORT,  /* SIGABRT, for a core dump where those are on, then the time until LATE */
	LIFE_DO_PRESS,  /* SIGTERM, later SIGKILL */
	LIFE_DO_FINISH, /* it has stopped as asked */
	LIFE_ACTION_MAX
};

const char *life_name(enum life state);
/* What to do, and the state that follows. */
enum life_action life_step(enum life state, enum life_event event, enum life *ret_next);

/* Why a worker ended without being asked, or did not begin: for the label reason of operatord_worker_restarts_total, and for the delay. */
enum restart_cause {
	RESTART_CAUSE_EXITED,
	RESTART_CAUSE_KILLED, /* by a signal, its own fault's or another's */
	RESTART_CAUSE_HUNG,
	RESTART_CAUSE_MEMORY, /* it had no more, within its limit or the machine's */
	RESTART_CAUSE_CONFIG,
	RESTART_CAUSE_NOT_FORKED,
	RESTART_CAUSE_MAX
};
const char *restart_cause_name(enum restart_cause cause);
/* Of an end, status as waitpid(2) gives it. hung: it was being ended for its heartbeat. */
enum restart_cause restart_cause_of(int status, bool hung);

#define DEATHS_KEPT 16

struct death {
	int64_t when_ns, wall_ns;
	int64_t lifetime_ns; /* from the fork; 0: there was none */
	enum restart_cause cause;
	int status; /* as waitpid(2) gives it, where there was a process */
	char text[96];
	char object[96]; /* that it was at work on, cut; "": none */
};

struct restart {
	uint32_t failures; /* deaths since it last was live for long */
	uint64_t total;
	struct death deaths[DEATHS_KEPT]; /* the latest at (total - 1) % DEATHS_KEPT */
};

/* Notes a death. live_ns: the longest that it had been live without a break, 0: never; from 120 s on earlier deaths do not count. */
void restart_note(struct restart *r, const struct death *death, int64_t live_ns);
/* The i-th latest of those that are kept, from 0; NULL: there is none. */
const struct death *restart_death(const struct restart *r, uint64_t i);
/* The delay until the next start, after restart_note(). */
int64_t restart_delay(const struct restart *r, uint64_t random);
/* Five deaths within 300 s. */
bool restart_crashloop(const struct restart *r, int64_t now_ns);
/* How many were within 300 s, of those that are kept. */
unsigned restart_recent(const struct restart *r, int64_t now_ns);
/*
 * What became of the last one and what follows, in words: "killed by SIGSEGV after 3.0 s (2nd death within 300 s): restarting in 1.2 s". out holds
 * RESTART_TEXT_MAX bytes.
 */
#define RESTART_TEXT_MAX 320
void restart_text(
	const struct restart *r, int64_t now_ns, int64_t delay_ns, char out[RESTART_TEXT_MAX]);

#endif
