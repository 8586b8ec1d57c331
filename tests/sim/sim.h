/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's own world: a clock that jumps from event to event, chance from a seed, an event loop without descriptors
 * (sim_loop.c implements common/loop/loop.h and common/clock.h), and HTTP as calls of the development server's core
 * (sim_http.c implements common/kube/http.h) with faults. Everything is in one process and a pure function of the seed.
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include "common/loop/loop.h"
#include "devserver/api.h"

/* Starts a new world: time 1 s, chance from seed. */
void sim_reset(uint64_t seed);
/* A number in [0, n). */
uint64_t sim_below(uint64_t n);
/* True with probability per_mille / 1000. */
bool sim_chance(unsigned per_mille);
/* Lets the world run for so long: each timer at its time, prepares before each wait. Returns the events that were handled. */
unsigned long sim_run(struct loop *loop, int64_t duration_ns);
/* Prints the world's events to stderr, for a seed that failed. */
void sim_trace(bool on);
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How the network and the server misbehave, each in chances per mille of a request (or of a second, for watches). */
struct sim_faults {
	unsigned refused;      /* the connection is refused */
	unsigned lost_request; /* reset before the server saw it */
	unsigned lost_answer;  /* reset after the server did it */
	unsigned throttled;    /* 429 with Retry-After */
	unsigned failed;       /* 500 */
	unsigned slow;         /* an answer takes seconds */
	unsigned cut_watch;    /* a second: the stream breaks in the middle of a line */
	unsigned end_watch;    /* a second: the server ends it as it should */
	unsigned silent_watch; /* a second: nothing comes any more and nobody says so */
	unsigned garbage;      /* a second: a line that is no event */
	unsigned compaction;   /* a second: history is forgotten, older versions get 410 */
	bool outage;           /* every connection is refused */
};

/* What the controller under test asked for. */
struct sim_traffic {
	unsigned long requests, writes, deletes, lists, watches;
	unsigned long
		double_writes; /* a write while another to the same path was under way: two reconciles of one object */
	unsigned in_flight;
};

/* The server that http_client_new() leads to, from now on. */
void sim_http_server(struct loop *loop, struct api *api);
extern struct sim_faults sim_faults;
extern struct sim_traffic sim_traffic;

#endif
