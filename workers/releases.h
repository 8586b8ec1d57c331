/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that left our view with our finalizer on them: under a selector an object may only have stopped to match. Each is read, and if it is
 * still there our finalizer is taken off and nothing else is touched; what fails is tried again, with growing delays.
 */
#ifndef WORKERS_RELEASES_H
#define WORKERS_RELEASES_H

#include "workers/engine.h"

struct releases;

/* The engine must outlive it. */
struct releases *releases_new(struct engine *engine);
/* Those that are not done are left as they are, which is logged. */
void releases_free(struct releases *releases);
void releases_add(
	struct releases *releases, const char *namespace_, const char *name, const char *uid);

#endif
