/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simple values. Text settings take what is written, whatever YAML makes of it (no, 1e3, 12:30 are the text they look like);
 * the other types take only their own words.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/config/duration.h"
#include "common/config/quantity.h"
#include "common/config/value.h"
#include "common/json.h"

#define TEXT_LENGTH_MAX 4096

const char *
value_type_name(const struct yaml_node *node)
{
	switch (node->type) {
	case YAML_NULL:
		return "nothing";
	case YAML_BOOL:
		return "true or false";
	case YAML_NUMBER:
		return "a number";
	case YAML_STRING:
		return "text";
	case YAML_LIST:
		return "a list";
	case YAML_MAP:
		return "a map";
	}
	return "nothing";
}

bool
value_is_octal_slip(const struct yaml_node *node)
{
	const char *p = node->text;

	if (node->type != YAML_NUMBER || !node->plain)
		return false;
	p += *p == '-' || *p == '+';
	return p[0] == '0' && isdigit((unsigned char)p[1]);
}

bool
value_is_boolean_slip(const struct yaml_node *node)
{
	static const char *const words[] = {"yes", "no", "on", "off"};

	if (node->type != YAML_STRING || !node->plain)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcasecmp(node->text, words[i]))
			return true;
	return false;
}

/* "expected a duration from 1s to 1h" and what to do about it. */
static cJSON *
refuse(struct error *err, const struct schema_key *key, const char *advice)
{
	struct buf type = BUF_INIT;

	schema_describe(key, &type);
	error_set(err, -EINVAL, "expected %s%s%s", type.data, advice[0] ? "; " : "", advice);
	buf_free(&type);
	return NULL;
}

static bool
has_control(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return true;
	return false;
}

static cJSON *
from_text(const struct schema_key *key, const char *text, size_t length, struct error *err)
{
	struct error why = {0};
	int r;

	if (length > TEXT_LENGTH_MAX) {
		error_set(err, -EINVAL, "is longer than %d bytes", TEXT_LENGTH_MAX);
		return NULL;
	}
	if (has_control(text, length)) {
		error_set(err, -EINVAL, "holds a control character");
		return NULL;
	}
	r = key->syntax ? key->syntax(text, &why) : syntax_text(text, &why);
	if (r < 0) {
		error_set(err, r, "\"%.80s\": %s", text, why.text);
		return NULL;
	}
	return json_new_string(text, length);
}

/* Decimal, 0x1F or 0o17. */
static bool
read_number(const char *text, double *ret)
{
	char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o'))
		*ret = (double)strtoull(text + 2, &end, text[1] == 'x' ? 16 : 8);
	else
		*ret = strtod(text, &end);
	return end != text && !*end && isfinite(*ret);
}

static cJSON *
from_number(const struct schema_key *key, const char *text, struct error *err)
{
	double number;

	if (!read_number(text, &number) || number < (double)key->min || number > (double)key->max ||
		(key->type == SCHEMA_INT && number != floor(number)) ||
		(key->type == SCHEMA_NUMBER && number <= 0))
		return refuse(err, key, "");
	return cJSON_CreateNumber(number);
}

static cJSON *
from_duration(const struct schema_key *key, const char *text, struct error *err)
{
	char canonical[32];
	int64_t ns;

	if (duration_parse(text, &ns) < 0)
		return refuse(err, key, "write a number with a unit: 500ms, 5s, 10m, 1h30m");
	if (ns < key->min || ns > key->max || ns % NSEC_PER_MSEC)
		return refuse(err, key, ns % NSEC_PER_MSEC ? "in whole milliseconds" : "");
	duration_format(canonical, ns);
	return cJSON_CreateString(canonical);
}

static cJSON *
from_bytes(const struct schema_key *key, const char *text, struct error *err)
{
	char canonical[32];
	int64_t bytes;

	if (quantity_parse(text, &bytes) < 0)
		return refuse(err, key, "write a whole number with a suffix: 64Mi, 1Gi, 500M");
	if (bytes < key->min || bytes > key->max)
		return refuse(err, key, "");
	quantity_format(canonical, bytes);
	return cJSON_CreateString(canonical);
}

