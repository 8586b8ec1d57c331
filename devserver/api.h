/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server in memory, without a socket: what the development server serves and what the simulator calls
 * in-process. One instance is independent of all others; nothing here is thread-safe. Times and uids come from
 * common/clock.h, so a run on a scripted clock is deterministic.
 *
 * The owner calls api_tick() after requests and when the time it returned has passed: garbage collection, the
 * Deployment behaviour, bookmarks and watch timeouts happen there and nowhere else.
 */
#ifndef DEVSERVER_API_H
#define DEVSERVER_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buf.h"

#define API_BODY_MAX (3 * 1024 * 1024) /* as the real server's limit on request bodies */

struct api;
struct api_watch;

struct api_options {
	size_t history; /* changes kept for watches and continued lists; older versions get 410. 0: 20000 */
	int64_t ready_delay_ns; /* from a Deployment's change to its ready status. 0: 300 ms; negative: never */
	int64_t bookmark_ns; /* between two bookmarks of a watch. 0: 60 s */
};

/* Strings are borrowed for the call. */
struct api_request {
	const char *method;       /* "GET", ... */
	const char *path;         /* as on the request line: escaped, with its query */
	const char *accept;       /* NULL: JSON */
	const char *content_type; /* NULL: JSON */
	const char
		*user_agent; /* NULL or up to its first '/': the field manager when none is given */
	const char *
		user; /* NULL: not authenticated (401); "system:anonymous": 403 beyond health and version */
	const char *body;
	size_t body_length; /* at most API_BODY_MAX; more is 413 */
};

struct api_response {
	int status;
	const char *content_type; /* static */
	struct buf body;
	struct buf warnings; /* one per line, for `Warning: 299 - "..."` headers */
};

#define API_RESPONSE_INIT ((struct api_response){.body = BUF_INIT, .warnings = BUF_INIT})

struct api *api_new(const struct api_options *options); /* options may be NULL */
void api_free(struct api *api); /* ends every watch; their owners free them before */

/* Answers one request; response must be initialised, and api_response_free()d by the caller. */
void api_handle(struct api *api, const struct api_request *request, struct api_response *response);
void api_response_free(struct api_response *response);

/* Whether it asks for a watch, which goes to api_watch() and not to api_handle(). */
bool api_is_watch(const struct api_request *request);

/*
 * Starts a watch. line: one event with its line end, perhaps during this call. end: the server ended the stream
 * (only from api_tick(); the watch is still to be freed). NULL: refused, the answer is in response; else
 * response holds status and content type only.
 */
struct api_watch *api_watch(struct api *api, const struct api_request *request,
	void (*line)(void *data, const char *bytes, size_t length), void (*end)(void *data),
	void *data, struct api_response *response);
void api_watch_free(struct api_watch *watch);

/* Does what is due; returns the nanoseconds until the next thing is, or -1 when nothing waits. */
int64_t api_tick(struct api *api);

/* The last resourceVersion given out. */
uint64_t api_revision(const struct api *api);
/* Forgets all history up to now: older watches and continue tokens get 410. For tests. */
void api_compact(struct api *api);

#endif
