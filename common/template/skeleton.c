/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a group's JSON, splits its strings, checks their expressions, and gives each a slot. Keys are plain text.
 *
 * Kubernetes takes only strings in labels, annotations and selectors by label, so there a number or a boolean that an expression gives is put as a
 * string: the members of labels and annotations within a metadata, and of matchLabels anywhere. Nothing else is converted: a map of the same name
 * elsewhere (say, spec.labels of a custom resource) may well hold numbers.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/template/expression.h"
#include "common/template/problem.h"
#include "common/template/skeleton.h"

struct build {
	struct skeleton *skeleton;
	const struct template_group *group;
	struct expression_scope scope;
	void (*report)(void *data, const struct template_problem *problem);
	void *data;
	unsigned problems;
};

/* Where the walk is. */
struct place {
	char path[TEMPLATE_PATH_MAX];
	const char *key; /* of the value, "" for an item of a list and for the root */
	bool text_map;   /* the value is a map of labels */
	bool in_text_map;
	bool in_list;
	unsigned depth;
};

static void
complain(struct build *b, const struct place *place, const char *expression, size_t length,
	struct template_problem *problem)
{
	problem_place(problem, place->path, expression, length);
	b->problems++;
	if (b->report)
		b->report(b->data, problem);
}

static struct node *
node_new(enum node_type type, const char *text, size_t length)
{
	struct node *node = xcalloc(1, sizeof(*node));

	node->type = type;
	if (text) {
		node->text = xstrndup(text, length);
		node->length = length;
	}
	return node;
}

static size_t
slot_new(struct build *b, const struct place *place, const char *expression, size_t length,
	size_t offset)
{
	struct skeleton *s = b->skeleton;

	if (s->n_slots == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 8;
		s->slots = xreallocarray(s->slots, s->capacity, sizeof(*s->slots));
	}
	struct slot *slot = &s->slots[s->n_slots];
	*slot = (struct slot){
		.expression = xstrndup(expression, length), .offset = (unsigned)offset};
	snprintf(slot->path, sizeof(slot->path), "%s", place->path);
	return s->n_slots++;
}

/* A node for one expression, checked. */
static struct node *
expression_node(struct build *b, const struct place *place, const char *text,
	const struct expression_part *part, bool alone)
{
	struct template_problem problem = {0};
	const char *expression = text + part->start;
	size_t start = 0, length = part->length;
	bool spread = alone && place->in_list &&
		      expression_is_spread(expression, length, &start, &length);

	if (!spread) {
		start = 0;
		length = part->length;
	}
	if (expression_check(expression + start, length, &b->scope, &problem) < 0) {
		problem.offset += (unsigned)(part->start + start);
		complain(b, place, expression, part->length, &problem);
	}
	struct node *node = node_new(spread ? NODE_SPREAD : NODE_VALUE, NULL, 0);
	node->slot = slot_new(b, place, expression + start, length, part->start);
	node->as_text = alone && (place->text_map || place->in_text_map);
	return node;
}

static struct node *
literal_node(const cJSON *value)
{
	struct buf bytes = BUF_INIT;

	json_print(&bytes, value);
	struct node *node = node_new(NODE_LITERAL, bytes.data, bytes.length);
	buf_free(&bytes);
	return node;
}

static struct node *
string_node(struct build *b, const struct place *place, const cJSON *value)
{
	struct expression_part parts[EXPRESSION_PARTS_MAX];
	struct template_problem problem = {0};
	const char *text = value->valuestring;
	size_t n;

	if (b->group->literal || !strstr(text, "${"))
		return literal_node(value);
	if (expression_split(text, parts, &n, &problem) < 0) {
		complain(b, place, "", 0, &problem);
		return node_new(NODE_NULL, NULL, 0);
	}
	if (n == 1 && parts[0].is_expression)
		return expression_node(b, place, text, &parts[0], true);
	struct node *node = node_new(NODE_TEXT, NULL, 0), **tail = &node->children;
	for (size_t i = 0; i < n; i++) {
		*tail = parts[i].is_expression
				? expression_node(b, place, text, &parts[i], false)
				: node_new(NODE_RAW, text + parts[i].start, parts[i].length);
		tail = &(*tail)->next;
	}
	return node;
}

static bool
is_text_map(const char *parent, const char *key)
{
	return strcmp(key, "matchLabels") == 0 ||
	       (strcmp(parent, "metadata") == 0 &&
		       (strcmp(key, "labels") == 0 || strcmp(key, "annotations") == 0));
}

