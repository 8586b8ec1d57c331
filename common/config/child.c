/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of children's templates and of status templates that the schema table can't say: what must be a literal, what the API
 * server or operatord writes by itself, what is not supported yet. Works on the YAML tree, so that each problem has its place.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <string.h>

#include "common/config/config.h"
#include "common/config/validate.h"
#include "common/config/value.h"
#include "common/kube/names.h"

static bool
is_text(const struct yaml_node *node, const char *text)
{
	return node && node->text && !strcmp(node->text, text);
}

static void
complain_at(struct validator *v, const char *key, const struct yaml_node *node, const char *what)
{
	size_t back = validator_key(v, key);

	complain(v, node, "%s", what);
	validator_back(v, back);
}

/* --- apiVersion, kind --- */

/* "v1" or "apps/v1" */
static bool
is_api_version(const char *text)
{
	const char *slash = strchr(text, '/');

	if (slash && !syntax_is_subdomain(text, (size_t)(slash - text)))
		return false;
	if (slash)
		text = slash + 1;
	return syntax_is_label(text, strlen(text));
}

static bool
is_kind_name(const char *text)
{
	size_t length = strlen(text);

	if (length < 1 || length > 63 || !isupper((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]))
			return false;
	return true;
}

static void
check_literal(struct validator *v, const struct yaml_node *template, const char *key,
	bool (*is_good)(const char *text), const char *example)
{
	const struct yaml_node *node = yaml_get(template, key);
	size_t back = validator_key(v, key);

	if (!node)
		complain(v, template, "is missing; write it as a literal, such as %s", example);
	else if (free_has_expression(node))
		complain(v, node, "must be a literal, such as %s, not an expression", example);
	else if (node->type != YAML_STRING || !is_good(node->text))
		complain(v, node, "expected text such as %s", example);
	validator_back(v, back);
}

/* --- metadata --- */

static const char CROSS_NAMESPACE[] =
	"children live in their parent's namespace; leave it out, or "
	"write \"${.metadata.namespace}\" (an owner reference cannot cross namespaces: "
	"owner: finalizer can)";

/* "${.metadata.namespace}", blanks inside the braces allowed */
static bool
is_parent_namespace(const struct yaml_node *node)
{
	static const char want[] = "${.metadata.namespace}";
	const char *p = want;

	if (node->type != YAML_STRING)
		return false;
	for (const char *text = node->text; *text; text++)
		if (*text != ' ' && (!*p || *text != *p++))
			return false;
	return !*p;
}

static void
check_labels(struct validator *v, const struct yaml_node *metadata, const char *key)
{
	const struct yaml_node *map = yaml_get(metadata, key);
	size_t back;

	if (!map || map->type != YAML_MAP)
		return;
	back = validator_key(v, key);
	free_text_values(v, map);
	for (const struct yaml_node *node = map->children; node; node = node->next)
		if (!strncmp(node->key, NAME_PREFIX "/", strlen(NAME_PREFIX "/")) ||
			(!strcmp(key, "labels") && !strcmp(node->key, LABEL_MANAGED_BY)))
			complain_at(v, node->key, node, "operatord sets this itself; leave it out");
	validator_back(v, back);
}

static void
check_metadata(struct validator *v, const struct yaml_node *template, bool literal, bool anywhere)
{
	static const char *const servers[] = {"uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"managedFields", "selfLink"};
	const struct yaml_node *metadata = yaml_get(template, "metadata"), *node;
	size_t back = validator_key(v, "metadata");

	if (!metadata || metadata->type != YAML_MAP) {
		complain(v, metadata ? metadata : template, "expected a map with name");
		goto out;
	}
	if (yaml_get(metadata, "generateName"))
		complain_at(v, "generateName", yaml_get(metadata, "generateName"),
			"a child needs a name that stays the same; write name");
	node = yaml_get(metadata, "name");
	if (!yaml_get(metadata, "generateName") &&
		(!node || node->type != YAML_STRING || !node->length))
		complain_at(v, "name", node ? node : metadata,
			"expected text, such as \"${.metadata.name}-web\"");
	node = yaml_get(metadata, "namespace");
	if (node && !anywhere && (literal || !is_parent_namespace(node)))
		complain_at(v, "namespace", node, CROSS_NAMESPACE);
	node = yaml_get(metadata, "ownerReferences");
	if (node)
		complain_at(v, "ownerReferences", node, "operatord sets this itself; leave it out");
	for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++)
		if ((node = yaml_get(metadata, servers[i])))
			complain_at(v, servers[i], node, "the API server sets this; leave it out");
	check_labels(v, metadata, "labels");
	check_labels(v, metadata, "annotations");
out:
	validator_back(v, back);
}

/* --- a child --- */

/* A ConfigMap's and a Secret's values are text; the server's answer to a number there is hard to read. */
static void
check_data(struct validator *v, const struct yaml_node *template)
{
	static const char *const names[] = {"data", "stringData"};
	const struct yaml_node *kind = yaml_get(template, "kind");

	if (!is_text(yaml_get(template, "apiVersion"), "v1") ||
		(!is_text(kind, "ConfigMap") && !is_text(kind, "Secret")))
		return;
	for (size_t i = 0; i < 2; i++) {
		const struct yaml_node *map = yaml_get(template, names[i]);

		if (map) {
			size_t back = validator_key(v, names[i]);
			free_text_values(v, map);
			validator_back(v, back);
		}
	}
}

