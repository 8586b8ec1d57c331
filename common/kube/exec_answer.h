/* SPDX-License-Identifier: Apache-2.0 */
/* What a program for credentials printed, as a credential. Pure. */
#ifndef COMMON_KUBE_EXEC_ANSWER_H
#define COMMON_KUBE_EXEC_ANSWER_H

#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/error.h"
#include "common/kube/client.h"

/*
 * Exactly one ExecCredential of that apiVersion, with a token, or a certificate and its key, as PEM. 0, and *ret points into *ret_json, which exec_answer_free()
 * burns; or -EINVAL with the cause, in which nothing of the answer is shown.
 */
int exec_answer_parse(const char *bytes, size_t length, const char *api_version, struct kube_credential *ret, cJSON **ret_json,
	struct error *err);
void exec_answer_free(cJSON *json);

#endif
