/* SPDX-License-Identifier: Apache-2.0 */
/* Greetings: what people do to them, and what must hold of them. Asks the server itself, past the network and its faults. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "tests/sim/finalized.h"
#include "tests/sim/world.h"

#define GREETINGS  "/apis/demo.operator/v1/namespaces/default/greetings"
#define CHILDREN   "/api/v1/namespaces/elsewhere/configmaps"
#define NAMESPACES "/api/v1/namespaces"
#define MERGE      "application/merge-patch+json"
#define FINALIZER  "operatord.io/default.greeting"
#define HOLD       "example.com/hold"

static const cJSON *
member(const cJSON *object, const char *key)
{
	return json_get(object, "metadata", key, NULL);
}

static const char *
text(const cJSON *object, const char *key)
{
	const cJSON *value = member(object, key);

	return cJSON_IsString(value) ? value->valuestring : "";
}

static bool
has_finalizer(const cJSON *object, const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, member(object, "finalizers"))
	{
		if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
			return true;
	}
	return false;
}

static const cJSON *
with_uid(const cJSON *list, const char *uid)
{
	const cJSON *object;

	cJSON_ArrayForEach(object, json_get(list, "items", NULL))
	{
		if (strcmp(text(object, "uid"), uid) == 0)
			return object;
	}
	return NULL;
}

static const char *
owner_uid(const cJSON *child)
{
	return json_string(member(child, "labels"), "operatord.io/owner-uid", "");
}

static bool
wants_child(const cJSON *greeting)
{
	return strcmp(json_string(json_get(greeting, "spec", NULL), "audience", ""), "nobody") != 0;
}

/* --- deletes --- */

static void
before_write(const struct api_request *request)
{
	char path[256];

	if (strcmp(request->method, "DELETE") != 0)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(request->path, "?"), request->path);
	if (strncmp(path, CHILDREN, strlen(CHILDREN)) != 0) {
		sim_fail("a controller deletes %s: nothing there is to be deleted", path);
		return;
	}
	cJSON *child = world_get(path), *greetings = world_get(GREETINGS);
	const cJSON *owner = with_uid(greetings, owner_uid(child));
	if (child && owner && !member(owner, "deletionTimestamp") && wants_child(owner))
		sim_fail("a controller deletes %s, whose owner %s lives and wants it", path,
			text(owner, "name"));
	cJSON_Delete(child);
	cJSON_Delete(greetings);
}

/* --- people --- */

void
finalized_open(struct world *world)
{
	(void)world;
	sim_http_watch_writes(before_write, NULL);
	sim_call("people", "POST", NAMESPACES, "application/json",
		"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
		"\"elsewhere\"}}",
		NULL);
}

static void
create(unsigned name)
{
	char body[256];

	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"demo.operator/v1\",\"kind\":\"Greeting\",\"metadata\":{\"name\":"
		"\"o%u\"%s},\"spec\":{\"audience\":\"%u\"}}",
		name, sim_chance(200) ? ",\"finalizers\":[\"" HOLD "\"]" : "",
		(unsigned)sim_below(5));
	sim_call("people", "POST", GREETINGS, "application/json", body, NULL);
}

static void
patch(const char *path, const char *body)
{
	sim_call("people", "PATCH", path, MERGE, body, NULL);
}

/* People take off what is theirs, and nothing else. */
static void
unhold(const char *path)
{
	cJSON *object = world_get(path);

	if (has_finalizer(object, HOLD))
		patch(path, has_finalizer(object, FINALIZER)
				    ? "{\"metadata\":{\"finalizers\":[\"" FINALIZER "\"]}}"
				    : "{\"metadata\":{\"finalizers\":null}}");
	cJSON_Delete(object);
}

static void
hold_child(const char *path)
{
	patch(path, sim_chance(300) ? "{\"metadata\":{\"finalizers\":[\"" HOLD "\"]}}"
				    : "{\"metadata\":{\"finalizers\":null}}");
}

