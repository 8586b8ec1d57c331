/* SPDX-License-Identifier: Apache-2.0 */
/* What json_parse() takes prints, and what it prints parses to the same bytes again. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "common/json.h"
#include "tests/fuzz/fuzz.h"

static struct buf
printed(const char *bytes, size_t length, bool canonical)
{
	struct error err = {0};
	cJSON *value = json_parse(bytes, length, &err);
	struct buf out = BUF_INIT;

	if (!value) {
		if (err.code != -EBADMSG || !err.text[0])
			abort();
		return out;
	}
	if (canonical)
		json_print_canonical(&out, value);
	else
		json_print(&out, value);
	cJSON_Delete(value);
	if (out.failed || out.length == 0)
		abort();
	return out;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int canonical = 0; canonical < 2; canonical++) {
		struct buf once = printed((const char *)data, size, canonical);
		struct buf twice = BUF_INIT;

		if (once.length > 0) {
			twice = printed(once.data, once.length, canonical);
			fuzz_same(once.data, once.length, twice.data, twice.length);
		}
		buf_free(&once);
		buf_free(&twice);
	}
	return 0;
}
