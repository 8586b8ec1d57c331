/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a worker: one list for the log, /healthz?verbose, the metric operatord_worker_state and operatorctl.
 * The first block is what a worker says of itself, the second what only the supervisor can see.
 */
#ifndef COMMON_WORKER_STATE_H
#define COMMON_WORKER_STATE_H

#define WORKER_STATES(X)                                                                                              \
	X(STARTING, "starting", "forked, reading its configuration and credentials")                                  \
	X(DISCOVERING, "discovering", "asking the server which resources it serves")                                  \
	X(LISTING, "listing", "reading the first list of objects")                                                    \
	X(LIVE, "live", "every watch has synced; changes are handled as they come")                                   \
	X(DRAINING, "draining", "asked to stop: ending the reconciles that run")                                      \
	X(REMOVING, "removing", "its controller was removed: letting go of its objects, as onRemove says")            \
	X(CONFIG_INVALID, "config-invalid", "its configuration can't be used")                                        \
	X(UNAUTHORIZED, "unauthorized", "the server does not accept its credentials (401)")                           \
	X(FORBIDDEN, "forbidden", "its identity lacks a permission (403)")                                            \
	X(CRD_MISSING, "crd-missing", "the server does not serve the resource; its CustomResourceDefinition may be missing") \
	X(VERSION_GONE, "version-gone", "the server serves the resource, but not this version")                       \
	X(UNREACHABLE, "unreachable", "no answer from the server")                                                    \
	X(THROTTLED, "throttled", "the server asks to slow down (429)")                                               \
	X(OVER_LIMIT, "over-limit", "its memory limit is reached")                                                    \
	X(BACKOFF, "backoff", "it died; a restart is scheduled")                                                      \
	X(CRASHLOOP, "crashloop", "it died five times in 300 s; restarts go on at the longest delay")                 \
	X(HUNG, "hung", "its heartbeat is stale; it is being ended")                                                  \
	X(STOPPED, "stopped", "it is not meant to run")

enum worker_state {
#define X(name, word, meaning) WORKER_##name,
	WORKER_STATES(X)
#undef X
	WORKER_STATE_MAX,
};

const char *worker_state_name(enum worker_state state);    /* "live"; "unknown" out of range */
const char *worker_state_meaning(enum worker_state state); /* one line for people */

#endif
