/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML events to a tree, by libfyaml's event interface (its document interface knows no places and expands aliases without end).
 *
 * The bytes are checked before (yaml_check.c), scalars get their types in yaml_scalar.c, maps are finished in yaml_map.c. An
 * anchor is known from where it begins: an alias takes the latest one of its name, and within itself it is an error. The
 * recursion is as deep as the document, at most YAML_DEPTH_MAX. The parser and its diagnostics live within yaml_parse(); the
 * tree is the caller's, and on failure nothing is left.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libfyaml.h>

#include "common/yaml.h"
#include "common/yaml_parts.h"

#define ANCHORS_MAX 1000

struct anchor {
	struct anchor *older;
	const char *name;
	const struct yaml_node *node; /* NULL until its node is whole */
};

struct reader {
	const char *bytes; /* without the byte order mark */
	size_t length;
	struct fy_diag *diag;
	struct fy_parser *parser;
	struct fy_event *event;
	struct yaml_tree *tree;
	struct anchor *anchors; /* the latest first */
	size_t n_anchors;
	int line, column;      /* of the event; of the one before when it has no place */
	size_t before, behind; /* where the event before ended, and this one, in bytes */
};

/* --- events ------------------------------------------------------------------------- */

/* The parser's first complaint. A tab below it is the likelier cause than what the parser stumbled over. */
static bool
syntax_error(struct reader *r)
{
	void *iterator = NULL;
	const struct fy_diag_error *e = fy_diag_errors_iterate(r->diag, &iterator);
	int tab = 0, line;

	if (!e)
		return yaml_error(r->tree, r->line, r->column, "the YAML parser gave up");
	line = e->line;
	if (!strstr(e->msg, " tab ")) {
		for (tab = yaml_tab_indents(r->bytes, r->length, line); !tab && line == e->line;
			line++)
			tab = yaml_tab_indents(r->bytes, r->length, line + 1);
	}
	if (tab)
		return yaml_error(r->tree, line, tab, "a tab is used as indentation: use spaces");
	return yaml_error(r->tree, e->line, e->column, "%s", e->msg);
}

static void
drop_event(struct reader *r)
{
	if (r->event)
		fy_parser_event_free(r->parser, r->event);
	r->event = NULL;
}

static bool
next(struct reader *r)
{
	const struct fy_mark *mark;

	drop_event(r);
	r->event = fy_parser_parse(r->parser);
	if (!r->event)
		return syntax_error(r);
	mark = fy_event_start_mark(r->event);
	if (mark) {
		r->line = mark->line + 1;
		r->column = mark->column + 1;
	}
	r->before = r->behind;
	mark = fy_event_end_mark(r->event);
	if (mark)
		r->behind = mark->input_pos;
	return true;
}

/* A copy of a token's text; NULL without token or memory. */
static char *
token_text(struct reader *r, struct fy_token *token)
{
	size_t n = 0;
	const char *text = token ? fy_token_get_text(token, &n) : NULL;

	return text ? yaml_copy_text(r->tree, text, n) : NULL;
}

/* --- anchors and aliases -------------------------------------------------------------- */

/* Notes the anchor of a node that begins; *ret_anchor is NULL when it has none. */
static bool
open_anchor(struct reader *r, struct fy_token *token, struct anchor **ret_anchor)
{
	struct anchor *anchor;

	*ret_anchor = NULL;
	if (!token)
		return true;
	if (r->n_anchors++ == ANCHORS_MAX)
		return yaml_error(r->tree, r->line, r->column, "more than %d anchors", ANCHORS_MAX);
	anchor = yaml_alloc(r->tree, sizeof(*anchor));
	if (!anchor)
		return false;
	*anchor = (struct anchor){.older = r->anchors, .name = token_text(r, token)};
	if (!anchor->name)
		return false;
	*ret_anchor = r->anchors = anchor;
	return true;
}

static const struct yaml_node *
find_anchor(struct reader *r)
{
	const char *name = token_text(r, r->event->alias.anchor);
	const struct anchor *a = r->anchors;

	if (!name)
		return NULL;
	while (a && strcmp(a->name, name) != 0)
		a = a->older;
	if (!a)
		yaml_error(r->tree, r->line, r->column - 1, "the alias *%s has no anchor before it",
			name);
	else if (!a->node)
		yaml_error(r->tree, r->line, r->column - 1,
			"the alias *%s stands within its own anchor", name);
	return a ? a->node : NULL;
}

/* --- nodes -------------------------------------------------------------------------- */

static struct yaml_node *read_node(struct reader *r, int depth);

