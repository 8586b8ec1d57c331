/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that left our view with our finalizer on them. Each is read. If it is still there it only stopped to match a selector: our finalizer is taken off,
 * and nothing else is touched. If it is gone it did not wait for us, though it was never seen under deletion: a DELETE that a server judged just
 * before our finalizer arrived does that. Then the children that were to go with it are deleted. What fails is tried again, with growing delays.
 */
#ifndef WORKERS_RELEASES_H
#define WORKERS_RELEASES_H

#include "workers/engine.h"

struct releases;

/* The engine must outlive it. */
struct releases *releases_new(struct engine *engine);
/* Those that are not done are left as they are, which is logged. */
void releases_free(struct releases *releases);
/* view: as it was last seen. One that was under deletion then, and is gone, was let go of by somebody's hand: its children stay. */
void releases_add(struct releases *releases, const struct store_view *view);

#endif
