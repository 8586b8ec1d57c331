/* SPDX-License-Identifier: Apache-2.0 */
/* What the table of built-in kinds needs beyond schemas: defaults that depend on other fields, and checks across fields. */
#ifndef DEVSERVER_DEFAULTS_H
#define DEVSERVER_DEFAULTS_H

#include <cjson/cJSON.h>

/* object: about to be written; old: as it is, NULL for a create. */
void default_namespace(cJSON *object, const cJSON *old);
void prepare_namespace(cJSON *object, const cJSON *old);
void prepare_service(cJSON *object, const cJSON *old);
void prepare_pod(cJSON *object, const cJSON *old);
void default_secret(cJSON *object, const cJSON *old);
void default_service(cJSON *object, const cJSON *old);
void default_pod(cJSON *object, const cJSON *old);
void default_workload(cJSON *object, const cJSON *old);
void default_deployment(cJSON *object, const cJSON *old);
/* Fills in the answer; these kinds are never stored. */
void answer_access_review(cJSON *object, const cJSON *old);
void answer_self_review(cJSON *object, const cJSON *old);

/* NULL, or an array of causes as in a Status ({"reason", "message", "field"}); cJSON_Delete(). */
cJSON *check_workload(const cJSON *object, const cJSON *old);
cJSON *check_pod(const cJSON *object, const cJSON *old);
cJSON *check_core_event(const cJSON *object, const cJSON *old);
cJSON *check_service(const cJSON *object, const cJSON *old);
cJSON *check_secret(const cJSON *object, const cJSON *old);
cJSON *check_event(const cJSON *object, const cJSON *old);

#endif
