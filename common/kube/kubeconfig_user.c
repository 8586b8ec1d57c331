/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's entry of a kubeconfig: token, certificate or password, and whom to impersonate (as, as-uid, as-groups, as-user-extra).
 * Its exec is read by kubeconfig_exec.c.
 *
 * What operatord cannot do is refused by name, for to leave it out would mean to run as somebody else.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/kube/identity.h"
#include "common/kube/kubeconfig_set.h"
#include "common/log.h"
#include "common/memory.h"

/* The authentication plugins that were part of clients, and the way out. */
static const struct {
	const char *name, *instead;
} providers[] = {
	{"gcp", "use exec with gke-gcloud-auth-plugin, as kubectl asks for too"},
	{"azure", "use exec with kubelogin (github.com/Azure/kubelogin), as kubectl asks for too"},
	{"oidc", "use exec with kubelogin (github.com/int128/kubelogin), or a token"},
	{"openstack", "use exec with client-keystone-auth"},
};

static int
check_provider(const struct kubeconfig_entry *entry, const char *user, struct error *err)
{
	const struct yaml_node *node = yaml_get(entry->value, "auth-provider");
	const struct yaml_node *name =
		node != NULL && node->type == YAML_MAP ? yaml_get(node, "name") : NULL;
	const char *text = name != NULL && name->text != NULL ? name->text : "";
	const char *instead = "use exec, a token, tokenFile or client certificate";

	if (node == NULL || node->type == YAML_NULL || (node->text != NULL && node->length == 0))
		return 0;
	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
		if (strcmp(text, providers[i].name) == 0)
			instead = providers[i].instead;
	return error_set(err, -EOPNOTSUPP,
		"kubeconfig %s:%d: auth-provider %.40s of user \"%s\" is not supported; %s",
		entry->file->path, node->key_line, text, user, instead);
}

static int
read_token(const struct kubeconfig_entry *entry, struct kube_target *target, struct error *err)
{
	const char *token, *file;
	int r;

	if ((r = kubeconfig_text(entry, "token", &token, err)) < 0 ||
		(r = kubeconfig_text(entry, "tokenFile", &file, err)) < 0)
		return r;
	if (file != NULL)
		target->token_file = kubeconfig_absolute(entry->file, file);
	if (token == NULL)
		return 0;
	for (const char *c = token; *c != '\0'; c++) {
		if (*c <= ' ' || (unsigned char)*c >= 0x7f)
			return error_set(err, -EINVAL,
				"kubeconfig %s: the token holds characters that no token has",
				entry->file->path);
	}
	target->token = xstrdup(token);
	return 0;
}

static int
read_password(const struct kubeconfig_entry *entry, const char *name, struct kube_target *target,
	struct error *err)
{
	const char *username, *password;
	struct buf encoded = BUF_INIT;
	char *pair;
	int r;

	if ((r = kubeconfig_text(entry, "username", &username, err)) < 0 ||
		(r = kubeconfig_text(entry, "password", &password, err)) < 0)
		return r;
	if (username == NULL && password == NULL)
		return 0;
	if (target->token != NULL || target->token_file != NULL)
		return error_set(err, -EINVAL,
			"kubeconfig %s: user \"%s\" has a token and a username or password; remove "
			"one",
			entry->file->path, name);
	if (username == NULL || strchr(username, ':') != NULL)
		return error_set(err, -EINVAL,
			"kubeconfig %s: user \"%s\" needs a username without a colon",
			entry->file->path, name);
	if (password != NULL)
		log_mask(password, strlen(password));
	pair = xasprintf("%s:%s", username, password != NULL ? password : "");
	base64_encode(&encoded, pair, strlen(pair));
	memory_burn(pair, strlen(pair));
	target->basic = buf_detach(&encoded, NULL);
	return target->basic == NULL ? error_set(err, -ENOMEM, "out of memory") : 0;
}

/* --- Impersonation --- */

static int
add_header(const struct kubeconfig_entry *entry, const char *key, const char *header,
	const char *value, struct kube_target *target, struct error *err)
{
	int r = identity_add_header(target, header, value, err);

	return r < 0 ? error_set(err, r, "kubeconfig %s: %s %s", entry->file->path, key, err->text)
		     : 0;
}

