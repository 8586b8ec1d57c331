/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on a pipe between supervisor and worker: what is handed out is sound, in whatever pieces it comes. The first byte says how they are cut. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/records.h"
#include "tests/fuzz/fuzz.h"

/* Reads what is there; false when the stream has ended. */
static int
drain(struct record_reader *reader, int fd, size_t *sound)
{
	struct record record;
	int r;

	while ((r = record_read(reader, fd, &record)) == 1 || r == -EBADMSG) {
		if (r == -EBADMSG)
			continue;
		(*sound)++;
		if (record_check(&record) < 0 || record.length >= RECORD_TEXT_MAX ||
			record.text[record.length] != '\0' || strlen(record.text) != record.length)
			abort();
	}
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_reader reader = {0};
	size_t sound = 0, step, at = 1;
	int fds[2], r;

	if (size < 2)
		return 0;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		abort();
	step = 1 + (size_t)data[0] * 8;
	while (at < size) {
		size_t n = step < size - at ? step : size - at;

		if (write(fds[1], data + at, n) != (ssize_t)n)
			abort();
		at += n;
		r = drain(&reader, fds[0], &sound);
		if (r != 0 && r != -EAGAIN)
			abort();
	}
	close(fds[1]);
	if (drain(&reader, fds[0], &sound) != -EPIPE || sound > size / RECORD_SIZE)
		abort();
	close(fds[0]);
	return 0;
}
