/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a value against a structural schema, in the real server's words.
 *
 * Checked: type, nullable, enum, required, the bounds of numbers, strings, lists and maps, pattern (as a POSIX
 * extended expression with \d, \w, \s), uniqueness of set and map lists, allOf, anyOf, oneOf, not. Not checked: format
 * and CEL rules (crd.c says so when a CRD has rules).
 */
#include "config.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/causes.h"
#include "devserver/schema.h"
#include "devserver/tree.h"

static cJSON *validate(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path);

static const char *
type_name(const cJSON *value)
{
	if (cJSON_IsNull(value))
		return "null";
	if (cJSON_IsBool(value))
		return "boolean";
	if (tree_is_number(value))
		return tree_is_integer(value) ? "integer" : "number";
	return cJSON_IsString(value) ? "string" : cJSON_IsArray(value) ? "array" : "object";
}

static bool
type_fits(const cJSON *value, const cJSON *schema)
{
	const char *type = json_string(schema, "type", NULL), *is = type_name(value);

	if (cJSON_IsNull(value))
		return json_bool(schema, "nullable", false);
	if (json_bool(schema, "x-kubernetes-int-or-string", false))
		return strcmp(is, "integer") == 0 || strcmp(is, "string") == 0;
	return !type || strcmp(type, is) == 0 ||
	       (strcmp(type, "number") == 0 && strcmp(is, "integer") == 0);
}

static char *
shown(const cJSON *value)
{
	struct buf out = BUF_INIT;
	char *text;

	json_print(&out, value);
	text = xstrdup(out.data);
	buf_free(&out);
	return text;
}

static char *
join(const char *path, const char *key)
{
	return xasprintf("%s%s%s", path, *path ? "." : "", key);
}

static cJSON *
check_type(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const char *want = json_string(schema, "type", "integer,string"), *is = type_name(value);

	return causes_add(causes, CAUSE_TYPE, *path ? path : "<root>",
		"Invalid value: \"%s\": %s%sin body must be of type %s: \"%s\"", is, path,
		*path ? " " : "", want, is);
}

static cJSON *
check_enum(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const cJSON *list = tree_get(schema, "enum");
	struct buf words = BUF_INIT;
	char *text;

	for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
		if (tree_equal(item, value))
			goto out;
		if (item != list->child)
			buf_adds(&words, ", ");
		json_print(&words, item);
	}
	if (!list)
		goto out;
	text = shown(value);
	causes = causes_add(causes, CAUSE_ENUM, path, "Unsupported value: %s: supported values: %s",
		text, words.data);
	free(text);
out:
	buf_free(&words);
	return causes;
}

static cJSON *
check_number(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const cJSON *minimum = tree_get(schema, "minimum"), *maximum = tree_get(schema, "maximum");
	const cJSON *step = tree_get(schema, "multipleOf");
	bool above = json_bool(schema, "exclusiveMinimum", false),
	     below = json_bool(schema, "exclusiveMaximum", false);
	double n = value->valuedouble;
	char *text = shown(value), *bound = NULL;

	if (cJSON_IsNumber(minimum) &&
		(n < minimum->valuedouble || (above && n == minimum->valuedouble)))
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: %s: %s in body should be greater than%s %s", text, path,
			above ? "" : " or equal to", bound = shown(minimum));
	free(bound);
	bound = NULL;
	if (cJSON_IsNumber(maximum) &&
		(n > maximum->valuedouble || (below && n == maximum->valuedouble)))
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: %s: %s in body should be less than%s %s", text, path,
			below ? "" : " or equal to", bound = shown(maximum));
	free(bound);
	bound = NULL;
	if (cJSON_IsNumber(step) && step->valuedouble > 0 && fmod(n, step->valuedouble) != 0)
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: %s: %s in body should be a multiple of %s", text, path,
			bound = shown(step));
	free(bound);
	free(text);
	return causes;
}

/* \d, \w, \s as bracket expressions; other escapes stay. */
static char *
posix_pattern(const char *pattern)
{
	struct buf out = BUF_INIT;
	bool bracket = false;
	char *text;

	for (const char *p = pattern; *p; p++) {
		const char *class = NULL;

		if (*p == '\\' && p[1]) {
			class = p[1] == 'd'   ? "0-9"
				: p[1] == 'w' ? "A-Za-z0-9_"
				: p[1] == 's' ? "[:space:]"
					      : NULL;
			if (class)
				buf_addf(&out, bracket ? "%s" : "[%s]", class);
			else if (bracket && strchr("-.]/+", p[1]) == NULL)
				buf_addc(&out, p[1]);
			else
				buf_add(&out, p + (bracket ? 1 : 0), bracket ? 1 : 2);
			p++;
			continue;
		}
		if (strncmp(p, "(?:", 3) == 0 && !bracket) {
			buf_addc(&out, '(');
			p += 2;
			continue;
		}
		bracket = *p == '[' ? true : *p == ']' ? false : bracket;
		buf_addc(&out, *p);
	}
	text = xstrdup(out.data);
	buf_free(&out);
	return text;
}

static bool
pattern_fits(const char *text, const char *pattern)
{
	char *posix = posix_pattern(pattern);
	bool fits = true;
	regex_t regex;

	if (regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB) == 0) {
		fits = regexec(&regex, text, 0, NULL, 0) == 0;
		regfree(&regex);
	}
	free(posix);
	return fits;
}

