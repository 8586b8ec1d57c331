/* SPDX-License-Identifier: Apache-2.0 */
/* Reading discovery documents (APIResourceList, APIGroup, APIGroupList, APIVersions). Pure. */
#ifndef COMMON_KUBE_DISCOVERY_LIST_H
#define COMMON_KUBE_DISCOVERY_LIST_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/kube/path.h"

/* "/api/v1", "/apis/GROUP/VERSION"; version NULL: "/api", "/apis/GROUP". */
void discovery_path(struct buf *out, const char *group, const char *version);
/*
 * Looks a resource up in an APIResourceList by plural or, when that is "", by kind; fills the rest of *resource. False: it is not there.
 * Its subresources are entries of their own ("pods/status").
 */
bool discovery_list_find(const cJSON *list, struct kube_resource *resource);
/* The same by any of the words that kubectl takes: plural, singular, kind or short name, case ignored. group and version are the list's. */
bool discovery_list_find_word(const cJSON *list, const char *word, struct kube_resource *ret);
/* The versions that an APIGroup or APIVersions document names: "v1, v1beta1". */
void discovery_versions(const cJSON *group, struct buf *out);

#endif
