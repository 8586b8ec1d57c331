/* SPDX-License-Identifier: Apache-2.0 */
/* Any answer to a request, an API server's or another's: its message is one line of UTF-8 that fits, and nothing masked is in it. The first two bytes are the HTTP status. */
#include "config.h"

#include <stdlib.h>

#include "common/kube/judge.h"
#include "common/log.h"
#include "tests/fuzz/fuzz.h"

static void
check_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	if (n == size || strstr(text, "s3cret-token") != NULL)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_result result = {0};
	static bool masked;

	if (size < 2)
		return 0;
	if (!masked)
		log_mask("s3cret-token", 12);
	masked = true;
	result.status = (data[0] << 8 | data[1]) % 600;
	result.outcome = kube_judge_status(result.status);
	kube_judge_body(&result, (const char *)data + 2, size - 2);
	kube_judge_explain(&result, "GET", "/apis/example.com/v1/webs");
	check_text(result.message, sizeof(result.message));
	check_text(result.reason, sizeof(result.reason));
	if (result.retry_after_ns < 0)
		abort();
	return 0;
}
