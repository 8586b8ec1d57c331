/* SPDX-License-Identifier: Apache-2.0 */
/* The layers in their order: the filter of system calls last, for the others make calls that it need not allow. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "common/sandbox/layers.h"

static bool landlocked;

/* Keeps the first failure: each layer is entered whatever became of the one before. */
static int
first(int before, int now)
{
	return before < 0 ? before : now;
}

int
sandbox_enter(const struct sandbox *sandbox, struct error *err)
{
	struct error later = {0};
	int r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, -errno, "PR_SET_NO_NEW_PRIVS: %s", strerror(errno));
	r = capabilities_drop(err);
	if (landlock_version() > 0) {
		int now = landlock_enter(sandbox, r < 0 ? &later : err);

		landlocked = now == 0;
		r = first(r, now);
	}
	if (syscalls_filter_exists())
		r = first(r, syscalls_enter(sandbox->network, r < 0 ? &later : err));
	return r;
}

const char *
sandbox_missing(void)
{
	bool landlock = landlock_version() > 0, filter = syscalls_filter_exists();

	if (landlock)
		return filter ? NULL : "seccomp";
	return filter ? "Landlock" : "seccomp and Landlock";
}

const char *
sandbox_outdated(void)
{
	return landlocked ? places_outdated() : NULL;
}