static int64_t
characters(const char *text)
{
	int64_t count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static cJSON *
check_string(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const char *pattern = json_string(schema, "pattern", NULL);
	int64_t minimum = json_int(schema, "minLength", 0),
		maximum = json_int(schema, "maxLength", INT64_MAX);
	int64_t length = characters(value->valuestring);

	if (length < minimum)
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: \"%s\": %s in body should be at least %lld chars long",
			value->valuestring, path, (long long)minimum);
	else if (length > maximum)
		causes = causes_add(causes, CAUSE_LONG, path,
			"Too long: may not be more than %lld bytes", (long long)maximum);
	else if (pattern && !pattern_fits(value->valuestring, pattern))
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: \"%s\": %s in body should match '%s'", value->valuestring,
			path, pattern);
	return causes;
}

/* Equal elements of a set, equal keys of a map list. */
static bool
same_element(const cJSON *a, const cJSON *b, const cJSON *keys)
{
	if (!keys)
		return tree_equal(a, b);
	for (const cJSON *key = keys->child; key; key = key->next)
		if (!tree_equal(tree_get(a, key->valuestring), tree_get(b, key->valuestring)))
			return false;
	return true;
}

static cJSON *
check_duplicates(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const cJSON *keys = schema_list_type(schema) == LIST_MAP ? schema_list_keys(schema) : NULL;
	size_t index = 0;

	if (schema_list_type(schema) == LIST_ATOMIC)
		return causes;
	for (const cJSON *b = value->child; b; b = b->next, index++)
		for (const cJSON *a = value->child; a != b; a = a->next)
			if (same_element(a, b, keys)) {
				char *at = xasprintf("%s[%zu]", path, index), *text = shown(b);

				causes = causes_add(
					causes, CAUSE_DUPLICATE, at, "Duplicate value: %s", text);
				free(text);
				free(at);
				break;
			}
	return causes;
}

static cJSON *
check_list(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	int64_t count = cJSON_GetArraySize(value),
		maximum = json_int(schema, "maxItems", INT64_MAX);
	int64_t minimum = json_int(schema, "minItems", 0);
	size_t index = 0;

	if (count < minimum)
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: %lld: %s in body should have at least %lld items",
			(long long)count, path, (long long)minimum);
	if (count > maximum)
		causes = causes_add(causes, CAUSE_MANY, path,
			"Too many: %lld: must have at most %lld items", (long long)count,
			(long long)maximum);
	for (const cJSON *item = value->child; item; item = item->next) {
		char *below = xasprintf("%s[%zu]", path, index++);

		causes = validate(causes, item, schema_items(schema), below);
		free(below);
	}
	return check_duplicates(causes, value, schema, path);
}

static cJSON *
check_object(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const cJSON *required = tree_get(schema, "required");
	int64_t count = cJSON_GetArraySize(value);

	for (const cJSON *key = required ? required->child : NULL; key; key = key->next) {
		char *below = join(path, key->valuestring);

		if (!tree_get(value, key->valuestring))
			causes = causes_add(causes, CAUSE_REQUIRED, below, "Required value");
		free(below);
	}
	if (count < json_int(schema, "minProperties", 0))
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: %lld: %s in body should have at least %lld properties",
			(long long)count, path, (long long)json_int(schema, "minProperties", 0));
	if (count > json_int(schema, "maxProperties", INT64_MAX))
		causes = causes_add(causes, CAUSE_MANY, path,
			"Too many: %lld: must have at most %lld items", (long long)count,
			(long long)json_int(schema, "maxProperties", 0));
	for (const cJSON *child = value->child; child; child = child->next) {
		char *below = join(path, child->string);

		causes = validate(causes, child, schema_child(schema, child->string), below);
		free(below);
	}
	return causes;
}

static size_t
count_valid(const cJSON *value, const cJSON *list, const char *path)
{
	size_t valid = 0;

	for (const cJSON *schema = list ? list->child : NULL; schema; schema = schema->next) {
		cJSON *causes = validate(NULL, value, schema, path);

		valid += !causes;
		cJSON_Delete(causes);
	}
	return valid;
}

static cJSON *
check_combined(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	const cJSON *all = tree_get(schema, "allOf"), *any = tree_get(schema, "anyOf"),
		    *one = tree_get(schema, "oneOf");
	const cJSON *none = tree_get(schema, "not");
	cJSON *refused;

	for (const cJSON *part = all ? all->child : NULL; part; part = part->next)
		causes = validate(causes, value, part, path);
	if (any && !count_valid(value, any, path))
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: \"%s\": \"%s\" must validate at least one schema (anyOf)",
			path, path);
	if (one && count_valid(value, one, path) != 1)
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: \"%s\": \"%s\" must validate one and only one schema "
			"(oneOf). Found %s",
			path, path, count_valid(value, one, path) ? "more than one" : "none valid");
	if (none && !(refused = validate(NULL, value, none, path)))
		causes = causes_add(causes, CAUSE_INVALID, path,
			"Invalid value: \"%s\": \"%s\" must not validate the schema (not)", path,
			path);
	else if (none)
		cJSON_Delete(refused);
	return causes;
}

static cJSON *
validate(cJSON *causes, const cJSON *value, const cJSON *schema, const char *path)
{
	if (!cJSON_IsObject(schema))
		return causes;
	if (!type_fits(value, schema))
		return check_enum(check_type(causes, value, schema, path), value, schema, path);
	if (cJSON_IsNull(value))
		return causes;
	causes = check_enum(causes, value, schema, path);
	if (cJSON_IsNumber(value))
		causes = check_number(causes, value, schema, path);
	else if (tree_is_number(value))
		; /* a wrapped number fits no bound that a double could hold */
	else if (cJSON_IsString(value))
		causes = check_string(causes, value, schema, path);
	else if (cJSON_IsArray(value))
		causes = check_list(causes, value, schema, path);
	else if (cJSON_IsObject(value))
		causes = check_object(causes, value, schema, path);
	return check_combined(causes, value, schema, path);
}

cJSON *
schema_validate(const cJSON *value, const cJSON *schema)
{
	return validate(NULL, value, schema, "");
}
