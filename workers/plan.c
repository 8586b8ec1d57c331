/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children: each is rendered, given our labels and an owner reference, and printed with sorted keys, so that equal
 * children are equal bytes. A child that can't be rendered fails alone; its existing object is left as it is.
 *
 * Owner references can't leave a namespace, and a cluster-scoped object can't have a namespaced owner (the garbage
 * collector would remove it): both are refused here, before anything is written.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/json.h"
#include "common/kube/names.h"
#include "common/memory.h"
#include "workers/plan.h"

#define RENDER_MAX (4u << 20)

void
plan_fail(struct plan_child *child, enum verdict verdict, const char *format, ...)
{
	char text[CONDITION_MESSAGE_MAX + 8];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	free(child->text);
	child->what = PLAN_FAILED;
	child->verdict = verdict;
	child->text = xstrdup(text);
}

void
plan_fail_render(const struct planner *planner, size_t group, struct plan_child *child,
	const struct template_problem *problem)
{
	char text[CONDITION_MESSAGE_MAX + 8];

	planner_problem_text(problem, text, sizeof(text));
	plan_fail(child,
		planner_group_reads_children(planner, group) ? VERDICT_WAITING_FOR_CHILD
							     : VERDICT_RENDER_FAILED,
		"%s", text);
}

/* What `when` says: 1 yes, 0 no, -1 failed. */
static int
wanted(const struct planner *planner, size_t i, const struct plan_object *object,
	struct plan_child *child)
{
	size_t group = config_group_when(planner->config, i);
	struct buf out = BUF_INIT_LIMIT(64);
	struct template_problem problem;
	int answer;

	if (planner->config->children[i].when == NULL)
		return 1;
	if (planner_render(planner, group, object, NULL, NULL, &out, &problem) < 0) {
		plan_fail_render(planner, group, child, &problem);
		answer = -1;
	} else {
		answer = strcmp(out.data, "true") == 0;
	}
	buf_free(&out);
	return answer;
}

static cJSON *
object_in(cJSON *parent, const char *key)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, key);

	if (cJSON_IsObject(item))
		return item;
	cJSON_DeleteItemFromObjectCaseSensitive(parent, key);
	return cJSON_AddObjectToObject(parent, key);
}

static void
set_string(cJSON *object, const char *key, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddStringToObject(object, key, value);
}

static void
add_labels(const struct planner *planner, cJSON *metadata, const char *id, const char *owner_uid)
{
	cJSON *labels = object_in(metadata, "labels");

	set_string(labels, LABEL_MANAGED_BY, LABEL_MANAGED_BY_VALUE);
	set_string(labels, LABEL_INSTANCE, planner->config->instance);
	set_string(labels, LABEL_CONTROLLER, planner->config->name);
	set_string(labels, LABEL_CHILD, id);
	set_string(labels, LABEL_OWNER_UID, owner_uid);
}

static void
add_owner(const struct planner *planner, cJSON *metadata, const struct plan_object *object)
{
	cJSON *owners = cJSON_GetObjectItemCaseSensitive(metadata, "ownerReferences");
	cJSON *owner = cJSON_CreateObject();
	char api_version[320];

	if (!cJSON_IsArray(owners)) {
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "ownerReferences");
		owners = cJSON_AddArrayToObject(metadata, "ownerReferences");
	}
	kube_api_version(api_version, planner->resource);
	cJSON_AddStringToObject(owner, "apiVersion", api_version);
	cJSON_AddStringToObject(owner, "kind", planner->resource->kind);
	cJSON_AddStringToObject(owner, "name", object->name);
	cJSON_AddStringToObject(owner, "uid", object->uid);
	cJSON_AddTrueToObject(owner, "controller");
	cJSON_AddTrueToObject(owner, "blockOwnerDeletion");
	cJSON_AddItemToArray(owners, owner);
}

/* Finds the namespace of the child, or says why there is none that can be. */
static bool
place(const struct planner *planner, const struct plan_object *object,
	const struct kube_resource *kind, enum config_owner owner, cJSON *metadata,
	struct plan_child *child)
{
	const char *asked = json_string(metadata, "namespace", "");
	const char *own = planner->resource->namespaced ? object->namespace_ : "";

	if (!kind->namespaced && *own != '\0' && owner == CONFIG_OWNER_REFERENCE)
		plan_fail(child, VERDICT_RENDER_FAILED,
			"%s is cluster-scoped: it can't belong to an object in a namespace by an "
			"owner reference; write owner: finalizer, or owner: none",
			kind->kind);
	else if (!kind->namespaced && *asked != '\0')
		plan_fail(child, VERDICT_RENDER_FAILED,
			"%s is cluster-scoped: remove metadata.namespace", kind->kind);
	else if (*own != '\0' && *asked != '\0' && strcmp(own, asked) != 0 &&
		 owner == CONFIG_OWNER_REFERENCE)
		plan_fail(child, VERDICT_RENDER_FAILED,
			"metadata.namespace is %s, but a child must be in the namespace of its "
			"owner (%s); write owner: finalizer, or owner: none",
			asked, own);
	else if (kind->namespaced && *own == '\0' && *asked == '\0')
		plan_fail(child, VERDICT_RENDER_FAILED,
			"%s needs metadata.namespace, for its owner has none", kind->kind);
	else {
		child->namespace_ = xstrdup(!kind->namespaced ? "" : *asked == '\0' ? own : asked);
		return true;
	}
	return false;
}

