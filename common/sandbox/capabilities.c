/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives up what root can do beyond its files. CAP_DAC_READ_SEARCH is kept by whoever has it: credentials may belong to another user, and what
 * may be read is Landlock's to say.
 */
#include "config.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sandbox/layers.h"

/* Both are refused to who has no capabilities, which is what is wanted. */
static void
drop_bounding_and_ambient(void)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		(void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* Whether anything of the sets is given up by that. */
static bool
reduce(struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3])
{
	bool changed = false;

	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t kept = i == CAP_TO_INDEX(CAP_DAC_READ_SEARCH)
					? sets[i].permitted & CAP_TO_MASK(CAP_DAC_READ_SEARCH)
					: 0;

		changed = changed || sets[i].permitted != kept || sets[i].inheritable != 0;
		sets[i].permitted = kept;
		sets[i].effective &= kept;
		sets[i].inheritable = 0;
	}
	return changed;
}

int
capabilities_drop(struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};

	drop_bounding_and_ambient();
	if (syscall(SYS_capget, &header, sets) < 0)
		return error_set(err, -errno, "capabilities: %s", strerror(errno));
	/* A service manager that left us none may refuse the call, too. */
	if (reduce(sets) && syscall(SYS_capset, &header, sets) < 0)
		return error_set(err, -errno, "capabilities: %s", strerror(errno));
	return 0;
}
