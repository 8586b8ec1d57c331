/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's front inside: who may, which verb, which module.
 *
 * Owns the store, the registry and the queue; every answer is made by the module that the verb belongs to. There is no
 * authorization beyond "signed in or not": who is signed in may everything.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/memory.h"
#include "devserver/behave.h"
#include "devserver/crd.h"
#include "devserver/discovery.h"
#include "devserver/gc.h"
#include "devserver/read.h"
#include "devserver/scale.h"
#include "devserver/tree.h"
#include "devserver/watch.h"
#include "devserver/write.h"

#define HISTORY_DEFAULT     20000
#define READY_DELAY_DEFAULT (300 * NSEC_PER_MSEC)
#define BOOKMARK_DEFAULT    (60 * NSEC_PER_SEC)

static void
changed(void *data, const struct event *event)
{
	struct api *api = data;

	watch_changed(api, event);
	crd_changed(api, event);
	gc_changed(api, event);
	behave_changed(api, event);
}

static void
add_namespace(struct api *api, const char *name)
{
	struct buf body = BUF_INIT;
	struct api_response response = API_RESPONSE_INIT;
	struct api_request request = {.method = "POST",
		.path = "/api/v1/namespaces",
		.user = "system:apiserver",
		.user_agent = "kube-apiserver"};

	buf_addf(&body, "{\"metadata\":{\"name\":\"%s\"}}", name);
	request.body = body.data;
	request.body_length = body.length;
	api_handle(api, &request, &response);
	api_response_free(&response);
	buf_free(&body);
}

struct api *
api_new(const struct api_options *options)
{
	struct api *api = xcalloc(1, sizeof(*api));

	if (options)
		api->options = *options;
	if (!api->options.history)
		api->options.history = HISTORY_DEFAULT;
	if (!api->options.ready_delay_ns)
		api->options.ready_delay_ns = READY_DELAY_DEFAULT;
	if (!api->options.bookmark_ns)
		api->options.bookmark_ns = BOOKMARK_DEFAULT;
	api->watch_due = INT64_MAX;
	api->now_last = &api->now;
	api->later_last = &api->later;
	api->store = registry_new(api->options.history, changed, api);
	kinds_open(&api->kinds, api->store);
	add_namespace(api, "default");
	add_namespace(api, "kube-system");
	api_tick(api);
	return api;
}

void
api_free(struct api *api)
{
	if (!api)
		return;
	while (api->watches)
		api_watch_free(api->watches);
	work_free(api);
	kinds_close(&api->kinds);
	registry_free(api->store);
	free(api);
}

uint64_t
api_revision(const struct api *api)
{
	return registry_revision(api->store);
}

void
api_compact(struct api *api)
{
	registry_compact(api->store);
}

int64_t
api_tick(struct api *api)
{
	int64_t work = work_run(api), watch = watch_tick(api);

	return work < 0 ? watch : watch < 0 || work < watch ? work : watch;
}

static const char *
verb(const struct call *call)
{
	static const char *const verbs[][2] = {
		{"POST", "create"}, {"PUT", "update"}, {"PATCH", "patch"}};

	for (size_t i = 0; i < 3; i++)
		if (call_is(call, verbs[i][0]))
			return verbs[i][1];
	if (call_is(call, "DELETE"))
		return call->name ? "delete" : "deletecollection";
	return call->name ? "get" : call_flag(call, "watch") ? "watch" : "list";
}

/* No user: 401. The anonymous one: 403, but for health and version. */
static bool
check_user(struct call *call)
{
	const char *user = call->request->user, *first = call->segments ? call->segment[0] : "";
	static const char *const open[] = {"healthz", "livez", "readyz", "version"};

	if (!user)
		return fail(call, 401, "Unauthorized", NULL, "Unauthorized");
	if (strcmp(user, "system:anonymous") != 0)
		return true;
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		if (strcmp(first, open[i]) == 0)
			return true;
	if (!call->resource)
		return fail(call, 403, "Forbidden", cJSON_CreateObject(),
			"forbidden: User \"%s\" cannot %s path \"/%s\"", user,
			call_is(call, "GET") ? "get" : "post", first);
	return fail(call, 403, "Forbidden", cJSON_CreateObject(),
		"%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s%s%s",
		call_resource_name(call), user, verb(call), call->resource->plural,
		call->resource->group,
		*call->namespace_ ? "in the namespace \"" : "at the cluster scope",
		call->namespace_, *call->namespace_ ? "\"" : "");
}

