/* SPDX-License-Identifier: Apache-2.0 */
/* Wherever the chunks of a watch begin and end, its lines are the same (E49, E51). The first byte says how it is cut. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "common/kube/watch_lines.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT 64

static int
keep(void *data, const char *bytes, size_t length)
{
	struct buf *out = data;

	if (length == 0 || length > LIMIT || memchr(bytes, '\n', length) != NULL)
		abort();
	buf_add(out, bytes, length);
	buf_addc(out, '\n');
	return *bytes == '!' ? -ECANCELED : 0;
}

/* Chunks of 1, 2, ... step bytes, over and over. */
static int
feed(const char *bytes, size_t length, size_t step, struct buf *out)
{
	struct watch_lines lines;
	int r = 0;

	watch_lines_init(&lines, LIMIT);
	for (size_t at = 0, n = 1; r == 0 && at < length; n = n % step + 1) {
		size_t part = n < length - at ? n : length - at;
		char *exact = malloc(part);

		memcpy(exact, bytes + at, part);
		r = watch_lines_feed(&lines, exact, part, keep, out);
		free(exact);
		at += part;
	}
	if (r == 0)
		r = watch_lines_end(&lines, keep, out);
	watch_lines_free(&lines);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, cut = BUF_INIT;
	const char *bytes = (const char *)data;
	int r;

	if (size < 2)
		return 0;
	r = feed(bytes + 1, size - 1, size, &whole);
	if (feed(bytes + 1, size - 1, 1 + data[0] % 32u, &cut) != r)
		abort();
	fuzz_same(whole.length ? whole.data : "", whole.length, cut.length ? cut.data : "",
		cut.length);
	buf_free(&whole);
	buf_free(&cut);
	return 0;
}
