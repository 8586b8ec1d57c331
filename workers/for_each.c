/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a child's forEach, and what goes wrong with many children: two that are one object. Pure, as plan.c. A list that can't be had fails the child, so that
 * what exists is kept; an empty one is a value, and says that there is to be none.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "workers/plan.h"

#define LIST_MAX (1u << 20)

static cJSON *
checked(const char *path, cJSON *items, struct plan_child *failed)
{
	const char *kind = cJSON_IsObject(items)   ? "a map"
			   : cJSON_IsString(items) ? "text"
			   : cJSON_IsArray(items)  ? NULL
						   : "no list";

	if (items == NULL)
		plan_fail(failed, VERDICT_RENDER_FAILED,
			"%s gives null, so what exists is kept; a list is needed, as in "
			"get(.spec.zones; [])",
			path);
	else if (kind != NULL)
		plan_fail(failed, VERDICT_RENDER_FAILED,
			"%s gives %s; a list is needed, as in [.spec.zone]", path, kind);
	else if (cJSON_GetArraySize(items) > CONFIG_EACH_MAX)
		plan_fail(failed, VERDICT_RENDER_FAILED, "%s gives %d items, more than %d", path,
			cJSON_GetArraySize(items), CONFIG_EACH_MAX);
	else
		return items;
	cJSON_Delete(items);
	return NULL;
}

cJSON *
plan_items(const struct planner *planner, size_t child, const struct plan_object *object,
	struct plan_child *failed)
{
	size_t group = config_group_each(planner->config, child);
	struct buf out = BUF_INIT_LIMIT(LIST_MAX);
	struct template_problem problem;
	cJSON *items = NULL;

	if (planner_render(planner, group, object, NULL, NULL, &out, &problem) < 0)
		plan_fail_render(planner, group, failed, &problem);
	else
		items = checked(config_templates_source(planner->templates)->groups[group].path,
			out.length == 0 ? NULL : json_parse(out.data, out.length, NULL), failed);
	buf_free(&out);
	return items;
}

/* --- names --- */

struct named {
	const struct config_child *config;
	struct plan_child *child;
};

static int
compare(const struct named *a, const struct named *b)
{
	int order = strcmp(a->config->kind, b->config->kind);

	if (order == 0)
		order = strcmp(a->config->api_version, b->config->api_version);
	if (order == 0)
		order = strcmp(a->child->namespace_, b->child->namespace_);
	return order != 0 ? order : strcmp(a->child->name, b->child->name);
}

static int
by_name(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = compare(a, b);

	return order != 0 ? order : a->child < b->child ? -1 : a->child > b->child;
}

static void
fail_twin(const struct named *first, struct named *second)
{
	const char *kind = second->config->kind, *name = second->child->name;

	if (first->config == second->config)
		plan_fail(second->child, VERDICT_RENDER_FAILED,
			"children[%s]: two items of forEach give one name, %s %s",
			second->config->id, kind, name);
	else
		plan_fail(second->child, VERDICT_RENDER_FAILED,
			"children[%s]: %s %s is a child already, as children[%s]",
			second->config->id, kind, name, first->config->id);
}

void
plan_check_names(const struct planner *planner, struct plan *plan)
{
	struct named *all = xcalloc(plan->n + 1, sizeof(*all));
	size_t n = 0, first = 0;

	for (size_t i = 0; i < plan->n; i++)
		if (plan->children[i].what == PLAN_APPLY)
			all[n++] = (struct named){
				&planner->config->children[plan->children[i].child],
				&plan->children[i]};
	qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 1; i < n; i++)
		if (compare(&all[first], &all[i]) == 0)
			fail_twin(&all[first], &all[i]);
		else
			first = i;
	free(all);
}
