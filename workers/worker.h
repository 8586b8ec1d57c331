/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: one controller, run by worker_main() in a process of its own. */
#ifndef WORKERS_WORKER_H
#define WORKERS_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include "common/scoreboard.h"

/* Fixed file descriptors of a worker. */
enum { WORKER_FD_DOWN = 3, WORKER_FD_UP = 4, WORKER_FD_SCOREBOARD = 5 };

/* An object that a worker before this one ended at work on. */
struct worker_suspect {
	char key[SCOREBOARD_KEY_MAX]; /* scoreboard_key() */
	char cause[96];               /* how the last one ended */
	uint64_t version; /* that they ended at: store_view.fingerprint, which changes with what people write */
	unsigned deaths;  /* at this version */
	int64_t last_ns;  /* when, on clock_monotonic_ns() */
	int64_t until_ns; /* quarantined: left alone until then; 0: not quarantined */
};

struct worker_args {
	const char *name;
	const char *config; /* the controller's canonical JSON */
	size_t config_length;
	uint32_t generation; /* the incarnation, from 1 */
	int fd_down, fd_up;  /* -1: none (foreground use) */
	int fd_scoreboard;   /* -1: none */
	const struct worker_suspect *suspects;
	size_t n_suspects;
	const char *const *former_kinds; /* "apps/v1 Deployment": children's kinds of configurations that it had before, NULL at the end; NULL: none */
	const char *const *controllers; /* names of all controllers of the configuration at the fork, NULL at the end; NULL: not known */
};

/* Exit codes of a worker: what the supervisor's restart table reads. */
enum {
	WORKER_EXIT_STOPPED = 0,
	WORKER_EXIT_FAILURE = 1,
	WORKER_EXIT_NO_PERMISSION = 77,
	WORKER_EXIT_CONFIG = 78,
	WORKER_EXIT_ORPHANED = 3
};

/* Runs until asked to stop (record, end of the down pipe, SIGTERM, SIGINT). Leaves through its return value; the caller uses _exit(2). */
int worker_main(const struct worker_args *args);

#endif
