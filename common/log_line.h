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

/* The value of a field, NULL: it has none. */
const char *log_find_field(const char *const *fields, const char *key);

/* Puts "***" for each secret in text; cut: text was cut, so that its end may be the beginning of a secret. */
void log_mask_text(char *text, bool cut);
/* The same for what looks like one. */
void log_blot_secrets(char *text);

/* Lines that were held back: how many, over how long, what they said (cut) and about which object. */
struct log_repeat {
	enum log_level level;
	uint64_t n;
	int64_t over_ns;
	char namespace_[64], name[254], message[200];
};
enum log_repeat_verdict {
	LOG_REPEAT_PASSES,
	LOG_REPEAT_PASSES_AFTER_SUM, /* *ret_sum is to be said first */
	LOG_REPEAT_HELD
};
/* What is to become of a line; namespace_ and name "" without an object. */
enum log_repeat_verdict log_repeat_note(int64_t now_ns, enum log_level level,
	const char *namespace_, const char *name, const char *message, struct log_repeat *ret_sum);
/* A sum whose minute is over, or any at all; false: there is none. To be called until then. */
bool log_repeat_due(int64_t now_ns, bool all, struct log_repeat *ret_sum);
void log_repeat_clear(void);

/* mode: what stderr is, as fstat(2) tells it. */
void log_sink_open(mode_t mode);
/* Whether stderr took the whole line. */
bool log_sink_write(const char *line, size_t length);

#endif
