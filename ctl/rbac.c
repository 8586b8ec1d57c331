/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl rbac [FILE]: the rights that a configuration's controllers need and no more, as YAML for kubectl apply, with the place in the configuration
 * that needs each. A controller of some namespaces gets Roles there, one of all a ClusterRole; whom it impersonates gets its rights, and the
 * service account the right to impersonate him. The server says which resource is behind a kind, and whether it has namespaces; nothing is written to it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/json.h"
#include "common/kube/discovery.h"
#include "common/memory.h"
#include "ctl/ctl.h"

#define GROUP   "rbac.authorization.k8s.io"
#define PRIMARY "[get, list, watch, patch]"
#define CHILD   "[list, watch, create, patch, delete]"

struct rbac {
	const struct ctl *ctl;
	struct loop *loop;
	struct kube *kube;
	const char *account_namespace, *account_name;
	char account[320]; /* what account_namespace points into */
	const cJSON *places;
	struct buf out;
	/* of the controller at hand */
	const struct config_controller *controller;
	struct kube_resource primary, children[CONFIG_CHILDREN_MAX];
};

/* --- what is behind the names --- */

struct lookup {
	struct loop *loop;
	enum discovery_answer answer;
	struct kube_resource resource;
	struct kube_result result;
};

static void
on_found(void *data, enum discovery_answer answer, const struct kube_resource *resource,
	const struct kube_result *result)
{
	struct lookup *lookup = data;

	lookup->answer = answer;
	lookup->resource = *resource;
	lookup->result = *result;
	loop_stop(lookup->loop);
}

static bool
look_up(struct rbac *rbac, const struct kube_resource *wanted, struct kube_resource *ret)
{
	struct lookup lookup = {.loop = rbac->loop};

	if (!discovery_start(rbac->kube, wanted, on_found, &lookup)) {
		ctl_complain("out of memory");
		return false;
	}
	loop_run(rbac->loop);
	if (lookup.answer != DISCOVERY_FOUND) {
		ctl_complain_answer(rbac->kube, &lookup.result);
		return false;
	}
	*ret = lookup.resource;
	return true;
}

static bool
look_up_child(struct rbac *rbac, const struct config_child *child, struct kube_resource *ret)
{
	struct kube_resource wanted;

	kube_resource_of_kind(child->api_version, child->kind, &wanted);
	return look_up(rbac, &wanted, ret);
}

static bool
look_up_all(struct rbac *rbac)
{
	const struct config_controller *controller = rbac->controller;

	if (!look_up(rbac, &controller->resource, &rbac->primary))
		return false;
	for (size_t i = 0; i < controller->n_children; i++)
		if (!look_up_child(rbac, &controller->children[i], &rbac->children[i]))
			return false;
	return true;
}

/* --- rules --- */

static const char *
place(const struct rbac *rbac, const char *child)
{
	const cJSON *of = json_get(rbac->places, rbac->controller->name, NULL);

	return child ? json_string(json_get(of, "children", NULL), child, "?")
		     : json_string(of, "place", "?");
}

static void
rule(struct rbac *rbac, const struct kube_resource *resource, const char *subresource,
	const char *verbs)
{
	buf_addf(&rbac->out, "- {apiGroups: [\"%s\"], resources: [%s%s], verbs: %s}\n",
		resource->group, resource->plural, subresource, verbs);
}

static bool
is_first_of_its_kind(const struct rbac *rbac, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(rbac->children[j].plural, rbac->children[i].plural) == 0 &&
			strcmp(rbac->children[j].group, rbac->children[i].group) == 0)
			return false;
	return true;
}

/* Objects of a child that may be outside of the controller's namespaces, or have none. */
static bool
is_elsewhere(const struct rbac *rbac, size_t i)
{
	for (size_t j = 0; j < rbac->controller->n_children; j++)
		if (strcmp(rbac->children[j].plural, rbac->children[i].plural) == 0 &&
			strcmp(rbac->children[j].group, rbac->children[i].group) == 0 &&
			(rbac->controller->children[j].owner != CONFIG_OWNER_REFERENCE ||
				!rbac->children[j].namespaced))
			return true;
	return false;
}

