/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller's templates as the groups of one program, in the order that config.h promises: the checker and the worker build them by this
 * code, so that an index means the same in both. Borrows from the controller, which must outlive it; owns only the two trees of status.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/memory.h"
#include "common/template/template.h"

struct config_templates {
	struct template_source source;
	struct template_group *groups;
	const char **ids;
	cJSON *absent;     /* null: what a group without a template holds */
	cJSON *always;     /* true: the condition of a child without one */
	cJSON *status;     /* without the once fields */
	const char **once; /* keys, in the controller's document */
	size_t n_once;
	char **paths; /* of the groups, owned */
	struct template_name *names; /* the controller's lets, then for each child these again, its item and its lets */
	size_t n_names;
};

static bool
is_once(const cJSON *member)
{
	return cJSON_IsObject(member) && cJSON_GetObjectItemCaseSensitive(member, "once");
}

/* Divides status: once fields apart, the rest into a tree of its own. */
static void
divide_status(struct config_templates *t, const cJSON *status)
{
	const cJSON *member;
	size_t n = 0;

	if (!status)
		return;
	t->status = cJSON_CreateObject();
	t->once = xcalloc((size_t)cJSON_GetArraySize(status) + 1, sizeof *t->once);
	cJSON_ArrayForEach(member, status)
	{
		if (is_once(member))
			t->once[n++] = member->string;
		else
			cJSON_AddItemToObject(
				t->status, member->string, cJSON_Duplicate(member, true));
	}
	t->n_once = n;
}

static struct template_group *
group(struct config_templates *t, size_t index, char *path, const cJSON *value)
{
	t->paths[index] = path;
	t->groups[index] = (struct template_group){
		.path = path,
		.value = value ? value : t->absent,
		.allow_children = true,
	};
	return &t->groups[index];
}

/* --- names --- */

static size_t
group_lets(const struct config_controller *controller)
{
	return CONFIG_CHILD_GROUPS * controller->n_children;
}

/* A group for each let, which sees those before it: path is of their map. */
static void
let_groups(struct config_templates *t, const cJSON *let, size_t first, const char *path,
	const struct template_name *scope, size_t n_scope)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, let)
	{
		struct template_group *one = group(t, first,
			xasprintf("%slet.%s", path, item->child->string), item->child);

		one->names = scope;
		one->n_names = n_scope;
		t->names[t->n_names++] = (struct template_name){item->child->string, first++};
		n_scope++;
	}
}

static void
use_names(struct template_group *group, const struct template_name *names, size_t n)
{
	group->names = names;
	group->n_names = n;
}

/* --- children --- */

static size_t
child_lets(const struct config_controller *controller, size_t child)
{
	size_t group = group_lets(controller) + controller->n_lets;

	for (size_t i = 0; i < child; i++)
		group += controller->children[i].n_lets;
	return group;
}

static void
child_groups(struct config_templates *t, const struct config_controller *controller, size_t i)
{
	const struct config_child *child = &controller->children[i];
	const cJSON *each = child->for_each ? child->for_each->child : NULL;
	struct template_name *names = &t->names[t->n_names];
	struct template_group *when, *ready, *template;
	char *path = xasprintf("children[%s].", child->id);
	size_t n = controller->n_lets;

	t->ids[i] = child->id;
	if (n)
		memcpy(names, t->names, n * sizeof *names);
	t->n_names += n;
	use_names(group(t, config_group_each(controller, i),
			  xasprintf("%sforEach.%s", path, each ? each->string : ""), each),
		names, n);
	if (each)
		t->names[t->n_names++] = (struct template_name){each->string, TEMPLATE_ITEM};
	n += each != NULL;
	let_groups(t, child->let, child_lets(controller, i), path, names, n);
	n += child->n_lets;
	when = group(t, config_group_when(controller, i), xasprintf("%swhen", path),
		child->when ? child->when : t->always);
	when->boolean = true;
	use_names(when, names, n);
	ready = group(t, config_group_ready(controller, i), xasprintf("%sreadyWhen", path),
		child->ready_when ? child->ready_when : t->always);
	ready->boolean = ready->allow_self = true;
	use_names(ready, names, n);
	template = group(t, config_group_template(controller, i), xasprintf("%stemplate", path),
		child->template_);
	template->literal = child->literal;
	use_names(template, names, n);
	free(path);
}

