/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that write: create, update, patch, apply, delete. Each answers the call. */
#ifndef DEVSERVER_WRITE_H
#define DEVSERVER_WRITE_H

#include "devserver/server.h"

void write_create(struct call *call);
void write_update(struct call *call); /* PUT */
void write_patch(struct call *call);
void write_delete(struct call *call);
void write_delete_collection(struct call *call);

/* The body as an object; NULL: answered. */
cJSON *write_body(struct call *call);
/*
 * Makes after (taken) the state of what stored holds, by all rules of an update; applied: managedFields are done.
 * false: answered with a failure; else the result is in *ret, in the form of the call's version, the caller's.
 */
bool write_replace(struct call *call, struct object *stored, const cJSON *before, cJSON *after,
	bool applied, cJSON **ret);

/* How an object is to go. */
enum propagation { PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN };
/* Deletes, or marks as to be deleted, for a request or for the garbage collector. true: it is gone. */
bool delete_object(struct api *api, struct collection *collection, struct object *object,
	enum propagation propagation);
/* After a write: removes an object that is marked and has no finalizers left. */
bool delete_if_done(struct api *api, struct collection *collection, struct object *object);

#endif