/* The rules for one scope: everywhere true is what a Role in the controller's namespaces can't give. Returns how many there were. */
static unsigned
rules(struct rbac *rbac, bool everywhere, bool divided)
{
	unsigned n = 0;

	if (!divided || rbac->primary.namespaced != everywhere) {
		buf_addf(&rbac->out, "# %s (%s): what it watches\n", rbac->controller->name,
			place(rbac, NULL));
		rule(rbac, &rbac->primary, "", PRIMARY);
		if (rbac->primary.has_status)
			rule(rbac, &rbac->primary, "/status", "[patch]");
		n++;
	}
	for (size_t i = 0; i < rbac->controller->n_children; i++) {
		if (!is_first_of_its_kind(rbac, i) ||
			(divided && is_elsewhere(rbac, i) != everywhere))
			continue;
		buf_addf(&rbac->out, "# child %s (%s)\n", rbac->controller->children[i].id,
			place(rbac, rbac->controller->children[i].id));
		rule(rbac, &rbac->children[i], "", CHILD);
		n++;
	}
	if (!divided || rbac->primary.namespaced != everywhere) {
		buf_adds(&rbac->out,
			"# Events about its objects\n"
			"- {apiGroups: [events.k8s.io], resources: [events], verbs: [create]}\n");
		n++;
	}
	return n;
}

/* --- objects --- */

static void
quote(struct rbac *rbac, const char *text)
{
	json_put_string(&rbac->out, text, strlen(text));
}

static void
head(struct rbac *rbac, const char *kind, const char *name, const char *namespace_)
{
	buf_addf(&rbac->out, "---\napiVersion: " GROUP "/v1\nkind: %s\nmetadata: {name: \"%s\"",
		kind, name);
	if (namespace_)
		buf_addf(&rbac->out, ", namespace: %s", namespace_);
	buf_adds(&rbac->out, "}\n");
}

static void
account_subject(struct rbac *rbac)
{
	buf_addf(&rbac->out, "- {kind: ServiceAccount, name: %s, namespace: %s}\n",
		rbac->account_name, rbac->account_namespace);
}

static void
bind_to(struct rbac *rbac, const char *kind, const char *name, const char *namespace_, bool account)
{
	char binding[32];

	(void)snprintf(binding, sizeof(binding), "%sBinding", kind);
	head(rbac, binding, name, namespace_);
	buf_addf(&rbac->out, "roleRef: {apiGroup: " GROUP ", kind: %s, name: \"%s\"}\nsubjects:\n",
		kind, name);
	if (account) {
		account_subject(rbac);
		return;
	}
	buf_adds(&rbac->out, "- {apiGroup: " GROUP ", kind: User, name: ");
	quote(rbac, json_string(rbac->controller->impersonate, "user", ""));
	buf_adds(&rbac->out, "}\n");
}

/* A role with its binding; none when it would have no rules. */
static void
role(struct rbac *rbac, const char *namespace_, bool divided)
{
	const char *kind = namespace_ ? "Role" : "ClusterRole";
	size_t start = rbac->out.length;
	char name[160];

	(void)snprintf(name, sizeof(name), "operatord:%s:%s", rbac->controller->instance,
		rbac->controller->name);
	head(rbac, kind, name, namespace_);
	buf_adds(&rbac->out, "rules:\n");
	if (rules(rbac, !namespace_, divided) == 0) {
		rbac->out.length = start;
		rbac->out.data[start] = '\0';
		return;
	}
	bind_to(rbac, kind, name, namespace_, !rbac->controller->impersonate);
}

/* Names of one resource that may be impersonated. */
static void
impersonated(struct rbac *rbac, const char *group, const char *resource, const cJSON *names)
{
	const cJSON *name;

	if (!names)
		return;
	buf_addf(&rbac->out, "- {apiGroups: [\"%s\"], resources: [", group);
	quote(rbac, resource);
	buf_adds(&rbac->out, "], verbs: [impersonate], resourceNames: ");
	if (cJSON_IsString(names)) {
		buf_addc(&rbac->out, '[');
		quote(rbac, names->valuestring);
	}
	cJSON_ArrayForEach(name, names)
	{
		buf_adds(&rbac->out, name == names->child ? "[" : ", ");
		quote(rbac, name->valuestring);
	}
	buf_adds(&rbac->out, "]}\n");
}

