/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.conditions as kstatus reads them: Ready always; Reconciling and Stalled only while True. Pure.
 *
 * Ready=True means that every desired child was applied and nothing was refused, and that those with readyWhen, or that others
 * depend on, are ready themselves. Conditions of other types are kept as they are. lastTransitionTime changes only with the status.
 */
#ifndef WORKERS_CONDITIONS_H
#define WORKERS_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <cjson/cJSON.h>

/* The closed list of reasons. */
enum verdict {
	VERDICT_SUCCEEDED,
	VERDICT_WAITING_FOR_CHILD, /* a child, its kind or a value in it is not there yet */
	VERDICT_RENDER_FAILED,
	VERDICT_APPLY_CONFLICT,
	VERDICT_APPLY_REJECTED,
	VERDICT_FORBIDDEN,
	VERDICT_PAUSED,
	VERDICT_QUARANTINED, /* it ended workers: left alone for now */
	VERDICT_PRUNE_BLOCKED,
	VERDICT_DELETING, /* it is under deletion, and something of it is still there */
	VERDICT_FINALIZER_STUCK,
	VERDICT_UNAVAILABLE, /* the server does not answer or asks to wait: never written, only retried */
	VERDICT_MAX
};
const char *verdict_name(enum verdict verdict); /* "Succeeded" */
/* True where repeating can't help before someone acts: Stalled. False: Reconciling while it is not reached, or Ready. */
bool verdict_stalled(enum verdict verdict);

#define CONDITION_MESSAGE_MAX 1024

/*
 * The conditions that an object should have: a new array for the caller, from those it has (NULL: none).
 * message is cut to CONDITION_MESSAGE_MAX bytes at a character. observed_generation 0: left out. now: RFC 3339.
 */
cJSON *conditions_merge(const cJSON *live, enum verdict verdict, const char *message,
	int64_t observed_generation, const char *now);
/* Length of text cut to at most max bytes at a character (valid UTF-8 stays valid). */
size_t conditions_cut(const char *text, size_t max);

#endif
