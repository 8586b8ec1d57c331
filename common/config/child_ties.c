/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ties a child to its parent, and what becomes of it: `owner` and `deletion`. An owner reference leads the garbage collector to delete the child
 * with its parent, so nothing that is retained can have one.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <string.h>

#include "common/config/config.h"
#include "common/config/validate.h"

bool
config_kind_retained(const char *group, const char *kind)
{
	static const struct {
		const char *group, *kind;
	} kinds[] = {
		{"", "Namespace"},
		{"", "PersistentVolumeClaim"},
		{"apiextensions.k8s.io", "CustomResourceDefinition"},
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!strcmp(group, kinds[i].group) && !strcmp(kind, kinds[i].kind))
			return true;
	return false;
}

bool
config_kind_retained_of(const char *api_version, const char *kind)
{
	struct kube_resource resource;

	kube_resource_of_kind(api_version, kind, &resource);
	return config_kind_retained(resource.group, kind);
}

static const char *
text_at(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *node = map && map->type == YAML_MAP ? yaml_get(map, key) : NULL;

	return node && node->text ? node->text : "";
}

bool
child_ties_check(struct validator *v, const struct yaml_node *child)
{
	const struct yaml_node *template = yaml_get(child, "template");
	const char *owner = text_at(child, "owner"), *deletion = text_at(child, "deletion");
	bool by_kind = !*deletion && config_kind_retained_of(text_at(template, "apiVersion"),
					     text_at(template, "kind"));
	bool retained = by_kind || !strcmp(deletion, "retain");
	size_t back = validator_key(v, "owner");

	if (retained && !strcmp(owner, "reference"))
		complain(v, yaml_get(child, "owner"),
			"an owner reference would have it deleted with its parent, but it is "
			"retained%s: write deletion: delete, or owner: none",
			by_kind ? " as all of its kind are" : "");
	else if (retained && !strcmp(owner, "finalizer"))
		complain(v, yaml_get(child, "owner"),
			"the finalizer is there to delete it, but it is retained%s: write "
			"deletion: delete, or owner: none",
			by_kind ? " as all of its kind are" : "");
	validator_back(v, back);
	return retained || !strcmp(owner, "finalizer") || !strcmp(owner, "none");
}
