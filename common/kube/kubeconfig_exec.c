/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `exec` of a kubeconfig's user: a program that prints credentials. By the rules of kubectl: a command with a slash is relative to the
 * kubeconfig's directory, one without is looked for in PATH (by who runs it); the program is told of the cluster and that nobody is there to
 * ask, in KUBERNETES_EXEC_INFO. What it prints is read by exec_answer.c.
 *
 * A token, password or certificate beside it wins, and the program is not looked at (E25). Stricter than kubectl in one point: a program that needs a
 * terminal is refused at once.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/json.h"
#include "common/kube/kubeconfig_set.h"
#include "common/memory.h"

#define ITEMS_MAX 256
#define V1        "client.authentication.k8s.io/v1"
#define V1BETA1   "client.authentication.k8s.io/v1beta1"
#define EXTENSION "client.authentication.k8s.io/exec"

/* The exec entry, and what is said before an error. */
struct place {
	struct kubeconfig_entry entry; /* its value is the map of exec */
	const char *user;
};

static int
refuse(const struct place *p, const struct yaml_node *node, const char *text, struct error *err)
{
	return error_set(err, -EINVAL, "kubeconfig %s:%d: exec of user \"%s\": %s",
		p->entry.file->path, node != NULL ? node->line : p->entry.value->line, p->user,
		text);
}

/* A list, or nothing: absent and null are the same (E13). */
static int
get_list(const struct place *p, const char *key, const struct yaml_node **ret, struct error *err)
{
	const struct yaml_node *list = yaml_get(p->entry.value, key);
	size_t n = 0;

	*ret = NULL;
	if (list == NULL || list->type == YAML_NULL)
		return 0;
	if (list->type != YAML_LIST)
		return refuse(p, list, "args and env must be lists", err);
	for (const struct yaml_node *item = list->children; item != NULL; item = item->next)
		n++;
	if (n > ITEMS_MAX)
		return refuse(p, list, "more than 256 args or env", err);
	*ret = list->children;
	return 0;
}

static bool
is_text(const struct yaml_node *node)
{
	return node != NULL && node->type == YAML_STRING && strlen(node->text) == node->length;
}

/* Adds to a NULL-terminated list. Takes text. */
static void
add(char ***list, size_t *n, char *text)
{
	*list = xreallocarray(*list, *n + 2, sizeof(**list));
	(*list)[(*n)++] = text;
	(*list)[*n] = NULL;
}

static int
read_argv(const struct place *p, struct kube_exec *exec, struct error *err)
{
	const struct yaml_node *item;
	const char *command;
	size_t n = 0;
	int r = kubeconfig_text(&p->entry, "command", &command, err);

	if (r < 0 || (r = get_list(p, "args", &item, err)) < 0)
		return r;
	if (command == NULL)
		return refuse(p, NULL, "needs a command", err);
	add(&exec->argv, &n,
		strchr(command, '/') != NULL ? kubeconfig_absolute(p->entry.file, command)
					     : xstrdup(command));
	for (; item != NULL; item = item->next) {
		if (!is_text(item))
			return refuse(p, item, "args must be texts; put this one in quotes", err);
		add(&exec->argv, &n, xstrdup(item->text));
	}
	return 0;
}

static int
read_env(const struct place *p, struct kube_exec *exec, size_t *n, struct error *err)
{
	const struct yaml_node *item;
	int r = get_list(p, "env", &item, err);

	for (; r == 0 && item != NULL; item = item->next) {
		const struct yaml_node *name = NULL, *value = NULL;
		if (item->type == YAML_MAP) {
			name = yaml_get(item, "name");
			value = yaml_get(item, "value");
		}
		if (!is_text(name) || *name->text == '\0' || strchr(name->text, '=') != NULL)
			return refuse(p, item, "env needs a name in each entry", err);
		if (value != NULL && value->type != YAML_NULL && !is_text(value))
			return refuse(p, value,
				"values of env must be texts; put this one in quotes", err);
		add(&exec->env, n,
			xasprintf("%s=%s", name->text, is_text(value) ? value->text : ""));
	}
	return r;
}

