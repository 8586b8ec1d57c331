/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity that a pod has from its service account (kubernetes.io/docs/tasks/run-application/access-api-from-pod). It never
 * goes by a proxy of the environment: the API server's address is the cluster's own.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/kube/kubeconfig_set.h"
#include "common/kube/url.h"
#include "common/memory.h"

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define FILE_SIZE_MAX       ((size_t)1 << 20)

char *
kubeconfig_pod_path(const struct kubeconfig_options *options, const char *name)
{
	const char *directory = options->service_account_dir;

	return xasprintf("%s/%s", directory != NULL ? directory : SERVICE_ACCOUNT_DIR, name);
}

static int
read_server(const struct kubeconfig_options *options, struct kube_target *target, struct error *err)
{
	const char *port = options->service_port;
	bool v6 = strchr(options->service_host, ':') != NULL;
	struct kube_url url;
	int r;

	target->server = xasprintf(v6 ? "https://[%s]:%s" : "https://%s:%s", options->service_host,
		port != NULL && *port != '\0' ? port : "443");
	r = kube_url_parse(target->server, &url, err);
	if (r < 0)
		error_prefix(err, "KUBERNETES_SERVICE_HOST and _PORT give %s", target->server);
	return r;
}

/* The pod's own namespace; a pod without the file works in "default". */
static char *
read_namespace(const struct kubeconfig_options *options)
{
	struct buf bytes = BUF_INIT;
	char *path = kubeconfig_pod_path(options, "namespace"), *out = NULL;

	if (buf_read_file(&bytes, path, 256) == 0) {
		while (bytes.length > 0 && strchr(" \t\r\n", bytes.data[bytes.length - 1]) != NULL)
			bytes.data[--bytes.length] = '\0';
		if (bytes.length > 0)
			out = xstrdup(bytes.data);
	}
	buf_free(&bytes);
	free(path);
	return out;
}

int
kubeconfig_pod_target(
	const struct kubeconfig_options *options, struct kube_target **ret, struct error *err)
{
	struct kube_target *target = xcalloc(1, sizeof(*target));
	struct buf ca = BUF_INIT;
	int r = read_server(options, target, err);

	target->token_file = kubeconfig_pod_path(options, "token");
	target->ca_file = kubeconfig_pod_path(options, "ca.crt");
	target->namespace_ = read_namespace(options);
	target->source = xstrdup("in-cluster service account, no proxy");
	if (r == 0) {
		r = buf_read_file(&ca, target->ca_file, FILE_SIZE_MAX);
		if (r < 0)
			error_set(err, r, "in-cluster service account: %s: %s", target->ca_file,
				strerror(-r));
		else
			target->ca_pem = buf_detach(&ca, &target->ca_pem_length);
	}
	buf_free(&ca);
	if (r < 0) {
		kube_target_free(target);
		return r;
	}
	*ret = target;
	return 0;
}
