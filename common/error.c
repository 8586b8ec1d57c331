/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills error values. It neither logs nor allocates; a text that is too long is cut at a character. The arguments may
 * point into the error that is being filled.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/utf8.h"

static void
store_text(struct error *err, char *text)
{
	size_t length = utf8_cut(text, strlen(text), sizeof(err->text) - 1);

	text[length] = '\0';
	utf8_clean_line(text);
	memcpy(err->text, text, length + 1);
}

int
error_set(struct error *err, int code, const char *format, ...)
{
	char text[sizeof(err->text) + 4];
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	store_text(err, text);
	err->code = code;
	return code;
}

int
error_prefix(struct error *err, const char *format, ...)
{
	char text[sizeof(err->text) + 4];
	va_list args;
	size_t n;

	if (!err)
		return -EIO;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = strlen(text);
	(void)snprintf(text + n, sizeof(text) - n, ": %s", err->text);
	store_text(err, text);
	return err->code;
}
