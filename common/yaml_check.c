/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a YAML text before the parser sees them: the parser loses what follows a NUL or bad UTF-8 in silence, and takes a byte order
 * mark that is not the first for a part of a key. Also finds tabs, for errors that the parser words otherwise.
 */
#include "config.h"

#include <string.h>

#include "common/jsonscan_token.h"
#include "common/yaml_parts.h"

#define MARK        "\xef\xbb\xbf"
#define MARK_LENGTH 3

static bool
starts_with(const char *bytes, size_t length, const char *start, size_t n)
{
	return length >= n && memcmp(bytes, start, n) == 0;
}

/* By its byte order mark, or by the NUL in the first of its ASCII characters. */
static bool
is_utf16(const char *bytes, size_t length)
{
	return starts_with(bytes, length, "\xff\xfe", 2) ||
	       starts_with(bytes, length, "\xfe\xff", 2) ||
	       (length >= 2 && (bytes[0] == '\0') != (bytes[1] == '\0'));
}

static const char *
trouble(const char *p, const char *end, size_t *ret_n)
{
	unsigned char c = (unsigned char)*p;

	*ret_n = scan_utf8(p, end);
	if (*ret_n == 0)
		return "the text is not valid UTF-8 here";
	if (c == '\0')
		return "a NUL byte";
	if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
		return "a control character: write it as an escape in double quotes";
	if (starts_with(p, (size_t)(end - p), MARK, MARK_LENGTH))
		return "a byte order mark within the text: remove it";
	return NULL;
}

bool
yaml_check_bytes(struct yaml_tree *tree, const char *bytes, size_t length, size_t *ret_skip)
{
	const char *p = bytes, *end = bytes + length, *why;
	int line = 1, column = 1;
	size_t n;

	if (is_utf16(bytes, length))
		return yaml_error(tree, 1, 1, "the text is UTF-16: save it as UTF-8");
	*ret_skip = starts_with(bytes, length, MARK, MARK_LENGTH) ? MARK_LENGTH : 0;
	for (p += *ret_skip; p < end; p += n, column++) {
		why = trouble(p, end, &n);
		if (why)
			return yaml_error(tree, line, column, "%s", why);
		if (*p == '\n') {
			line++;
			column = 0;
		}
	}
	return true;
}

int
yaml_tab_indents(const char *bytes, size_t length, int line)
{
	const char *p = bytes, *end = bytes + length, *tab;

	for (; line > 1; line--) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			return 0;
		p++;
	}
	for (tab = p; tab < end && *tab == ' '; tab++)
		;
	return tab < end && *tab == '\t' ? (int)(tab - p) + 1 : 0;
}
