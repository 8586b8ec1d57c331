/* SPDX-License-Identifier: Apache-2.0 */
/* Watches. */
#ifndef DEVSERVER_WATCH_H
#define DEVSERVER_WATCH_H

#include "devserver/server.h"

/* Starts a watch for a resolved call, which it takes over; NULL: answered with a failure, the call is still the caller's. */
struct api_watch *watch_start(struct call *call,
	void (*line)(void *data, const char *bytes, size_t length), void (*end)(void *data),
	void *data);
void watch_changed(struct api *api, const struct event *event);
/* The resource is about to change or go: its watches end. */
void watch_end_resource(struct api *api, const struct resource *resource);
/* Bookmarks and ends that are due; ns until the next, -1: none. */
int64_t watch_tick(struct api *api);

#endif
