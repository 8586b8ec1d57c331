/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors (equality, set, exists) and field selectors (equality).
 *
 * Labels are matched on the copy that the store keeps beside each object; fields other than name and namespace parse
 * the object, once per match. Gt and Lt of label selectors are refused.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/selectors.h"
#include "devserver/tree.h"

enum operator{ OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS };

struct requirement {
	char *key;
	enum operator op;
	cJSON *values; /* object used as a set */
};

struct selectors {
	struct requirement *labels, *fields;
	size_t label_count, field_count;
	bool whole;   /* a field needs the whole object */
	bool renamed; /* fields are those of events.k8s.io */
};

struct cursor {
	const char *p;
	struct error *err;
};

static void
skip_space(struct cursor *c)
{
	while (isspace((unsigned char)*c->p))
		c->p++;
}

/* Up to a delimiter; may be empty (a value). */
static char *
take_word(struct cursor *c)
{
	const char *start;
	size_t length;

	skip_space(c);
	start = c->p;
	length = strcspn(start, " \t,=!()");
	c->p += length;
	skip_space(c);
	return xstrndup(start, length);
}

static bool
take(struct cursor *c, const char *token)
{
	size_t length = strlen(token);

	if (strncmp(c->p, token, length) != 0)
		return false;
	c->p += length;
	skip_space(c);
	return true;
}

static bool
take_operator_word(struct cursor *c, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(c->p, word, length) != 0 ||
		(!isspace((unsigned char)c->p[length]) && c->p[length] != '('))
		return false;
	return take(c, word);
}

static void
add_value(struct requirement *r, char *value)
{
	tree_set(r->values, value, cJSON_CreateTrue());
	free(value);
}

static bool
parse_set(struct cursor *c, struct requirement *r)
{
	if (!take(c, "("))
		return error_set(c->err, -EINVAL,
			       "unable to parse requirement: found '%.20s', expected: '('",
			       c->p) == 0;
	do
		add_value(r, take_word(c));
	while (take(c, ","));
	if (!take(c, ")"))
		return error_set(c->err, -EINVAL,
			       "unable to parse requirement: found '%.20s', expected: ',' or ')'",
			       c->p) == 0;
	return true;
}

static bool
parse_requirement(struct cursor *c, struct requirement *r, bool sets)
{
	bool negated;

	r->values = cJSON_CreateObject();
	skip_space(c);
	negated = sets && take(c, "!");
	r->key = take_word(c);
	if (!*r->key)
		return error_set(c->err, -EINVAL,
			       "unable to parse requirement: found '%.20s', expected: identifier",
			       c->p) == 0;
	r->op = negated ? OP_NOT_EXISTS : OP_EXISTS;
	if (negated || (sets && (!*c->p || *c->p == ',')))
		return true;
	if (sets && take_operator_word(c, "in")) {
		r->op = OP_IN;
		return parse_set(c, r);
	}
	if (sets && take_operator_word(c, "notin")) {
		r->op = OP_NOT_IN;
		return parse_set(c, r);
	}
	if (take(c, "!="))
		r->op = OP_NOT_IN;
	else if (take(c, "==") || take(c, "="))
		r->op = OP_IN;
	else
		return error_set(c->err, -EINVAL,
			       "unable to parse requirement: found '%.20s', expected: in, notin, "
			       "=, ==, !=, gt, lt",
			       c->p) == 0;
	add_value(r, take_word(c));
	return true;
}

static bool
parse_list(
	const char *text, bool sets, struct requirement **ret, size_t *ret_count, struct error *err)
{
	struct cursor c = {text, err};
	size_t capacity = 0;

	skip_space(&c);
	while (*c.p) {
		if (*ret_count == capacity) {
			capacity = capacity ? capacity * 2 : 4;
			*ret = xreallocarray(*ret, capacity, sizeof(**ret));
		}
		(*ret)[*ret_count] = (struct requirement){0};
		if (!parse_requirement(&c, &(*ret)[(*ret_count)++], sets))
			return false;
		if (*c.p && !take(&c, ","))
			return error_set(err, -EINVAL,
				       "unable to parse requirement: found '%.20s', expected: ',' "
				       "or end",
				       c.p) == 0;
	}
	return true;
}

