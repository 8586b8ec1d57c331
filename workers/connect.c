/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt to become a client of the API server. Whatever fails, nothing of it stays: a kubeconfig, a token or a program that is not there yet may be there
 * at the next attempt. How often, and what is said about it, is the worker's.
 */
#include "config.h"

#include "common/json.h"
#include "common/kube/exec.h"
#include "common/kube/identity.h"
#include "common/kube/kubeconfig.h"
#include "common/log.h"
#include "workers/connect.h"

/* The controller's own credentials and whom it impersonates, in the place of the kubeconfig's. */
static int
use_identity(const struct config_controller *config, struct kube_target *target, struct error *err)
{
	const cJSON *as = config->impersonate;
	const struct kube_identity identity = {
		.token_file = config->token_file,
		.certificate_file = config->certificate_file,
		.key_file = config->key_file,
		.user = json_string(as, "user", NULL),
		.uid = json_string(as, "uid", NULL),
		.groups = json_get(as, "groups", NULL),
		.extra = json_get(as, "extra", NULL),
	};

	return identity_apply(&identity, target, err);
}

struct kube *
connect_try(struct loop *loop, const struct config_controller *config, const char *name,
	void (*lost)(void *data), void *data, struct error *err)
{
	struct kubeconfig_options options = {0};
	struct kube_target *target = NULL;
	struct kube_source source = {0};
	struct kube *kube;

	kubeconfig_options_from_environment(&options);
	options.path = config->kubeconfig;
	options.context = config->context;
	if (kubeconfig_load(&options, &target, err) < 0)
		return NULL;
	/* Forked first: what the client holds is not the program's. */
	if (use_identity(config, target, err) < 0 ||
		(target->exec != NULL &&
			kube_exec_new(loop, target, name, lost, data, &source, err) < 0)) {
		kube_target_free(target);
		return NULL;
	}
	kube = kube_new(loop, target, err); /* frees the target when it fails */
	if (kube == NULL && source.free != NULL)
		source.free(source.data);
	if (kube == NULL)
		return NULL;
	if (source.ask != NULL)
		kube_use_source(kube, &source);
	log_info("server %s, %s", kube_target(kube)->server, kube_target(kube)->source);
	return kube;
}
