/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the chosen context to a target: the cluster's entry, certificates read; the user's is read by kubeconfig_user.c.
 *
 * A context without a user, or with one that is defined nowhere, is anonymous, as for kubectl.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base64.h"
#include "common/kube/kubeconfig_set.h"
#include "common/kube/url.h"
#include "common/memory.h"

#define PEM_SIZE_MAX ((size_t)1 << 20)

char *
kubeconfig_absolute(const struct kubeconfig_file *file, const char *path)
{
	return *path == '/' ? xstrdup(path) : xasprintf("%s/%s", file->directory, path);
}

int
kubeconfig_read_pem(const char *path, char **ret, size_t *ret_length)
{
	struct buf bytes = BUF_INIT;
	int r = buf_read_file(&bytes, path, PEM_SIZE_MAX);

	if (r < 0) {
		explicit_bzero(bytes.data, bytes.length);
		buf_free(&bytes);
		return r;
	}
	*ret = buf_detach(&bytes, ret_length);
	return *ret == NULL ? -ENOMEM : 0;
}

/* Reads a PEM member: KEY-data wins over KEY. Leaves *ret alone when there is neither. */
int
kubeconfig_pem(const struct kubeconfig_entry *entry, const char *key, char **ret,
	size_t *ret_length, char **ret_file, struct error *err)
{
	const char *data, *path;
	char data_key[64];
	int r;

	snprintf(data_key, sizeof(data_key), "%s-data", key);
	if ((r = kubeconfig_text(entry, data_key, &data, err)) < 0 ||
		(r = kubeconfig_text(entry, key, &path, err)) < 0)
		return r;
	if (data != NULL) {
		r = base64_decode(data, strlen(data), ret, ret_length);
		if (r < 0)
			error_set(err, r,
				"kubeconfig %s: %s is not valid base64 (is it cut, or its padding "
				"lost?)",
				entry->file->path, data_key);
		return r;
	}
	if (path == NULL)
		return 0;
	*ret_file = kubeconfig_absolute(entry->file, path);
	r = kubeconfig_read_pem(*ret_file, ret, ret_length);
	return r < 0 ? error_set(err, r, "kubeconfig %s: %s %s: %s", entry->file->path, key,
			       *ret_file, strerror(-r))
		     : 0;
}

static int
check_proxy(const struct kubeconfig_entry *entry, const char *proxy, struct error *err)
{
	static const char *const schemes[] = {"http://", "https://", "socks5://", "socks5h://"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strncasecmp(proxy, schemes[i], strlen(schemes[i])) == 0)
			return 0;
	}
	/* The URL may hold a password, so it is not shown. */
	return error_set(err, -EINVAL,
		"kubeconfig %s: proxy-url must begin with http://, https:// or socks5://",
		entry->file->path);
}

/* HOST:PORT alone is plain HTTP, as for kubectl; where TLS is meant we ask for https:// instead of failing to understand the server later. */
static bool
is_bare(const char *server, const struct kube_target *target)
{
	return strchr(server, '/') == NULL && !target->insecure && target->ca_pem == NULL &&
	       target->tls_server_name == NULL;
}

static int
read_server(const struct kubeconfig_entry *entry, const char *name, struct kube_target *target,
	struct error *err)
{
	const char *server;
	struct kube_url url;
	char authority[272], *text;
	int r = kubeconfig_text(entry, "server", &server, err);

	if (r < 0)
		return r;
	if (server == NULL)
		return error_set(err, -EINVAL, "kubeconfig %s: cluster \"%s\" has no server",
			entry->file->path, name);
	text = xasprintf("%s%s", is_bare(server, target) ? "http://" : "", server);
	r = kube_url_parse(text, &url, err);
	free(text);
	if (r < 0) {
		error_prefix(
			err, "kubeconfig %s: server of cluster \"%s\"", entry->file->path, name);
		return r;
	}
	kube_url_authority(&url, authority);
	target->server = xasprintf("%s://%s%s", url.tls ? "https" : "http", authority, url.prefix);
	return 0;
}

static int
read_cluster(const struct kubeconfig_entry *entry, const char *name, struct kube_target *target,
	struct error *err)
{
	const char *server_name, *proxy;
	struct kube_url url;
	int r;

	if ((r = kubeconfig_text(entry, "tls-server-name", &server_name, err)) < 0 ||
		(r = kubeconfig_text(entry, "proxy-url", &proxy, err)) < 0 ||
		(r = kubeconfig_bool(entry, "insecure-skip-tls-verify", &target->insecure, err)) <
			0 ||
		(r = kubeconfig_pem(entry, "certificate-authority", &target->ca_pem,
			 &target->ca_pem_length, &target->ca_file, err)) < 0)
		return r;
	if (target->insecure && target->ca_pem != NULL)
		return error_set(err, -EINVAL,
			"kubeconfig %s: cluster \"%s\" has insecure-skip-tls-verify and a "
			"certificate-authority; remove one",
			entry->file->path, name);
	if (server_name != NULL) {
		char *text = xasprintf("https://%s", server_name);

		r = kube_url_parse(text, &url, NULL);
		free(text);
		if (r < 0 || url.port_given || url.prefix[0] != '\0' || url.bracketed)
			return error_set(err, -EINVAL,
				"kubeconfig %s: tls-server-name \"%s\" is not a host name",
				entry->file->path, server_name);
		target->tls_server_name = xstrdup(server_name);
	}
	if (proxy != NULL) {
		if ((r = check_proxy(entry, proxy, err)) < 0)
			return r;
		target->proxy_url = xstrdup(proxy);
	}
	return read_server(entry, name, target, err);
}

