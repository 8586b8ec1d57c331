/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's way to its API server: where it is and who we are, from the environment and the controller's configuration. */
#ifndef WORKERS_CONNECT_H
#define WORKERS_CONNECT_H

#include "common/config/config.h"
#include "common/error.h"
#include "common/kube/client.h"

/*
 * Reads the kubeconfig and what it names, and starts the runner of a credential program: before the environment is cleared, the memory limited and the
 * cage entered. Nothing is connected. name: the controller's, for the runner's title; lost: the runner is gone. The client, or NULL with what
 * is missing, to be tried again as often as one likes.
 */
struct kube *connect_try(struct loop *loop, const struct config_controller *config, const char *name, void (*lost)(void *data),
	void *data, struct error *err);

#endif
