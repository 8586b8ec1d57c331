/* SPDX-License-Identifier: Apache-2.0 */
/* Resources and their URLs: the one place where paths are built and escaped. */
#ifndef COMMON_KUBE_PATH_H
#define COMMON_KUBE_PATH_H

#include <stdbool.h>
#include "common/buf.h"

/* A resource as the server serves it. Fixed sizes: names in Kubernetes have bounds (253 a group, 63 a plural or kind). */
struct kube_resource {
	char group[254];   /* "" for the core group */
	char version[64];
	char plural[64];
	char kind[64];     /* "" until discovered */
	char singular[64];
	bool namespaced;
	bool has_status;   /* the status subresource is served */
	bool can_list, can_watch;
};

/* "/apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]"; namespace_, name and subresource may be NULL or "". */
void kube_path(struct buf *out, const struct kube_resource *resource, const char *namespace_, const char *name, const char *subresource);
/* Appends ?key=value or &key=value, percent-escaped; a NULL value adds nothing. */
void kube_path_query(struct buf *out, const char *key, const char *value);
/* "plural.version.group" ("pods.v1." for the core group; "nginx.v1.stable.underneathall.com"): 0 or -EINVAL. Fills group, version, plural. */
int kube_resource_parse(const char *name, struct kube_resource *ret);
/* "GROUP/VERSION" or "VERSION" */
void kube_api_version(char out[320], const struct kube_resource *resource);
/* What a manifest says: apiVersion "apps/v1" or "v1", and a kind. The rest is for discovery to find out. */
void kube_resource_of_kind(const char *api_version, const char *kind, struct kube_resource *ret);

#endif
