/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reconcile of one object: plan, apply the children that need it in the order of the configuration, prune, write the
 * status. No more than one write of it is under way at a time.
 *
 * It ends the queue's item once, whatever happens, and leaves no tree alive while it waits. An object that changed meanwhile is not given
 * a status from the older version: its item runs again.
 */
#ifndef WORKERS_RECONCILE_H
#define WORKERS_RECONCILE_H

#include "workers/engine.h"

void reconcile_start(struct engine *engine, struct queue_item *item);
/* Cancels all that run, without telling the queue: before everything is freed. */
void reconcile_cancel_all(struct engine *engine);

#endif
