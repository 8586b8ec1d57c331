/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply's changes to a document. */
#ifndef DEVSERVER_MERGE_H
#define DEVSERVER_MERGE_H

#include <cjson/cJSON.h>

/* Merges config into live by the schema: maps by key, keyed lists by item, sets by value, the rest replaced. */
void merge_apply(cJSON *live, const cJSON *config, const cJSON *schema);
/* Removes what was applied last time (NULL: nothing) and is owned by nobody now. */
void merge_remove(cJSON *live, const cJSON *last, const cJSON *owned, const cJSON *schema);

#endif
