/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: what is said at all, and what became of it. log_compose.c puts the line together, log_sink.c writes it. State is
 * of the process and not locked: one thread logs. Nothing here allocates, so that running out of memory can be logged.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/log_line.h"

_Static_assert(LOG_LINE_MAX <= PIPE_BUF, "a line goes into a pipe whole or not at all");

static struct {
	enum log_level level;
	enum log_format format; /* never LOG_FORMAT_AUTO */
	bool colour;
	bool holds_repeats;
	uint64_t dropped, dropped_told;
	void (*capture)(enum log_level level, const char *line, void *data);
	void *capture_data;
} logger = {.level = LOG_LEVEL_INFO, .format = LOG_FORMAT_TEXT};

static const char *const levels[LOG_LEVEL_MAX] = {"error", "warn", "info", "debug"};
static const char *const formats[LOG_FORMAT_MAX] = {"auto", "journald", "text", "json"};

/* systemd.exec(5), $JOURNAL_STREAM: device and inode of the journal's socket, in decimal. */
static bool
is_journal(const struct stat *st)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char mine[64];

	(void)snprintf(mine, sizeof(mine), "%ju:%ju", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
	return stream && strcmp(stream, mine) == 0;
}

static bool
wants_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(no_color && *no_color) && term &&
	       strcmp(term, "dumb") != 0;
}

void
log_open(enum log_level level, enum log_format format)
{
	struct stat st = {0};

	(void)fstat(STDERR_FILENO, &st);
	logger.level = level;
	log_sink_open(st.st_mode);
	if (format == LOG_FORMAT_AUTO)
		format = is_journal(&st)         ? LOG_FORMAT_JOURNALD
			 : isatty(STDERR_FILENO) ? LOG_FORMAT_TEXT
						 : LOG_FORMAT_JSON;
	logger.format = format;
	logger.colour = format == LOG_FORMAT_TEXT && wants_colour();
}

void
log_set_level(enum log_level level)
{
	logger.level = level;
}

enum log_level
log_get_level(void)
{
	return logger.level;
}

int
log_level_parse(const char *word)
{
	for (int i = 0; i < LOG_LEVEL_MAX; i++)
		if (strcmp(levels[i], word) == 0)
			return i;
	return -1;
}

const char *
log_level_name(enum log_level level)
{
	return (unsigned)level < LOG_LEVEL_MAX ? levels[level] : "unknown";
}

int
log_format_parse(const char *word)
{
	for (int i = 0; i < LOG_FORMAT_MAX; i++)
		if (strcmp(formats[i], word) == 0)
			return i;
	return -1;
}

uint64_t
log_dropped(void)
{
	return logger.dropped;
}

void
log_capture(void (*callback)(enum log_level level, const char *line, void *data), void *data)
{
	logger.capture = callback;
	logger.capture_data = data;
}

/* Returns whether the line was taken. */
static bool
emit(enum log_level level, const char *const *fields, const char *message)
{
	char text[LOG_LINE_MAX];
	struct line line = {.data = text, .size = sizeof(text)};

	log_compose(&line, logger.format, logger.colour, level, fields, message);
	if (logger.capture) {
		text[line.length - 1] = '\0';
		logger.capture(level, text, logger.capture_data);
		return true;
	}
	return log_sink_write(text, line.length);
}

static bool
tell_dropped(void)
{
	uint64_t lost = logger.dropped - logger.dropped_told;
	char number[24];

	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)lost);
	if (!emit(LOG_LEVEL_WARN, LOG_FIELDS("lost", number),
		    "log lines were lost: stderr did not take them"))
		return false;
	logger.dropped_told += lost;
	return true;
}

/* Counts what is lost, and tells of it as soon as something gets through. */
static void
write_line(enum log_level level, const char *const *fields, const char *message)
{
	if (logger.dropped > logger.dropped_told && !tell_dropped())
		logger.dropped++;
	else if (!emit(level, fields, message))
		logger.dropped++;
}

/* --- repetitions --- */

static void
say_sum(const struct log_repeat *sum)
{
	char text[sizeof(sum->message) + 96], number[24];

	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)sum->n);
	(void)snprintf(text, sizeof(text), "%s more like this in the last %.0f s: %s", number,
		(double)sum->over_ns / 1e9, sum->message);
	write_line(sum->level,
		LOG_FIELDS("namespace", *sum->namespace_ ? sum->namespace_ : NULL, "name",
			*sum->name ? sum->name : NULL, "repeated", number),
		text);
}

static bool
is_held(enum log_level level, const char *const *fields, const char *message)
{
	const char *namespace_ = log_find_field(fields, "namespace"),
		   *name = log_find_field(fields, "name");
	struct log_repeat sum;

	if (!logger.holds_repeats || logger.level == LOG_LEVEL_DEBUG)
		return false;
	switch (log_repeat_note(clock_monotonic_ns(), level, namespace_ ? namespace_ : "",
		name ? name : "", message, &sum)) {
	case LOG_REPEAT_HELD:
		return true;
	case LOG_REPEAT_PASSES_AFTER_SUM:
		say_sum(&sum);
		break;
	case LOG_REPEAT_PASSES:
		break;
	}
	return false;
}

void
log_hold_repeats(void)
{
	log_repeat_clear();
	logger.holds_repeats = true;
}

void
log_flush(bool all)
{
	struct log_repeat sum;

	while (log_repeat_due(clock_monotonic_ns(), all, &sum))
		say_sum(&sum);
}

/* --- messages --- */

static void __attribute__((format(printf, 3, 0)))
log_message(enum log_level level, const char *const *fields, const char *format, va_list args)
{
	char message[LOG_SCRATCH];
	int n, saved = errno;
	size_t length;

	if (level > logger.level)
		return;
	n = vsnprintf(message, sizeof(message), format, args);
	if (n < 0)
		(void)snprintf(message, sizeof(message), "%s", format);
	log_mask_text(message, n >= (int)sizeof(message));
	length = strlen(message);
	while (length > 0 && message[length - 1] == '\n')
		message[--length] = '\0';
	if (!is_held(level, fields, message))
		write_line(level, fields, message);
	/* Callers log before they return what went wrong. */
	errno = saved;
}

void
log_fields(enum log_level level, const char *const *fields, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_message(level, fields, format, args);
	va_end(args);
}

#define LOG_AT(function, level)                         \
	void function(const char *format, ...)          \
	{                                               \
		va_list args;                           \
                                                        \
		va_start(args, format);                 \
		log_message(level, NULL, format, args); \
		va_end(args);                           \
	}

LOG_AT(log_error, LOG_LEVEL_ERROR)
LOG_AT(log_warn, LOG_LEVEL_WARN)
LOG_AT(log_info, LOG_LEVEL_INFO)
LOG_AT(log_debug, LOG_LEVEL_DEBUG)