/* Quoted and folded texts are made here, from their bytes: see yaml_quote.c and yaml_fold.c. */
static bool
read_text(struct reader *r, struct yaml_node *node, struct fy_token *value,
	enum fy_scalar_style style)
{
	const struct fy_mark *from = fy_token_start_mark(value), *to = fy_token_end_mark(value);
	const char *bytes = r->bytes + (from && to ? from->input_pos : 0), *text;
	size_t n = from && to ? to->input_pos - from->input_pos : 0;

	if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
		return yaml_unquote(
			r->tree, node, bytes, n, style == FYSS_SINGLE_QUOTED ? '\'' : '"');
	if (style == FYSS_FOLDED && n > 0)
		return yaml_fold(r->tree, node, r->bytes + r->before, bytes, n);
	text = fy_token_get_text(value, &n);
	if (!text)
		return yaml_error(r->tree, node->line, node->column, "the value can't be read");
	node->text = yaml_copy_text(r->tree, text, n);
	node->length = n;
	return node->text != NULL;
}

static bool
read_scalar(struct reader *r, struct yaml_node *node)
{
	struct fy_event_scalar_data scalar = r->event->scalar;
	enum fy_scalar_style style = fy_token_scalar_style(scalar.value);
	const char *tag = scalar.tag ? token_text(r, scalar.tag) : NULL;

	/* The parser's place is behind the quote. */
	if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
		node->column--;
	if ((scalar.tag && !tag) || !read_text(r, node, scalar.value, style))
		return false;
	return yaml_type_scalar(r->tree, node, tag, style != FYSS_PLAIN);
}

/* Lists and maps have the tag of their kind or none. */
static bool
check_tag(struct reader *r, struct fy_token *token, const char *kind)
{
	const char *tag = token_text(r, token);

	if (!token)
		return true;
	if (!tag)
		return false;
	if (strcmp(tag, kind) == 0 || strcmp(tag, "!") == 0)
		return true;
	return yaml_error(r->tree, r->line, r->column, "the tag %s is not supported here", tag);
}

static bool
read_list(struct reader *r, struct yaml_node *list, int depth)
{
	struct yaml_node **last = &list->children;

	while (next(r) && r->event->type != FYET_SEQUENCE_END) {
		*last = read_node(r, depth + 1);
		if (!*last)
			return false;
		last = &(*last)->next;
	}
	return r->event != NULL;
}

/* The node of a key, of which only text and place count. */
static const struct yaml_node *
read_key(struct reader *r, int depth, bool *ret_merge)
{
	const struct yaml_node *key;

	if (r->event->type != FYET_SCALAR && r->event->type != FYET_ALIAS) {
		yaml_error(
			r->tree, r->line, r->column, "a key must be a text, not a list or a map");
		return NULL;
	}
	*ret_merge = r->event->type == FYET_SCALAR;
	key = read_node(r, depth + 1);
	if (!key)
		return NULL;
	if (!key->text)
		yaml_error(r->tree, key->line, key->column,
			"a key must be a text, not a list or a map");
	else if (memchr(key->text, '\0', key->length))
		yaml_error(r->tree, key->line, key->column, "a key holds U+0000");
	else if (key->plain && key->length == 0)
		yaml_error(r->tree, key->line, key->column, "a key is missing before ':'");
	else {
		*ret_merge = *ret_merge && key->plain && strcmp(key->text, "<<") == 0;
		return key;
	}
	return NULL;
}

static bool
read_map(struct reader *r, struct yaml_node *map, int depth)
{
	struct yaml_node **last = &map->children;
	const struct yaml_node *merge = NULL;

	while (next(r) && r->event->type != FYET_MAPPING_END) {
		bool is_merge;
		const struct yaml_node *key = read_key(r, depth, &is_merge);
		struct yaml_node *value = key && next(r) ? read_node(r, depth + 1) : NULL;

		if (!value)
			return false;
		value->key = key->text;
		value->key_line = key->line;
		value->key_column = key->column;
		if (is_merge && merge)
			return yaml_error(r->tree, key->line, key->column,
				"the key \"<<\" is given twice: use a list");
		if (is_merge) {
			merge = value;
		} else {
			*last = value;
			last = &value->next;
		}
	}
	return r->event && yaml_finish_map(r->tree, map, merge, depth);
}

static struct yaml_node *
read_alias(struct reader *r, int depth)
{
	const struct yaml_node *anchored = find_anchor(r);
	int line = r->line, column = r->column - 1; /* with its star */
	struct yaml_node *node =
		anchored ? yaml_clone(r->tree, anchored, depth, line, column) : NULL;

	if (node) {
		node->key = NULL;
		node->key_line = node->key_column = 0;
		node->line = line;
		node->column = column;
	}
	return node;
}