/* E15: v1 asks for it, v1beta1 takes IfAvailable. */
static int
check_interactive(const struct place *p, const struct kube_exec *exec, struct error *err)
{
	const char *mode;
	int r = kubeconfig_text(&p->entry, "interactiveMode", &mode, err);

	if (r < 0)
		return r;
	if (mode == NULL && strcmp(exec->api_version, V1) == 0)
		return refuse(p, NULL, "needs interactiveMode: Never or IfAvailable", err);
	if (mode != NULL && strcmp(mode, "Always") == 0)
		return refuse(p, yaml_get(p->entry.value, "interactiveMode"),
			"interactiveMode: Always needs a person at a terminal", err);
	if (mode != NULL && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
		return refuse(p, yaml_get(p->entry.value, "interactiveMode"),
			"interactiveMode must be Never or IfAvailable", err);
	return 0;
}

static int
read_version(const struct place *p, struct kube_exec *exec, struct error *err)
{
	const char *version;
	int r = kubeconfig_text(&p->entry, "apiVersion", &version, err);

	if (r < 0)
		return r;
	if (version == NULL || (strcmp(version, V1) != 0 && strcmp(version, V1BETA1) != 0))
		return refuse(p, yaml_get(p->entry.value, "apiVersion"),
			"apiVersion must be " V1 " or " V1BETA1, err);
	exec->api_version = xstrdup(version);
	return 0;
}

/* --- KUBERNETES_EXEC_INFO --- */

static void
put_text(struct buf *out, const char *key, const char *text)
{
	if (text == NULL)
		return;
	buf_addf(out, ",\"%s\":", key);
	json_put_string(out, text, strlen(text));
}

/* What a cluster's entry holds for programs alone, under a name of theirs. */
static void
put_extension(struct buf *out, const struct kubeconfig_entry *cluster)
{
	const struct yaml_node *list = yaml_get(cluster->value, "extensions"), *item;

	item = list != NULL && list->type == YAML_LIST ? list->children : NULL;
	for (; item != NULL; item = item->next) {
		const struct yaml_node *name =
			item->type == YAML_MAP ? yaml_get(item, "name") : NULL;
		const struct yaml_node *value =
			item->type == YAML_MAP ? yaml_get(item, "extension") : NULL;
		if (!is_text(name) || strcmp(name->text, EXTENSION) != 0 || value == NULL)
			continue;
		cJSON *json = yaml_to_json(value);
		buf_adds(out, ",\"config\":");
		json_print(out, json);
		cJSON_Delete(json);
		return;
	}
	buf_adds(out, ",\"config\":null");
}

/* The server as it is written, for programs that compare it. */
static void
put_cluster(struct buf *out, const struct kubeconfig_entry *cluster,
	const struct kube_target *target, bool no_compression)
{
	const struct yaml_node *server = yaml_get(cluster->value, "server");

	buf_adds(out, ",\"cluster\":{\"server\":");
	json_put_string(out, server->text, server->length);
	put_text(out, "tls-server-name", target->tls_server_name);
	put_text(out, "proxy-url", target->proxy_url);
	if (target->insecure)
		buf_adds(out, ",\"insecure-skip-tls-verify\":true");
	if (no_compression)
		buf_adds(out, ",\"disable-compression\":true");
	if (target->ca_pem != NULL) {
		buf_adds(out, ",\"certificate-authority-data\":\"");
		base64_encode(out, target->ca_pem, target->ca_pem_length);
		buf_addc(out, '"');
	}
	put_extension(out, cluster);
	buf_addc(out, '}');
}

static int
read_info(const struct place *p, const struct kubeconfig_entry *cluster,
	const struct kube_target *target, struct kube_exec *exec, size_t *n, struct error *err)
{
	bool provide, no_compression;
	/* E147: one string of the environment holds 128 KiB. */
	struct buf info = BUF_INIT_LIMIT((size_t)120 << 10);
	int r;

	if ((r = kubeconfig_bool(&p->entry, "provideClusterInfo", &provide, err)) < 0 ||
		(r = kubeconfig_bool(cluster, "disable-compression", &no_compression, err)) < 0)
		return r;
	buf_addf(&info,
		"KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\",\"spec\":{"
		"\"interactive\":false",
		exec->api_version);
	if (provide)
		put_cluster(&info, cluster, target, no_compression);
	buf_adds(&info, "}}");
	if (info.failed) {
		buf_free(&info);
		return refuse(p, yaml_get(p->entry.value, "provideClusterInfo"),
			"the cluster's certificates and extensions are too large for "
			"provideClusterInfo",
			err);
	}
	add(&exec->env, n, buf_detach(&info, NULL));
	return 0;
}

static int
fill(const struct place *p, const struct kubeconfig_entry *cluster, struct kube_target *target,
	struct error *err)
{
	struct kube_exec *exec = target->exec;
	const char *hint;
	size_t n = 0;
	int r;

	if ((r = read_version(p, exec, err)) < 0 || (r = read_argv(p, exec, err)) < 0 ||
		(r = check_interactive(p, exec, err)) < 0 || (r = read_env(p, exec, &n, err)) < 0 ||
		(r = read_info(p, cluster, target, exec, &n, err)) < 0 ||
		(r = kubeconfig_text(&p->entry, "installHint", &hint, err)) < 0)
		return r;
	exec->install_hint = hint != NULL ? xstrdup(hint) : NULL;
	return 0;
}

int
kubeconfig_exec(const struct kubeconfig_entry *entry, const char *name,
	const struct kubeconfig_entry *cluster, struct kube_target *target, struct error *err)
{
	const struct yaml_node *node = entry->value != NULL ? yaml_get(entry->value, "exec") : NULL;
	struct place p = {.entry = {entry->file, node}, .user = name};

	if (node == NULL || node->type == YAML_NULL)
		return 0;
	if (node->type != YAML_MAP)
		return refuse(&p, node, "must be a map", err);
	if (target->token != NULL || target->token_file != NULL || target->basic != NULL ||
		target->cert_pem != NULL)
		return 0;
	target->exec = xcalloc(1, sizeof(*target->exec));
	return fill(&p, cluster, target, err);
}

static void
free_list(char **list)
{
	for (char **at = list; at != NULL && *at != NULL; at++)
		memory_burn(*at, strlen(*at));
	free(list);
}

void
kube_exec_free(struct kube_exec *exec)
{
	if (exec == NULL)
		return;
	free_list(exec->argv);
	free_list(exec->env); /* may hold secrets */
	free(exec->api_version);
	free(exec->install_hint);
	free(exec);
}
