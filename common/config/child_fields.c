/* SPDX-License-Identifier: Apache-2.0 */
/* createOnly, ignoreFields, adopt, update: fields of a child that are not ours to keep, and what is done when it can't be changed. */
#include <config.h> /* of the build, not the one beside this file */

#include <string.h>

#include "common/config/config.h"
#include "common/config/field_path.h"
#include "common/config/validate.h"

/* What makes a child the object that it is. */
static bool
is_needed(const struct field_path *path)
{
	static const char *const names[] = {"name", "namespace", "uid", "ownerReferences"};

	if (!strcmp(path->steps[0], "apiVersion") || !strcmp(path->steps[0], "kind") ||
		!strcmp(path->steps[0], "status"))
		return true;
	if (strcmp(path->steps[0], "metadata") != 0)
		return false;
	for (size_t i = 0; path->n > 1 && i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(path->steps[1], names[i]))
			return true;
	return path->n == 1 || (path->n == 2 && (!strcmp(path->steps[1], "labels") ||
							!strcmp(path->steps[1], "annotations")));
}

cJSON *
special_paths(struct validator *v, const struct yaml_node *list)
{
	cJSON *array;
	size_t n = 0;

	if (list->type != YAML_LIST || !list->children) {
		complain(v, list, "expected a list of paths, such as [spec.replicas]");
		return NULL;
	}
	array = cJSON_CreateArray();
	for (const struct yaml_node *item = list->children; item; item = item->next) {
		struct field_path path;

		if (++n > CONFIG_PATHS_MAX) {
			complain(v, item, "more than %d paths", CONFIG_PATHS_MAX);
			break;
		}
		if (item->type != YAML_STRING || strlen(item->text) != item->length ||
			!field_path_parse(item->text, &path))
			complain(v, item,
				"expected the path of a field, such as spec.replicas or "
				"metadata.annotations[\"example.com/a\"]; what is in a list has none");
		else if (is_needed(&path))
			complain(v, item, "this field can't be left out");
		else
			cJSON_AddItemToArray(array, yaml_to_json(item));
	}
	return array;
}

static const char *
text_at(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *node = map && map->type == YAML_MAP ? yaml_get(map, key) : NULL;

	return node && node->text ? node->text : "";
}

void
child_fields_check(struct validator *v, const struct yaml_node *child)
{
	const struct yaml_node *template = yaml_get(child, "template");
	const char *deletion = text_at(child, "deletion");
	size_t back = validator_key(v, "update");

	if (!strcmp(text_at(child, "update"), "recreate") &&
		(!strcmp(deletion, "retain") ||
			(!*deletion && config_kind_retained_of(text_at(template, "apiVersion"),
					       text_at(template, "kind")))))
		complain(v, yaml_get(child, "update"),
			"recreate deletes the child, but it is retained: write deletion: delete, or "
			"update: apply");
	validator_back(v, back);
}
