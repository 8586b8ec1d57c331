/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as values. Text is cut at a character, so that it stays valid UTF-8, and line ends in it become blanks. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"

/* Drops the bytes of a character that was cut at the end of the text. */
static void
mend_end(char *text)
{
	size_t length = strlen(text), back = 0;

	while (back < 4 && back < length && ((unsigned char)text[length - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == length || back == 4)
		return;
	unsigned char lead = (unsigned char)text[length - 1 - back];
	size_t needs = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	if (needs > back)
		text[length - 1 - back] = '\0';
}

static void
one_line(char *text)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\r' || *text == '\t')
			*text = ' ';
	}
}

int
error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	err->code = code;
	if (vsnprintf(err->text, sizeof(err->text), format, args) >= (int)sizeof(err->text))
		mend_end(err->text);
	va_end(args);
	one_line(err->text);
	return code;
}

int
error_prefix(struct error *err, const char *format, ...)
{
	char before[256];
	struct error old;
	va_list args;

	if (!err)
		return -EIO;
	va_start(args, format);
	if (vsnprintf(before, sizeof(before), format, args) >= (int)sizeof(before))
		mend_end(before);
	va_end(args);
	old = *err;
	return error_set(err, old.code, "%s: %s", before, old.text);
}
