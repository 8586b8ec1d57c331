/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel says of processes that it ended for want of memory in our cgroup: a SIGKILL alone does not tell who sent it. */
#ifndef SUPERVISOR_OOM_H
#define SUPERVISOR_OOM_H

#include <stdint.h>

/*
 * Processes of our cgroup that the OOM killer has ended so far: oom_kill of memory.events (cgroup v2) or of memory.oom_control (v1). 0 where that can't be
 * read; it never falls while we stay in the cgroup. mounts is /sys/fs/cgroup, membership /proc/self/cgroup; others for tests.
 */
uint64_t oom_kills(const char *mounts, const char *membership);

#define OOM_MOUNTS     "/sys/fs/cgroup"
#define OOM_MEMBERSHIP "/proc/self/cgroup"

#endif
