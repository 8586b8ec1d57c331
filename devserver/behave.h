/* SPDX-License-Identifier: Apache-2.0 */
/* What controllers do on a real cluster and examples need: workloads become ready. No pods are made. */
#ifndef DEVSERVER_BEHAVE_H
#define DEVSERVER_BEHAVE_H

#include "devserver/server.h"

/* A change was made: queues what follows from it. */
void behave_changed(struct api *api, const struct event *event);

#endif
