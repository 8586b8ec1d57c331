/* SPDX-License-Identifier: Apache-2.0 */
/* One of the pipes that a program writes to, as its reader sees it. For common/runner alone. */
#ifndef COMMON_RUNNER_STREAM_H
#define COMMON_RUNNER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buf.h"
#include "common/loop/loop.h"
#include "common/runner/runner.h"

/* What a run's streams have in common; owned by the run. */
struct stream_sink {
	struct buf answer; /* its limit is the command's; failed: over it */
	void (*line)(void *data, int fd, const char *text, size_t length);
	void (*over)(void *data); /* called once: the answer is over its limit */
	void *line_data, *over_data;
	size_t log_bytes; /* of all log lines so far */
	uint64_t log_dropped;
	char last_line[256];
};

struct stream {
	struct stream_sink *sink;
	struct loop_io *io;
	struct loop_timer *pause; /* of a log that is over its bound: read on now and then, so that the program is neither stuck nor a load */
	int fd;                   /* -1: closed; non-blocking */
	int number;               /* the descriptor's in the program: 1, 2 or 3 */
	bool is_answer;
	struct buf partial; /* of a line */
};

/* Takes fd. */
void stream_open(struct stream *stream, struct loop *loop, struct stream_sink *sink, int fd, int number, bool is_answer);
/* Reads what is there, to the end of the stream or until there is no more, ends the last line, and closes. All writers have ended, or
 * are to be heard no longer. Harmless when closed. */
void stream_finish(struct stream *stream);
/* Closes without reading. */
void stream_close(struct stream *stream);

#endif
