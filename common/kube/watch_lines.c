/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that lie whole in what is fed are not copied. The callback may free what it is called for: it says so by a value that is
 * not 0, after which nothing here is touched.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "common/kube/watch_lines.h"

/* Memory that is kept between long lines. */
#define KEEP_BYTES ((size_t)64 << 10)

void
watch_lines_init(struct watch_lines *lines, size_t line_limit)
{
	lines->pending = BUF_INIT_LIMIT(line_limit);
}

void
watch_lines_free(struct watch_lines *lines)
{
	buf_free(&lines->pending);
}

void
watch_lines_reset(struct watch_lines *lines)
{
	size_t limit = lines->pending.limit;

	if (lines->pending.capacity > KEEP_BYTES) {
		buf_free(&lines->pending);
		lines->pending = BUF_INIT_LIMIT(limit);
	}
	buf_reset(&lines->pending);
}

static int
hand_out(const char *bytes, size_t n, int (*line)(void *data, const char *bytes, size_t length),
	void *data)
{
	while (n > 0 && (bytes[n - 1] == '\r' || bytes[n - 1] == ' ' || bytes[n - 1] == '\t'))
		n--;
	return n == 0 ? 0 : line(data, bytes, n);
}

static int
keep(struct watch_lines *lines, const char *bytes, size_t n)
{
	int r = buf_reserve(&lines->pending, n);

	if (r < 0) {
		watch_lines_reset(lines);
		return r;
	}
	buf_add(&lines->pending, bytes, n);
	return 0;
}

int
watch_lines_feed(struct watch_lines *lines, const char *bytes, size_t length,
	int (*line)(void *data, const char *bytes, size_t length), void *data)
{
	const char *end = bytes + length, *newline;
	int r = 0;

	while (bytes < end && (newline = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL) {
		size_t n = (size_t)(newline - bytes);

		if (lines->pending.length == 0) {
			if (lines->pending.limit != 0 && n > lines->pending.limit)
				return -EFBIG;
			r = hand_out(bytes, n, line, data);
		} else {
			r = keep(lines, bytes, n);
			if (r == 0)
				r = hand_out(
					lines->pending.data, lines->pending.length, line, data);
			if (r == 0)
				watch_lines_reset(lines);
		}
		if (r != 0)
			return r;
		bytes = newline + 1;
	}
	return bytes < end ? keep(lines, bytes, (size_t)(end - bytes)) : 0;
}

int
watch_lines_end(struct watch_lines *lines,
	int (*line)(void *data, const char *bytes, size_t length), void *data)
{
	int r = hand_out(lines->pending.data, lines->pending.length, line, data);

	if (r == 0)
		watch_lines_reset(lines);
	return r;
}
