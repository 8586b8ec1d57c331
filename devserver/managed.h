/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.managedFields: who owns what, and server-side apply. */
#ifndef DEVSERVER_MANAGED_H
#define DEVSERVER_MANAGED_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "devserver/kinds.h"

struct manager {
	const char *name;
	const char *subresource; /* NULL or "status" */
	const struct version *version;
	const char *time; /* RFC 3339, for entries that change */
};

/* Brings after's managedFields up to date for a write that is no apply; before: NULL for a create. */
void managed_update(const cJSON *before, cJSON *after, const struct manager *manager);

/*
 * The object that results from applying config to before (NULL: create), managedFields included; the caller's. With
 * conflicts and no force: NULL, the causes in ret_causes and the message in ret_message, which the caller frees.
 */
cJSON *managed_apply(const cJSON *before, const cJSON *config, const struct manager *manager,
	bool force, cJSON **ret_causes, char **ret_message);

#endif
