/* SPDX-License-Identifier: Apache-2.0 */
/* An API server in memory on a clock that the test moves, and short ways to ask it. */
#ifndef TESTS_UNIT_DEVSERVER_FIXTURE_H
#define TESTS_UNIT_DEVSERVER_FIXTURE_H

#include <stdint.h>

#include "common/json.h"
#include "devserver/api.h"

#define WIDGETS "/apis/example.com/v1/namespaces/default/widgets"
#define MERGE   "application/merge-patch+json"
#define APPLY   "application/apply-patch+yaml"

/* Moves both clocks and lets the server do what is due. */
void fixture_advance(struct api *api, int64_t ns);
/* Starts the clock and the random numbers anew: what follows repeats itself. */
void fixture_reset(void);
/* A server with the kind Widget (status subresource, spec with lists and maps) and Plain (none). */
struct api *fixture_new(const struct api_options *options);

/*
 * One request; the answer as a tree (a text answer as a string), cJSON_Delete(). JSON of ours is written with single quotes.
 * The status must be the expected one.
 */
cJSON *fixture_ask(struct api *api, int status, const char *method, const char *path,
	const char *type, const char *body);
/* The same where only the status counts. */
void fixture_do(struct api *api, int status, const char *method, const char *path, const char *type,
	const char *body);
/* Fails unless value prints as the expected text (single quotes), keys sorted. */
void fixture_is(const cJSON *value, const char *expected);
cJSON *fixture_parse(const char *quoted);

/* A watch whose lines are kept. */
struct fixture_watch {
	struct api_watch *watch;
	struct api_response response;
	struct buf lines;
	int ended;
};
void fixture_watch(struct api *api, struct fixture_watch *ret, const char *path);
/* The next event; NULL when there is none. */
cJSON *fixture_event(struct fixture_watch *watch);
/* The next event must be of this type and name ("ADDED", "a"); NULL, NULL: none. */
void fixture_expect(struct fixture_watch *watch, const char *type, const char *name);
void fixture_watch_done(struct fixture_watch *watch);

#endif
