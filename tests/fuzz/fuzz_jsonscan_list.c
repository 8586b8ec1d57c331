/* SPDX-License-Identifier: Apache-2.0 */
/* A list gives the same items, result, version and continue token at any chunking. The first byte is the size of the chunks. */
#include "config.h"

#include "common/buf.h"
#include "common/jsonscan.h"
#include "tests/fuzz/fuzz.h"

static void
take(void *data, const char *bytes, size_t length)
{
	struct json_object_info info;

	if (!jsonscan_object(bytes, length, &info))
		abort();
	buf_add(data, bytes, length);
	buf_addc(data, '\n');
}

/* All that came out, as text. */
static struct buf
cut(const char *bytes, size_t length, size_t chunk)
{
	struct buf out = BUF_INIT;
	const struct jsonscan_list_callbacks callbacks = {.item = take, .data = &out};
	struct jsonscan_list *list = jsonscan_list_new(&callbacks, length + 1);
	int r = 0;

	for (size_t at = 0; at < length && r == 0; at += chunk)
		r = jsonscan_list_feed(list, bytes + at, length - at < chunk ? length - at : chunk);
	buf_addf(&out, "%d %d", r, jsonscan_list_done(list));
	if (r == 0) {
		buf_adds(&out, jsonscan_list_resource_version(list));
		buf_addc(&out, '\n');
		buf_adds(&out, jsonscan_list_continue(list));
	}
	jsonscan_list_free(list);
	return out;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, parts;

	if (size < 2)
		return 0;
	whole = cut((const char *)data + 1, size - 1, size);
	parts = cut((const char *)data + 1, size - 1, (size_t)data[0] % 64 + 1);
	fuzz_same(whole.data, whole.length, parts.data, parts.length);
	buf_free(&whole);
	buf_free(&parts);
	return 0;
}
