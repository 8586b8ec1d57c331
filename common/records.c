/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-size records: made, checked, read and written. The other side is not trusted: every field is checked before anybody sees it. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/records.h"
#include "common/utf8.h"

void
record_set(struct record *record, enum record_type type, uint32_t generation, int32_t value,
	const char *text)
{
	size_t length = text ? strlen(text) : 0;

	*record = (struct record){.version = RECORD_VERSION,
		.type = type,
		.generation = generation,
		.value = value,
		.when_ns = clock_monotonic_ns()};
	if (text)
		length = utf8_cut(text, length, RECORD_TEXT_MAX - 1);
	if (length)
		memcpy(record->text, text, length);
	record->length = (uint32_t)length;
}

static bool
is_known(uint32_t type)
{
	switch (type) {
	case RECORD_STOP:
	case RECORD_LOG_LEVEL:
	case RECORD_STATE:
	case RECORD_CURED:
	case RECORD_RELOAD:
	case RECORD_STATUS:
	case RECORD_LINE:
	case RECORD_END:
		return true;
	default:
		return false;
	}
}

int
record_check(const struct record *record)
{
	if (record->version != RECORD_VERSION || !is_known(record->type))
		return -EBADMSG;
	if (record->length >= RECORD_TEXT_MAX || record->text[record->length] != '\0' ||
		memchr(record->text, '\0', record->length) ||
		!utf8_valid(record->text, record->length))
		return -EBADMSG;
	return 0;
}

int
record_read(struct record_reader *reader, int fd, struct record *ret)
{
	while (reader->have < RECORD_SIZE) {
		ssize_t n = read(
			fd, (char *)&reader->record + reader->have, RECORD_SIZE - reader->have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (n == 0)
			return -EPIPE;
		reader->have += (size_t)n;
	}
	reader->have = 0;
	if (record_check(&reader->record) < 0)
		return -EBADMSG;
	*ret = reader->record;
	return 1;
}

int
record_write(int fd, const struct record *record)
{
	for (;;) {
		ssize_t n = write(fd, record, RECORD_SIZE);
		if (n == RECORD_SIZE)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		/* Pipes take up to PIPE_BUF whole; a socket that takes a part has lost its frame. */
		return -EIO;
	}
}
