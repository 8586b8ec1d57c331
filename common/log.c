/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log. A line is put together in a buffer on the stack and leaves by one write(2). stderr is shared with other processes, so it is never
 * made non-blocking: poll(2) asks first, and lines for a pipe are at most PIPE_BUF, so that a pipe that poll calls writable takes them whole.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

#define CONTEXT_MAX 8
#define MASKS_MAX   64
#define MASK_MIN    8

struct line {
	char text[LOG_LINE_MAX];
	size_t length;
	bool cut;
};

static struct {
	enum log_level level;
	enum log_format format;
	bool colour;
	struct {
		char key[64], value[256];
	} context[CONTEXT_MAX];
	struct {
		char *secret;
		size_t length;
	} masks[MASKS_MAX];
	unsigned next_mask;
	uint64_t dropped, reported;
	void (*capture)(enum log_level level, const char *line, void *data);
	void *capture_data;
} state = {.level = LOG_LEVEL_INFO, .format = LOG_FORMAT_TEXT};

static const char *const level_names[LOG_LEVEL_MAX] = {"error", "warn", "info", "debug"};
static const char *const format_names[LOG_FORMAT_MAX] = {"auto", "journald", "text", "json"};

static int
find_word(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -1;
}

int
log_level_parse(const char *word)
{
	return find_word(level_names, LOG_LEVEL_MAX, word);
}

int
log_format_parse(const char *word)
{
	return find_word(format_names, LOG_FORMAT_MAX, word);
}

const char *
log_level_name(enum log_level level)
{
	return (unsigned)level < LOG_LEVEL_MAX ? level_names[level] : "unknown";
}

/* True when stderr is the journal: JOURNAL_STREAM holds "device:inode" of it (systemd.exec(5)). */
static bool
stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && (unsigned long long)st.st_dev == device &&
	       (unsigned long long)st.st_ino == inode;
}

void
log_open(enum log_level level, enum log_format format)
{
	bool terminal = isatty(STDERR_FILENO) == 1;

	state.level = level;
	if (format == LOG_FORMAT_AUTO)
		format = stderr_is_journal() ? LOG_FORMAT_JOURNALD
			 : terminal          ? LOG_FORMAT_TEXT
					     : LOG_FORMAT_JSON;
	state.format = format;
	state.colour = terminal && !getenv("NO_COLOR");
}

void
log_set_level(enum log_level level)
{
	state.level = level;
}

enum log_level
log_get_level(void)
{
	return state.level;
}

void
log_context(const char *key, const char *value)
{
	unsigned i, gap = CONTEXT_MAX;

	for (i = 0; i < CONTEXT_MAX && strcmp(state.context[i].key, key) != 0; i++) {
		if (!*state.context[i].key && gap == CONTEXT_MAX)
			gap = i;
	}
	if (i == CONTEXT_MAX)
		i = gap;
	if (i == CONTEXT_MAX)
		return;
	snprintf(state.context[i].key, sizeof(state.context[i].key), "%s", value ? key : "");
	snprintf(state.context[i].value, sizeof(state.context[i].value), "%s", value ? value : "");
}

void
log_mask(const char *secret, size_t length)
{
	if (length < MASK_MIN)
		return;
	for (unsigned i = 0; i < MASKS_MAX; i++) {
		if (state.masks[i].length == length &&
			memcmp(state.masks[i].secret, secret, length) == 0)
			return;
	}
	char *copy = malloc(length);
	if (!copy)
		return;
	memcpy(copy, secret, length);
	unsigned i = state.next_mask++ % MASKS_MAX;
	if (state.masks[i].secret) {
		explicit_bzero(state.masks[i].secret, state.masks[i].length);
		free(state.masks[i].secret);
	}
	state.masks[i].secret = copy;
	state.masks[i].length = length;
}

static void
mask(char *text, size_t length)
{
	for (unsigned i = 0; i < MASKS_MAX && state.masks[i].secret; i++) {
		char *p = text;
		while ((p = memmem(p, length - (size_t)(p - text), state.masks[i].secret,
				state.masks[i].length)))
			memset(p, '*', state.masks[i].length);
	}
}

void
log_apply_mask(char *text)
{
	mask(text, strlen(text));
}

uint64_t
log_dropped(void)
{
	return state.dropped;
}

void
log_capture(void (*callback)(enum log_level level, const char *line, void *data), void *data)
{
	state.capture = callback;
	state.capture_data = data;
}

/* Room for the end of a line: closing quote and brace, "...", line end. */
#define RESERVE 16
/* Most bytes of the message as given: the rest of the line is for its pairs. */
#define MESSAGE_MAX (LOG_LINE_MAX / 2)

static void
put(struct line *line, const char *bytes, size_t n)
{
	if (line->cut || n > sizeof(line->text) - RESERVE - line->length) {
		line->cut = true;
		return;
	}
	memcpy(line->text + line->length, bytes, n);
	line->length += n;
}

static void
puts_(struct line *line, const char *text)
{
	put(line, text, strlen(text));
}

/* Length of the valid UTF-8 character at p, 0 if it is none (overlong forms and surrogates included). */
static size_t
character(const unsigned char *p)
{
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf && (p[1] & 0xc0) == 0x80)
		return 2;
	if ((p[0] & 0xf0) == 0xe0 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80)
		return (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ? 0 : 3;
	if (p[0] >= 0xf0 && p[0] <= 0xf4 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80 &&
		(p[3] & 0xc0) == 0x80)
		return (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f) ? 0 : 4;
	return 0;
}

