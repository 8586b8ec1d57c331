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

static void
child_groups(struct config_templates *t, const struct config_controller *controller, size_t i)
{
	const struct config_child *child = &controller->children[i];

	t->ids[i] = child->id;
	group(t, config_group_when(controller, i), xasprintf("children[%s].when", child->id),
		child->when ? child->when : t->always)
		->boolean = true;
	group(t, config_group_template(controller, i),
		xasprintf("children[%s].template", child->id), child->template_)
		->literal = child->literal;
}

struct config_templates *
config_templates_new(const struct config_controller *controller)
{
	struct config_templates *t = xcalloc(1, sizeof *t);
	size_t n;

	t->absent = cJSON_CreateNull();
	t->always = cJSON_CreateTrue();
	divide_status(t, controller->status);
	n = config_group_once(controller, t->n_once);
	t->groups = xcalloc(n, sizeof *t->groups);
	t->paths = xcalloc(n, sizeof *t->paths);
	t->ids = xcalloc(controller->n_children + 1, sizeof *t->ids);
	for (size_t i = 0; i < controller->n_children; i++)
		child_groups(t, controller, i);
	group(t, config_group_status(controller), xstrdup("status"), t->status);
	group(t, config_group_on_error(controller), xstrdup("statusOnError"),
		controller->status_on_error)
		->allow_error = true;
	for (size_t i = 0; i < t->n_once; i++) {
		const cJSON *member =
			cJSON_GetObjectItemCaseSensitive(controller->status, t->once[i]);

		group(t, config_group_once(controller, i), xasprintf("status.%s.once", t->once[i]),
			cJSON_GetObjectItemCaseSensitive(member, "once"))
			->allow_uuid = true;
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
	return 2 * child;
}

size_t
config_group_template(const struct config_controller *controller, size_t child)
{
	(void)controller;
	return 2 * child + 1;
}

size_t
config_group_status(const struct config_controller *controller)
{
	return 2 * controller->n_children;
}

size_t
config_group_on_error(const struct config_controller *controller)
{
	return 2 * controller->n_children + 1;
}

size_t
config_group_once(const struct config_controller *controller, size_t i)
{
	return 2 * controller->n_children + 2 + i;
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
	free(templates->once);
	cJSON_Delete(templates->absent);
	cJSON_Delete(templates->always);
	cJSON_Delete(templates->status);
	free(templates);
}
