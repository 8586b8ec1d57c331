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

/* --- time, chance, trace (sim_loop.c) --- */

/* Starts a new world: time 1 s, chance from seed, nothing said, nothing failed. */
void sim_reset(uint64_t seed);
/* A number in [0, n). */
uint64_t sim_below(uint64_t n);
/* True with probability per_mille / 1000. */
bool sim_chance(unsigned per_mille);
/* Lets the world run for so long: each timer at its time, prepares before each wait. Ends early when something failed. Returns the
 * events that were handled. */
unsigned long sim_run(struct loop *loop, int64_t duration_ns);
/* The machine slept: all timers are late. */
void sim_jump(int64_t ns);
/* Prints the world's events to stderr, for a seed that failed. */
void sim_trace(bool on);
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Of everything that was said, and when. */
uint64_t sim_trace_hash(void);
/* An invariant does not hold; the first one counts, and ends the run. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What failed, NULL: nothing. */
const char *sim_failure(void);

/* --- network and server (sim_http.c) --- */

/* How the network and the server misbehave, each in chances per mille of a request (or of a second, for watches). */
struct sim_faults {
	unsigned refused;      /* the connection is refused */
	unsigned lost_request; /* reset before the server saw it */
	unsigned lost_answer;  /* reset after the server did it, or no answer until the timeout */
	unsigned throttled;    /* 429 with Retry-After */
	unsigned failed;       /* 500 */
	unsigned slow;         /* an answer, or a watch's bytes, take seconds */
	unsigned cut_watch;    /* a second: the stream breaks in the middle of a line */
	unsigned end_watch;    /* a second: the server ends it as it should */
	unsigned silent_watch; /* a second: nothing comes any more and nobody says so */
	unsigned garbage;      /* a second: a line that is no event */
	unsigned compaction;   /* a second: history is forgotten, older versions get 410 */
	bool outage;           /* every connection is refused */
};

/* Errors that the simulator can plant in what the controller is told, and (sim_plants.c) in what it does, to show that the invariants see them. */
enum sim_plant {
	PLANT_NONE,
	PLANT_MISSED_DELETE, /* DELETED lines never arrive */
	PLANT_MISSED_CHANGE, /* one MODIFIED line in ten never arrives */
	PLANT_LOST_WRITE,    /* one write in ten is answered and not done */
	PLANT_NO_BOOKMARK,   /* BOOKMARK lines never arrive */
	PLANT_RESET_BACKOFF, /* delays do not grow */
	PLANT_PRUNE_ON_DOUBT, /* what was not listed yet counts as not there */
	PLANT_RETRY_STORM,   /* whatever failed is tried again within milliseconds */
	PLANT_WRONG_STATUS,  /* a status that is as wanted loses its conditions */
	PLANT_LOST_EVENT,    /* a change while its object is being reconciled is forgotten */
	PLANT_MAX
};

/* What the controllers under test asked for. */
struct sim_traffic {
	unsigned long requests, writes, deletes, lists, watches;
	/* Writes while another to the same path was under way: two reconciles of one object. */
	unsigned long double_writes;
	unsigned in_flight;
};

struct sim_options {
	enum sim_plant plant;
	unsigned
		page; /* objects of a list's page: what the controller asks for is lowered to this */
};

/* sim_templates.c: lets go of the compiled templates, when no engine is there any more. */
void sim_templates_free(void);
/* sim_plants.c: from now on. */
void sim_plant_fault(enum sim_plant which);

/* The server that http_client_new() leads to, from now on. NULL: none any more. */
void sim_http_server(struct loop *loop, struct api *api, const struct sim_options *options);
/* Called before the server does a write of a controller, and with its answer. */
void sim_http_watch_writes(void (*before)(const struct api_request *request),
	void (*after)(const struct api_request *request, const struct api_response *response));
/* A request of somebody else (user, who is also the field manager), done at once. Returns the status; ret_body, when not NULL,
 * is replaced by the answer. */
int sim_call(const char *user, const char *method, const char *path, const char *content_type,
	const char *body, struct buf *ret_body);
extern struct sim_faults sim_faults;
extern struct sim_traffic sim_traffic;

#endif
