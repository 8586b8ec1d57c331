/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through a file's tree by the schema table: keys, types, what is missing. Rules that a table can't say are in child.c;
 * names across files in check.c. Owns nothing but the JSON that it hands out.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/config/config.h"
#include "common/config/template_file.h"
#include "common/config/validate.h"
#include "common/config/value.h"

size_t
validator_key(struct validator *v, const char *key)
{
	size_t length = v->path.length;
	bool plain = key[strspn(key,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] ==
		     '\0';

	if (plain)
		buf_addf(&v->path, "%s%s", length ? "." : "", key);
	else
		buf_addf(&v->path, "[\"%s\"]", key);
	return length;
}

size_t
validator_index(struct validator *v, size_t index)
{
	size_t length = v->path.length;

	buf_addf(&v->path, "[%zu]", index);
	return length;
}

size_t
validator_item(struct validator *v, const char *name)
{
	size_t length = v->path.length;

	buf_addf(&v->path, "[%s]", name);
	return length;
}

void
validator_back(struct validator *v, size_t length)
{
	v->path.length = length;
	if (v->path.capacity)
		v->path.data[length] = '\0';
}

void
complain(struct validator *v, const struct yaml_node *node, const char *format, ...)
{
	bool has_place = node->line > 0;
	char text[768];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	problems_add_in(v->problems, template_file_path(node), has_place ? node->line : node->key_line,
		has_place ? node->column : node->key_column, v->path.data, "%s", text);
}

void
complain_key(struct validator *v, const struct yaml_node *node, const char *format, ...)
{
	bool has_key = node->key_line > 0;
	char text[768];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	problems_add_in(v->problems, template_file_path(node), has_key ? node->key_line : node->line,
		has_key ? node->key_column : node->column, v->path.data, "%s", text);
}

static cJSON *map_value(struct validator *v, const struct yaml_node *map, enum schema_place place,
	const char *prefix);

static void
unknown_key(struct validator *v, const struct yaml_node *node, enum schema_place place,
	const char *prefix)
{
	const char *near = schema_suggest(place, prefix, node->key);
	unsigned elsewhere = *prefix ? 0 : schema_places_of(node->key);

	if (place == SCHEMA_FRAGMENT && elsewhere)
		complain_key(v, node,
			"belongs into the main file; a file in conf.d holds version and "
			"controllers only");
	else if (place == SCHEMA_DEFAULTS && (elsewhere & SCHEMA_CONTROLLER))
		complain_key(v, node, "has no default; it belongs to a controller");
	else if (elsewhere)
		complain_key(v, node, "unknown key %.80s here; it belongs to %s", node->key,
			schema_place_name(elsewhere));
	else if (near)
		complain_key(v, node, "unknown key %.80s, did you mean %s?", node->key, near);
	else
		complain_key(v, node, "unknown key %.80s", node->key);
}

/* An empty value of a map or list (all its lines commented out) is an empty one. */
static bool
is_kind(struct validator *v, const struct yaml_node *node, enum yaml_type type, const char *advice)
{
	if (node->type == type || (node->type == YAML_NULL && node->length == 0))
		return true;
	complain(v, node, "expected %s, this is %s%s", type == YAML_MAP ? "a map" : "a list",
		value_type_name(node), advice);
	return false;
}

/* --- lists of maps --- */

/* The path shows an item by its name, or by its number where that is not to be had. */
static size_t
enter_item(struct validator *v, const struct yaml_node *item, const char *name_key, size_t index)
{
	const struct yaml_node *name = item->type == YAML_MAP ? yaml_get(item, name_key) : NULL;

	if (name && name->text && syntax_is_label(name->text, strlen(name->text)))
		return validator_item(v, name->text);
	return validator_index(v, index);
}

static bool
literal_of(const struct yaml_node *child)
{
	const struct yaml_node *literal = yaml_get(child, "literal");

	return literal && literal->type == YAML_BOOL && (literal->text[0] | 0x20) == 't';
}

static cJSON *
item_value(struct validator *v, const struct yaml_node *item, enum schema_place place)
{
	cJSON *value;

	if (item->type != YAML_MAP) {
		complain(v, item, "expected a map with %s, this is %s",
			place == SCHEMA_CHILD ? "id and template" : "name and resource",
			value_type_name(item));
		return cJSON_CreateObject();
	}
	value = map_value(v, item, place, "");
	if (place == SCHEMA_CHILD) {
		child_check(v, item, literal_of(item));
		child_fields_check(v, item);
	} else {
		names_check_controller(v, item);
		depends_check_controller(v, item);
	}
	return value;
}

static cJSON *
list_value(struct validator *v, const struct yaml_node *list, enum schema_place place)
{
	const char *name_key = place == SCHEMA_CHILD ? "id" : "name";
	size_t max = place == SCHEMA_CHILD ? CONFIG_CHILDREN_MAX : CONFIG_CONTROLLERS_MAX, n = 0;
	cJSON *array = cJSON_CreateArray();

	for (const struct yaml_node *item = list->children; item; item = item->next, n++) {
		size_t back;

		if (n == max) {
			complain(v, item, "more than %zu items", max);
			break;
		}
		back = enter_item(v, item, name_key, n);
		cJSON_AddItemToArray(array, item_value(v, item, place));
		validator_back(v, back);
	}
	if (place == SCHEMA_CHILD)
		child_check_list(v, list);
	return array;
}

/* --- one key --- */

static cJSON *
simple_value(struct validator *v, const struct schema_key *key, const struct yaml_node *node)
{
	struct error err;
	cJSON *value = value_from_yaml(key, node, &err);

	if (!value)
		complain(v, node, "%s", err.text);
	return value;
}

static cJSON *
nested_value(struct validator *v, const struct schema_key *key, const struct yaml_node *node,
	enum schema_place place)
{
	char prefix[64];

	if (!is_kind(v, node, YAML_MAP, ""))
		return NULL;
	if (key->type == SCHEMA_DEFAULT_MAP)
		return map_value(v, node, SCHEMA_DEFAULTS, "");
	if (key->type == SCHEMA_VARS)
		return special_vars(v, node);
	snprintf(prefix, sizeof prefix, "%s.", key->path);
	return map_value(v, node, place, prefix);
}

static cJSON *
status_value(struct validator *v, const struct schema_key *key, const struct yaml_node *node)
{
	if (!is_kind(v, node, YAML_MAP, ""))
		return NULL;
	child_check_status(v, node, !strcmp(key->path, "statusOnError"));
	return node->type == YAML_MAP ? free_value(v, node, false) : NULL;
}

static cJSON *
key_value(struct validator *v, const struct schema_key *key, const struct yaml_node *parent,
	const struct yaml_node *node, enum schema_place place)
{
	switch (key->type) {
	case SCHEMA_MAP:
	case SCHEMA_DEFAULT_MAP:
	case SCHEMA_VARS:
		return nested_value(v, key, node, place);
	case SCHEMA_CONTROLLERS:
		return is_kind(v, node, YAML_LIST, "; begin each controller with - name: NAME")
			       ? list_value(v, node, SCHEMA_CONTROLLER)
			       : NULL;
	case SCHEMA_CHILDREN:
		return is_kind(v, node, YAML_LIST, "; begin each child with - id: ID")
			       ? list_value(v, node, SCHEMA_CHILD)
			       : NULL;
	case SCHEMA_NAMESPACES:
		return special_namespaces(v, node);
	case SCHEMA_TEXTS:
		return special_texts(v, node);
	case SCHEMA_TEXT_LISTS:
		return special_text_lists(v, node);
	case SCHEMA_CONDITION:
		return special_condition(v, node);
	case SCHEMA_LET:
		return special_let(v, node);
	case SCHEMA_EACH:
		return special_each(v, node);
	case SCHEMA_IDS:
		return special_ids(v, node);
	case SCHEMA_PATHS:
		return special_paths(v, node);
	case SCHEMA_TEMPLATE:
		return free_value(v, node, literal_of(parent));
	case SCHEMA_STATUS:
		return status_value(v, key, node);
	case SCHEMA_FILE:
		return NULL; /* template_file.c has put what it holds in the template's place */
	case SCHEMA_LATER:
		complain_key(v, node, "not supported yet");
		return NULL;
	default:
		return simple_value(v, key, node);
	}
}

/* --- a map of the table's keys --- */

static void
missing_keys(struct validator *v, const struct yaml_node *map, enum schema_place place)
{
	for (size_t i = 0; i < schema_n_keys; i++) {
		const struct schema_key *key = &schema_keys[i];
		size_t back;

		if (!key->required || !(key->places & place) || yaml_get(map, key->path))
			continue;
		back = validator_key(v, key->path);
		complain(v, map, "is missing%s",
			key->type == SCHEMA_INT ? "; write version: 1" : "");
		validator_back(v, back);
	}
}

static cJSON *
map_value(struct validator *v, const struct yaml_node *map, enum schema_place place,
	const char *prefix)
{
	cJSON *object = cJSON_CreateObject();

	for (const struct yaml_node *node = map->children; node; node = node->next) {
		size_t back = validator_key(v, node->key);
		char path[128];
		const struct schema_key *key = NULL;
		cJSON *value = NULL;

		if ((size_t)snprintf(path, sizeof path, "%s%s", prefix, node->key) < sizeof path)
			key = schema_find(place, path);
		if (key)
			value = key_value(v, key, map, node, place);
		else
			unknown_key(v, node, place, prefix);
		if (value)
			cJSON_AddItemToObject(object, node->key, value);
		validator_back(v, back);
	}
	if (!*prefix)
		missing_keys(v, map, place);
	return object;
}

cJSON *
validate_file(const struct yaml_node *tree, enum schema_place place, struct problems *problems)
{
	struct validator v = {.problems = problems, .path = BUF_INIT};
	cJSON *settings;

	if (tree->type == YAML_MAP) {
		settings = map_value(&v, tree, place, "");
	} else {
		complain(&v, tree, "expected a map of keys, this is %s", value_type_name(tree));
		settings = cJSON_CreateObject();
	}
	buf_free(&v.path);
	return settings;
}