struct verb_row {
	const char *method;
	bool name;
	void (*run)(struct call *call);
};

static const struct verb_row verb_rows[] = {
	{"GET", true, read_get},
	{"GET", false, read_list},
	{"POST", false, write_create},
	{"PUT", true, write_update},
	{"PATCH", true, write_patch},
	{"DELETE", true, write_delete},
	{"DELETE", false, write_delete_collection},
};

static bool
subresource_fits(struct call *call)
{
	if (!call->subresource)
		return true;
	if (strcmp(call->subresource, "status") == 0 && call->version->status)
		return call_is(call, "POST") || call_is(call, "DELETE") ? fail_method(call) : true;
	if (strcmp(call->subresource, "scale") == 0 && call->version->scale)
		return true;
	/* Of a custom resource, the object "is not there". */
	return call->resource->builtin ? fail_no_path(call) : fail_not_found(call);
}

static void
run_verb(struct call *call)
{
	if (call->unacceptable) {
		fail(call, 406, "NotAcceptable", NULL,
			"only the following media types are accepted: application/json");
		return;
	}
	if (!subresource_fits(call))
		return;
	if (call->subresource && strcmp(call->subresource, "scale") == 0) {
		scale_handle(call);
		return;
	}
	if (call->resource->flags & KIND_ANSWER && !call_is(call, "POST")) {
		fail_method(call);
		return;
	}
	for (size_t i = 0; i < sizeof(verb_rows) / sizeof(verb_rows[0]); i++)
		if (call_is(call, verb_rows[i].method) && !call->name == !verb_rows[i].name) {
			verb_rows[i].run(call);
			return;
		}
	fail_method(call);
}

/* Everything up to the verb; false: answered. */
static bool
open_call(struct call *call, struct api *api, const struct api_request *request,
	struct api_response *response)
{
	const char *first;
	bool resource;

	response->status = 200;
	if (!call_parse(call, api, request, response))
		return false;
	first = call->segments ? call->segment[0] : "";
	resource = (strcmp(first, "api") == 0 && call->segments > 2) ||
		   (strcmp(first, "apis") == 0 && call->segments > 3);
	if (!request->user)
		return check_user(call);
	if (!resource) {
		if (check_user(call) && !discovery_handle(call))
			call_reply_text(call, 404, "404 page not found\n");
		return false;
	}
	return call_resolve(call, &api->kinds) && check_user(call);
}

void
api_handle(struct api *api, const struct api_request *request, struct api_response *response)
{
	struct call call;

	if (open_call(&call, api, request, response))
		run_verb(&call);
	call_free(&call);
}

bool
api_is_watch(const struct api_request *request)
{
	struct api_response response = API_RESPONSE_INIT;
	struct call call;
	bool watch = call_parse(&call, NULL, request, &response) && call_is(&call, "GET") &&
		     call_flag(&call, "watch") && call_is_list(&call);

	call_free(&call);
	api_response_free(&response);
	return watch;
}

struct api_watch *
api_watch(struct api *api, const struct api_request *request,
	void (*line)(void *data, const char *bytes, size_t length), void (*end)(void *data),
	void *data, struct api_response *response)
{
	struct api_watch *watch = NULL;
	struct call call;

	if (open_call(&call, api, request, response)) {
		if (call.resource->flags & KIND_ANSWER || call.subresource)
			fail_method(&call);
		else
			watch = watch_start(&call, line, end, data);
	}
	/* A started watch has taken the call over. */
	if (!watch)
		call_free(&call);
	return watch;
}