static int
add_list(const struct kubeconfig_entry *entry, const char *key, const struct yaml_node *list,
	const char *header, struct kube_target *target, struct error *err)
{
	int r = 0;

	if (list == NULL || list->type == YAML_NULL)
		return 0;
	if (list->type != YAML_LIST)
		return error_set(err, -EINVAL, "kubeconfig %s:%d:%d: %s must be a list of texts",
			entry->file->path, list->line, list->column, key);
	for (const struct yaml_node *item = list->children; r == 0 && item != NULL;
		item = item->next) {
		if (item->type != YAML_STRING || strlen(item->text) != item->length)
			return error_set(err, -EINVAL,
				"kubeconfig %s:%d:%d: %s must be a list of texts; put this one in "
				"quotes",
				entry->file->path, item->line, item->column, key);
		r = add_header(entry, key, header, item->text, target, err);
	}
	return r;
}

static int
read_extra(const struct kubeconfig_entry *entry, struct kube_target *target, struct error *err)
{
	static const char key[] = "as-user-extra";
	const struct yaml_node *map = yaml_get(entry->value, key);
	int r = 0;

	if (map == NULL || map->type == YAML_NULL)
		return 0;
	if (map->type != YAML_MAP)
		return error_set(err, -EINVAL, "kubeconfig %s:%d:%d: %s must be a map of lists",
			entry->file->path, map->line, map->column, key);
	for (const struct yaml_node *list = map->children; r == 0 && list != NULL;
		list = list->next) {
		char *header = identity_extra_header(list->key);

		r = header == NULL ? error_set(err, -ENOMEM, "out of memory")
				   : add_list(entry, key, list, header, target, err);
		free(header);
	}
	return r;
}

static int
read_impersonation(const struct kubeconfig_entry *entry, const char *name,
	struct kube_target *target, struct error *err)
{
	const char *as, *uid;
	int r;

	if ((r = kubeconfig_text(entry, "as", &as, err)) < 0 ||
		(r = kubeconfig_text(entry, "as-uid", &uid, err)) < 0)
		return r;
	if (as != NULL && (r = add_header(entry, "as", "Impersonate-User", as, target, err)) < 0)
		return r;
	if (uid != NULL &&
		(r = add_header(entry, "as-uid", "Impersonate-Uid", uid, target, err)) < 0)
		return r;
	if ((r = add_list(entry, "as-groups", yaml_get(entry->value, "as-groups"),
		     "Impersonate-Group", target, err)) < 0 ||
		(r = read_extra(entry, target, err)) < 0)
		return r;
	if (as == NULL && target->n_headers > 0)
		return error_set(err, -EINVAL,
			"kubeconfig %s: user \"%s\" has as-uid, as-groups or as-user-extra but no "
			"as; name whom to impersonate",
			entry->file->path, name);
	return 0;
}

int
kubeconfig_user(const struct kubeconfig_entry *entry, const char *name, struct kube_target *target,
	struct error *err)
{
	int r;

	if (entry->value == NULL)
		return 0;
	if ((r = check_provider(entry, name, err)) < 0 ||
		(r = read_token(entry, target, err)) < 0 ||
		(r = read_password(entry, name, target, err)) < 0 ||
		(r = read_impersonation(entry, name, target, err)) < 0 ||
		(r = kubeconfig_pem(entry, "client-certificate", &target->cert_pem,
			 &target->cert_pem_length, &target->cert_file, err)) < 0 ||
		(r = kubeconfig_pem(entry, "client-key", &target->key_pem, &target->key_pem_length,
			 &target->key_file, err)) < 0)
		return r;
	if ((target->cert_pem == NULL) != (target->key_pem == NULL))
		return error_set(err, -EINVAL,
			"kubeconfig %s: user \"%s\" has a client %s but no client %s",
			entry->file->path, name, target->cert_pem != NULL ? "certificate" : "key",
			target->cert_pem != NULL ? "key" : "certificate");
	return 0;
}
