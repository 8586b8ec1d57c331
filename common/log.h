/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line an event, one write(2) a line, never blocking.
 *
 * A line that stderr can't take at once (full pipe) is dropped and counted; the next line that gets through
 * says how many were lost. Formats: journald ("<N>" priority prefix, sd-daemon(3)), text (terminal), json
 * (one object a line: time, level, msg, then the fields). Text and journald lines begin with "CONTROLLER NAMESPACE/NAME: " of those
 * fields; a field takes the place of a context of the same key. "auto": journald when stderr is the journal
 * (JOURNAL_STREAM matches its device and inode), text on a terminal, else json.
 * Fields are key/value pairs of strings; the context (controller ...) is added to every line of the process.
 * The caller sees to it that no secret is in a message; log_mask() registers secrets that are replaced by "***"
 * in every line as a second barrier, as is what looks like one: user and password of a URL, a bearer token, a JSON Web Token.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_MAX };
enum log_format {
	LOG_FORMAT_AUTO,
	LOG_FORMAT_JOURNALD,
	LOG_FORMAT_TEXT,
	LOG_FORMAT_JSON,
	LOG_FORMAT_MAX
};

/*
 * Most bytes of a line, the line end included. It is PIPE_BUF (pipe(7)): up to that a write to a pipe is whole or not at all, so that
 * the lines of several processes never mix. What is longer is cut at a character, in the message or a value, and marked "..."; the
 * line stays valid in its format.
 */
#define LOG_LINE_MAX 4096

void log_open(enum log_level level, enum log_format format);
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* "error", "warn", "info", "debug"; -1 for an unknown word. */
int log_level_parse(const char *word);
const char *log_level_name(enum log_level level);
/* "auto", "journald", "text", "json"; -1 for an unknown word. */
int log_format_parse(const char *word);
/* Adds key=value to every later line of this process; value NULL removes it. Up to 8; copied. */
void log_context(const char *key, const char *value);
/* A secret (8 bytes or more; shorter ones are ignored) that must never be shown. Up to 64; the oldest makes room. */
void log_mask(const char *secret, size_t length);
/* Replaces each registered secret in text by asterisks, in place: for conditions, Events and errors that carry foreign text. */
void log_apply_mask(char *text);
/* Lines dropped since the start. */
uint64_t log_dropped(void);
/*
 * Holds back repetitions from here on: of one message about one object (namespace and name of the fields) 5 lines pass within 60 s, then 1 in each
 * further 60 s; the others are counted and summed up in a line with the field repeated. Nothing is held back while the level is debug. Begins anew
 * when it is called again, as in a process that was forked.
 */
void log_hold_repeats(void);
/* Says the sums that are due: to be called every few seconds; all: every one, before the end. */
void log_flush(bool all);
/* Lines held back since log_hold_repeats(). */
uint64_t log_repeated(void);
/* Tests: lines go to the callback, without their line end, and not to stderr; NULL ends it. */
void log_capture(void (*callback)(enum log_level level, const char *line, void *data), void *data);

/* fields: NULL-terminated pairs "key", "value", ...; a NULL value skips the pair. */
void log_fields(enum log_level level, const char *const *fields, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define LOG_FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
