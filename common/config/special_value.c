/* SPDX-License-Identifier: Apache-2.0 */
/* The few keys with a form of their own: namespaces, vars, lists of texts, when. Part of the walk in validate.c. */
#include <config.h> /* of the build, not the one beside this file */

#include <stdlib.h>
#include <string.h>

#include "common/config/validate.h"
#include "common/memory.h"
#include "common/utf8.h"

#define NAMESPACES_MAX 500 /* a watch each */
#define TEXTS_MAX      100

/* --- namespaces --- */

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted: the same set gives the same bytes. */
static cJSON *
sorted_names(const struct yaml_node *list, size_t n)
{
	const char **names = xcalloc(n, sizeof *names);
	cJSON *array;
	size_t i = 0;

	for (const struct yaml_node *item = list->children; item; item = item->next)
		names[i++] = item->text;
	qsort(names, n, sizeof *names, by_text);
	array = cJSON_CreateStringArray(names, (int)n);
	free(names);
	return array;
}

static bool
namespace_item(struct validator *v, const struct yaml_node *list, const struct yaml_node *item)
{
	if (!item->text || strlen(item->text) != item->length ||
		!syntax_is_label(item->text, item->length)) {
		complain(v, item, "expected the name of a namespace");
		return false;
	}
	for (const struct yaml_node *other = list->children; other != item; other = other->next)
		if (other->text && !strcmp(other->text, item->text)) {
			complain(v, item, "%s is named twice", item->text);
			return false;
		}
	return true;
}

cJSON *
special_namespaces(struct validator *v, const struct yaml_node *node)
{
	bool good = true;
	size_t n = 0;

	if (node->text && !strcmp(node->text, "all"))
		return cJSON_CreateString("all");
	if (node->type != YAML_LIST || !node->children) {
		complain(v, node, "expected all, or a list of namespaces such as [default, web]");
		return NULL;
	}
	for (const struct yaml_node *item = node->children; item && n <= NAMESPACES_MAX;
		item = item->next, n++) {
		size_t back = validator_index(v, n);

		good = namespace_item(v, node, item) && good;
		validator_back(v, back);
	}
	if (n > NAMESPACES_MAX)
		complain(v, node, "more than %d namespaces; write all, or divide the controller",
			NAMESPACES_MAX);
	return good && n <= NAMESPACES_MAX ? sorted_names(node, n) : NULL;
}

/* --- vars --- */

static cJSON *
from_env(struct validator *v, const struct yaml_node *node)
{
	const struct yaml_node *name = yaml_get(node, "fromEnv");
	const char *value;

	if (node->children->next || !name->text || !syntax_is_identifier(name->text)) {
		complain(v, node, "expected {fromEnv: NAME}, the name of an environment variable");
		return NULL;
	}
	value = getenv(name->text);
	if (!value || !utf8_valid(value, strlen(value))) {
		complain(v, name, "the environment variable %s is %s", name->text,
			value ? "not UTF-8" : "not set");
		return NULL;
	}
	return yaml_to_json(node);
}

cJSON *
special_vars(struct validator *v, const struct yaml_node *map)
{
	cJSON *vars = cJSON_CreateObject();

	for (const struct yaml_node *node = map->children; node; node = node->next) {
		size_t back = validator_key(v, node->key);
		cJSON *value = NULL;

		if (!syntax_is_identifier(node->key))
			complain_key(v, node,
				"not a name for an expression; write letters, digits and '_', not "
				"a digit first");
		else if (yaml_get(node, "fromEnv"))
			value = from_env(v, node);
		else
			value = free_value(v, node, true);
		if (value)
			cJSON_AddItemToObject(vars, node->key, value);
		validator_back(v, back);
	}
	return vars;
}

/* --- lists of texts --- */

cJSON *
special_texts(struct validator *v, const struct yaml_node *node)
{
	cJSON *array;
	size_t n = 0;

	if (node->type != YAML_LIST || !node->children) {
		complain(v, node, "expected a list of texts, such as [a, b]");
		return NULL;
	}
	array = cJSON_CreateArray();
	for (const struct yaml_node *item = node->children; item && n <= TEXTS_MAX;
		item = item->next, n++) {
		size_t back = validator_index(v, n);

		if (item->type != YAML_STRING || item->length == 0 ||
			strlen(item->text) != item->length)
			complain(v, item,
				"expected text; put a number or a word such as true in quotes");
		else if (n == TEXTS_MAX)
			complain(v, item, "more than %d items", TEXTS_MAX);
		else
			cJSON_AddItemToArray(array, yaml_to_json(item));
		validator_back(v, back);
	}
	return array;
}

cJSON *
special_text_lists(struct validator *v, const struct yaml_node *map)
{
	cJSON *object;

	if (map->type != YAML_MAP) {
		complain(v, map, "expected a map of lists of texts, such as {scopes: [view]}");
		return NULL;
	}
	object = cJSON_CreateObject();
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		size_t back = validator_key(v, node->key);
		cJSON *texts = special_texts(v, node);

		if (node->key[0] == '\0')
			complain_key(v, node, "expected a name before the colon");
		if (texts)
			cJSON_AddItemToObject(object, node->key, texts);
		validator_back(v, back);
	}
	return object;
}

/* --- when --- */

cJSON *
special_condition(struct validator *v, const struct yaml_node *node)
{
	if (node->type == YAML_BOOL)
		return yaml_to_json(node);
	if (node->type == YAML_STRING && !strncmp(node->text, "${", 2) &&
		node->text[node->length - 1] == '}')
		return yaml_to_json(node);
	complain(v, node, "expected true, false or one expression: \"${...}\"");
	return NULL;
}