/* Text without control characters and broken UTF-8; escaped for JSON when quoted. */
static void
put_text(struct line *line, const char *text, bool json)
{
	char escape[8];

	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t n = character(p);
		if (n == 0) {
			puts_(line, "\xef\xbf\xbd");
			p++;
			continue;
		}
		if (json && (*p == '"' || *p == '\\')) {
			put(line, (const char[]){'\\', (char)*p}, 2);
		} else if (*p < 0x20 || *p == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", *p);
			puts_(line, json ? escape : " ");
		} else {
			put(line, (const char *)p, n);
		}
		p += n;
	}
}

static void
put_pair_whole(struct line *line, const char *key, const char *value)
{
	if (state.format == LOG_FORMAT_JSON) {
		puts_(line, ",\"");
		put_text(line, key, true);
		puts_(line, "\":\"");
		put_text(line, value, true);
		puts_(line, "\"");
		return;
	}
	bool quote = !*value || strpbrk(value, " \"=");
	puts_(line, " ");
	puts_(line, key);
	puts_(line, quote ? "=\"" : "=");
	put_text(line, value, quote);
	if (quote)
		puts_(line, "\"");
}

/* A pair that does not fit is left out whole: the line stays one of its format. */
static void
put_pair(struct line *line, const char *key, const char *value)
{
	size_t before = line->length;

	if (line->cut)
		return;
	put_pair_whole(line, key, value);
	if (line->cut) {
		line->length = before;
		line->cut = false;
	}
}

static void
put_pairs(struct line *line, const char *const *fields)
{
	for (unsigned i = 0; i < CONTEXT_MAX; i++) {
		if (*state.context[i].key)
			put_pair(line, state.context[i].key, state.context[i].value);
	}
	for (; fields && fields[0]; fields += 2) {
		if (fields[1])
			put_pair(line, fields[0], fields[1]);
	}
}

static void
put_head(struct line *line, enum log_level level)
{
	static const char *const priorities[LOG_LEVEL_MAX] = {"<3>", "<4>", "<6>", "<7>"};
	static const char *const colours[LOG_LEVEL_MAX] = {"\033[31m", "\033[33m", "", "\033[2m"};
	char when[32], padded[16];

	if (state.format == LOG_FORMAT_JOURNALD) {
		puts_(line, priorities[level]); /* the journal keeps time itself */
		return;
	}
	clock_format_rfc3339(when, clock_wall_ns(), 3);
	if (state.format == LOG_FORMAT_JSON) {
		puts_(line, "{\"time\":\"");
		puts_(line, when);
		puts_(line, "\",\"level\":\"");
		puts_(line, level_names[level]);
		puts_(line, "\",\"msg\":\"");
		return;
	}
	snprintf(padded, sizeof(padded), "%-6s", level_names[level]);
	puts_(line, when);
	puts_(line, " ");
	puts_(line, state.colour ? colours[level] : "");
	puts_(line, padded);
	puts_(line, state.colour && *colours[level] ? "\033[0m" : "");
}

/* Ends the message: marks it when it was cut to leave room for the pairs. */
static void
end_message(struct line *line)
{
	if (line->cut)
		line->length += (size_t)snprintf(line->text + line->length, 4, "...");
	if (state.format == LOG_FORMAT_JSON)
		line->text[line->length++] = '"';
	line->cut = false;
}

static void
end(struct line *line)
{
	/* put() stops RESERVE bytes before the end: there is room. */
	if (state.format == LOG_FORMAT_JSON)
		line->text[line->length++] = '}';
	line->text[line->length++] = '\n';
	line->text[line->length] = '\0';
}

static bool
write_line(const char *text, size_t length)
{
	struct pollfd pollfd = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&pollfd, 1, 0) != 1 || !(pollfd.revents & POLLOUT))
		return false;
	ssize_t n;
	do
		n = write(STDERR_FILENO, text, length);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)length;
}

static void log_line(enum log_level level, const char *const *fields, const char *format,
	va_list args) __attribute__((format(printf, 3, 0)));

/* Says once how many lines were lost, when one gets through again. */
static void
report_dropped(void)
{
	if (state.dropped == state.reported || state.capture)
		return;
	uint64_t lost = state.dropped - state.reported;
	state.reported = state.dropped;
	log_warn("%llu log lines were lost: the log's reader did not keep up",
		(unsigned long long)lost);
}

static void
log_line(enum log_level level, const char *const *fields, const char *format, va_list args)
{
	int saved = errno;
	char message[MESSAGE_MAX];
	struct line line = {.length = 0};

	vsnprintf(message, sizeof(message), format, args);
	put_head(&line, level);
	put_text(&line, message, state.format == LOG_FORMAT_JSON);
	end_message(&line);
	put_pairs(&line, fields);
	end(&line);
	mask(line.text, line.length);
	if (state.capture)
		state.capture(level, line.text, state.capture_data);
	else if (write_line(line.text, line.length))
		report_dropped();
	else
		state.dropped++;
	errno = saved;
}

void
log_fields(enum log_level level, const char *const *fields, const char *format, ...)
{
	va_list args;

	if (level > state.level)
		return;
	va_start(args, format);
	log_line(level, fields, format, args);
	va_end(args);
}

#define DEFINE_LOG(name, level_)                      \
	void name(const char *format, ...)            \
	{                                             \
		va_list args;                         \
                                                      \
		if (level_ > state.level)             \
			return;                       \
		va_start(args, format);               \
		log_line(level_, NULL, format, args); \
		va_end(args);                         \
	}

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warn, LOG_LEVEL_WARN)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)
DEFINE_LOG(log_debug, LOG_LEVEL_DEBUG)
