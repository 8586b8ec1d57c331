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
	size_t room;
	int n;

	if (b->failed)
		return;
	room = b->capacity - b->length;
	if (b->limit && room > b->limit - b->length + 1)
		room = b->limit - b->length + 1;
	va_copy(again, args);
	n = vsnprintf(room ? b->data + b->length : NULL, room, format, args);
	if (n >= 0 && (size_t)n >= room) {
		if (room)
			b->data[b->length] = '\0';
		if (buf_reserve(b, (size_t)n) == 0)
			(void)vsnprintf(b->data + b->length, (size_t)n + 1, format, again);
	}
	va_end(again);
	if (n < 0)
		b->failed = true;
	if (!b->failed)
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

/* hint: the size that the file system tells, which may be wrong: files of /proc say 0, and files grow. */
static int
read_to_end(struct buf *b, int fd, size_t limit, size_t hint)
{
	size_t start = b->length;

	for (;;) {
		size_t have = b->length - start;
		/* One byte more than the limit, to tell a full file from one that is too long. */
		size_t chunk = limit - have + 1, guess = hint >= have ? hint - have + 1 : 4096;
		ssize_t n;
		int r;

		if (chunk > guess)
			chunk = guess;
		r = buf_reserve(b, chunk);
		if (r < 0)
			return r;
		n = read(fd, b->data + b->length, chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (have + (size_t)n > limit)
			return -EFBIG;
		b->length += (size_t)n;
		b->data[b->length] = '\0';
	}
}

static int
read_fd(struct buf *b, int fd, size_t limit)
{
	size_t own_limit = b->limit;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (own_limit && own_limit - b->length < limit)
		limit = own_limit - b->length;
	if ((uint64_t)st.st_size > limit)
		return -EFBIG;
	/* The byte that tells the end may go beyond the buffer's own limit. */
	b->limit = 0;
	r = read_to_end(b, fd, limit, (size_t)st.st_size);
	b->limit = own_limit;
	return r;
}

int
buf_read_file(struct buf *b, const char *path, size_t limit)
{
	size_t start = b->length;
	int fd, r;

	if (b->failed)
		return -ENOMEM;
	/* Not blocking: opening a named pipe would wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = read_fd(b, fd, limit);
	(void)close(fd);
	if (r < 0 && b->length > start) {
		b->length = start;
		b->data[start] = '\0';
	}
	return r;
}
