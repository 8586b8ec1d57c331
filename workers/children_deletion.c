/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes with its owner, and what stays: read from the configuration for a child that it has, from the child itself (its annotation, its kind)
 * for one that it has no more. Keeps nothing.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/kube/names.h"
#include "workers/children_internal.h"
#include "workers/member.h"

/* A reference holds the uid as a whole string; nothing else in the list can be equal to it. */
static bool
refers_to(const char *owner, const char *bytes, const struct json_range *references)
{
	char quoted[260];
	int n = snprintf(quoted, sizeof(quoted), "\"%s\"", owner);

	return *owner != '\0' && references->length > 0 &&
	       memmem(bytes + references->start, references->length, quoted, (size_t)n) != NULL;
}

uint32_t
children_tie_flags(const char *owner, const char *bytes, const struct json_object_info *info)
{
	uint32_t flags = 0;

	if (refers_to(owner, bytes, &info->owner_references))
		flags |= CHILD_FLAG_REFERENCED;
	if (member_is(bytes, &info->annotations, ANNOTATION_DELETION, "retain"))
		flags |= CHILD_FLAG_RETAINED;
	return flags;
}

/* In the configuration, under this id and of this kind; NULL: it is there no more. */
static const struct config_child *
config_of(const struct child_kind *kind, const struct store_view *view)
{
	const struct config_child *config = children_config(kind->children, view->child);

	return config != NULL && strcmp(config->kind, kind->name) == 0 ? config : NULL;
}

bool
children_retained(const struct child_kind *kind, const struct store_view *view)
{
	const struct config_child *config = config_of(kind, view);

	if (config != NULL)
		return config->retain;
	return (view->flags & CHILD_FLAG_RETAINED) != 0 ||
	       config_kind_retained_of(kind->api_version, kind->name);
}

struct each_held {
	const struct child_kind *kind;
	void (*each)(void *data, const struct child_ref *ref);
	void *data;
};

static void
each_held(void *data, const struct store_view *view)
{
	const struct each_held *each = data;
	const struct config_child *config = config_of(each->kind, view);
	const struct child_ref ref = {mirror_resource(each->kind->mirror), view->namespace_,
		view->name, view->uid, view->child, false, (view->flags & CHILD_FLAG_LEAVING) != 0};

	if ((view->flags & CHILD_FLAG_OURS) == 0 || (view->flags & CHILD_FLAG_REFERENCED) != 0 ||
		(config != NULL && config->owner == CONFIG_OWNER_NONE) ||
		children_retained(each->kind, view) || ref.kind == NULL)
		return;
	each->each(each->data, &ref);
}

void
children_each_held(const struct children *children, const char *owner_uid,
	void (*each)(void *data, const struct child_ref *ref), void *data)
{
	for (size_t i = 0; i < children->n_kinds; i++) {
		struct each_held one = {&children->kinds[i], each, data};

		mirror_each_of(children->kinds[i].mirror, owner_uid, each_held, &one);
	}
}

static bool
kind_has_owner(const struct children *children, size_t kind, enum config_owner owner)
{
	const struct config_controller *config = children->options.config;

	for (size_t i = 0; i < config->n_children; i++)
		if (children->kind_of[i] == kind && config->children[i].owner == owner)
			return true;
	return false;
}

bool
children_held_known(const struct children *children, const char **ret_cause, bool *ret_not_served)
{
	for (size_t i = 0; i < children->n_kinds; i++) {
		const struct child_kind *kind = &children->kinds[i];
		enum worker_state trouble = mirror_trouble(kind->mirror, ret_cause);
		bool matters = kind_has_owner(children, i, CONFIG_OWNER_FINALIZER);

		/* What is left of a former kind is looked for as long as that can be. */
		if (kind->former)
			matters = trouble != WORKER_FORBIDDEN && trouble != WORKER_CRD_MISSING;
		if (!matters || mirror_trusted(kind->mirror))
			continue;
		*ret_not_served = trouble == WORKER_CRD_MISSING;
		if (trouble == WORKER_LIVE)
			*ret_cause = "the watch of its children is not up to date";
		return false;
	}
	return true;
}

/* Its template names a namespace, and no owner reference keeps it in the parent's. */
bool
children_kind_anywhere(const struct children *children, size_t kind)
{
	const struct config_controller *config = children->options.config;

	for (size_t i = 0; i < config->n_children; i++)
		if (children->kind_of[i] == kind &&
			config->children[i].owner != CONFIG_OWNER_REFERENCE &&
			cJSON_GetObjectItemCaseSensitive(
				cJSON_GetObjectItemCaseSensitive(
					config->children[i].template_, "metadata"),
				"namespace") != NULL)
			return true;
	return false;
}
