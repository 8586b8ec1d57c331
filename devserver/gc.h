/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection by owner references, and the content of Namespaces and CRDs that go. */
#ifndef DEVSERVER_GC_H
#define DEVSERVER_GC_H

#include "devserver/server.h"

/* A change was made: queues what follows from it. */
void gc_changed(struct api *api, const struct event *event);

#endif
