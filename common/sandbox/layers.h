/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of the sandbox, for common/sandbox alone. Each is entered once: 0, or -errno with the cause. */
#ifndef COMMON_SANDBOX_LAYERS_H
#define COMMON_SANDBOX_LAYERS_H

#include <stdbool.h>
#include "common/error.h"
#include "common/sandbox/sandbox.h"

/* capabilities.c */
int capabilities_drop(struct error *err);

/* syscalls.c */
bool syscalls_filter_exists(void);
int syscalls_enter(bool network, struct error *err);

/* landlock.c: the version of the kernel's interface, 0: none. */
int landlock_version(void);
int landlock_enter(const struct sandbox *sandbox, struct error *err);

/*
 * places.c: what may be read. Calls each with every place, directory or file, existing or not; remembers those that others may replace.
 */
void places_each(
	const struct sandbox *sandbox, void (*each)(void *data, const char *path), void *data);
const char *places_outdated(void);

#endif
