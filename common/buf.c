/* SPDX-License-Identifier: Apache-2.0 */
/* A growable run of bytes: see buf.h for its invariants. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"

char buf_empty[1];

void
buf_free(struct buf *b)
{
	if (b->capacity)
		free(b->data);
	*b = (struct buf){.data = buf_empty, .limit = b->limit};
}

void
buf_reset(struct buf *b)
{
	b->length = 0;
	b->failed = false;
	if (b->capacity)
		b->data[0] = '\0';
}

static int
fail(struct buf *b, int code)
{
	b->failed = true;
	return code;
}

int
buf_reserve(struct buf *b, size_t n)
{
	if (b->failed)
		return b->limit ? -EFBIG : -ENOMEM;
	if (n > SIZE_MAX / 4 || (b->limit && (n > b->limit || b->length > b->limit - n)))
		return fail(b, -EFBIG);
	size_t needed = b->length + n + 1;
	if (needed <= b->capacity)
		return 0;
	size_t capacity = b->capacity ? b->capacity + b->capacity / 2 : 64;
	if (capacity < needed)
		capacity = needed;
	char *data = realloc(b->capacity ? b->data : NULL, capacity);
	if (!data)
		return fail(b, -ENOMEM);
	data[b->length] = '\0';
	b->data = data;
	b->capacity = capacity;
	return 0;
}

void
buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (n == 0 || buf_reserve(b, n) < 0)
		return;
	memcpy(b->data + b->length, bytes, n);
	b->length += n;
	b->data[b->length] = '\0';
}

void
buf_adds(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void
buf_addc(struct buf *b, char c)
{
	if (b->length + 1 < b->capacity && !b->failed && (!b->limit || b->length < b->limit)) {
		b->data[b->length++] = c;
		b->data[b->length] = '\0';
		return;
	}
	buf_add(b, &c, 1);
}

void
buf_vaddf(struct buf *b, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if (buf_reserve(b, (size_t)n) < 0)
		return;
	vsnprintf(b->data + b->length, (size_t)n + 1, format, args);
	b->length += (size_t)n;
}

void
buf_addf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vaddf(b, format, args);
	va_end(args);
}

void
buf_consume(struct buf *b, size_t n)
{
	if (n == 0)
		return;
	memmove(b->data, b->data + n, b->length - n);
	b->length -= n;
	b->data[b->length] = '\0';
}

char *
buf_detach(struct buf *b, size_t *ret_length)
{
	if (buf_reserve(b, 0) < 0 || b->failed) {
		buf_free(b);
		return NULL;
	}
	char *data = b->data;
	if (ret_length)
		*ret_length = b->length;
	*b = (struct buf){.data = buf_empty, .limit = b->limit};
	return data;
}

/* Reads until the end; one byte more than the bound is asked for, so that a larger file is seen. */
static int
read_all(struct buf *b, int fd, size_t limit)
{
	size_t have = 0;

	for (;;) {
		size_t room = limit - have < 65536 ? limit - have + 1 : 65536;
		int code = buf_reserve(b, room);
		if (code < 0)
			return code;
		ssize_t n = read(fd, b->data + b->length, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		have += (size_t)n;
		if (have > limit)
			return -EFBIG;
		b->length += (size_t)n;
		b->data[b->length] = '\0';
	}
}

int
buf_read_file(struct buf *b, const char *path, size_t limit)
{
	/* O_NONBLOCK: a FIFO under this name must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t before = b->length;
	struct stat st;

	if (fd < 0)
		return -errno;
	int code = fstat(fd, &st) < 0    ? -errno
		   : S_ISDIR(st.st_mode) ? -EISDIR
		   : S_ISREG(st.st_mode) ? 0
					 : -EINVAL;
	if (code == 0)
		code = read_all(b, fd, limit);
	close(fd);
	if (code < 0 && b->capacity) {
		b->length = before;
		b->data[b->length] = '\0';
	}
	return code;
}
