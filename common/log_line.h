/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the log for the log alone: a line of bounded size, the secrets that must not be in it, and where it goes. */
#ifndef COMMON_LOG_LINE_H
#define COMMON_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "common/log.h"

/* Room is kept by the caller's `most`; what does not fit at all is left out. */
struct line {
	char *data;
	size_t length, size;
};

size_t line_room(const struct line *line);
void line_put(struct line *line, const char *text);
/* Text in at most `most` bytes: control characters escaped as in JSON, wrong UTF-8 replaced by U+FFFD, cut with "...". */
void line_put_plain(struct line *line, const char *text, size_t most);
/* The same as a JSON string; most counts its quotes. */
void line_put_quoted(struct line *line, const char *text, size_t most);

/* Room for a text before it is masked and cut. */
#define LOG_SCRATCH 8192
/* A line of a format other than LOG_FORMAT_AUTO, with its line end. message is masked already. */
void log_compose(struct line *line, enum log_format format, bool colour, enum log_level level,
	const char *const *fields, const char *message);

/* Puts "***" for each secret in text; cut: text was cut, so that its end may be the beginning of a secret. */
void log_mask_text(char *text, bool cut);

/* mode: what stderr is, as fstat(2) tells it. */
void log_sink_open(mode_t mode);
/* Whether stderr took the whole line. */
bool log_sink_write(const char *line, size_t length);

#endif