/* Finds context and cluster, for which there is no stand-in. */
static int
find_required(const struct kubeconfig_set *set, const char *list, const char *member,
	const char *name, struct kubeconfig_entry *ret, struct error *err)
{
	struct buf names = BUF_INIT_LIMIT(200);
	int r = kubeconfig_set_find(set, list, member, name, ret, err);

	if (r == -ENOENT) {
		kubeconfig_set_names(set, list, &names);
		error_set(err, r, "kubeconfig %s: there is no %s \"%s\"; there are: %s",
			set->files[0].path, member, name, names.length > 0 ? names.data : "none");
	} else if (r == 0 && ret->value == NULL) {
		r = error_set(err, -EINVAL, "kubeconfig %s: %s \"%s\" is empty", ret->file->path,
			member, name);
	}
	buf_free(&names);
	return r;
}

static int
fill(const struct kubeconfig_set *set, const struct kubeconfig_entry *context, const char *name,
	struct kube_target *target, struct error *err)
{
	struct kubeconfig_entry cluster = {0}, user = {0};
	const char *cluster_name, *user_name, *namespace_;
	const char *who = "";
	int r;

	if ((r = kubeconfig_text(context, "cluster", &cluster_name, err)) < 0 ||
		(r = kubeconfig_text(context, "user", &user_name, err)) < 0 ||
		(r = kubeconfig_text(context, "namespace", &namespace_, err)) < 0)
		return r;
	if (cluster_name == NULL)
		return error_set(err, -EINVAL, "kubeconfig %s: context \"%s\" has no cluster",
			context->file->path, name);
	if ((r = find_required(set, "clusters", "cluster", cluster_name, &cluster, err)) < 0 ||
		(r = read_cluster(&cluster, cluster_name, target, err)) < 0)
		return r;
	r = user_name == NULL ? -ENOENT
			      : kubeconfig_set_find(set, "users", "user", user_name, &user, err);
	if (r == -ENOENT)
		who = user_name == NULL ? ", no user: anonymous"
					: ", its user is not defined: anonymous";
	else if (r < 0 || (r = kubeconfig_user(&user, user_name, target, err)) < 0 ||
		 (r = kubeconfig_exec(&user, user_name, &cluster, target, err)) < 0)
		return r;
	target->namespace_ = namespace_ == NULL ? NULL : xstrdup(namespace_);
	target->source = xasprintf("kubeconfig %s, context %s%s%s", context->file->path, name, who,
		target->proxy_url != NULL ? ", by its proxy" : "");
	return 0;
}

static void
burn_text(char *text)
{
	if (text != NULL)
		memory_burn(text, strlen(text));
}

void
kube_target_drop_credentials(struct kube_target *target)
{
	burn_text(target->token);
	burn_text(target->basic);
	kube_exec_free(target->exec);
	memory_burn(target->key_pem, target->key_pem_length);
	free(target->cert_pem);
	free(target->cert_file);
	free(target->key_file);
	free(target->token_file);
	target->token = target->basic = target->key_pem = target->cert_pem = NULL;
	target->cert_file = target->key_file = target->token_file = NULL;
	target->key_pem_length = target->cert_pem_length = 0;
	target->exec = NULL;
}

/* Credentials without TLS would be there for everyone on the way to read: they stay here, as with kubectl, and who we are says so. */
static void
drop_without_tls(struct kube_target *target)
{
	char *source = target->source;

	if (strncmp(target->server, "http://", 7) != 0 ||
		(target->token == NULL && target->token_file == NULL && target->basic == NULL &&
			target->cert_pem == NULL && target->exec == NULL))
		return;
	kube_target_drop_credentials(target);
	target->source = xasprintf("%s, its credentials not sent without TLS", source);
	free(source);
}

int
kubeconfig_target(const struct kubeconfig_set *set, const char *context, struct kube_target **ret,
	struct error *err)
{
	struct kube_target *target = xcalloc(1, sizeof(*target));
	struct kubeconfig_entry entry = {0};
	int r;

	if (context == NULL)
		context = kubeconfig_set_current_context(set);
	if (context == NULL)
		r = error_set(err, -ENOENT,
			"kubeconfig %s: no current-context; set one, or name a context",
			set->files[0].path);
	else
		r = find_required(set, "contexts", "context", context, &entry, err);
	if (r == 0)
		r = fill(set, &entry, context, target, err);
	if (r == 0)
		drop_without_tls(target);
	if (r < 0) {
		kube_target_free(target);
		return r;
	}
	*ret = target;
	return 0;
}

void
kube_target_free(struct kube_target *target)
{
	if (target == NULL)
		return;
	kube_target_drop_credentials(target);
	burn_text(target->proxy_url); /* may hold a password */
	for (size_t i = 0; i < target->n_headers; i++)
		free(target->headers[i]);
	free(target->headers);
	free(target->ca_pem);
	free(target->server);
	free(target->tls_server_name);
	free(target->ca_file);
	free(target->namespace_);
	free(target->source);
	free(target);
}
