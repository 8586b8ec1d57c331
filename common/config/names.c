/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that a configuration gives to values: let of a controller and of a child, forEach of a child. Each name has one meaning where it can be used, and is none
 * of the names that expressions have anyway.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <string.h>

#include "common/config/config.h"
#include "common/config/validate.h"
#include "common/config/value.h"

static bool
is_reserved(const char *name)
{
	static const char *const names[] = {
		"children", "vars", "error", "uuid", "self", "related", "ENV", "__loc__"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "__", 2);
}

/* NULL after a problem. */
static cJSON *
expression(struct validator *v, const struct yaml_node *node)
{
	size_t back = validator_key(v, node->key);
	cJSON *value = NULL;

	if (!syntax_is_identifier(node->key))
		complain_key(v, node,
			"not a name for an expression; write letters, digits and '_', not a digit "
			"first");
	else if (is_reserved(node->key))
		complain_key(v, node, "$%s has a meaning already; write another name", node->key);
	else if (node->type != YAML_STRING || strncmp(node->text, "${", 2) != 0 ||
		 node->text[node->length - 1] != '}')
		complain(v, node,
			"expected one expression: \"${...}\" (text is put together inside: \"${.a "
			"+ \\\"-b\\\"}\"; what does not depend on the object belongs into vars)");
	else
		value = yaml_to_json(node);
	validator_back(v, back);
	return value;
}

cJSON *
special_let(struct validator *v, const struct yaml_node *map)
{
	cJSON *list = cJSON_CreateArray();
	size_t n = 0;

	if (map->type != YAML_MAP && map->type != YAML_NULL)
		complain(v, map, "expected a map of names and expressions, this is %s",
			value_type_name(map));
	for (const struct yaml_node *node = map->children; map->type == YAML_MAP && node;
		node = node->next) {
		cJSON *value = expression(v, node), *item;

		if (n++ == CONFIG_LETS_MAX)
			complain(v, node, "more than %d names", CONFIG_LETS_MAX);
		if (!value)
			continue;
		item = cJSON_CreateObject();
		cJSON_AddItemToObject(item, node->key, value);
		cJSON_AddItemToArray(list, item);
	}
	if (list->child)
		return list;
	cJSON_Delete(list);
	return NULL;
}

cJSON *
special_each(struct validator *v, const struct yaml_node *map)
{
	cJSON *object, *value;

	if (map->type != YAML_MAP || !map->children || map->children->next) {
		complain(v, map,
			"expected one name and an expression that gives a list, such as {zone: "
			"\"${.spec.zones}\"}");
		return NULL;
	}
	value = expression(v, map->children);
	if (!value)
		return NULL;
	object = cJSON_CreateObject();
	cJSON_AddItemToObject(object, map->children->key, value);
	return object;
}

/* --- one name, one meaning --- */

static void
check_taken(struct validator *v, const struct yaml_node *map, const struct yaml_node *other,
	const char *whose)
{
	if (!map || map->type != YAML_MAP || !other || other->type != YAML_MAP)
		return;
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		const struct yaml_node *taken = yaml_get(other, node->key);
		size_t back = validator_key(v, node->key);

		if (taken)
			complain_key(v, node, "the name is taken by the %s at line %d", whose,
				taken->key_line);
		validator_back(v, back);
	}
}

void
names_check_controller(struct validator *v, const struct yaml_node *controller)
{
	const struct yaml_node *let = yaml_get(controller, "let"),
			       *list = yaml_get(controller, "children");

	if (!list || list->type != YAML_LIST)
		return;
	for (const struct yaml_node *child = list->children; child; child = child->next) {
		size_t back = v->path.length;

		if (child->type != YAML_MAP)
			continue;
		validator_key(v, "children");
		validator_item(v, yaml_get(child, "id") && yaml_get(child, "id")->text
					  ? yaml_get(child, "id")->text
					  : "");
		check_taken(v, yaml_get(child, "let"), let, "let of the controller");
		check_taken(v, yaml_get(child, "forEach"), let, "let of the controller");
		check_taken(v, yaml_get(child, "let"), yaml_get(child, "forEach"), "forEach");
		validator_back(v, back);
	}
}
