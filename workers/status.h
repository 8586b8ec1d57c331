/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be written into an object's status, and what a server makes of it. Pure.
 *
 * A patch is the difference between the status that is there and the one that is wanted, as a merge patch (RFC 7386) of
 * the keys that are ours: those of the templates, conditions and observedGeneration. Other keys are left alone.
 *
 * A schema may drop a member (pruning) or add one (defaults). Both are seen in the answer to a write; the member's path is then
 * remembered and not compared any more, so that nothing is written again and again. Paths are dotted, a list's index is "*":
 * "conditions", "conditions.*.observedGeneration". They last as
 * long as the process, or until the resource is discovered anew. After a restart one write finds out again, and changes nothing on the server,
 * which keeps the resourceVersion.
 */
#ifndef WORKERS_STATUS_H
#define WORKERS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>

struct status_paths;
struct status_paths *status_paths_new(void);
void status_paths_free(struct status_paths *paths);
void status_paths_clear(struct status_paths *paths);
/* Adds a path; false when it was known (or there are too many: 256). */
bool status_paths_add(struct status_paths *paths, const char *path);
bool status_paths_has(const struct status_paths *paths, const char *path);

/*
 * The patch from live (NULL: no status yet) to wanted, an object; NULL when nothing differs. Keys in `owned` (n_owned) that are in live
 * but not in wanted become null, which deletes them. The caller frees it.
 */
cJSON *status_diff(const cJSON *live, const cJSON *wanted, const char *const *owned, size_t n_owned,
	const struct status_paths *ignored);
/*
 * Compares what was sent (the patch) with the status in the answer: adds the paths that the server dropped or added. dropped() is called once
 * for each path that is new and was dropped.
 */
void status_learn(struct status_paths *ignored, const cJSON *sent, const cJSON *answer,
	void (*dropped)(void *data, const char *path), void *data);
/* True if the patch only adds members to what is there, in lists too: nothing else differs. */
bool status_only_adds(const cJSON *live, const cJSON *patch);

#endif
