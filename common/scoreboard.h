/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scoreboard: one sealed memfd a worker, which the worker writes and the supervisor only reads.
 *
 * The supervisor creates it before the fork (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, so that nobody can truncate it under the
 * reader), maps it MADV_DONTFORK, and treats every byte as hostile: copies under a sequence count (bounded tries), ranges checked,
 * text terminated. Writers: one, the worker's event loop; updates of numbers are single stores, those of texts stand between
 * scoreboard_begin() and scoreboard_end().
 */
#ifndef COMMON_SCOREBOARD_H
#define COMMON_SCOREBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/metrics.h"
#include "common/worker_state.h"

#define SCOREBOARD_VERSION 1
#define SCOREBOARD_KEY_MAX 328 /* namespace (63) / name (253) and the NUL, rounded up */

struct scoreboard {
	uint32_t version;
	uint32_t generation;          /* the incarnation that writes; a reader drops another's */
	uint32_t sequence;            /* odd: texts are being written */
	uint32_t state;               /* enum worker_state */
	int64_t heartbeat_ns;         /* clock_monotonic_ns(), by the worker's own loop */
	int64_t watch_seen_ns;        /* last byte, or accepted (re)opening, of the primary watch */
	int64_t live_since_ns;        /* 0: not live */
	int64_t busy_since_ns;        /* entry into the running synchronous step; 0: none */
	uint64_t busy_version;        /* of the object that it works on: a number of the worker's that changes with what people write in it */
	char busy_key[SCOREBOARD_KEY_MAX]; /* namespace/name of it */
	char server_host[256];        /* host:port of the API server, for the label host */
	char cause[480];              /* why it is in this state; empty: nothing to say */
	uint64_t slots[METRIC_SLOTS_MAX];
};

/* Creates, sizes and seals: returns the fd (CLOEXEC) and the reader's mapping, or -errno. */
int scoreboard_create(uint32_t generation, const struct scoreboard **ret_map);
/* The worker's side: maps fd for writing. NULL on failure. */
struct scoreboard *scoreboard_attach(int fd);
void scoreboard_unmap(const struct scoreboard *map);
/* A consistent, checked copy: texts end and are clean, times are not in the future. False when the writer is of another generation or
 * version, its state is none, or it never holds still (then *ret is not touched). */
bool scoreboard_copy(const struct scoreboard *map, uint32_t generation, struct scoreboard *ret);

/* The writer's side. A process has at most one; before scoreboard_use() all of these write to a private one (programs without a supervisor). */
void scoreboard_use(struct scoreboard *board);
struct scoreboard *scoreboard_mine(void);
/* Around every change of texts; the functions below do it themselves. */
void scoreboard_begin(void);
void scoreboard_end(void);
void scoreboard_set_server(const char *host);
/* Also keeps live_since_ns. cause may be NULL. */
void scoreboard_set_state(enum worker_state state, const char *cause);
/* "namespace/name", or "name": as in busy_key. */
void scoreboard_key(const char *namespace_, const char *name, char out[SCOREBOARD_KEY_MAX]);
/* Before a synchronous step on an object. */
void scoreboard_enter(const char *namespace_, const char *name, uint64_t version);
void scoreboard_leave(void);
void metric_add(enum metric_id id, unsigned series, uint64_t n);
void metric_set(enum metric_id id, unsigned series, uint64_t value);
void metric_observe(enum metric_id id, unsigned series, int64_t duration_ns);

#endif