void
child_check(struct validator *v, const struct yaml_node *child, bool literal)
{
	const struct yaml_node *template = yaml_get(child, "template");
	bool anywhere = child_ties_check(v, child);
	size_t back;

	if (!template) {
		back = validator_key(v, "template");
		if (!yaml_get(child, "file"))
			complain(v, child, "is missing; write it here, or file with its path");
		validator_back(v, back);
		return;
	}
	back = validator_key(v, "template");
	if (template->type != YAML_MAP) {
		complain(v, template, "expected an object with apiVersion, kind and metadata");
		goto out;
	}
	check_literal(v, template, "apiVersion", is_api_version, "apps/v1");
	check_literal(v, template, "kind", is_kind_name, "Deployment");
	check_metadata(v, template, literal, anywhere);
	check_data(v, template);
	if (yaml_get(template, "status"))
		complain_at(v, "status", yaml_get(template, "status"),
			"a child's status belongs to its own controller; leave it out");
out:
	validator_back(v, back);
}

/* Of the template's metadata; "" for the parent's, written out or not. */
static const char *
namespace_in(const struct yaml_node *template)
{
	const struct yaml_node *node = yaml_get(yaml_get(template, "metadata"), "namespace");

	return node && node->text && !is_parent_namespace(node) ? node->text : "";
}

/* The same apiVersion, kind, namespace and name as written. Both under a condition may be alternatives. */
static bool
are_one_object(const struct yaml_node *a, const struct yaml_node *b)
{
	static const char *const keys[] = {"apiVersion", "kind", "name"};

	if (a->type != YAML_MAP || b->type != YAML_MAP ||
		(yaml_get(a, "when") && yaml_get(b, "when")))
		return false;
	a = yaml_get(a, "template");
	b = yaml_get(b, "template");
	if (!a || !b || a->type != YAML_MAP || b->type != YAML_MAP)
		return false;
	for (size_t i = 0; i < 3; i++) {
		const struct yaml_node *in_a = i < 2 ? a : yaml_get(a, "metadata");
		const struct yaml_node *in_b = i < 2 ? b : yaml_get(b, "metadata");

		if (!in_a || !in_b || in_a->type != YAML_MAP || in_b->type != YAML_MAP)
			return false;
		in_a = yaml_get(in_a, keys[i]);
		in_b = yaml_get(in_b, keys[i]);
		if (!in_a || !in_a->text || !is_text(in_b, in_a->text))
			return false;
	}
	return !strcmp(namespace_in(a), namespace_in(b));
}

static void
compare_children(
	struct validator *v, const struct yaml_node *earlier, const struct yaml_node *child)
{
	const struct yaml_node *id = yaml_get(child, "id"), *other = yaml_get(earlier, "id");

	if (!id || !id->text || !other || !other->text)
		return;
	if (!strcmp(id->text, other->text))
		complain(v, id, "the id %.63s is taken by the child at line %d, column %d",
			id->text, other->line, other->column);
	else if (are_one_object(earlier, child))
		complain(v, id, "%.63s and %.63s (line %d) are the same object", id->text,
			other->text, other->line);
}

void
child_check_list(struct validator *v, const struct yaml_node *list)
{
	size_t n = 0;

	for (const struct yaml_node *child = list->children; child && n < CONFIG_CHILDREN_MAX;
		child = child->next, n++)
		for (const struct yaml_node *earlier = list->children; earlier != child;
			earlier = earlier->next)
			if (child->type == YAML_MAP && earlier->type == YAML_MAP)
				compare_children(v, earlier, child);
}

/* --- status --- */

/* {once: "${...}"} and nothing else */
static bool
is_once(const struct yaml_node *node)
{
	return node->type == YAML_MAP && yaml_get(node, "once");
}

static void
check_once(struct validator *v, const struct yaml_node *node, bool allowed)
{
	const struct yaml_node *once = yaml_get(node, "once");

	if (!allowed)
		complain(v, node, "once is for the members of status alone");
	else if (once->type != YAML_STRING || !free_has_expression(once))
		complain(v, once, "expected text with an expression, such as \"${$uuid}\"");
	else if (node->children->next)
		complain(v, node, "once stands alone: {once: \"${...}\"}");
}

/* A member named once with an expression, deeper down, would be passed on as plain data: surely not what was meant. */
static void
check_deeper(struct validator *v, const struct yaml_node *node)
{
	size_t index = 0;

	for (const struct yaml_node *child = node->children; child; child = child->next, index++) {
		size_t back = child->key ? validator_key(v, child->key) : validator_index(v, index);

		if (is_once(child) && free_has_expression(yaml_get(child, "once")))
			check_once(v, child, false);
		else
			check_deeper(v, child);
		validator_back(v, back);
	}
}

void
child_check_status(struct validator *v, const struct yaml_node *status, bool on_error)
{
	for (const struct yaml_node *node = status->children; node; node = node->next) {
		size_t back = validator_key(v, node->key);

		if (!strcmp(node->key, "conditions") || !strcmp(node->key, "observedGeneration"))
			complain_key(v, node, "operatord writes this itself; leave it out");
		else if (is_once(node))
			check_once(v, node, !on_error);
		else
			check_deeper(v, node);
		validator_back(v, back);
	}
}
