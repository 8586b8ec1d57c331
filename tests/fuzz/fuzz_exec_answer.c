/* SPDX-License-Identifier: Apache-2.0 */
/* What a credential program prints is a credential that can be sent, or an error that shows nothing of it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/kube/exec_answer.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = {
		"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"};

	for (size_t i = 0; i < 2; i++) {
		struct kube_credential c = {0};
		struct error err = {0};
		cJSON *json = NULL;

		if (exec_answer_parse((const char *)data, size, versions[i], &c, &json, &err) < 0) {
			if (json != NULL || err.text[0] == '\0' ||
				strstr(err.text, "s3cret") != NULL)
				abort();
			continue;
		}
		if ((c.cert_pem == NULL) != (c.key_pem == NULL) ||
			(c.token == NULL && c.cert_pem == NULL))
			abort();
		for (const char *t = c.token; t != NULL && *t != '\0'; t++)
			if (*t <= ' ' || (unsigned char)*t >= 0x7f)
				abort();
		exec_answer_free(json);
	}
	return 0;
}
