/* SPDX-License-Identifier: Apache-2.0 */
/* Single writes: path, query, headers and body of each kind. NULL when there is no memory; judging is the caller's. */
#include "config.h"

#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/kube/write.h"

static struct kube_request *
start(struct kube *kube, struct buf *path, struct kube_call *call, kube_done *done, void *data)
{
	struct kube_request *request = NULL;

	call->path = path->data;
	if (!path->failed)
		request = kube_start(kube, call, done, data);
	buf_free(path);
	return request;
}

struct kube_request *
kube_apply(struct kube *kube, const struct kube_resource *resource, const char *namespace_,
	const char *name, const char *field_manager, bool force, const char *body, size_t length,
	kube_done *done, void *data)
{
	struct kube_call call = {.method = "PATCH",
		.content_type = "application/apply-patch+yaml",
		.body = body,
		.body_length = length};
	struct buf path = BUF_INIT;

	kube_path(&path, resource, namespace_, name, NULL);
	kube_path_query(&path, "fieldManager", field_manager);
	kube_path_query(&path, "force", force ? "true" : "false");
	return start(kube, &path, &call, done, data);
}

struct kube_request *
kube_merge_patch(struct kube *kube, const struct kube_resource *resource, const char *namespace_,
	const char *name, const char *subresource, const char *field_manager, const char *body,
	size_t length, kube_done *done, void *data)
{
	struct kube_call call = {.method = "PATCH",
		.content_type = "application/merge-patch+json",
		.body = body,
		.body_length = length};
	struct buf path = BUF_INIT;
	bool status = subresource != NULL && strcmp(subresource, "status") == 0;

	/* Where there is no such subresource the status is a part of the object. */
	kube_path(&path, resource, namespace_, name,
		status && !resource->has_status ? NULL : subresource);
	kube_path_query(&path, "fieldManager", field_manager);
	return start(kube, &path, &call, done, data);
}

struct kube_request *
kube_delete(struct kube *kube, const struct kube_resource *resource, const char *namespace_,
	const char *name, const char *uid, kube_done *done, void *data)
{
	struct kube_call call = {.method = "DELETE"};
	struct kube_request *request = NULL;
	struct buf path = BUF_INIT, body = BUF_INIT;

	kube_path(&path, resource, namespace_, name, NULL);
	buf_adds(&body, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":"
			"\"Background\"");
	if (uid != NULL) {
		buf_adds(&body, ",\"preconditions\":{\"uid\":");
		json_put_string(&body, uid, strlen(uid));
		buf_addc(&body, '}');
	}
	buf_addc(&body, '}');
	call.body = body.data;
	call.body_length = body.length;
	if (body.failed)
		buf_free(&path);
	else
		request = start(kube, &path, &call, done, data);
	buf_free(&body);
	return request;
}

struct kube_request *
kube_create(struct kube *kube, const struct kube_resource *resource, const char *namespace_,
	const char *body, size_t length, kube_done *done, void *data)
{
	struct kube_call call = {.method = "POST", .body = body, .body_length = length};
	struct buf path = BUF_INIT;

	kube_path(&path, resource, namespace_, NULL, NULL);
	return start(kube, &path, &call, done, data);
}

struct kube_request *
kube_get(struct kube *kube, const struct kube_resource *resource, const char *namespace_,
	const char *name, const char *accept, kube_done *done, void *data)
{
	struct kube_call call = {.method = "GET", .accept = accept};
	struct buf path = BUF_INIT;

	kube_path(&path, resource, namespace_, name, NULL);
	return start(kube, &path, &call, done, data);
}
