/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of a rendered child that are not ours to keep. Pure, as plan.c.
 *
 * createOnly: a field is sent when the object is made. Left out of the next apply it would fall back to its default, as nobody else owns it; so its live value is sent
 * until another manager owns it, and only then it is left out. Whatever the template gives by then is not looked at.
 */
#include "config.h"

#include <stdlib.h>

#include "common/config/field_path.h"
#include "common/json.h"
#include "workers/plan.h"

static void
keep_live(const struct config_child *config, const struct plan_live *live, cJSON *body)
{
	cJSON *object = json_parse(live->bytes, live->length, NULL);

	for (size_t i = 0; i < config->n_create_only; i++) {
		const struct field_path *path = &config->create_only[i];
		const cJSON *value = field_path_get(object, path);

		if ((live->taken >> i & 1) != 0 || value == NULL)
			field_path_remove(body, path);
		else if (field_path_get(body, path) != NULL)
			field_path_set(body, path, value);
	}
	cJSON_Delete(object);
}

void
plan_fields(const struct planner *planner, const struct plan_object *object,
	const struct plan_child *child, cJSON *body)
{
	const struct config_child *config = &planner->config->children[child->child];
	struct plan_live live;

	for (size_t i = 0; i < config->n_ignore; i++)
		field_path_remove(body, &config->ignore[i]);
	if (config->n_create_only > 0 && object->live != NULL &&
		object->live(object->live_data, child->child, child->namespace_, child->name,
			&live) &&
		live.length > 0)
		keep_live(config, &live, body);
}

void
plan_leave_out(const struct config_child *config, struct plan_child *child, uint32_t given)
{
	cJSON *body = json_parse(child->body, child->length, NULL);

	for (size_t i = 0; i < config->n_create_only; i++)
		if ((given >> i & 1) != 0)
			field_path_remove(body, &config->create_only[i]);
	free(child->body);
	plan_print_body(child, body);
	cJSON_Delete(body);
}
