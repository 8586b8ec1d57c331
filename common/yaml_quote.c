/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What quoted texts stand for, from the bytes between the quotes.
 *
 * libfyaml 0.7.12 finds where they end and refuses bad escapes, but its texts are wrong in places, with bytes that are not the
 * document's at the end: 'a''''b' comes out as a''', and escapes next to line breaks are lost.
 *
 * YAML 1.2.2, 7.3: white space around a line break goes; one line break is a space, of more all but the first are kept; in single
 * quotes '' is a quote; in double quotes a backslash before the line break takes the space away too.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonscan_token.h"
#include "common/yaml_parts.h"

size_t
yaml_line_break(const char *p, const char *end)
{
	if (p < end && *p == '\r')
		return end - p > 1 && p[1] == '\n' ? 2 : 1;
	return p < end && *p == '\n' ? 1 : 0;
}

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* p at a line break, to the first byte of the next line that is not empty; what stands for the breaks goes to out. */
static const char *
fold(const char *p, const char *end, bool escaped, char **out)
{
	size_t n, breaks = 0;

	while ((n = yaml_line_break(p, end)) > 0) {
		p = skip_blanks(p + n, end);
		breaks++;
	}
	if (breaks == 1 && !escaped)
		*(*out)++ = ' ';
	for (; breaks > 1; breaks--)
		*(*out)++ = '\n';
	return p;
}

/* --- escapes ------------------------------------------------------------------------ */

static const struct {
	char letter;
	unsigned char digits; /* of the number that follows */
	uint32_t character;
} escapes[] = {
	{'0', 0, 0},
	{'a', 0, 7},
	{'b', 0, 8},
	{'t', 0, 9},
	{'\t', 0, 9},
	{'n', 0, 10},
	{'v', 0, 11},
	{'f', 0, 12},
	{'r', 0, 13},
	{'e', 0, 27},
	{' ', 0, ' '},
	{'"', 0, '"'},
	{'/', 0, '/'},
	{'\\', 0, '\\'},
	{'N', 0, 0x85},
	{'_', 0, 0xa0},
	{'L', 0, 0x2028},
	{'P', 0, 0x2029},
	{'x', 2, 0},
	{'u', 4, 0},
	{'U', 8, 0},
};

/* n digits at p to *ret; false when they are not there. */
static bool
read_hex(const char *p, const char *end, size_t n, uint32_t *ret)
{
	char digits[9] = "";

	if ((size_t)(end - p) < n)
		return false;
	memcpy(digits, p, n);
	*ret = (uint32_t)strtoul(digits, NULL, 16);
	return strspn(digits, "0123456789abcdefABCDEF") == n;
}

/* p at a backslash; returns the place behind the escape, NULL when it is not one. Halves as JSON writes them are joined. */
static const char *
read_escape(const char *p, const char *end, uint32_t *ret)
{
	uint32_t low;

	for (size_t i = 0; end - p > 1 && i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (escapes[i].letter != p[1])
			continue;
		p += 2;
		*ret = escapes[i].character;
		if (escapes[i].digits == 0)
			return p;
		if (!read_hex(p, end, escapes[i].digits, ret))
			return NULL;
		p += escapes[i].digits;
		if (*ret >= 0xd800 && *ret <= 0xdbff && end - p >= 6 && p[0] == '\\' &&
			p[1] == 'u' && read_hex(p + 2, end, 4, &low) && low >= 0xdc00 &&
			low <= 0xdfff) {
			*ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
			p += 6;
		}
		return *ret > 0x10ffff || (*ret >= 0xd800 && *ret <= 0xdfff) ? NULL : p;
	}
	return NULL;
}

/* --- texts -------------------------------------------------------------------------- */

/* One character, escape or '' at p; NULL when it is no escape. */
static const char *
take_character(const char *p, const char *end, char quote, char **out)
{
	uint32_t c;

	if (quote == '\'') {
		*(*out)++ = *p;
		return p + (*p == '\'' && end - p > 1 && p[1] == '\'' ? 2 : 1);
	}
	if (*p != '\\') {
		*(*out)++ = *p;
		return p + 1;
	}
	if (yaml_line_break(p + 1, end))
		return fold(p + 1, end, true, out);
	p = read_escape(p, end, &c);
	if (p)
		*out += scan_put_utf8(*out, c);
	return p;
}

bool
yaml_unquote(
	struct yaml_tree *tree, struct yaml_node *node, const char *bytes, size_t n, char quote)
{
	const char *p = bytes, *end = bytes + n;
	/* \L is two bytes and stands for three. */
	char *out = node->text = yaml_alloc(tree, n + n / 2 + 1);

	if (!out)
		return false;
	while (p < end) {
		const char *behind = skip_blanks(p, end);

		if (yaml_line_break(behind, end)) {
			p = fold(behind, end, false, &out);
			continue;
		}
		memcpy(out, p, (size_t)(behind - p));
		out += behind - p;
		p = behind < end ? take_character(behind, end, quote, &out) : end;
		if (!p)
			return yaml_error(tree, node->line, node->column,
				"not a valid escape in this text: %.20s", behind);
	}
	*out = '\0';
	node->length = (size_t)(out - node->text);
	return true;
}
