/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of a worker: what its identity and its server need, and nothing else. */
#ifndef WORKERS_CAGE_H
#define WORKERS_CAGE_H

#include "common/kube/kubeconfig.h"

/*
 * Enters the sandbox (common/sandbox) with the target's credential files and the ports of its server and proxy. To be called when the credentials are read and
 * before the first connection; what must fork or exec is forked before. What can't be had is logged, and goes without.
 */
void cage_enter(const struct kube_target *target);
/*
 * After a server could not be reached, or refused us: a file that we would read by now is not the one that was let in. The path, NULL: no. Only a
 * new process can read it.
 */
const char *cage_outdated(void);

#endif
