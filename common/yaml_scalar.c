/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of scalars by the core schema of YAML 1.2: only true and false are booleans (in three spellings of case), so that no, on, y
 * and off stay text, as do 12:30 and 1_000. 0400 is the number 400: the text is kept, and whoever knows better may warn.
 * JSON has no infinity and no NaN: these are errors, as are numbers in base 8 or 16 beyond 64 bits. Also the way to JSON.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/yaml_parts.h"

#define TAG "tag:yaml.org,2002:"

enum form {
	FORM_TEXT,
	FORM_NULL,
	FORM_BOOL,
	FORM_INTEGER,
	FORM_FLOAT,
	FORM_NO_NUMBER,
	FORM_TOO_LARGE
};

static const struct word {
	const char *text;
	enum form form;
} words[] = {
	{"", FORM_NULL},
	{"~", FORM_NULL},
	{"null", FORM_NULL},
	{"Null", FORM_NULL},
	{"NULL", FORM_NULL},
	{"true", FORM_BOOL},
	{"True", FORM_BOOL},
	{"TRUE", FORM_BOOL},
	{"false", FORM_BOOL},
	{"False", FORM_BOOL},
	{"FALSE", FORM_BOOL},
	{".nan", FORM_NO_NUMBER},
	{".NaN", FORM_NO_NUMBER},
	{".NAN", FORM_NO_NUMBER},
	{".inf", FORM_NO_NUMBER},
	{".Inf", FORM_NO_NUMBER},
	{".INF", FORM_NO_NUMBER},
	{"+.inf", FORM_NO_NUMBER},
	{"+.Inf", FORM_NO_NUMBER},
	{"+.INF", FORM_NO_NUMBER},
	{"-.inf", FORM_NO_NUMBER},
	{"-.Inf", FORM_NO_NUMBER},
	{"-.INF", FORM_NO_NUMBER},
};

/* --- forms -------------------------------------------------------------------------- */

#define DIGITS "0123456789"

static int
base_of(const char *text)
{
	return strncmp(text, "0x", 2) == 0 ? 16 : strncmp(text, "0o", 2) == 0 ? 8 : 10;
}

/* Of 0x1F and 0o17. */
static enum form
based_form(const char *text, int base)
{
	const char *allowed = base == 16 ? DIGITS "abcdefABCDEF" : "01234567";
	size_t n = strspn(text + 2, allowed);

	if (n == 0 || text[2 + n] != '\0')
		return FORM_TEXT;
	errno = 0;
	strtoull(text + 2, NULL, base);
	return errno ? FORM_TOO_LARGE : FORM_INTEGER;
}

static enum form
decimal_form(const char *text)
{
	const char *p = text + (*text == '-' || *text == '+');
	size_t whole = strspn(p, DIGITS), fraction = 0, exponent;
	bool is_float = false;

	p += whole;
	if (*p == '.') {
		fraction = strspn(p + 1, DIGITS);
		p += 1 + fraction;
		is_float = true;
	}
	if (whole + fraction == 0)
		return FORM_TEXT;
	if (*p == 'e' || *p == 'E') {
		p += p[1] == '-' || p[1] == '+' ? 2 : 1;
		exponent = strspn(p, DIGITS);
		if (exponent == 0)
			return FORM_TEXT;
		p += exponent;
		is_float = true;
	}
	return *p != '\0' ? FORM_TEXT : is_float ? FORM_FLOAT : FORM_INTEGER;
}

static enum form
form_of(const char *text, size_t length)
{
	if (strlen(text) != length)
		return FORM_TEXT;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].text, text) == 0)
			return words[i].form;
	return base_of(text) == 10 ? decimal_form(text) : based_form(text, base_of(text));
}

/* --- types -------------------------------------------------------------------------- */

static bool
set_type(struct yaml_tree *tree, struct yaml_node *node, enum form form)
{
	switch (form) {
	case FORM_NO_NUMBER:
		return yaml_error(tree, node->line, node->column,
			"%s is a number that JSON has not: quote it if it is a text", node->text);
	case FORM_TOO_LARGE:
		return yaml_error(tree, node->line, node->column,
			"%.80s is a number beyond 64 bits: quote it if it is a text", node->text);
	case FORM_NULL:
		node->type = YAML_NULL;
		return true;
	case FORM_BOOL:
		node->type = YAML_BOOL;
		return true;
	case FORM_INTEGER:
	case FORM_FLOAT:
		node->type = YAML_NUMBER;
		return true;
	case FORM_TEXT:
	default:
		node->type = YAML_STRING;
		return true;
	}
}

