/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes text into a log line so that one event stays one line: whatever the text holds, it can't end the line, forge
 * another or send commands to a terminal. Nothing here allocates or fails.
 */
#include "config.h"

#include <string.h>

#include "common/log_line.h"
#include "common/utf8.h"

size_t
line_room(const struct line *line)
{
	return line->size - line->length;
}

static void
put_bytes(struct line *line, const char *bytes, size_t n)
{
	if (n > line_room(line))
		return;
	memcpy(line->data + line->length, bytes, n);
	line->length += n;
}

void
line_put(struct line *line, const char *text)
{
	put_bytes(line, text, strlen(text));
}

/* \n and its like, or \u00XX; returns the length. */
static size_t
escape_control(char out[8], unsigned c)
{
	static const char hex[] = "0123456789abcdef";
	static const char short_from[] = "\b\f\n\r\t", short_to[] = "bfnrt";
	const char *found = c ? strchr(short_from, (int)c) : NULL;

	out[0] = '\\';
	if (found) {
		out[1] = short_to[found - short_from];
		return 2;
	}
	memcpy(out + 1, "u00", 3);
	out[4] = hex[c >> 4];
	out[5] = hex[c & 15];
	return 6;
}

/* The character at p in its written form; returns the form's length and the character's. */
static size_t
escape(char out[8], const char *p, const char *end, bool quoted, size_t *ret_used)
{
	unsigned char c = (unsigned char)*p;
	size_t n = utf8_sequence(p, end);

	*ret_used = n ? n : 1;
	if (n == 0) {
		memcpy(out, "\xef\xbf\xbd", 3);
		return 3;
	}
	if (c < 0x20 || c == 0x7f)
		return escape_control(out, c);
	/* U+0080 to U+009F: a terminal may take them as commands, too. */
	if (n == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0)
		return escape_control(out, (unsigned char)p[1]);
	if (quoted && (c == '"' || c == '\\')) {
		out[0] = '\\';
		out[1] = (char)c;
		return 2;
	}
	memcpy(out, p, n);
	return n;
}

static void
put_escaped(struct line *line, const char *text, size_t most, bool quoted)
{
	const char *end = text + strlen(text);
	size_t start = line->length,
	       fits = start; /* fits: the last end of a character after which "..." has room */
	size_t used;

	if (most > line_room(line))
		most = line_room(line);
	for (const char *p = text; p < end; p += used) {
		char form[8];
		size_t n = escape(form, p, end, quoted, &used);

		if (line->length - start + n > most) {
			line->length = fits;
			if (fits - start + 3 <= most)
				put_bytes(line, "...", 3);
			return;
		}
		put_bytes(line, form, n);
		if (line->length - start + 3 <= most)
			fits = line->length;
	}
}

void
line_put_plain(struct line *line, const char *text, size_t most)
{
	put_escaped(line, text, most, false);
}

void
line_put_quoted(struct line *line, const char *text, size_t most)
{
	if (most > line_room(line))
		most = line_room(line);
	if (most < 2)
		return;
	put_bytes(line, "\"", 1);
	put_escaped(line, text, most - 2, true);
	put_bytes(line, "\"", 1);
}
