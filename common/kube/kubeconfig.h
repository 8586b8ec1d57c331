/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the API server is and who we are: from kubeconfig files as kubectl reads them, or from a pod's service account.
 *
 * Order: the explicit path; else $KUBECONFIG (a list, merged, the first wins); else, in a pod
 * (KUBERNETES_SERVICE_HOST set and the token file there), the service account; else ~/.kube/config (which kubectl takes before the service account).
 * Only the chosen context's cluster and user are validated. What is not supported (auth-provider, exec that needs a terminal, proxy-url with
 * another scheme than http/https/socks5) is refused by name when the chosen user or cluster has it. tests/e2e/test_kubeconfig.py compares each
 * key with kubectl, and names where we are stricter.
 */
#ifndef COMMON_KUBE_KUBECONFIG_H
#define COMMON_KUBE_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include "common/error.h"

/* A program that gives credentials (client.authentication.k8s.io). https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
struct kube_exec {
	char *api_version;  /* client.authentication.k8s.io/v1 or v1beta1 */
	char **argv;        /* NULL-terminated; argv[0]: an absolute path, or a name without a slash to be looked for in PATH */
	char **env;         /* "NAME=value" beside the environment, NULL-terminated; the last is KUBERNETES_EXEC_INFO */
	char *install_hint; /* for people, when there is no such program; NULL: none */
};

/* One server with one identity. Owns all its strings; kube_target_free() burns the secret ones. */
struct kube_target {
	char *server;          /* https://host:port/prefix, without a trailing slash */
	char *tls_server_name; /* NULL: the URL's host */
	char *proxy_url;       /* NULL: none; the environment's proxies are never used */
	bool insecure;         /* insecure-skip-tls-verify */
	char *ca_pem;          /* NULL: the system's store */
	size_t ca_pem_length;
	char *cert_pem, *key_pem; /* client certificate, both or neither */
	size_t cert_pem_length, key_pem_length;
	char *ca_file, *cert_file, *key_file; /* where they came from, NULL for -data: to be read again on rotation */
	char *token;           /* static bearer token; token_file wins when both are there and it can be read, as in client-go */
	char *token_file;
	struct kube_exec *exec; /* NULL: none; never beside a token, password or certificate */
	char *basic;           /* base64 of username:password (RFC 7617), for proxies that ask for it: API servers take none since 1.19; NULL: none */
	char **headers;        /* whole lines to be sent with each request: "Impersonate-User: jane" (user impersonation of the Kubernetes API) */
	size_t n_headers;
	char *namespace_;      /* the context's, or the pod's; NULL: "default" */
	char *source;          /* for people: "kubeconfig /etc/operatord/kubeconfig, context edge" or "in-cluster service account" */
};

struct kubeconfig_options {
	const char *path;       /* explicit file, NULL: the rules above */
	const char *context;    /* NULL: current-context */
	const char *env_list;   /* $KUBECONFIG, NULL or "": unset */
	const char *home;       /* $HOME, may be NULL */
	const char *service_host, *service_port; /* KUBERNETES_SERVICE_HOST, _PORT; NULL: not in a pod */
	const char *service_account_dir; /* NULL: /var/run/secrets/kubernetes.io/serviceaccount */
};

/* Fills the environment's part of options from getenv(3). */
void kubeconfig_options_from_environment(struct kubeconfig_options *options);
/* 0 and *ret, or -errno with the file, the place and what to do. */
int kubeconfig_load(const struct kubeconfig_options *options, struct kube_target **ret, struct error *err);
void kube_target_free(struct kube_target *target);

#endif