static cJSON *
from_word(const struct schema_key *key, const char *text, struct error *err)
{
	size_t n;

	for (const char *p = key->words;; p += n + 1) {
		n = strcspn(p, " ");
		if (strlen(text) == n && !memcmp(p, text, n))
			return cJSON_CreateString(text);
		if (!p[n])
			break;
	}
	return refuse(err, key, "");
}

static cJSON *
from_bool(const struct schema_key *key, const struct yaml_node *node, struct error *err)
{
	if (node->type == YAML_BOOL)
		return cJSON_CreateBool(tolower((unsigned char)node->text[0]) == 't');
	if (value_is_boolean_slip(node)) {
		bool yes = !strcasecmp(node->text, "yes") || !strcasecmp(node->text, "on");
		error_set(err, -EINVAL, "\"%s\" is text in YAML 1.2; write %s", node->text,
			yes ? "true" : "false");
		return NULL;
	}
	if (node->type == YAML_STRING &&
		(!strcmp(node->text, "true") || !strcmp(node->text, "false")))
		return refuse(err, key, "write it without quotes");
	return refuse(err, key, "");
}

static cJSON *
refuse_nothing(struct error *err, const struct schema_key *key)
{
	error_set(err, -EINVAL, "has no value; write one%s",
		key->required ? "" : " or leave the key out");
	return NULL;
}

/* Scalars that are taken as they are written: not one with nothing, and null is not a word. */
static cJSON *
from_written(const struct schema_key *key, const struct yaml_node *node, struct error *err)
{
	if (node->type == YAML_NULL && (!node->text || strcmp(node->text, "~") != 0))
		return refuse_nothing(err, key);
	if (strlen(node->text) != node->length) {
		error_set(err, -EINVAL, "holds a NUL character");
		return NULL;
	}
	return key->type == SCHEMA_WORD ? from_word(key, node->text, err)
					: from_text(key, node->text, node->length, err);
}

cJSON *
value_from_yaml(const struct schema_key *key, const struct yaml_node *node, struct error *err)
{
	if (node->type == YAML_LIST || node->type == YAML_MAP)
		return refuse(
			err, key, node->type == YAML_LIST ? "this is a list" : "this is a map");
	if (key->type == SCHEMA_TEXT || key->type == SCHEMA_WORD)
		return from_written(key, node, err);
	if (node->type == YAML_NULL)
		return refuse_nothing(err, key);
	if (value_is_octal_slip(node)) {
		error_set(err, -EINVAL,
			"%s: a number has no leading zeros in YAML 1.2 (octal is 0o17)",
			node->text);
		return NULL;
	}
	switch (key->type) {
	case SCHEMA_BOOL:
		return from_bool(key, node, err);
	case SCHEMA_INT:
	case SCHEMA_NUMBER:
		return node->type == YAML_NUMBER ? from_number(key, node->text, err)
						 : refuse(err, key, "this is text");
	case SCHEMA_DURATION:
		return from_duration(key, node->text, err);
	case SCHEMA_BYTES:
		return from_bytes(key, node->text, err);
	default:
		return refuse(err, key, "");
	}
}

cJSON *
value_fallback(const struct schema_key *key)
{
	struct yaml_node node = {.type = YAML_STRING, .text = (char *)key->fallback};

	if (!key->fallback)
		return NULL;
	node.length = strlen(key->fallback);
	if (key->type == SCHEMA_NAMESPACES)
		return cJSON_CreateString(key->fallback);
	if (key->type == SCHEMA_BOOL)
		node.type = YAML_BOOL;
	else if (key->type == SCHEMA_INT || key->type == SCHEMA_NUMBER)
		node.type = YAML_NUMBER;
	return value_from_yaml(key, &node, NULL);
}
