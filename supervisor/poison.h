/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects on which a worker died or hung: who does so twice is quarantined, so that one object does not take the rest of its kind with it.
 *
 * The supervisor keeps the list, since it outlives the workers, and gives it to each new one, which leaves the quarantined alone until their
 * time comes or people change them: another version of an object has no deaths yet. A worker that got over an object says so, and it is off the list. Pure:
 * time comes as an argument.
 */
#ifndef SUPERVISOR_POISON_H
#define SUPERVISOR_POISON_H

#include <stddef.h>
#include <stdint.h>
#include "workers/worker.h"

#define POISON_MAX        64 /* of one controller; the one that was quiet for longest makes room */
#define POISON_DEATHS     2
#define POISON_FIRST_NS   (60 * INT64_C(1000000000)) /* the first retry of a quarantined one, doubling */
#define POISON_LONGEST_NS (3600 * INT64_C(1000000000))

struct poison {
	struct worker_suspect *suspects;
	size_t n;
};

/* A worker ended at work on this version of an object, by this cause. Returns its deaths so far. */
unsigned poison_note(struct poison *poison, const char *key, uint64_t version, const char *cause,
	int64_t now_ns);
/* A worker got over it. */
void poison_cure(struct poison *poison, const char *key);
/* Those that are quarantined. */
size_t poison_held(const struct poison *poison);
void poison_clear(struct poison *poison);

#endif
