/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold. At every step: one write at a time to one thing, nothing deleted that the configuration wants, a UUID stays. After the calm: every
 * object has its child and its status, and nothing is written any more.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "tests/sim/finalized.h"
#include "tests/sim/world.h"

#define NGINX       "/apis/stable.underneathall.com/v1/namespaces/default/nginx"
#define UUID        "/apis/demo.operator/v1/namespaces/default/uuid"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"

/* The list at a path, parsed; an empty one when it is not served. */
static cJSON *
list(const char *path)
{
	cJSON *answer = world_get(path);

	return answer ? answer : cJSON_CreateObject();
}

static const char *
text(const cJSON *object, const char *a, const char *b)
{
	const cJSON *value = json_get(object, a, b, NULL);

	return cJSON_IsString(value) ? value->valuestring : "";
}

static void
check_uuid(struct world *world, const cJSON *object)
{
	unsigned i = (unsigned)(text(object, "metadata", "name")[1] - '0') % WORLD_NAMES;
	const char *uid = text(object, "metadata", "uid"), *uuid = text(object, "status", "uuid");

	if (strcmp(world->uuids[i].uid, uid) == 0 && *world->uuids[i].uuid &&
		strcmp(world->uuids[i].uuid, uuid) != 0)
		sim_fail("uuid of o%u changed from %s to %s", i, world->uuids[i].uuid, uuid);
	if (!*uuid || strcmp(uuid, "NA") == 0)
		return;
	snprintf(world->uuids[i].uid, sizeof(world->uuids[i].uid), "%s", uid);
	snprintf(world->uuids[i].uuid, sizeof(world->uuids[i].uuid), "%s", uuid);
}

void
invariants_step(struct world *world)
{
	const cJSON *object;

	if (sim_traffic.double_writes)
		sim_fail("a write while another to the same path was under way");
	finalized_step(world);
	cJSON *uuids = list(UUID);
	cJSON_ArrayForEach(object, json_get(uuids, "items", NULL)) check_uuid(world, object);
	cJSON_Delete(uuids);
}

static const cJSON *
find(const cJSON *list_, const char *name)
{
	const cJSON *object;

	cJSON_ArrayForEach(object, json_get(list_, "items", NULL))
	{
		if (strcmp(text(object, "metadata", "name"), name) == 0)
			return object;
	}
	return NULL;
}

static const cJSON *
condition(const cJSON *object, const char *type)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, json_get(object, "status", "conditions", NULL))
	{
		if (strcmp(json_string(item, "type", ""), type) == 0)
			return item;
	}
	return NULL;
}

static void
check_child(const cJSON *nginx, const cJSON *deployment, int64_t wanted)
{
	const char *name = text(nginx, "metadata", "name");
	const cJSON *owner =
		cJSON_GetArrayItem(json_get(deployment, "metadata", "ownerReferences", NULL), 0);
	const cJSON *labels = json_get(deployment, "metadata", "labels", NULL);

	if (json_int(json_get(deployment, "spec", NULL), "replicas", -1) != wanted)
		sim_fail("%s-deploy has %lld replicas, not %lld", name,
			(long long)json_int(json_get(deployment, "spec", NULL), "replicas", -1),
			(long long)wanted);
	if (strcmp(json_string(owner, "uid", ""), text(nginx, "metadata", "uid")) != 0)
		sim_fail("%s-deploy is not owned by its Nginx", name);
	if (strcmp(json_string(labels, "operatord.io/owner-uid", ""),
		    text(nginx, "metadata", "uid")) != 0 ||
		strcmp(json_string(labels, "app.kubernetes.io/managed-by", ""), "operatord") != 0)
		sim_fail("%s-deploy lacks our labels", name);
}

static void
check_nginx(const cJSON *nginx, const cJSON *deployments)
{
	char child[64];
	const char *name = text(nginx, "metadata", "name");
	int64_t wanted = json_int(json_get(nginx, "spec", NULL), "replicas", 1);
	int64_t generation = json_int(json_get(nginx, "metadata", NULL), "generation", -1);
	const cJSON *ready = condition(nginx, "Ready");

	snprintf(child, sizeof(child), "%s-deploy", name);
	const cJSON *deployment = find(deployments, child);
	if (!deployment) {
		sim_fail("Nginx %s has no Deployment", name);
		return;
	}
	check_child(nginx, deployment, wanted);
	if (json_int(json_get(nginx, "status", NULL), "readyReplicas", -1) != wanted)
		sim_fail("Nginx %s: status.readyReplicas is %lld, not %lld", name,
			(long long)json_int(json_get(nginx, "status", NULL), "readyReplicas", -1),
			(long long)wanted);
	if (strcmp(json_string(ready, "status", ""), "True") != 0)
		sim_fail("Nginx %s is not Ready: %s %s", name,
			json_string(ready, "reason", "no condition"),
			json_string(ready, "message", ""));
	else if (json_int(ready, "observedGeneration", -1) != generation)
		sim_fail("Nginx %s: observedGeneration %lld, generation %lld", name,
			(long long)json_int(ready, "observedGeneration", -1),
			(long long)generation);
	if (condition(nginx, "Reconciling") || condition(nginx, "Stalled"))
		sim_fail("Nginx %s still has Reconciling or Stalled", name);
}

