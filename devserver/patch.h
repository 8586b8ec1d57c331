/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of the kinds that are not server-side apply. */
#ifndef DEVSERVER_PATCH_H
#define DEVSERVER_PATCH_H

#include <cjson/cJSON.h>
#include "common/error.h"

/* RFC 7386. */
void patch_merge(cJSON *target, const cJSON *patch);
/* RFC 6902: -EINVAL for a patch that is none, -ENOENT for one that does not fit the target (which may be half changed). */
int patch_json(cJSON *target, const cJSON *operations, struct error *err);
/* Kubernetes' strategic merge: keyed lists merge by their first key; $patch, $retainKeys, $deleteFromPrimitiveList. */
void patch_strategic(cJSON *target, const cJSON *patch, const cJSON *schema);

#endif
