/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of metadata: name, labels, finalizers, owner references, in the real server's words. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devserver/causes.h"
#include "devserver/names.h"
#include "devserver/tree.h"

#define LABEL_MAX       63
#define SUBDOMAIN_MAX   253
#define ANNOTATIONS_MAX (256 * 1024)

static const char label_rule[] = "a valid label must be an empty string or consist of alphanumeric "
				 "characters, '-', '_' or '.', and must start and end "
				 "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
				 "or '12345', regex used for validation is "
				 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
static const char subdomain_rule[] =
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
	"'.', and must start and end "
	"with an alphanumeric character (e.g. 'example.com', regex used for validation is "
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
static const char name_part_rule[] =
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
	"end with an alphanumeric "
	"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

static bool
is_word(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool edge = i == 0 || i == length - 1;

		if (!isalnum((unsigned char)text[i]) && (edge || !strchr("-_.", text[i])))
			return false;
	}
	return true;
}

static bool
is_subdomain(const char *text)
{
	char before = '.';

	for (const char *p = text; *p; before = *p++) {
		bool letter = islower((unsigned char)*p) || isdigit((unsigned char)*p);

		if (!letter && *p != '-' && *p != '.')
			return false;
		/* Each part begins and ends with a letter or digit. */
		if ((before == '.' && !letter) || (*p == '.' && before == '-'))
			return false;
	}
	return before != '.' && before != '-';
}

static cJSON *
check_name(cJSON *causes, const char *name, const struct resource *resource)
{
	if (!*name)
		return causes_add(causes, CAUSE_REQUIRED, "metadata.name",
			"Required value: name or generateName is required");
	if (resource->flags & KIND_FREE_NAME)
		return strchr(name, '/') || strchr(name, '%')
			       ? causes_add(causes, CAUSE_INVALID, "metadata.name",
					 "Invalid value: \"%s\": may not contain '/'", name)
			       : causes;
	if (strlen(name) > SUBDOMAIN_MAX)
		causes = causes_add(causes, CAUSE_INVALID, "metadata.name",
			"Invalid value: \"%s\": must be no more than 253 characters", name);
	if (resource->flags & KIND_LABEL_NAME && strchr(name, '.'))
		return causes_add(causes, CAUSE_INVALID, "metadata.name",
			"Invalid value: \"%s\": must not contain dots", name);
	if (!is_subdomain(name))
		causes = causes_add(causes, CAUSE_INVALID, "metadata.name",
			"Invalid value: \"%s\": %s", name, subdomain_rule);
	return causes;
}

static cJSON *
check_key(cJSON *causes, const char *field, const char *key)
{
	const char *slash = strchr(key, '/'), *name = slash ? slash + 1 : key;

	if (strlen(name) > LABEL_MAX)
		return causes_add(causes, CAUSE_INVALID, field,
			"Invalid value: \"%s\": name part must be no more than 63 bytes", key);
	if (!*name || !is_word(name, strlen(name)))
		return causes_add(causes, CAUSE_INVALID, field, "Invalid value: \"%s\": %s", key,
			name_part_rule);
	if (slash && (slash == key || slash - key > SUBDOMAIN_MAX))
		return causes_add(causes, CAUSE_INVALID, field,
			"Invalid value: \"%s\": prefix part %s", key,
			slash == key ? "must be non-empty" : "must be no more than 253 bytes");
	return causes;
}

static cJSON *
check_labels(cJSON *causes, const cJSON *labels)
{
	for (const cJSON *label = labels ? labels->child : NULL; label; label = label->next) {
		const char *value = cJSON_IsString(label) ? label->valuestring : "";

		causes = check_key(causes, "metadata.labels", label->string);
		if (strlen(value) > LABEL_MAX)
			causes = causes_add(causes, CAUSE_INVALID, "metadata.labels",
				"Invalid value: \"%s\": must be no more than 63 bytes", value);
		if (!is_word(value, strlen(value)))
			causes = causes_add(causes, CAUSE_INVALID, "metadata.labels",
				"Invalid value: \"%s\": %s", value, label_rule);
	}
	return causes;
}

static cJSON *
check_annotations(cJSON *causes, const cJSON *annotations)
{
	size_t total = 0;

	for (const cJSON *item = annotations ? annotations->child : NULL; item; item = item->next) {
		causes = check_key(causes, "metadata.annotations", item->string);
		total += strlen(item->string) +
			 (cJSON_IsString(item) ? strlen(item->valuestring) : 0);
	}
	if (total > ANNOTATIONS_MAX)
		causes = causes_add(causes, CAUSE_LONG, "metadata.annotations",
			"Too long: may not be more than 262144 bytes");
	return causes;
}

static cJSON *
check_owners(cJSON *causes, const cJSON *owners)
{
	static const char *const required[] = {"apiVersion", "kind", "name", "uid"};
	size_t controllers = 0, index = 0;
	char field[64];

	for (const cJSON *owner = owners ? owners->child : NULL; owner;
		owner = owner->next, index++) {
		for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
			if (!*json_string(owner, required[i], "")) {
				snprintf(field, sizeof(field), "metadata.ownerReferences[%zu].%s",
					index, required[i]);
				causes = causes_add(causes, CAUSE_REQUIRED, field,
					"Required value: must not be empty");
			}
		controllers += json_bool(owner, "controller", false);
	}
	if (controllers > 1)
		causes = causes_add(causes, CAUSE_INVALID, "metadata.ownerReferences",
			"Invalid value: Only one reference can have Controller set to true. Found "
			"\"true\" in references");
	return causes;
}

static cJSON *
check_finalizers(cJSON *causes, const cJSON *finalizers)
{
	for (const cJSON *item = finalizers ? finalizers->child : NULL; item; item = item->next)
		if (cJSON_IsString(item))
			causes = check_key(causes, "metadata.finalizers", item->valuestring);
	return causes;
}

cJSON *
names_check(const cJSON *object, const struct resource *resource)
{
	const cJSON *metadata = tree_get(object, "metadata");
	cJSON *causes = check_name(NULL, json_string(metadata, "name", ""), resource);

	causes = check_labels(causes, tree_get(metadata, "labels"));
	causes = check_annotations(causes, tree_get(metadata, "annotations"));
	causes = check_owners(causes, tree_get(metadata, "ownerReferences"));
	return check_finalizers(causes, tree_get(metadata, "finalizers"));
}