static bool
is_name(const char *key)
{
	return strcmp(key, "metadata.name") == 0 || strcmp(key, "metadata.namespace") == 0;
}

static bool
check_fields(struct selectors *s, const struct version *version, struct error *err)
{
	for (size_t i = 0; i < s->field_count; i++) {
		const cJSON *known = version->fields ? version->fields->child : NULL;

		if (is_name(s->fields[i].key))
			continue;
		while (known && strcmp(known->valuestring, s->fields[i].key) != 0)
			known = known->next;
		if (!known)
			return error_set(err, -EINVAL,
				       version->resource->builtin
					       ? "\"%s\" is not a known field selector: only "
						 "\"metadata.name\", "
						 "\"metadata.namespace\""
					       : "field label not supported: %s",
				       s->fields[i].key) == 0;
		s->whole = true;
	}
	return true;
}

struct selectors *
selectors_new(
	const char *labels, const char *fields, const struct version *version, struct error *err)
{
	struct selectors *s = xcalloc(1, sizeof(*s));

	s->renamed = version->resource->flags & KIND_NEW_EVENT;
	if (!parse_list(labels ? labels : "", true, &s->labels, &s->label_count, err) ||
		!parse_list(fields ? fields : "", false, &s->fields, &s->field_count, err) ||
		!check_fields(s, version, err)) {
		selectors_free(s);
		return NULL;
	}
	return s;
}

static void
free_list(struct requirement *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].key);
		cJSON_Delete(list[i].values);
	}
	free(list);
}

void
selectors_free(struct selectors *s)
{
	if (!s)
		return;
	free_list(s->labels, s->label_count);
	free_list(s->fields, s->field_count);
	free(s);
}

bool
selectors_none(const struct selectors *s)
{
	return !s->label_count && !s->field_count;
}

static bool
match_one(const struct requirement *r, const char *value)
{
	switch (r->op) {
	case OP_IN:
		return value && tree_get(r->values, value);
	case OP_NOT_IN:
		return !value || !tree_get(r->values, value);
	case OP_EXISTS:
		return value;
	case OP_NOT_EXISTS:
		return !value;
	}
	return false;
}

/* The text of a dotted path; number and boolean fields as JSON prints them; "" when absent, as the real server has it. */
static char *
field_text(const cJSON *tree, const char *path, bool renamed)
{
	char *copy = renamed && strncmp(path, "regarding.", 10) == 0
			     ? xasprintf("involvedObject.%s", path + 10)
			     : xstrdup(path);
	char *rest = copy, *key, *text;
	struct buf out = BUF_INIT;

	while (tree && (key = strsep(&rest, ".")))
		tree = tree_get(tree, key);
	if (cJSON_IsString(tree))
		buf_adds(&out, tree->valuestring);
	else if (tree)
		json_print(&out, tree);
	free(copy);
	text = xstrdup(out.data);
	buf_free(&out);
	return text;
}

static bool
match_fields(const struct selectors *s, const struct object *object)
{
	cJSON *tree = s->whole ? registry_parse(object) : NULL;
	bool match = true;

	for (size_t i = 0; match && i < s->field_count; i++) {
		const struct requirement *r = &s->fields[i];

		if (strcmp(r->key, "metadata.name") == 0) {
			match = match_one(r, object->name);
		} else if (strcmp(r->key, "metadata.namespace") == 0) {
			match = match_one(r, object->namespace_);
		} else {
			char *text = field_text(tree, r->key, s->renamed);

			match = match_one(r, text);
			free(text);
		}
	}
	cJSON_Delete(tree);
	return match;
}

bool
selectors_match(const struct selectors *s, const struct object *object)
{
	for (size_t i = 0; i < s->label_count; i++)
		if (!match_one(&s->labels[i], json_string(object->labels, s->labels[i].key, NULL)))
			return false;
	return !s->field_count || match_fields(s, object);
}