static void
change(const char *path)
{
	char body[64];

	snprintf(body, sizeof(body), "{\"spec\":{\"audience\":\"%u\"}}", (unsigned)sim_below(9));
	patch(path, sim_chance(250) ? "{\"spec\":{\"audience\":\"nobody\"}}" : body);
}

void
finalized_act(struct world *world)
{
	unsigned name = (unsigned)sim_below(WORLD_NAMES);
	char path[128], child[128];

	(void)world;
	snprintf(path, sizeof(path), GREETINGS "/o%u", name);
	snprintf(child, sizeof(child), CHILDREN "/o%u", name);
	switch (sim_below(8)) {
	case 0:
	case 1:
	case 2:
		create(name);
		break;
	case 3:
		change(path);
		break;
	case 4:
		sim_call("people", "DELETE", path, NULL, NULL, NULL);
		break;
	case 5:
		sim_call("people", "DELETE", child, NULL, NULL, NULL);
		break;
	case 6:
		unhold(path);
		break;
	case 7:
		hold_child(child);
		break;
	}
}

/* --- what must hold --- */

static void
check_child(const cJSON *child, const cJSON *greetings)
{
	const cJSON *owner = with_uid(greetings, owner_uid(child));

	if (!*owner_uid(child))
		return; /* nobody's: not made by us */
	if (!owner)
		sim_fail("the child %s has no owner any more", text(child, "name"));
	else if (!has_finalizer(owner, FINALIZER))
		sim_fail("the child %s is there, and its owner has no finalizer",
			text(child, "name"));
	if (member(child, "ownerReferences"))
		sim_fail("the child %s has an owner reference to another namespace",
			text(child, "name"));
}

void
finalized_step(struct world *world)
{
	cJSON *greetings = world_get(GREETINGS), *children = world_get(CHILDREN);
	const cJSON *child;

	(void)world;
	cJSON_ArrayForEach(child, json_get(children, "items", NULL)) check_child(child, greetings);
	cJSON_Delete(greetings);
	cJSON_Delete(children);
}

/* Holds of others are taken off the children before: then nothing is waited for. */
static void
check_greeting(const cJSON *greeting)
{
	const char *name = text(greeting, "name");
	bool leaves = member(greeting, "deletionTimestamp") != NULL,
	     wanted = !leaves && wants_child(greeting);
	char path[128], words[96];

	snprintf(path, sizeof(path), CHILDREN "/%s", name);
	snprintf(words, sizeof(words), "Hello, %s!",
		json_string(json_get(greeting, "spec", NULL), "audience", "world"));
	cJSON *child = world_get(path);
	if (has_finalizer(greeting, FINALIZER) != wanted)
		sim_fail("Greeting %s%s %s our finalizer", name, leaves ? ", under deletion," : "",
			wanted ? "lacks" : "still has");
	else if ((child != NULL) != wanted)
		sim_fail("Greeting %s %s its child", name, wanted ? "lacks" : "still has");
	else if (wanted &&
		 strcmp(json_string(json_get(child, "data", NULL), "greeting", ""), words) != 0)
		sim_fail("the child of %s says '%s', not '%s'", name,
			json_string(json_get(child, "data", NULL), "greeting", ""), words);
	cJSON_Delete(child);
}

void
finalized_converged(struct world *world)
{
	cJSON *greetings = world_get(GREETINGS);
	const cJSON *greeting;

	(void)world;
	cJSON_ArrayForEach(greeting, json_get(greetings, "items", NULL)) check_greeting(greeting);
	cJSON_Delete(greetings);
}

void
finalized_calm(struct world *world)
{
	char path[128];

	(void)world;
	for (unsigned i = 0; i < WORLD_NAMES; i++) {
		snprintf(path, sizeof(path), CHILDREN "/o%u", i);
		patch(path, "{\"metadata\":{\"finalizers\":null}}");
	}
}