void
plan_print_body(struct plan_child *child, const cJSON *body)
{
	struct buf out = BUF_INIT_LIMIT(RENDER_MAX);

	json_print_canonical(&out, body);
	child->body = buf_detach(&out, &child->length);
	if (child->body == NULL)
		plan_fail(child, VERDICT_RENDER_FAILED, "the rendered object is larger than %u bytes",
			RENDER_MAX);
	else
		child->hash = XXH3_64bits(child->body, child->length);
}

static void
complete(const struct planner *planner, size_t i, const struct plan_object *object,
	const struct kube_resource *kind, cJSON *body, struct plan_child *child)
{
	cJSON *metadata = object_in(body, "metadata");
	const char *name = json_string(metadata, "name", "");
	const struct config_child *config = &planner->config->children[i];

	if (*name == '\0') {
		plan_fail(child, VERDICT_RENDER_FAILED,
			"children[%s]: metadata.name is empty or not a string", config->id);
		return;
	}
	if (strlen(name) > 253 || strchr(name, '/') != NULL) {
		plan_fail(child, VERDICT_RENDER_FAILED,
			"children[%s]: metadata.name is not a valid name", config->id);
		return;
	}
	if (!place(planner, object, kind, config->owner, metadata, child))
		return;
	if (kind->namespaced)
		set_string(metadata, "namespace", child->namespace_);
	set_string(body, "apiVersion", config->api_version);
	set_string(body, "kind", config->kind);
	add_labels(planner, metadata, config->id, object->uid);
	if (config->owner == CONFIG_OWNER_REFERENCE)
		add_owner(planner, metadata, object);
	if (config->retain)
		set_string(object_in(metadata, "annotations"), ANNOTATION_DELETION, "retain");
	child->name = xstrdup(name);
	plan_fields(planner, object, child, body);
	plan_print_body(child, body);
}

static void
plan_child(const struct planner *planner, const struct plan_object *object,
	const struct kube_resource *kind, struct plan_child *child)
{
	size_t i = child->child;
	const struct config_child *config = &planner->config->children[i];
	size_t group = config_group_template(planner->config, i);
	struct buf out = BUF_INIT_LIMIT(RENDER_MAX);
	struct template_problem problem;
	cJSON *body = NULL;

	switch (wanted(planner, i, object, child)) {
	case -1:
		return;
	case 0:
		child->what = PLAN_ABSENT;
		return;
	}
	child->what = PLAN_APPLY;
	if (kind == NULL)
		plan_fail(child, VERDICT_WAITING_FOR_CHILD, "the server does not serve %s %s",
			config->api_version, config->kind);
	else if (planner_render(planner, group, object, NULL, NULL, &out, &problem) < 0)
		plan_fail_render(planner, group, child, &problem);
	else if ((body = json_parse(out.data, out.length, NULL)) == NULL || !cJSON_IsObject(body))
		plan_fail(child, VERDICT_RENDER_FAILED,
			"children[%s]: the template does not give an object", config->id);
	else
		complete(planner, i, object, kind, body, child);
	cJSON_Delete(body);
	buf_free(&out);
}

static struct plan_child *
add(struct plan *plan, size_t child)
{
	plan->children =
		xreallocarray(plan->children, plan->n + 1, sizeof(struct plan_child));
	plan->children[plan->n] = (struct plan_child){.child = child};
	return &plan->children[plan->n++];
}

static void
plan_each(const struct planner *planner, size_t i, const struct plan_object *object,
	const struct kube_resource *kind, struct plan *plan)
{
	struct plan_child failed = {.child = i};
	cJSON *items = plan_items(planner, i, object, &failed);
	struct plan_object with_item = *object;
	const cJSON *item;

	if (items == NULL) {
		*add(plan, i) = failed;
		return;
	}
	cJSON_ArrayForEach(item, items)
	{
		struct buf bytes = BUF_INIT_LIMIT(RENDER_MAX);
		struct plan_child *child;

		json_print(&bytes, item);
		with_item.item = bytes.data;
		with_item.item_length = bytes.length;
		child = add(plan, i);
		plan_child(planner, &with_item, kind, child);
		if (planner->config->children[i].ready_when != NULL)
			child->item = buf_detach(&bytes, NULL);
		buf_free(&bytes);
	}
	cJSON_Delete(items);
}

void
plan_children(const struct planner *planner, const struct plan_object *object,
	const struct kube_resource *const *kinds, struct plan *ret)
{
	*ret = (struct plan){.complete = true};
	for (size_t k = 0; k < planner->config->n_children; k++) {
		size_t i = planner->config->order[k];

		if (planner->config->children[i].for_each != NULL)
			plan_each(planner, i, object, kinds[i], ret);
		else
			plan_child(planner, object, kinds[i], add(ret, i));
	}
	plan_check_names(planner, ret);
	for (size_t i = 0; i < ret->n; i++)
		if (ret->children[i].what == PLAN_FAILED)
			ret->complete = false;
}

void
plan_clear(struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		free(plan->children[i].text);
		free(plan->children[i].namespace_);
		free(plan->children[i].name);
		free(plan->children[i].body);
		free(plan->children[i].item);
	}
	free(plan->children);
	*plan = (struct plan){0};
}
