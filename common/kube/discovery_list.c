/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/json.h"
#include "common/kube/discovery_list.h"

void
discovery_path(struct buf *out, const char *group, const char *version)
{
	struct kube_resource r = {0};

	snprintf(r.group, sizeof(r.group), "%s", group);
	snprintf(r.version, sizeof(r.version), "%s", version != NULL ? version : "");
	kube_path(out, &r, NULL, NULL, NULL);
}

static bool
has_verb(const cJSON *item, const char *verb)
{
	const cJSON *v, *verbs = json_get(item, "verbs", NULL);

	cJSON_ArrayForEach(v, verbs)
	{
		if (cJSON_IsString(v) && strcmp(v->valuestring, verb) == 0)
			return true;
	}
	return false;
}

static bool
has_subresource(const cJSON *list, const char *plural, const char *subresource)
{
	const cJSON *item, *items = json_get(list, "resources", NULL);
	char name[160];

	snprintf(name, sizeof(name), "%s/%s", plural, subresource);
	cJSON_ArrayForEach(item, items)
	{
		if (strcmp(json_string(item, "name", ""), name) == 0)
			return true;
	}
	return false;
}

static void
fill(const cJSON *list, const cJSON *item, struct kube_resource *r)
{
	snprintf(r->plural, sizeof(r->plural), "%s", json_string(item, "name", ""));
	snprintf(r->kind, sizeof(r->kind), "%s", json_string(item, "kind", ""));
	snprintf(r->singular, sizeof(r->singular), "%s", json_string(item, "singularName", ""));
	r->namespaced = json_bool(item, "namespaced", false);
	r->can_list = has_verb(item, "list");
	r->can_watch = has_verb(item, "watch");
	r->has_status = has_subresource(list, r->plural, "status");
}

bool
discovery_list_find(const cJSON *list, struct kube_resource *resource)
{
	const cJSON *item, *items = json_get(list, "resources", NULL);
	bool by_plural = resource->plural[0] != '\0';

	cJSON_ArrayForEach(item, items)
	{
		const char *name = json_string(item, "name", "");

		if (strchr(name, '/') != NULL || *name == '\0')
			continue;
		if (strcmp(by_plural ? name : json_string(item, "kind", ""),
			    by_plural ? resource->plural : resource->kind) == 0) {
			fill(list, item, resource);
			return true;
		}
	}
	return false;
}

static bool
is_called(const cJSON *item, const char *word)
{
	const cJSON *alias, *aliases = json_get(item, "shortNames", NULL);

	if (strcasecmp(json_string(item, "name", ""), word) == 0 ||
		strcasecmp(json_string(item, "singularName", ""), word) == 0 ||
		strcasecmp(json_string(item, "kind", ""), word) == 0)
		return true;
	cJSON_ArrayForEach(alias, aliases)
	{
		if (cJSON_IsString(alias) && strcasecmp(alias->valuestring, word) == 0)
			return true;
	}
	return false;
}

bool
discovery_list_find_word(const cJSON *list, const char *word, struct kube_resource *ret)
{
	const cJSON *item, *items = json_get(list, "resources", NULL);

	if (*word == '\0')
		return false;
	cJSON_ArrayForEach(item, items)
	{
		if (strchr(json_string(item, "name", "/"), '/') == NULL && is_called(item, word)) {
			fill(list, item, ret);
			return true;
		}
	}
	return false;
}

void
discovery_versions(const cJSON *group, struct buf *out)
{
	const cJSON *v, *versions = json_get(group, "versions", NULL);

	cJSON_ArrayForEach(v, versions)
	{
		/* APIVersions has plain texts, APIGroup objects. */
		const char *text =
			cJSON_IsString(v) ? v->valuestring : json_string(v, "version", "");

		if (*text != '\0')
			buf_addf(out, "%s%s", out->length > 0 ? ", " : "", text);
	}
}
