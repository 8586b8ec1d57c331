/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster that the options name, for the verbs that ask an API server. */
#include "config.h"

#include <string.h>

#include "common/kube/discovery.h"
#include "common/kube/exec.h"
#include "common/kube/kubeconfig.h"
#include "ctl/ctl.h"

struct kube *
ctl_connect(const struct ctl *ctl, struct loop *loop)
{
	struct kubeconfig_options options = {0};
	struct kube_target *target;
	struct kube_source source = {0};
	struct error err = {0};

	kubeconfig_options_from_environment(&options);
	if (ctl->kubeconfig)
		options.path = ctl->kubeconfig;
	options.context = ctl->context;
	if (kubeconfig_load(&options, &target, &err) < 0) {
		ctl_complain("%s", err.text);
		return NULL;
	}
	struct kube *kube = NULL;
	if (!target->exec || kube_exec_new(loop, target, NULL, NULL, NULL, &source, &err) == 0)
		kube = kube_new(loop, target, &err);
	else
		kube_target_free(target);
	if (!kube)
		ctl_complain("%s", err.text);
	if (!kube && source.free)
		source.free(source.data);
	else if (source.ask)
		kube_use_source(kube, &source);
	return kube;
}

void
ctl_complain_answer(const struct kube *kube, const struct kube_result *result)
{
	const char *source = kube_credentials_source(kube, result->outcome);

	ctl_complain("%s%s%s", source ? source : "", source ? ": " : "", result->message);
}

bool
ctl_find_resource(struct kube *kube, const char *word, struct kube_resource *ret)
{
	struct error err = {0};

	if (discovery_find(kube, word, ret, &err) == 0)
		return true;
	ctl_complain("%s", err.text);
	return false;
}

const char *
ctl_namespace(const struct ctl *ctl, const struct kube *kube, const struct kube_resource *resource)
{
	if (ctl->all_namespaces || !resource->namespaced)
		return NULL;
	if (ctl->namespace_)
		return ctl->namespace_;
	const char *from_context = kube_target(kube)->namespace_;
	return from_context && *from_context ? from_context : "default";
}
