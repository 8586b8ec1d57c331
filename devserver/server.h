/* SPDX-License-Identifier: Apache-2.0 */
/* The server's inside: what api.c ties together and the modules behind it share. */
#ifndef DEVSERVER_SERVER_H
#define DEVSERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include "devserver/call.h"
#include "devserver/kinds.h"
#include "devserver/store.h"

struct work;

struct api {
	struct api_options options; /* with the defaults filled in */
	struct store *store;
	struct kinds kinds;
	struct api_watch *watches;
	int64_t watch_due; /* monotonic ns of the first bookmark or end of a watch, -1: none */
	struct work *now, **now_last, *later, **later_last;
};

/*
 * What the server does by itself, after the request that caused it: at once or after options.ready_delay_ns. The object is
 * the one that the change left (it may be gone since); run looks at what is now.
 */
typedef void work_fn(struct api *api, struct collection *collection, const struct object *object);
void work_now(struct api *api, work_fn *run, struct collection *collection, struct object *object);
void work_later(
	struct api *api, work_fn *run, struct collection *collection, struct object *object);
int64_t work_run(struct api *api); /* does what is due; ns until the next, -1: nothing waits */
void work_free(struct api *api);
/* The current state of the same object (by uid), or NULL. */
struct object *work_current(const struct collection *collection, const struct object *object);
bool server_is(const struct collection *collection, const char *group, const char *plural);

/* "2026-11-30T22:05:00Z"; digits 0 or 6. */
void server_time(char out[32], int digits);
/* A random (version 4) UUID. */
void server_uuid(char out[37]);
/* The resource that an object of this collection was stored as. */
struct resource *server_resource(const struct api *api, const struct collection *collection);

/* Changes a tree between the storage's form and the form of a version. */
void convert_in(cJSON *tree, const struct version *version);
void convert_out(cJSON *tree, const struct version *version);
/* Whether stored bytes are what the version shows. */
bool convert_same(const struct version *version);

/* Writes of the server's own controllers: puts the tree (taken) in the place of object, as a request would. */
void server_put(struct api *api, struct collection *collection, cJSON *tree);

#endif
