/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads with replicas become ready a moment after each change of their spec.
 *
 * Writes the status as the controller manager would, as a field manager of its own. DaemonSets and Jobs stay as they
 * are: nothing here knows nodes.
 */
#include "config.h"

#include <string.h>
#include "devserver/behave.h"
#include "devserver/managed.h"
#include "devserver/tree.h"

static void
set_count(cJSON *status, const char *key, int64_t count)
{
	if (count)
		tree_set_int(status, key, count);
	else
		tree_remove(status, key);
}

static void
set_condition(
	cJSON *status, const char *type, const char *reason, const char *message, const char *now)
{
	cJSON *list = tree_array(status, "conditions"), *condition = list->child;

	while (condition && strcmp(json_string(condition, "type", ""), type) != 0)
		condition = condition->next;
	if (condition)
		return;
	condition = cJSON_CreateObject();
	tree_set_string(condition, "type", type);
	tree_set_string(condition, "status", "True");
	tree_set_string(condition, "lastUpdateTime", now);
	tree_set_string(condition, "lastTransitionTime", now);
	tree_set_string(condition, "reason", reason);
	tree_set_string(condition, "message", message);
	cJSON_AddItemToArray(list, condition);
}

static void
set_status(cJSON *tree, bool deployment, const char *now)
{
	int64_t replicas = json_int(tree_get(tree, "spec"), "replicas", 1);
	cJSON *status = tree_object(tree, "status");

	tree_set_int(status, "observedGeneration",
		json_int(tree_get(tree, "metadata"), "generation", 0));
	set_count(status, "replicas", replicas);
	set_count(status, "readyReplicas", replicas);
	set_count(status, "availableReplicas", replicas);
	if (!deployment)
		return;
	set_count(status, "updatedReplicas", replicas);
	set_condition(status, "Available", "MinimumReplicasAvailable",
		"Deployment has minimum availability.", now);
	set_condition(status, "Progressing", "NewReplicaSetAvailable",
		"The Deployment has successfully progressed.", now);
}

static void
make_ready(struct api *api, struct collection *collection, const struct object *changed)
{
	struct object *object = work_current(collection, changed);
	struct resource *resource = server_resource(api, collection);
	struct manager manager = {
		"kube-controller-manager", "status", &resource->versions[0], NULL};
	cJSON *before, *after;
	char now[32];

	if (!object || object->deleting)
		return;
	server_time(now, 0);
	manager.time = now;
	before = registry_parse(object);
	after = cJSON_Duplicate(before, true);
	set_status(after, server_is(collection, "apps", "deployments"), now);
	managed_update(before, after, &manager);
	if (tree_equal(before, after))
		cJSON_Delete(after);
	else
		server_put(api, collection, after);
	cJSON_Delete(before);
}

void
behave_changed(struct api *api, const struct event *event)
{
	struct collection *c = event->collection;

	if (event->type == EVENT_DELETED || api->options.ready_delay_ns < 0)
		return;
	if (server_is(c, "apps", "deployments") || server_is(c, "apps", "replicasets") ||
		server_is(c, "apps", "statefulsets"))
		work_later(api, make_ready, c, event->after);
}
