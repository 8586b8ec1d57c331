/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that the reconcile engine does, each one request: server-side apply, merge patch of /status, delete with a precondition,
 * create of an Event. Thin: builds path, query, headers and body; judging is the caller's.
 */
#ifndef COMMON_KUBE_WRITE_H
#define COMMON_KUBE_WRITE_H

#include "common/kube/client.h"
#include "common/kube/path.h"

typedef void kube_done(void *data, const struct kube_result *result);

/* PATCH application/apply-patch+yaml?fieldManager=...&force=...; body is the object as JSON. */
struct kube_request *kube_apply(struct kube *kube, const struct kube_resource *resource, const char *namespace_, const char *name, const char *field_manager, bool force, const char *body, size_t length, kube_done *done, void *data);
/* PATCH application/merge-patch+json of the object, or of /status when the resource has it and subresource is "status". */
struct kube_request *kube_merge_patch(struct kube *kube, const struct kube_resource *resource, const char *namespace_, const char *name, const char *subresource, const char *field_manager, const char *body, size_t length, kube_done *done, void *data);
/* DELETE with preconditions.uid and propagationPolicy Background. */
struct kube_request *kube_delete(struct kube *kube, const struct kube_resource *resource, const char *namespace_, const char *name, const char *uid, kube_done *done, void *data);
struct kube_request *kube_create(struct kube *kube, const struct kube_resource *resource, const char *namespace_, const char *body, size_t length, kube_done *done, void *data);
struct kube_request *kube_get(struct kube *kube, const struct kube_resource *resource, const char *namespace_, const char *name, const char *accept, kube_done *done, void *data);

#endif