/* Takes the node of the current event, to its last event. */
static struct yaml_node *
read_node(struct reader *r, int depth)
{
	struct fy_event *e = r->event;
	struct yaml_node *node;
	struct anchor *anchor;
	bool ok;

	if (e->type == FYET_ALIAS)
		return read_alias(r, depth);
	node = yaml_new_node(r->tree, r->line, r->column);
	if (!node)
		return NULL;
	if (depth > YAML_DEPTH_MAX) {
		yaml_error(r->tree, r->line, r->column, "nested deeper than %d levels",
			YAML_DEPTH_MAX);
		return NULL;
	}
	if (e->type == FYET_SCALAR) {
		ok = open_anchor(r, e->scalar.anchor, &anchor) && read_scalar(r, node);
	} else if (e->type == FYET_SEQUENCE_START) {
		node->type = YAML_LIST;
		ok = open_anchor(r, e->sequence_start.anchor, &anchor) &&
		     check_tag(r, e->sequence_start.tag, "tag:yaml.org,2002:seq") &&
		     read_list(r, node, depth);
	} else {
		node->type = YAML_MAP;
		ok = open_anchor(r, e->mapping_start.anchor, &anchor) &&
		     check_tag(r, e->mapping_start.tag, "tag:yaml.org,2002:map") &&
		     read_map(r, node, depth);
	}
	if (ok && anchor)
		anchor->node = node;
	return ok ? node : NULL;
}

/* --- documents ---------------------------------------------------------------------- */

static bool
end_of_stream(struct reader *r)
{
	if (!next(r) || !next(r)) /* the document's end, and what follows */
		return false;
	if (r->event->type == FYET_STREAM_END)
		return true;
	if (!fy_event_start_mark(r->event) &&
		!next(r)) /* begun without ---: where its first node is */
		return false;
	return yaml_error(
		r->tree, r->line, r->column, "a second document begins here: one file holds one");
}

/* The parser reads texts of version 1.1 beyond their end where U+2028 stands in them. */
static bool
check_version(struct reader *r)
{
	const struct fy_version *v =
		fy_document_state_version(r->event->document_start.document_state);

	if (!v || (v->major == 1 && v->minor == 2))
		return true;
	return yaml_error(r->tree, 1, 1,
		"%%YAML %d.%d is not supported: this is YAML 1.2, leave the line out", v->major,
		v->minor);
}

static bool
read_document(struct reader *r)
{
	struct yaml_node *root = &r->tree->root, *node;

	*root = (struct yaml_node){.type = YAML_MAP, .line = 1, .column = 1};
	if (!next(r) || !next(r)) /* the stream's start, and the document's */
		return false;
	if (r->event->type == FYET_STREAM_END)
		return true;
	if (!check_version(r))
		return false;
	node = next(r) ? read_node(r, 1) : NULL;
	if (!node)
		return false;
	if (node->type != YAML_NULL || node->length > 0)
		*root = *node;
	return end_of_stream(r);
}

static bool
read_stream(struct reader *r)
{
	struct fy_diag_cfg diag_config;
	struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG};
	bool ok = false;

	fy_diag_cfg_default(&diag_config);
	diag_config.fp = NULL;
	r->diag = config.diag = fy_diag_create(&diag_config);
	if (!r->diag)
		return yaml_error(r->tree, 1, 1, "no memory");
	fy_diag_set_collect_errors(r->diag, true);
	r->parser = fy_parser_create(&config);
	if (r->parser && fy_parser_set_string(r->parser, r->bytes, r->length) == 0)
		ok = read_document(r);
	else
		yaml_error(r->tree, 1, 1, "no memory");
	drop_event(r);
	if (r->parser)
		fy_parser_destroy(r->parser);
	fy_diag_destroy(r->diag);
	return ok;
}

struct yaml_node *
yaml_parse(const char *bytes, size_t length, struct yaml_place_error *ret_error)
{
	struct yaml_place_error scratch;
	struct yaml_tree *tree = calloc(1, sizeof(*tree));
	struct reader r = {.tree = tree, .line = 1, .column = 1};
	size_t skip;

	if (!ret_error)
		ret_error = &scratch;
	*ret_error = (struct yaml_place_error){.line = 1, .column = 1, .text = "no memory"};
	if (!tree)
		return NULL;
	tree->err = ret_error;
	if (yaml_check_bytes(tree, bytes, length, &skip)) {
		r.bytes = bytes + skip;
		r.length = length - skip;
		if (read_stream(&r)) {
			*ret_error = (struct yaml_place_error){0};
			return &tree->root;
		}
	}
	yaml_free(&tree->root);
	return NULL;
}
