/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a folded block (>) stands for. libfyaml 0.7.12 finds where it ends, but loses empty lines beside more indented ones, and
 * its texts then end in bytes that are not the document's.
 *
 * YAML 1.2.2, 8.1: a line break between two lines at the block's indentation is a space, of more all but the first are kept; beside lines
 * that begin with white space all are kept. The line breaks at the end are one (no indicator), none (-) or as they are (+).
 */
#include "config.h"

#include <string.h>

#include "common/yaml_parts.h"

struct fold {
	size_t indent;
	size_t breaks;  /* since the last line with text */
	bool any;       /* there was one */
	bool was_white; /* it began with white space */
	char *out;
};

static void
put_breaks(struct fold *f, size_t n)
{
	memset(f->out, '\n', n);
	f->out += n;
}

static const char *
end_of_line(const char *p, const char *end)
{
	while (p < end && !yaml_line_break(p, end))
		p++;
	return p;
}

/* The indentation of the first line that is not empty. */
static size_t
find_indent(const char *p, const char *end)
{
	while (p < end) {
		size_t n = 0;

		while (p + n < end && p[n] == ' ')
			n++;
		if (p + n < end && !yaml_line_break(p + n, end))
			return n;
		p = end_of_line(p, end);
		p += yaml_line_break(p, end);
	}
	return 0;
}

/* One line without its break. */
static void
take_line(struct fold *f, const char *p, const char *end)
{
	bool white;

	for (size_t i = 0; i < f->indent && p < end && *p == ' '; i++)
		p++;
	if (p == end)
		return;
	white = *p == ' ' || *p == '\t';
	if (!f->any || white || f->was_white)
		put_breaks(f, f->breaks);
	else if (f->breaks == 1)
		*f->out++ = ' ';
	else
		put_breaks(f, f->breaks - 1);
	memcpy(f->out, p, (size_t)(end - p));
	f->out += end - p;
	f->any = true;
	f->was_white = white;
	f->breaks = 0;
}

static bool
is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * The indicators behind the > that is looked for between what came before the block and its text: there stand : - ? &anchor !tag and comments.
 * NULL when it is not there.
 */
static const char *
find_header(const char *p, const char *end)
{
	while (p < end) {
		if (is_white(*p)) {
			p++;
		} else if (*p == '>') {
			return p + 1;
		} else if (*p == '#') {
			p = end_of_line(p, end);
		} else {
			while (p < end && !is_white(*p))
				p++;
		}
	}
	return NULL;
}

/* The indicator for the end: + - or 0 for none; false for one that gives the indentation. */
static bool
read_header(const char *p, const char *end, char *ret_chomp)
{
	for (*ret_chomp = '\0'; p < end && !is_white(*p); p++) {
		if (*p >= '1' && *p <= '9')
			return false;
		*ret_chomp = *p;
	}
	return true;
}

bool
yaml_fold(struct yaml_tree *tree, struct yaml_node *node, const char *before, const char *bytes,
	size_t n)
{
	const char *p = bytes, *end = bytes + n, *header = find_header(before, bytes);
	struct fold f = {.indent = find_indent(bytes, end)};
	char chomp;

	if (!header)
		return yaml_error(tree, node->line, node->column, "the folded text can't be read");
	if (!read_header(header, end, &chomp))
		return yaml_error(tree, node->line, node->column,
			"an indentation given by number is not supported for folded text: use | or "
			"quotes");
	node->text = f.out = yaml_alloc(tree, n + 1);
	if (!f.out)
		return false;
	while (p < end) {
		const char *behind = end_of_line(p, end);

		take_line(&f, p, behind);
		n = yaml_line_break(behind, end);
		f.breaks += n > 0;
		p = behind + n;
	}
	if (chomp == '+')
		put_breaks(&f, f.breaks);
	else if (chomp != '-' && f.any && f.breaks > 0)
		put_breaks(&f, 1);
	*f.out = '\0';
	node->length = (size_t)(f.out - node->text);
	return true;
}
