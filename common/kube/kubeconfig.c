/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which a kubeconfig is found. Reads no environment by itself: what counts of it is in the options, so that tests
 * and the supervisor's children decide alike.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/kube/kubeconfig.h"
#include "common/kube/kubeconfig_set.h"
#include "common/memory.h"

void
kubeconfig_options_from_environment(struct kubeconfig_options *options)
{
	options->env_list = getenv("KUBECONFIG");
	options->home = getenv("HOME");
	options->service_host = getenv("KUBERNETES_SERVICE_HOST");
	options->service_port = getenv("KUBERNETES_SERVICE_PORT");
}

/* Adds the files of a list with colons: blank entries are ignored and missing files skipped, as long as one is there. */
static int
add_list(struct kubeconfig_set *set, const char *list, struct error *err)
{
	char *copy = xstrdup(list), *rest = copy, *path;
	int r = 0;

	while (r == 0 && (path = strsep(&rest, ":")) != NULL) {
		if (*path == '\0')
			continue;
		r = kubeconfig_set_add(set, path, err);
		if (r == -ENOENT)
			r = 0;
	}
	free(copy);
	if (r == 0 && set->n == 0)
		r = error_set(err, -ENOENT, "KUBECONFIG=%s names no file that exists", list);
	return r;
}

static bool
in_pod(const struct kubeconfig_options *options)
{
	char *path;
	bool there;

	if (options->service_host == NULL || *options->service_host == '\0')
		return false;
	path = kubeconfig_pod_path(options, "token");
	there = access(path, F_OK) == 0;
	free(path);
	return there;
}

static int
add_home(struct kubeconfig_set *set, const struct kubeconfig_options *options, struct error *err)
{
	char *path;
	int r;

	if (options->home == NULL || *options->home == '\0')
		return error_set(err, -ENOENT,
			"no kubeconfig: name one, or set KUBECONFIG; HOME is not set, and this is "
			"no pod");
	path = xasprintf("%s/.kube/config", options->home);
	r = kubeconfig_set_add(set, path, err);
	if (r == -ENOENT)
		error_set(err, r,
			"no kubeconfig: name one, or set KUBECONFIG; %s does not exist, and this "
			"is no pod",
			path);
	free(path);
	return r;
}

int
kubeconfig_load(
	const struct kubeconfig_options *options, struct kube_target **ret, struct error *err)
{
	struct kubeconfig_set set = {0};
	int r;

	if (options->path != NULL)
		r = kubeconfig_set_add(&set, options->path, err);
	else if (options->env_list != NULL &&
		 options->env_list[strspn(options->env_list, ":")] != '\0')
		r = add_list(&set, options->env_list, err);
	else if (in_pod(options))
		return kubeconfig_pod_target(options, ret, err);
	else
		r = add_home(&set, options, err);
	if (r == 0)
		r = kubeconfig_target(&set, options->context, ret, err);
	kubeconfig_set_free(&set);
	return r;
}
