/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling in defaults, by the schema table. The result has every key that has a value, whatever was written, so that equal
 * settings are equal documents.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/duration.h"
#include "common/config/effective.h"
#include "common/config/schema.h"
#include "common/config/value.h"
#include "common/json.h"
#include "common/memory.h"

/* Paths of the table have at most one dot. */
static const cJSON *
get_path(const cJSON *object, const char *path)
{
	const char *dot = strchr(path, '.');
	char first[64];

	if (!dot)
		return cJSON_GetObjectItemCaseSensitive(object, path);
	snprintf(first, sizeof first, "%.*s", (int)(dot - path), path);
	object = cJSON_GetObjectItemCaseSensitive(object, first);
	return object ? cJSON_GetObjectItemCaseSensitive(object, dot + 1) : NULL;
}

static void
set_path(cJSON *object, const char *path, cJSON *value)
{
	const char *dot = strchr(path, '.');
	char first[64];
	cJSON *inner;

	if (dot) {
		snprintf(first, sizeof first, "%.*s", (int)(dot - path), path);
		inner = cJSON_GetObjectItemCaseSensitive(object, first);
		object = inner ? inner : cJSON_AddObjectToObject(object, first);
		path = dot + 1;
	}
	cJSON_AddItemToObject(object, path, value);
}

/* A copy of what is written, then of the second source, then the fallback, for each key of the place. */
static cJSON *
fill(const cJSON *written, const cJSON *second, enum schema_place place)
{
	cJSON *result = cJSON_CreateObject();

	for (size_t i = 0; i < schema_n_keys; i++) {
		const struct schema_key *key = &schema_keys[i];
		const cJSON *found;
		cJSON *value;

		if (!(key->places & place) || !schema_is_leaf(key))
			continue;
		found = get_path(written, key->path);
		if (!found && second && (key->places & SCHEMA_DEFAULTS))
			found = get_path(second, key->path);
		value = found ? cJSON_Duplicate(found, true) : value_fallback(key);
		if (value)
			set_path(result, key->path, value);
	}
	return result;
}

/* A relative path (section.key) starts at a configuration file's directory, not at wherever the program was started. */
static void
anchor(cJSON *settings, const char *section, const char *key, const char *directory)
{
	cJSON *map = cJSON_GetObjectItemCaseSensitive(settings, section);
	const cJSON *path = map ? cJSON_GetObjectItemCaseSensitive(map, key) : NULL;
	char *anchored, *absolute;

	if (!path || path->valuestring[0] == '/')
		return;
	absolute = realpath(directory, NULL);
	anchored = xasprintf("%s/%s", absolute ? absolute : directory, path->valuestring);
	cJSON_ReplaceItemInObjectCaseSensitive(
		map, key, json_new_string(anchored, strlen(anchored)));
	free(anchored);
	free(absolute);
}

void
effective_anchor(cJSON *controller, const char *directory)
{
	static const char *const keys[] = {
		"kubeconfig", "tokenFile", "clientCertificate", "clientKey"};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		anchor(controller, "credentials", keys[i], directory);
}

cJSON *
effective_supervisor(const cJSON *main_settings, const char *directory)
{
	cJSON *result = fill(main_settings, NULL, SCHEMA_MAIN);

	cJSON_DeleteItemFromObjectCaseSensitive(result, "controllers");
	cJSON_DeleteItemFromObjectCaseSensitive(result, "defaults");
	cJSON_DeleteItemFromObjectCaseSensitive(result, "version");
	anchor(result, "cluster", "kubeconfig", directory);
	return result;
}

cJSON *
effective_vars(const cJSON *vars)
{
	cJSON *result = cJSON_CreateObject();
	const cJSON *item;

	cJSON_ArrayForEach(item, vars)
	{
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "fromEnv");
		const char *text = name ? getenv(name->valuestring) : "";

		text = text ? text : "";
		cJSON_AddItemToObject(result, item->string,
			name ? json_new_string(text, strlen(text)) : cJSON_Duplicate(item, true));
	}
	return result;
}

static int64_t
duration_of(const cJSON *settings, const char *path)
{
	const cJSON *text = get_path(settings, path);
	int64_t ns = 0;

	if (text && cJSON_IsString(text))
		(void)duration_parse(text->valuestring, &ns);
	return ns;
}

/* One identity, whole. */
static void
check_identity(const cJSON *settings, const struct yaml_node *node, const char *path,
	struct problems *problems)
{
	bool certificate = get_path(settings, "credentials.clientCertificate"),
	     key = get_path(settings, "credentials.clientKey");

	if (certificate != key)
		problems_add(problems, node->line, node->column, path,
			"credentials.clientCertificate and credentials.clientKey go together; %s "
			"is missing",
			key ? "clientCertificate" : "clientKey");
	if ((certificate || key) && get_path(settings, "credentials.tokenFile"))
		problems_add(problems, node->line, node->column, path,
			"credentials has a tokenFile and a client certificate; remove one");
	if (cJSON_GetObjectItemCaseSensitive(settings, "impersonate") &&
		!get_path(settings, "impersonate.user"))
		problems_add(problems, node->line, node->column, path,
			"impersonate.user is missing; name whom to impersonate");
}

/* Rules between keys. */
static void
check_relations(const cJSON *settings, const struct yaml_node *node, const char *path,
	struct problems *problems)
{
	const cJSON *instance = get_path(settings, "instance"), *name = get_path(settings, "name");

	if (duration_of(settings, "retry.min") > duration_of(settings, "retry.max"))
		problems_add(
			problems, node->line, node->column, path, "retry.min is above retry.max");
	if (duration_of(settings, "renderTimeout") > duration_of(settings, "heartbeat"))
		problems_add(problems, node->line, node->column, path,
			"renderTimeout is above heartbeat: a slow template would look like a hung "
			"worker");
	/* A finalizer's name part has at most 63 characters: operatord.io/INSTANCE.CONTROLLER. */
	if (instance && name && strlen(instance->valuestring) + strlen(name->valuestring) > 62)
		problems_add(problems, node->line, node->column, path,
			"name and instance have more than 62 characters together; shorten one: "
			"they are "
			"one name on the cluster");
	check_identity(settings, node, path, problems);
}

static void
copy_key(cJSON *to, const cJSON *from, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(from, key);

	if (value)
		cJSON_AddItemToObject(to, key, cJSON_Duplicate(value, true));
}

cJSON *
effective_controller(const cJSON *written, const cJSON *defaults, const cJSON *supervisor,
	const cJSON *vars, const struct yaml_node *node, const char *path,
	struct problems *problems)
{
	cJSON *result = fill(written, defaults, SCHEMA_CONTROLLER);
	const cJSON *children = cJSON_GetObjectItemCaseSensitive(written, "children"), *child;
	cJSON *array = cJSON_CreateArray();

	cJSON_ArrayForEach(child, children)
		cJSON_AddItemToArray(array, fill(child, NULL, SCHEMA_CHILD));
	cJSON_DeleteItemFromObjectCaseSensitive(result, "children");
	cJSON_AddItemToObject(result, "children", array);
	copy_key(result, supervisor, "instance");
	copy_key(result, supervisor, "cluster");
	copy_key(result, supervisor, "heartbeat");
	cJSON_AddItemToObject(result, "vars", cJSON_Duplicate(vars, true));
	check_relations(result, node, path, problems);
	return result;
}
