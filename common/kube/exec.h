/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials from a program, as a source for a Kubernetes client: the `exec` of a kubeconfig.
 *
 * The program is run by a runner of its own (common/runner): with the environment at the time of kube_exec_new(), less what belongs to the service manager; in the
 * working directory of that time; with no terminal and an empty stdin; for 60 s at most; its answer is at most 1 MiB. What it writes to stderr is logged.
 */
#ifndef COMMON_KUBE_EXEC_H
#define COMMON_KUBE_EXEC_H

#include "common/kube/client.h"

/*
 * Starts the runner for target->exec, which must outlive the source: before the first connection, before the sandbox, and while the environment is there.
 * name: for whom, in the runner's process title; may be NULL. lost: the runner is gone, and no credential will come any more; may be NULL. 0, -ENOENT with the program's install hint when it is not to be found in PATH, or
 * another -errno.
 */
int kube_exec_new(struct loop *loop, const struct kube_target *target, const char *name, void (*lost)(void *data), void *data,
	struct kube_source *ret, struct error *err);

#endif
