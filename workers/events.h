/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events (events.k8s.io/v1) about objects. Nothing depends on them: an Event that can't be posted is counted and said once.
 *
 * The same thing about the same object (reason and note) is posted once in 5 minutes; one object gets a burst of 25,
 * then one in 5 minutes; at most 32 are under way at a time. What is over is dropped and counted.
 */
#ifndef WORKERS_EVENTS_H
#define WORKERS_EVENTS_H

#include <stdbool.h>
#include "common/kube/client.h"
#include "common/kube/path.h"
#include "common/loop/loop.h"

#define EVENT_NOTE_MAX 1024

struct events;
/* Strings are copied. */
struct events *events_new(struct kube *kube, const char *instance, const char *controller);
/* What is under way is cancelled. */
void events_free(struct events *events);

struct event {
	bool warning;
	const struct kube_resource *resource; /* of the object that it is about */
	const char *namespace_, *name, *uid;
	const char *reason; /* UpperCamelCase, at most 128 bytes */
	const char *action; /* what was tried: "Apply", "Delete" */
	const char *note;   /* any length; cut to EVENT_NOTE_MAX bytes at a character */
	const char *reconcile_id;
};
void events_post(struct events *events, const struct event *event);

#endif