static size_t
count_names(const struct config_controller *controller)
{
	size_t n = controller->n_lets;

	for (size_t i = 0; i < controller->n_children; i++)
		n += controller->n_lets + 1 + controller->children[i].n_lets;
	return n;
}

struct config_templates *
config_templates_new(const struct config_controller *controller)
{
	struct config_templates *t = xcalloc(1, sizeof *t);
	struct template_group *one;
	size_t n;

	t->absent = cJSON_CreateNull();
	t->always = cJSON_CreateTrue();
	divide_status(t, controller->status);
	n = config_group_once(controller, t->n_once);
	t->groups = xcalloc(n, sizeof *t->groups);
	t->paths = xcalloc(n, sizeof *t->paths);
	t->ids = xcalloc(controller->n_children + 1, sizeof *t->ids);
	t->names = xcalloc(count_names(controller) + 1, sizeof *t->names);
	let_groups(t, controller->let, group_lets(controller), "", t->names, 0);
	for (size_t i = 0; i < controller->n_children; i++)
		child_groups(t, controller, i);
	use_names(group(t, config_group_status(controller), xstrdup("status"), t->status), t->names,
		controller->n_lets);
	one = group(t, config_group_on_error(controller), xstrdup("statusOnError"),
		controller->status_on_error);
	one->allow_error = true;
	use_names(one, t->names, controller->n_lets);
	for (size_t i = 0; i < t->n_once; i++) {
		const cJSON *member =
			cJSON_GetObjectItemCaseSensitive(controller->status, t->once[i]);

		one = group(t, config_group_once(controller, i),
			xasprintf("status.%s.once", t->once[i]),
			cJSON_GetObjectItemCaseSensitive(member, "once"));
		one->allow_uuid = true;
		use_names(one, t->names, controller->n_lets);
	}
	t->source = (struct template_source){
		.groups = t->groups,
		.n_groups = n,
		.children_ids = t->ids,
		.n_children = controller->n_children,
		.vars = controller->vars,
	};
	return t;
}

const struct template_source *
config_templates_source(const struct config_templates *templates)
{
	return &templates->source;
}

size_t
config_group_when(const struct config_controller *controller, size_t child)
{
	(void)controller;
	return CONFIG_CHILD_GROUPS * child + CONFIG_CHILD_WHEN;
}

size_t
config_group_template(const struct config_controller *controller, size_t child)
{
	(void)controller;
	return CONFIG_CHILD_GROUPS * child + CONFIG_CHILD_TEMPLATE;
}

size_t
config_group_each(const struct config_controller *controller, size_t child)
{
	(void)controller;
	return CONFIG_CHILD_GROUPS * child + CONFIG_CHILD_EACH;
}

size_t
config_group_ready(const struct config_controller *controller, size_t child)
{
	(void)controller;
	return CONFIG_CHILD_GROUPS * child + CONFIG_CHILD_READY;
}

size_t
config_group_status(const struct config_controller *controller)
{
	return child_lets(controller, controller->n_children);
}

size_t
config_group_on_error(const struct config_controller *controller)
{
	return config_group_status(controller) + 1;
}

size_t
config_group_once(const struct config_controller *controller, size_t i)
{
	return config_group_status(controller) + 2 + i;
}

size_t
config_n_once(const struct config_templates *templates)
{
	return templates->n_once;
}

const char *
config_once_key(const struct config_templates *templates, size_t i)
{
	return templates->once[i];
}

void
config_templates_free(struct config_templates *templates)
{
	if (!templates)
		return;
	for (size_t i = 0; i < templates->source.n_groups; i++)
		free(templates->paths[i]);
	free(templates->paths);
	free(templates->groups);
	free(templates->ids);
	free(templates->names);
	free(templates->once);
	cJSON_Delete(templates->absent);
	cJSON_Delete(templates->always);
	cJSON_Delete(templates->status);
	free(templates);
}
