/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values without a type of their own: templates and vars. YAML 1.2 gives them their types; what people write in the belief in YAML 1.1
 * (0400, yes), and what YAML makes of an expression without quotes, is a problem with what to write instead, not another value.
 * Expressions themselves are checked by common/template.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <string.h>

#include "common/config/validate.h"
#include "common/config/value.h"

#define KEY_LENGTH_MAX 512 /* Kubernetes' longest is 317 */

bool
free_has_expression(const struct yaml_node *node)
{
	return node->text && strstr(node->text, "${");
}

/* Maps whose values the API reads as text: there yes and no are the words that they look like. */
static bool
is_text_map(const struct yaml_node *map)
{
	static const char *const names[] = {
		"data", "stringData", "labels", "annotations", "matchLabels", "nodeSelector"};

	for (size_t i = 0; map->key && i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(map->key, names[i]))
			return true;
	return false;
}

static bool
check_key(struct validator *v, const struct yaml_node *node, bool literal)
{
	if (strlen(node->key) > KEY_LENGTH_MAX) {
		complain_key(v, node, "a key of more than %d bytes", KEY_LENGTH_MAX);
		return false;
	}
	if (literal || !strstr(node->key, "${"))
		return true;
	if (strchr(node->key, '}'))
		complain_key(v, node, "a key cannot hold an expression");
	else
		complain_key(v, node,
			"YAML splits this expression at ': '; put quotes around it: \"${...}\"");
	return false;
}

/* 0400: not octal any more */
static void
complain_octal(struct validator *v, const struct yaml_node *node)
{
	const char *sign = *node->text == '-' ? "-" : "",
		   *digits = node->text + strspn(node->text, "+-0");

	if (!isdigit((unsigned char)*digits))
		digits--;
	if (strpbrk(digits, "89.eE"))
		complain(v, node, "%.40s is the number %s%.40s; write that, or \"%.40s\" for text",
			node->text, sign, digits, node->text);
	else
		complain(v, node,
			"%.40s is the number %s%.40s in YAML 1.2; write that, 0o%.40s for octal, "
			"or "
			"\"%.40s\" for text",
			node->text, sign, digits, digits, node->text);
}

static bool
check_scalar(struct validator *v, const struct yaml_node *node, bool in_text_map)
{
	const char *text = node->text;

	if (value_is_octal_slip(node)) {
		complain_octal(v, node);
		return false;
	}
	if (!in_text_map && value_is_boolean_slip(node)) {
		bool yes = (text[0] | 0x20) == 'y' || (text[1] | 0x20) == 'n';

		complain(v, node, "%s is text in YAML 1.2; write %s, or \"%s\" for text", text,
			yes ? "true" : "false", text);
		return false;
	}
	return true;
}

static bool
check_value(struct validator *v, const struct yaml_node *node, bool literal, bool in_text_map)
{
	bool good = true;
	size_t index = 0;

	if (node->type != YAML_MAP && node->type != YAML_LIST)
		return check_scalar(v, node, in_text_map);
	in_text_map = node->type == YAML_MAP && is_text_map(node);
	for (const struct yaml_node *child = node->children; child; child = child->next, index++) {
		size_t back = child->key ? validator_key(v, child->key) : validator_index(v, index);

		if (child->key)
			good = check_key(v, child, literal) && good;
		good = check_value(v, child, literal, in_text_map) && good;
		validator_back(v, back);
	}
	return good;
}

cJSON *
free_value(struct validator *v, const struct yaml_node *node, bool literal)
{
	return check_value(v, node, literal, false) ? yaml_to_json(node) : NULL;
}

void
free_text_values(struct validator *v, const struct yaml_node *map)
{
	if (map->type != YAML_MAP)
		return;
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		size_t back = validator_key(v, node->key);

		if (node->type == YAML_NUMBER || node->type == YAML_BOOL)
			complain(v, node, "values are text here; write \"%.80s\"", node->text);
		else if (node->type == YAML_LIST || node->type == YAML_MAP)
			complain(
				v, node, "values are text here, this is %s", value_type_name(node));
		validator_back(v, back);
	}
}