static void
impersonation(struct rbac *rbac)
{
	const cJSON *as = rbac->controller->impersonate, *list;
	char name[160], resource[300];

	if (!as)
		return;
	(void)snprintf(name, sizeof(name), "operatord:%s:%s:impersonate",
		rbac->controller->instance, rbac->controller->name);
	head(rbac, "ClusterRole", name, NULL);
	buf_addf(&rbac->out, "rules:\n# %s (%s): whom it acts as\n", rbac->controller->name,
		place(rbac, NULL));
	impersonated(rbac, "", "users", json_get(as, "user", NULL));
	impersonated(rbac, "", "groups", json_get(as, "groups", NULL));
	impersonated(rbac, "authentication.k8s.io", "uids", json_get(as, "uid", NULL));
	cJSON_ArrayForEach(list, json_get(as, "extra", NULL))
	{
		(void)snprintf(resource, sizeof(resource), "userextras/%s", list->string);
		impersonated(rbac, "authentication.k8s.io", resource, list);
	}
	bind_to(rbac, "ClusterRole", name, NULL, true);
}

/* --- all of it --- */

static bool
controller_rights(struct rbac *rbac)
{
	const struct config_controller *controller = rbac->controller;
	bool divided = controller->n_namespaces > 0;

	if (!look_up_all(rbac))
		return false;
	role(rbac, NULL, divided);
	for (size_t i = 0; i < controller->n_namespaces; i++)
		role(rbac, controller->namespaces[i], true);
	impersonation(rbac);
	return true;
}

static bool
each_controller(struct rbac *rbac, const cJSON *document)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, json_get(document, "controllers", NULL))
	{
		struct config_controller *controller;
		struct buf bytes = BUF_INIT;
		struct error err = {0};

		json_print_canonical(&bytes, item);
		controller = config_decode_controller(bytes.data, bytes.length, &err);
		buf_free(&bytes);
		if (!controller) {
			ctl_complain("%s: %s", item->string, err.text);
			return false;
		}
		rbac->controller = controller;
		bool good = controller_rights(rbac);
		config_controller_free(controller);
		if (!good)
			return false;
	}
	return true;
}

/* NAMESPACE/NAME, both labels. */
static bool
read_account(struct rbac *rbac)
{
	char *slash;

	(void)snprintf(rbac->account, sizeof(rbac->account), "%s",
		rbac->ctl->account ? rbac->ctl->account : "operatord/operatord");
	slash = strchr(rbac->account, '/');
	if (!slash || slash == rbac->account || !slash[1] ||
		rbac->account[strspn(rbac->account, "abcdefghijklmnopqrstuvwxyz0123456789-./")]) {
		ctl_complain("--service-account %s: write NAMESPACE/NAME", rbac->account);
		return false;
	}
	*slash = '\0';
	rbac->account_namespace = rbac->account;
	rbac->account_name = slash + 1;
	return true;
}

int
ctl_rbac(const struct ctl *ctl, int argc, char **argv)
{
	struct rbac rbac = {.ctl = ctl, .out = BUF_INIT};
	int code = CTL_FAILED;
	cJSON *document = NULL;

	if (!read_account(&rbac))
		return CTL_USAGE;
	/* First, since a check of expressions clears the environment. */
	rbac.loop = loop_new(true);
	rbac.kube = ctl_connect(ctl, rbac.loop);
	if (rbac.kube)
		document = ctl_read_config(ctl, "rbac", argc, argv, &code);
	rbac.places = json_get(document, "places", NULL);
	buf_addf(&rbac.out, "# What the controllers of this configuration may do, and no more "
			    "(operatorctl rbac).\n");
	if (document && each_controller(&rbac, document)) {
		fputs(rbac.out.data, stdout);
		code = CTL_DONE;
	} else if (document) {
		code = CTL_FAILED;
	}
	kube_free(rbac.kube);
	loop_free(rbac.loop);
	buf_free(&rbac.out);
	cJSON_Delete(document);
	return code;
}
