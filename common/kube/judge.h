/* SPDX-License-Identifier: Apache-2.0 */
/* What answers mean: HTTP status and Status object (kubernetes.io/docs/reference/kubernetes-api, meta/v1 Status) to a kube_result. Pure. */
#ifndef COMMON_KUBE_JUDGE_H
#define COMMON_KUBE_JUDGE_H

#include "common/kube/client.h"

enum kube_outcome kube_judge_status(int status);
/*
 * Fills reason, message (the Status's own words), retry_after_ns, conflict, namespace_terminating, cause_field of a Status, sharpens
 * the outcome, and sets status from its code when it was 0. False: these bytes are no Status; then message is their first line.
 */
bool kube_judge_body(struct kube_result *result, const char *body, size_t length);
/* "Forbidden" for 403; "" for what has no name here. */
const char *kube_status_phrase(int status);
/*
 * Composes the message for people from what the judged result holds: "GET /apis/x: 403 Forbidden: WORDS; what to do". Masks secrets. Where the credentials come from is
 * not in it, since it goes to the cluster in conditions and Events: see kube_credentials_source(). The reason is masked too.
 */
void kube_judge_explain(struct kube_result *result, const char *method, const char *path);

#endif