bool
yaml_type_scalar(struct yaml_tree *tree, struct yaml_node *node, const char *tag, bool quoted)
{
	enum form form = form_of(node->text, node->length);
	bool fits;

	node->plain = !tag && !quoted;
	if (!tag)
		return set_type(tree, node, quoted ? FORM_TEXT : form);
	if (strcmp(tag, "!") == 0 || strcmp(tag, TAG "str") == 0)
		return set_type(tree, node, FORM_TEXT);
	if (strcmp(tag, TAG "int") == 0)
		fits = form == FORM_INTEGER || form == FORM_TOO_LARGE;
	else if (strcmp(tag, TAG "float") == 0)
		fits = form == FORM_INTEGER || form == FORM_FLOAT || form == FORM_NO_NUMBER ||
		       form == FORM_TOO_LARGE;
	else if (strcmp(tag, TAG "bool") == 0)
		fits = form == FORM_BOOL;
	else if (strcmp(tag, TAG "null") == 0)
		fits = form == FORM_NULL;
	else
		return yaml_error(tree, node->line, node->column,
			"the tag %.100s is not supported here", tag);
	if (!fits)
		return yaml_error(tree, node->line, node->column,
			"\"%.80s\" is not what its tag !!%s says", node->text, tag + strlen(TAG));
	return set_type(tree, node, form);
}

/* --- JSON --------------------------------------------------------------------------- */

/* The number as JSON writes it: no plus, no leading zeros, digits on both sides of the point. */
static cJSON *
number_to_json(const char *text)
{
	struct buf b = BUF_INIT;
	cJSON *value;
	size_t whole;

	if (base_of(text) != 10) {
		buf_addf(&b, "%" PRIu64, (uint64_t)strtoull(text + 2, NULL, base_of(text)));
	} else {
		if (*text == '-')
			buf_addc(&b, '-');
		text += *text == '-' || *text == '+';
		while (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
			text++;
		whole = strspn(text, DIGITS);
		buf_adds(&b, whole ? "" : "0");
		buf_add(&b, text, whole);
		text += whole;
		if (*text == '.' && text[1] >= '0' && text[1] <= '9')
			buf_addc(&b, '.');
		buf_adds(&b, text + (*text == '.'));
	}
	value = b.failed ? NULL : json_new_number(b.data, b.length);
	buf_free(&b);
	return value;
}

static cJSON *
scalar_to_json(const struct yaml_node *node)
{
	switch (node->type) {
	case YAML_NULL:
		return cJSON_CreateNull();
	case YAML_BOOL:
		return cJSON_CreateBool(node->text[0] == 't' || node->text[0] == 'T');
	case YAML_NUMBER:
		return number_to_json(node->text);
	case YAML_STRING:
	case YAML_LIST:
	case YAML_MAP:
	default:
		return json_new_string(node->text, node->length);
	}
}

/* Takes the value; false: no memory. */
static bool
add_member(cJSON *object, const char *key, cJSON *value)
{
	cJSON *wrapped = value ? json_new_string(key, strlen(key)) : NULL;
	bool ok = wrapped && cJSON_AddItemToObject(object, wrapped->valuestring, value);

	if (!ok)
		cJSON_Delete(value);
	cJSON_Delete(wrapped);
	return ok;
}

cJSON *
yaml_to_json(const struct yaml_node *node)
{
	cJSON *value;

	if (node->type != YAML_LIST && node->type != YAML_MAP)
		return scalar_to_json(node);
	value = node->type == YAML_MAP ? cJSON_CreateObject() : cJSON_CreateArray();
	for (const struct yaml_node *child = node->children; value && child; child = child->next) {
		cJSON *json = yaml_to_json(child);
		bool ok = node->type == YAML_MAP ? add_member(value, child->key, json)
						 : json && cJSON_AddItemToArray(value, json);

		if (!ok) {
			cJSON_Delete(value);
			value = NULL;
		}
	}
	return value;
}
