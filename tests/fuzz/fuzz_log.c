/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log line is one line, in its format, of bounded size, of valid UTF-8, and holds no secret, whatever it is made of: the input is format, message and
 * fields, ended by NUL bytes.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/log.h"
#include "common/utf8.h"
#include "tests/fuzz/fuzz.h"

#define FIELDS 6
#define SECRET "s3cr3t-of-17-byte"

static enum log_format format;
static unsigned lines;

static void
check_json(const char *line, size_t length)
{
	cJSON *object = json_parse(line, length, NULL);

	if (!object || !cJSON_IsObject(object) || !json_string(object, "time", NULL) ||
		!json_string(object, "level", NULL) || !json_string(object, "msg", NULL))
		abort();
	cJSON_Delete(object);
}

static void
on_line(enum log_level level, const char *line, void *data)
{
	size_t length = strlen(line);

	(void)level;
	(void)data;
	lines++;
	if (length == 0 || length >= LOG_LINE_MAX || !utf8_valid(line, length) ||
		strstr(line, SECRET))
		abort();
	for (const char *p = line; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			abort();
	if (format == LOG_FORMAT_JSON)
		check_json(line, length);
	else if (format == LOG_FORMAT_JOURNALD && strncmp(line, "<4>", 3) != 0)
		abort();
}

/* The text up to the next NUL, and what is behind it. */
static const char *
next(char **at, const char *end)
{
	char *text = *at;
	size_t n = strlen(text);

	*at = text + n < end ? text + n + 1 : text + n;
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[FIELDS] = {
		"namespace", "name", "generation", "reconcileID", "reason", "x"};
	const char *fields[2 * FIELDS + 1] = {NULL}, *message;
	char *text = malloc(size + 1), *at = text;

	if (size < 1 || !text) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	format = (enum log_format)(LOG_FORMAT_JOURNALD + data[0] % 3);
	at++;
	message = next(&at, text + size);
	for (int i = 0; i < FIELDS; i++) {
		fields[2 * i] = keys[i];
		fields[2 * i + 1] = next(&at, text + size);
	}
	log_open(LOG_LEVEL_INFO, format);
	log_capture(on_line, NULL);
	log_mask(SECRET, strlen(SECRET));
	log_context("controller", fields[1]);
	lines = 0;
	log_fields(LOG_LEVEL_WARN, fields, "%s", message);
	if (lines != 1)
		abort();
	free(text);
	return 0;
}