static void
check_orphans(const cJSON *nginxes, const cJSON *deployments)
{
	const cJSON *deployment;

	cJSON_ArrayForEach(deployment, json_get(deployments, "items", NULL))
	{
		char name[64];
		snprintf(name, sizeof(name), "%s", text(deployment, "metadata", "name"));
		char *suffix = strstr(name, "-deploy");
		if (suffix)
			*suffix = '\0';
		if (!find(nginxes, name))
			sim_fail(
				"Deployment %s has no Nginx", text(deployment, "metadata", "name"));
	}
}

static void
check_objects(struct world *world)
{
	cJSON *nginxes = list(NGINX), *deployments = list(DEPLOYMENTS), *uuids = list(UUID);
	const cJSON *object;

	cJSON_ArrayForEach(object, json_get(nginxes, "items", NULL))
		check_nginx(object, deployments);
	check_orphans(nginxes, deployments);
	cJSON_ArrayForEach(object, json_get(uuids, "items", NULL))
	{
		check_uuid(world, object);
		if (strcmp(text(object, "status", "state"), "Ok") != 0 ||
			strlen(text(object, "status", "uuid")) != 36)
			sim_fail("Uuid %s has state '%s', uuid '%s'",
				text(object, "metadata", "name"), text(object, "status", "state"),
				text(object, "status", "uuid"));
	}
	cJSON_Delete(nginxes);
	cJSON_Delete(deployments);
	cJSON_Delete(uuids);
}

void
invariants_converged(struct world *world)
{
	for (unsigned i = 0; i < WORLD_CONTROLLERS; i++) {
		if (world->runners[i].state != WORKER_LIVE)
			sim_fail("controller %u is %s and not live", i,
				worker_state_name(world->runners[i].state));
	}
	check_objects(world);
	finalized_converged(world);
	unsigned long writes = sim_traffic.writes;
	uint64_t revision = api_revision(world->api);
	sim_run(world->loop, 120 * NSEC_PER_SEC);
	if (sim_traffic.writes != writes)
		sim_fail("%lu writes in two quiet minutes after convergence",
			sim_traffic.writes - writes);
	if (api_revision(world->api) != revision)
		sim_fail("the server's state changed in two quiet minutes");
}

#define FOREIGN                                                                                         \
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"foreign%d\"},\"spec\":{\"selector\":{"   \
	"\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{"   \
	"\"name\":\"c\",\"image\":\"i\"}]}}}}"

void
invariants_resume(struct world *world)
{
	unsigned long lists = sim_traffic.lists;
	char body[300];

	for (int i = 0; i < 3; i++) {
		(void)snprintf(body, sizeof(body), FOREIGN, i);
		int status = sim_call("people", "POST", DEPLOYMENTS, "application/json", body, NULL);
		if (status != 201)
			sim_fail("a foreign Deployment was not created: %d", status);
		sim_run(world->loop, 70 * NSEC_PER_SEC);
	}
	api_compact(world->api);
	sim_faults = (struct sim_faults){.end_watch = 1000};
	sim_run(world->loop, 3 * NSEC_PER_SEC);
	sim_faults = (struct sim_faults){0};
	sim_run(world->loop, 60 * NSEC_PER_SEC);
	if (sim_traffic.lists != lists)
		sim_fail("%lu lists for watches that ended, though bookmarks told where to go on",
			sim_traffic.lists - lists);
}

/* Five streams (three primaries, two kinds of children), each allowed ten attempts in 30 s. */
void
invariants_outage(struct world *world)
{
	sim_faults = (struct sim_faults){.outage = true};
	sim_run(world->loop, 2 * NSEC_PER_SEC); /* the watches notice */
	unsigned long before = sim_traffic.lists + sim_traffic.watches;
	sim_run(world->loop, 30 * NSEC_PER_SEC);
	unsigned long attempts = sim_traffic.lists + sim_traffic.watches - before;
	if (attempts > 50)
		sim_fail("%lu attempts of five streams in 30 s against a dead server", attempts);
	sim_faults = (struct sim_faults){0};
}
