/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program writes: its answer into a bounded buffer, everything else as lines. A program that writes without end costs its
 * reader little: an answer over its bound is the end of the run, a log over its bound is read slowly and counted.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/runner/stream.h"

#define READ_SIZE ((size_t)16 << 10)
#define TURN_SIZE ((size_t)64 << 10) /* at most this much between two turns of the loop */
#define PAUSE_NS  (10 * NSEC_PER_MSEC)
/* A pipe holds at most this much (fs.pipe-max-size), unless its writers go on. */
#define FINISH_MAX ((size_t)1 << 20)

/* --- lines --- */

static void
emit_line(struct stream *stream)
{
	struct stream_sink *sink = stream->sink;
	struct buf *line = &stream->partial;
	size_t length = line->length;

	if (length > 0 && line->data[length - 1] == '\r')
		line->data[--length] = '\0';
	if (length > 0) {
		size_t n = length < sizeof(sink->last_line) ? length : sizeof(sink->last_line) - 1;
		memcpy(sink->last_line, line->data, n);
		sink->last_line[n] = '\0';
		if (sink->line != NULL)
			sink->line(sink->line_data, stream->number, line->data, length);
	}
	buf_reset(line);
}

static void
add_to_line(struct stream *stream, const char *bytes, size_t n)
{
	size_t room = RUNNER_LINE_MAX - stream->partial.length;
	size_t taken = n < room ? n : room;

	buf_add(&stream->partial, bytes, taken);
	stream->sink->log_dropped += n - taken;
}

static void
take_log(struct stream *stream, const char *bytes, size_t n)
{
	struct stream_sink *sink = stream->sink;

	while (n > 0) {
		const char *end = memchr(bytes, '\n', n);
		size_t part = end != NULL ? (size_t)(end - bytes) : n;
		if (sink->log_bytes >= RUNNER_LOG_MAX) {
			sink->log_dropped += n;
			return;
		}
		sink->log_bytes += part + 1;
		add_to_line(stream, bytes, part);
		if (end == NULL)
			return;
		emit_line(stream);
		bytes += part + 1;
		n -= part + 1;
	}
}

static void
take(struct stream *stream, const char *bytes, size_t n)
{
	struct stream_sink *sink = stream->sink;
	bool before = sink->answer.failed;

	if (!stream->is_answer) {
		take_log(stream, bytes, n);
		return;
	}
	buf_add(&sink->answer, bytes, n);
	if (sink->answer.failed && !before)
		sink->over(sink->over_data);
}

/* --- reading --- */

/* Reads up to max bytes. Whether the stream goes on. */
static bool
read_some(struct stream *stream, size_t max)
{
	char bytes[READ_SIZE];
	size_t sum = 0;

	while (sum < max) {
		ssize_t n = read(stream->fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		if (n == 0)
			return false;
		take(stream, bytes, (size_t)n);
		sum += (size_t)n;
		/* A short read has emptied the pipe. */
		if ((size_t)n < sizeof(bytes))
			break;
	}
	return true;
}

static void
on_readable(void *data, int events)
{
	struct stream *stream = data;

	(void)events;
	if (!read_some(stream, TURN_SIZE) || (stream->is_answer && stream->sink->answer.failed)) {
		loop_io_set(stream->io, stream->fd, 0);
		return;
	}
	if (!stream->is_answer && stream->sink->log_bytes >= RUNNER_LOG_MAX) {
		loop_io_set(stream->io, stream->fd, 0);
		loop_timer_set(stream->pause, PAUSE_NS);
	}
}

static void
on_pause(void *data)
{
	struct stream *stream = data;

	loop_io_set(stream->io, stream->fd, LOOP_READ);
}

void
stream_open(struct stream *stream, struct loop *loop, struct stream_sink *sink, int fd, int number,
	bool is_answer)
{
	*stream = (struct stream){.sink = sink,
		.fd = fd,
		.number = number,
		.is_answer = is_answer,
		.partial = BUF_INIT_LIMIT(RUNNER_LINE_MAX)};
	stream->io = loop_io_new(loop, on_readable, stream);
	stream->pause = loop_timer_new(loop, on_pause, stream);
	loop_io_set(stream->io, fd, LOOP_READ);
}

void
stream_finish(struct stream *stream)
{
	if (stream->fd < 0)
		return;
	if (!stream->is_answer || !stream->sink->answer.failed)
		(void)read_some(stream, FINISH_MAX);
	if (stream->partial.length > 0)
		emit_line(stream);
	stream_close(stream);
}

void
stream_close(struct stream *stream)
{
	if (stream->fd < 0)
		return;
	loop_io_free(stream->io);
	loop_timer_free(stream->pause);
	(void)close(stream->fd);
	explicit_bzero(stream->partial.data, stream->partial.length);
	buf_free(&stream->partial);
	stream->fd = -1;
}
