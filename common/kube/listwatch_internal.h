/* SPDX-License-Identifier: Apache-2.0 */
/* Between listwatch.c (life, what comes next) and its two halves, listwatch_list.c and listwatch_watch.c. Nobody else includes it. */
#ifndef COMMON_KUBE_LISTWATCH_INTERNAL_H
#define COMMON_KUBE_LISTWATCH_INTERNAL_H

#include "common/backoff.h"
#include "common/kube/listwatch.h"
#include "common/kube/watch_lines.h"
#include "common/metrics.h"

enum listwatch_step { STEP_LIST, STEP_WATCH };

struct listwatch {
	struct loop *loop;
	struct kube *kube;
	struct listwatch_options options; /* its texts are owned */
	struct listwatch_callbacks callbacks;
	struct kube_request *request;     /* the one that runs: a page of a list, or the watch */
	struct loop_timer *timer;         /* until the next step, when nothing runs */
	enum listwatch_step next;
	struct loop_timer *silence;
	/* list */
	struct jsonscan_list *list;
	int list_error;      /* of the bytes, -errno */
	char *continue_;     /* of the next page, NULL: the first */
	/* watch */
	struct watch_lines lines;
	bool open;
	int64_t opened_ns;
	bool events;         /* any in this watch */
	unsigned error_events; /* ERROR events in a row without anything else */
	bool unknown_said;
	/* both */
	char version[128];   /* to watch from */
	char refused[128];   /* the version that is too old, never to be asked for again */
	bool synced;
	struct backoff backoff;
	int cause;           /* of the trouble that was last told, 0: none */
	unsigned repeats;
	bool complained;     /* a line of trouble was logged, and nothing good since */
	/* Its owner may free it from any callback: it then lives until the callback of the client ends. */
	unsigned busy;
	bool dead;
};

/* Around everything that the client or loop calls. */
void listwatch_enter(struct listwatch *lw);
void listwatch_leave(struct listwatch *lw);
/* Does the step after a delay. */
void listwatch_next(struct listwatch *lw, enum listwatch_step step, int64_t delay_ns);
extern const struct backoff_policy listwatch_backoff;
/* Is the last failure so near that the next one is a repetition? */
bool listwatch_troubled(const struct listwatch *lw);
/* Counts a failure and returns the delay after it, at least what the server asks for. */
int64_t listwatch_failed(struct listwatch *lw, const struct kube_result *result);
/* It failed: tells why and tries the step again later. */
void listwatch_trouble(struct listwatch *lw, enum listwatch_step step, const struct kube_result *result);
/* What was seen can't be relied on: a new list, the first time at once, else as after trouble. */
void listwatch_relist(struct listwatch *lw, const struct kube_result *result);
/* The version is too old (410). */
void listwatch_expired(struct listwatch *lw, const struct kube_result *result);
/* A result that no request has, with that message. */
void listwatch_result(struct kube_result *ret, enum kube_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Path of the collection with selectors. */
void listwatch_path(const struct listwatch *lw, struct buf *out);
/* Adds 1 to a metric's series of that label value, if this is the primary watch. */
void listwatch_count(const struct listwatch *lw, enum metric_id id, const char *label);
/* For messages: "nginx.v1.stable.underneathall.com" */
void listwatch_name(const struct listwatch *lw, char out[400]);

void listwatch_list_start(struct listwatch *lw);
void listwatch_list_clear(struct listwatch *lw);
void listwatch_watch_start(struct listwatch *lw);

#endif
