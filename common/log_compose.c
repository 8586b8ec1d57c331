/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a log line together: head, message, the process's context and the fields, in one of three formats and never longer
 * than LOG_LINE_MAX. Each text is masked before it is escaped and cut, so that a secret is found in the form it has.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/log_line.h"

/* What the message leaves to the fields of a long line. */
#define FIELDS_ROOM 1024
#define CONTEXT_MAX 8

static struct {
	char key[32], value[128];
} context[CONTEXT_MAX];

static const struct {
	const char *padded, *colour, *priority; /* priority: sd-daemon(3) */
} levels[LOG_LEVEL_MAX] = {
	[LOG_LEVEL_ERROR] = {"error", "\033[31m", "<3>"},
	[LOG_LEVEL_WARN] = {"warn ", "\033[33m", "<4>"},
	[LOG_LEVEL_INFO] = {"info ", "\033[32m", "<6>"},
	[LOG_LEVEL_DEBUG] = {"debug", "\033[2m", "<7>"},
};

void
log_context(const char *key, const char *value)
{
	int at = -1;

	for (int i = CONTEXT_MAX - 1; i >= 0; i--)
		if (context[i].key[0] == '\0' && at < 0)
			at = i;
	for (int i = 0; i < CONTEXT_MAX; i++)
		if (strcmp(context[i].key, key) == 0)
			at = i;
	if (at < 0)
		return;
	context[at].key[0] = '\0';
	if (value) {
		(void)snprintf(context[at].key, sizeof(context[at].key), "%s", key);
		(void)snprintf(context[at].value, sizeof(context[at].value), "%s", value);
	}
}

/* A copy of text without secrets. */
static const char *
masked(char scratch[LOG_SCRATCH], const char *text)
{
	size_t length = strnlen(text, LOG_SCRATCH);
	bool cut = length == LOG_SCRATCH;

	if (cut)
		length--;
	memcpy(scratch, text, length);
	scratch[length] = '\0';
	log_mask_text(scratch, cut);
	return scratch;
}

const char *
log_find_field(const char *const *fields, const char *key)
{
	for (size_t i = 0; fields && fields[i]; i += 2)
		if (fields[i + 1] && strcmp(fields[i], key) == 0)
			return fields[i + 1];
	return NULL;
}

static const char *
find_value(const char *const *fields, const char *key)
{
	const char *value = log_find_field(fields, key);

	for (int i = 0; !value && i < CONTEXT_MAX; i++)
		if (strcmp(context[i].key, key) == 0)
			value = context[i].value;
	return value;
}

static void
put_json_pair(struct line *line, const char *key, const char *value)
{
	char scratch[LOG_SCRATCH];
	/* The pair's own signs, and "}\n" at the end of the line. */
	size_t need = strlen(key) + sizeof(",\"\":\"...\"") + 2;

	if (line_room(line) < need)
		return;
	line_put(line, ",\"");
	line_put(line, key);
	line_put(line, "\":");
	line_put_quoted(line, masked(scratch, value), line_room(line) - 2);
}

static bool
is_bare(const char *text)
{
	const char *p = text;

	for (; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || *p == '"' ||
			*p == '=' || *p == '\\')
			return false;
	return p > text;
}

static void
put_text_pair(struct line *line, const char *key, const char *value)
{
	/* These stand in the head of the line. */
	static const char *const in_head[] = {"controller", "namespace", "name"};
	char scratch[LOG_SCRATCH];

	for (size_t i = 0; i < sizeof(in_head) / sizeof(*in_head); i++)
		if (strcmp(key, in_head[i]) == 0)
			return;
	if (line_room(line) < strlen(key) + sizeof(" =\"...\"") + 1)
		return;
	line_put(line, " ");
	line_put(line, key);
	line_put(line, "=");
	value = masked(scratch, value);
	if (is_bare(value))
		line_put_plain(line, value, line_room(line) - 1);
	else
		line_put_quoted(line, value, line_room(line) - 1);
}

static void
put_pairs(struct line *line, const char *const *fields,
	void (*put)(struct line *, const char *, const char *))
{
	for (int i = 0; i < CONTEXT_MAX; i++)
		if (context[i].key[0] && !log_find_field(fields, context[i].key))
			put(line, context[i].key, context[i].value);
	for (size_t i = 0; fields && fields[i]; i += 2)
		if (fields[i + 1])
			put(line, fields[i], fields[i + 1]);
}

/* "nginx default/web: " */
static void
put_text_head(struct line *line, const char *const *fields)
{
	const char *controller = find_value(fields, "controller");
	const char *namespace_ = find_value(fields, "namespace"),
		   *name = find_value(fields, "name");
	const struct {
		const char *before, *text;
	} parts[] = {{"", controller}, {controller ? " " : "", namespace_},
		{namespace_          ? "/"
			: controller ? " "
				     : "",
			name}};
	char scratch[LOG_SCRATCH];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].text) {
			line_put(line, parts[i].before);
			line_put_plain(line, masked(scratch, parts[i].text), 300);
		}
	if (controller || namespace_ || name)
		line_put(line, ": ");
}

static void
compose_text(struct line *line, bool journald, bool colour, enum log_level level,
	const char *const *fields, const char *message)
{
	char time[32];

	if (journald) {
		line_put(line, levels[level].priority);
	} else {
		clock_format_rfc3339(time, clock_wall_ns(), 3);
		line_put(line, time);
		line_put(line, " ");
		line_put(line, colour ? levels[level].colour : "");
		line_put(line, levels[level].padded);
		line_put(line, colour ? "\033[0m " : " ");
	}
	put_text_head(line, fields);
	line_put_plain(line, message, line_room(line) - FIELDS_ROOM);
	put_pairs(line, fields, put_text_pair);
	line_put(line, "\n");
}

static void
compose_json(
	struct line *line, enum log_level level, const char *const *fields, const char *message)
{
	char time[32];

	clock_format_rfc3339(time, clock_wall_ns(), 3);
	line_put(line, "{\"time\":\"");
	line_put(line, time);
	line_put(line, "\",\"level\":\"");
	line_put(line, log_level_name(level));
	line_put(line, "\",\"msg\":");
	line_put_quoted(line, message, line_room(line) - FIELDS_ROOM);
	put_pairs(line, fields, put_json_pair);
	line_put(line, "}\n");
}

void
log_compose(struct line *line, enum log_format format, bool colour, enum log_level level,
	const char *const *fields, const char *message)
{
	if (format == LOG_FORMAT_JSON)
		compose_json(line, level, fields, message);
	else
		compose_text(line, format == LOG_FORMAT_JOURNALD, colour, level, fields, message);
}