/* "path.key", or path["key"] when the key is no plain word. */
static void
path_append(char path[TEMPLATE_PATH_MAX], const char *key)
{
	size_t n = strlen(path);
	bool plain = key[strspn(key,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] ==
		     '\0';

	snprintf(path + n, TEMPLATE_PATH_MAX - n, plain ? ".%s" : "[\"%s\"]", key);
}

static struct node *build_node(struct build *b, const struct place *place, const cJSON *value);

static struct node *
object_node(struct build *b, const struct place *place, const cJSON *value)
{
	struct node *node = node_new(NODE_OBJECT, NULL, 0), **tail = &node->children;
	struct template_problem problem = {0};
	const cJSON *member;

	cJSON_ArrayForEach(member, value)
	{
		struct place inner = *place;
		inner.depth++;
		inner.in_list = false;
		inner.in_text_map = place->text_map;
		inner.text_map = is_text_map(place->key, member->string);
		inner.key = member->string;
		path_append(inner.path, member->string);
		if (!b->group->literal && strstr(member->string, "${")) {
			problem_text(&problem, 0,
				"a key can't hold ${ (literal: true on a child makes all its text "
				"plain)");
			complain(b, &inner, "", 0, &problem);
		}
		*tail = build_node(b, &inner, member);
		(*tail)->key = xstrdup(member->string);
		tail = &(*tail)->next;
	}
	return node;
}

static struct node *
list_node(struct build *b, const struct place *place, const cJSON *value)
{
	struct node *node = node_new(NODE_LIST, NULL, 0), **tail = &node->children;
	const cJSON *item;
	size_t i = 0;

	cJSON_ArrayForEach(item, value)
	{
		struct place inner = *place;
		size_t n = strlen(inner.path);
		inner.depth++;
		inner.in_list = true;
		inner.in_text_map = inner.text_map = false;
		inner.key = "";
		snprintf(inner.path + n, sizeof(inner.path) - n, "[%zu]", i++);
		*tail = build_node(b, &inner, item);
		tail = &(*tail)->next;
	}
	return node;
}

static struct node *
build_node(struct build *b, const struct place *place, const cJSON *value)
{
	struct template_problem problem = {0};

	if (place->depth > JSON_DEPTH_MAX) {
		problem_text(&problem, 0, "nested deeper than %d levels", JSON_DEPTH_MAX);
		complain(b, place, "", 0, &problem);
		return node_new(NODE_NULL, NULL, 0);
	}
	if (cJSON_IsObject(value))
		return object_node(b, place, value);
	if (cJSON_IsArray(value))
		return list_node(b, place, value);
	if (cJSON_IsString(value))
		return string_node(b, place, value);
	if (cJSON_IsNull(value))
		return node_new(NODE_NULL, NULL, 0);
	return literal_node(value);
}

unsigned
skeleton_build(struct skeleton *skeleton, const struct template_group *group,
	const struct template_source *source,
	void (*report)(void *data, const struct template_problem *problem), void *data)
{
	struct place place = {.key = ""};
	struct build b = {.skeleton = skeleton,
		.group = group,
		.scope = {.children = group->allow_children,
			.error = group->allow_error,
			.uuid = group->allow_uuid,
			.self = group->allow_self,
			.names = group->names,
			.n_names = group->n_names,
			.children_ids = source->children_ids,
			.n_children = source->n_children},
		.report = report,
		.data = data};

	*skeleton = (struct skeleton){.boolean = group->boolean};
	skeleton->uses_child = xcalloc(source->n_children, sizeof(bool));
	skeleton->uses_name = xcalloc(group->n_names + 1, sizeof(bool));
	b.scope.uses_child = skeleton->uses_child;
	b.scope.uses_name = skeleton->uses_name;
	snprintf(place.path, sizeof(place.path), "%s", group->path);
	snprintf(skeleton->path, sizeof(skeleton->path), "%s", group->path);
	skeleton->root =
		group->value ? build_node(&b, &place, group->value) : node_new(NODE_NULL, NULL, 0);
	if (group->boolean && group->value && !cJSON_IsBool(group->value) &&
		skeleton->root->type != NODE_VALUE && !b.problems) {
		struct template_problem problem = {
			.text = "must be true, false, or one expression that gives one of them, as "
				"in \"${.spec.enabled == true}\""};
		complain(&b, &place, "", 0, &problem);
	}
	return b.problems;
}

static void
node_free(struct node *node)
{
	while (node) {
		struct node *next = node->next;
		node_free(node->children);
		free(node->key);
		free(node->text);
		free(node);
		node = next;
	}
}

void
skeleton_clear(struct skeleton *skeleton)
{
	node_free(skeleton->root);
	for (size_t i = 0; i < skeleton->n_slots; i++)
		free(skeleton->slots[i].expression);
	free(skeleton->slots);
	free(skeleton->uses_child);
	free(skeleton->uses_name);
	*skeleton = (struct skeleton){0};
}
