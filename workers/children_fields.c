/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of createOnly: what they are on the server, and whose. managedFields is not kept in the store, so who owns them is noted when an entry comes. */
#include "config.h"

#include <string.h>

#include "common/config/field_path.h"
#include "common/json.h"
#include "workers/children_internal.h"

_Static_assert(CONFIG_PATHS_MAX <= 8, "a flag each");

const struct config_child *
children_config(const struct children *children, const char *id)
{
	const struct config_controller *config = children->options.config;

	for (size_t i = 0; i < config->n_children; i++)
		if (strcmp(config->children[i].id, id) == 0)
			return &config->children[i];
	return NULL;
}

uint32_t
children_taken(const struct children *children, const char *id, const char *bytes,
	const struct json_object_info *info)
{
	const struct config_child *config = children_config(children, id);
	cJSON *managers;
	const cJSON *entry;
	uint32_t flags = 0;

	if (config == NULL || config->n_create_only == 0 || info->managed_fields.length == 0)
		return 0;
	managers = json_parse(
		bytes + info->managed_fields.start, info->managed_fields.length, NULL);
	cJSON_ArrayForEach(entry, managers)
	{
		const cJSON *fields = cJSON_GetObjectItemCaseSensitive(entry, "fieldsV1");

		if (strcmp(json_string(entry, "manager", ""), children->options.field_manager) == 0)
			continue;
		for (size_t i = 0; i < config->n_create_only; i++)
			if (field_path_held(&config->create_only[i], fields))
				flags |= (uint32_t)CHILD_FLAG_TAKEN << i;
	}
	cJSON_Delete(managers);
	return flags;
}

bool
children_live(const struct children *children, size_t child, const char *owner_uid,
	const char *namespace_, const char *name, struct plan_live *ret)
{
	struct store_view view;

	if (!children_view(children, child, namespace_, name, &view) ||
		strcmp(view.owner, owner_uid) != 0)
		return false;
	*ret = (struct plan_live){view.bytes, view.length,
		view.flags / CHILD_FLAG_TAKEN & ((UINT32_C(1) << CONFIG_PATHS_MAX) - 1)};
	return true;
}
