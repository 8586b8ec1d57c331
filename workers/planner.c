/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the compiled program of a controller. Nothing is kept from one render to the next. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "workers/planner.h"

static void
add_status_keys(struct planner *planner, const cJSON *template_)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, template_)
	{
		planner->status_keys = xreallocarray(
			planner->status_keys, planner->n_status_keys + 1, sizeof(char *));
		planner->status_keys[planner->n_status_keys++] = xstrdup(item->string);
	}
}

int
planner_init(struct planner *planner, const struct config_controller *config,
	const struct kube_resource *resource, struct error *err)
{
	*planner = (struct planner){.config = config, .resource = resource};
	planner->templates = config_templates_new(config);
	planner->program = template_compile(config_templates_source(planner->templates), err);
	if (planner->program == NULL) {
		planner_clear(planner);
		return -EINVAL;
	}
	if (cJSON_IsObject(config->status))
		add_status_keys(planner, config->status);
	if (cJSON_IsObject(config->status_on_error))
		add_status_keys(planner, config->status_on_error);
	return 0;
}

void
planner_clear(struct planner *planner)
{
	template_free(planner->program);
	if (planner->templates != NULL)
		config_templates_free(planner->templates);
	for (size_t i = 0; i < planner->n_status_keys; i++)
		free(planner->status_keys[i]);
	free(planner->status_keys);
	*planner = (struct planner){0};
}

bool
planner_reads_child(const struct planner *planner, size_t child)
{
	size_t n = config_templates_source(planner->templates)->n_groups;

	for (size_t group = 0; group < n; group++)
		if (template_uses_child(planner->program, group, child))
			return true;
	return false;
}

bool
planner_group_reads_children(const struct planner *planner, size_t group)
{
	for (size_t i = 0; i < planner->config->n_children; i++)
		if (template_uses_child(planner->program, group, i))
			return true;
	return false;
}

int
planner_render(const struct planner *planner, size_t group, const struct plan_object *object,
	const char *error, const char *uuid, struct buf *out, struct template_problem *ret_problem)
{
	const struct template_input input = {
		.object = object->bytes,
		.object_length = object->length,
		.children = object->children,
		.children_length = object->children_length,
		.error = error,
		.error_length = error == NULL ? 0 : strlen(error),
		.uuid = uuid,
		.item = object->item,
		.item_length = object->item_length,
		.self = object->self,
		.self_length = object->self_length,
		.timeout_ns = planner->config->render_timeout_ns,
	};

	return template_render(planner->program, group, &input, out, ret_problem);
}

void
planner_problem_text(const struct template_problem *problem, char *text, size_t n)
{
	if (problem->expression[0] != '\0')
		snprintf(text, n, "%s: ${%s}: %s", problem->path, problem->expression,
			problem->text);
	else
		snprintf(text, n, "%s: %s", problem->path, problem->text);
}
