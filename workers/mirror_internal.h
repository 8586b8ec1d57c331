/* SPDX-License-Identifier: Apache-2.0 */
/* Between mirror.c (discovery, lists, watches, health) and mirror_objects.c (what is in the stores). Nobody else includes it. */
#ifndef WORKERS_MIRROR_INTERNAL_H
#define WORKERS_MIRROR_INTERNAL_H

#include "common/backoff.h"
#include "common/kube/discovery.h"
#include "workers/mirror.h"

#define CAUSE_MAX 512

struct mirror_part {
	struct mirror *mirror;
	const char *namespace_; /* NULL: all */
	struct listwatch *listwatch;
	struct store *store;
	bool was_synced;
	bool left_out; /* an object found no room since the last list began */
	enum worker_state trouble;
	char cause[CAUSE_MAX];
};

struct mirror {
	struct loop *loop;
	struct kube *kube;
	struct mirror_options options;
	struct mirror_callbacks callbacks;
	struct kube_resource resource;
	bool found;
	struct discovery *discovery;
	struct loop_timer *discover, *relist;
	struct backoff backoff;
	enum worker_state trouble; /* of discovery */
	char cause[CAUSE_MAX];
	struct mirror_part *parts;
	size_t n_parts;
	bool wide;         /* one watch of all namespaces for a list of many */
	bool wide_refused; /* that is not allowed: a watch each */
};

void mirror_names_of(const char *bytes, const struct json_object_info *info, char namespace_[256],
	char name[256]);
/* Is it in one of the namespaces that are asked for? Matters for one watch of all. */
bool mirror_wants(const struct mirror *mirror, const char *namespace_);
/* Puts an object and announces it; STORE_FULL: it was left out. */
enum store_result mirror_part_put(struct mirror_part *part, enum listwatch_event event,
	const char *bytes, size_t length, const struct json_object_info *info,
	enum store_origin origin);
/* Announces and removes it, if it has this uid (NULL: any). */
void mirror_part_take_away(
	struct mirror_part *part, const char *namespace_, const char *name, const char *uid);

#endif
