/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real supervisor_run() in a process of its own, on a real configuration, with workers that only pretend: what one does is in its name (supervisor_fake.c).
 * Asked and watched from outside, by its sockets, its log and /proc.
 */
#ifndef TESTS_UNIT_SUPERVISOR_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/records.h"
#include "supervisor/supervisor.h"

#define HEARTBEAT_MS 200

struct site {
	char directory[64], config[96], control[96], http[96], log[96];
	char notify[96];         /* NOTIFY_SOCKET, where nobody listens unless the test does */
	pid_t pid;               /* of the supervisor, 0: none */
	long files_limit;        /* RLIMIT_NOFILE for it, 0: as it is */
	bool own_user_namespace; /* as root of one, where that is possible */
};

/* Makes a directory and a main file: top are lines of its top level ("" for none), then a controller for each word of names ("a b c"). */
void site_open(struct site *site, const char *top, const char *names);
void site_start(struct site *site);
/* Kills what still runs and removes the directory. */
void site_close(struct site *site);
void site_write_main(struct site *site, const char *top, const char *names);
/* A file in conf.d, whole. */
void site_write(struct site *site, const char *name, const char *text);
void site_remove(struct site *site, const char *name);
/* The exit code within the time, which may be 0; fails the test when it still runs, or was killed. */
int site_wait(struct site *site, int within_ms);
int site_stop(struct site *site, int signo);

/* One answer of the control socket; *ret_code is its exit code, -1 for none. free(). */
char *site_ask(struct site *site, enum record_type type, int *ret_code);
/* The same with a value in the record. */
char *site_ask_value(struct site *site, enum record_type type, int32_t value, int *ret_code);
int site_connect(const char *path); /* -1 */
/* A worker's entry in the status; cJSON_Delete(). NULL: none. */
cJSON *site_worker(struct site *site, const char *name);
pid_t site_pid(struct site *site, const char *name);
bool site_is(struct site *site, const char *name, const char *state);
bool site_cause_has(struct site *site, const char *name, const char *words);
double site_number(struct site *site, const char *name, const char *key);
/* The answer of GET path, headers and all; free(). *ret_status 0: none. */
char *site_get(struct site *site, const char *path, int *ret_status);
/* How often the words are in the log. */
unsigned site_log_has(const struct site *site, const char *words);
bool is_gone(pid_t pid); /* ended, reaped or not */

/* Polls until the condition holds, or fails the test. */
#define WAIT_FOR(condition)                                                                       \
	do {                                                                                      \
		long tries_ = wait_tries();                                                       \
		while (!(condition))                                                              \
			if (!wait_more(&tries_))                                                  \
				ck_abort_msg("not seen in time: %s\n%s", #condition, wait_log()); \
	} while (0)
long wait_tries(void);
bool wait_more(long *tries);
const char *wait_log(void); /* of the last site that was started */
void pause_ms(int ms);

/* supervisor_fake.c */
struct worker_args;
int fake_worker_main(const struct worker_args *args);

#endif
