/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing: the effective configuration as YAML, and the schema table for people.
 *
 * The YAML is a main file that gives the same document again. Keys come in the table's order, those of templates in the
 * document's. Values of {fromEnv: NAME} are not shown: they may be secrets.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/config/check.h"
#include "common/config/duration.h"
#include "common/config/quantity.h"
#include "common/config/schema.h"
#include "common/json.h"

/* --- scalars --- */

/* Words that some YAML reads as another type than text. */
static bool
is_yaml_word(const char *text)
{
	static const char *const words[] = {
		"null", "true", "false", "yes", "no", "on", "off", "y", "n"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcasecmp(text, words[i]))
			return true;
	return false;
}

/* Text that needs no quotes: it begins with a letter or '/', or is a duration or an amount of bytes. */
static bool
is_plain(const char *text)
{
	int64_t value;

	if (!isalpha((unsigned char)text[0]) && text[0] != '/')
		return isdigit((unsigned char)text[0]) &&
		       isalpha((unsigned char)text[strlen(text) - 1]) &&
		       (duration_parse(text, &value) == 0 || quantity_parse(text, &value) == 0);
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_./-", *p))
			return false;
	return !is_yaml_word(text);
}

/* U+007F..U+009F, U+2028, U+2029, U+FEFF and U+FFFE, U+FFFF: JSON has them raw, YAML wants them escaped. Their length and value, or 0. */
static size_t
not_printable(const unsigned char *p, unsigned *ret)
{
	unsigned c;

	if (p[0] == 0x7f) {
		*ret = 0x7f;
		return 1;
	}
	if (p[0] == 0xc2 && p[1] < 0xa0) {
		*ret = p[1];
		return 2;
	}
	if ((p[0] & 0xf0) != 0xe0)
		return 0;
	c = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	*ret = c;
	return c == 0x2028 || c == 0x2029 || c == 0xfeff || c >= 0xfffe ? 3 : 0;
}

static void
put_text(struct buf *out, const char *text)
{
	struct buf quoted = BUF_INIT;
	unsigned character;
	size_t n;

	if (is_plain(text)) {
		buf_adds(out, text);
		return;
	}
	json_put_string(&quoted, text, strlen(text));
	for (const char *p = quoted.data; *p; p += n ? n : 1) {
		n = not_printable((const unsigned char *)p, &character);
		if (n)
			buf_addf(out, "\\u%04x", character);
		else
			buf_addc(out, *p);
	}
	buf_free(&quoted);
}

static void
put_scalar(struct buf *out, const cJSON *value)
{
	if (cJSON_IsString(value))
		put_text(out, value->valuestring);
	else
		json_print(out, value);
}

/* --- values of any kind --- */

static void
indent(struct buf *out, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		buf_adds(out, "  ");
}

static void put_value(struct buf *out, const cJSON *value, unsigned depth, unsigned list_depth);

/* The members of a map, the first on the line where the buffer is when `inside` (after "- "). */
static void
put_members(struct buf *out, const cJSON *map, unsigned depth, bool inside)
{
	const cJSON *member;

	cJSON_ArrayForEach(member, map)
	{
		if (!inside)
			indent(out, depth);
		inside = false;
		put_text(out, member->string);
		buf_addc(out, ':');
		put_value(out, member, depth + 1, depth);
	}
}

static void
put_items(struct buf *out, const cJSON *list, unsigned depth)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		indent(out, depth);
		buf_addc(out, '-');
		if (cJSON_IsObject(item) && item->child) {
			buf_addc(out, ' ');
			put_members(out, item, depth + 1, true);
		} else {
			put_value(out, item, depth + 1, depth + 1);
		}
	}
}

/* What follows "key:" or "-". The items of a list stand below the key, as kubectl prints them. */
static void
put_value(struct buf *out, const cJSON *value, unsigned depth, unsigned list_depth)
{
	if (cJSON_IsObject(value) && value->child) {
		buf_addc(out, '\n');
		put_members(out, value, depth, false);
	} else if (cJSON_IsArray(value) && value->child) {
		buf_addc(out, '\n');
		put_items(out, value, list_depth);
	} else {
		buf_addc(out, ' ');
		put_scalar(out, value);
		buf_addc(out, '\n');
	}
}

/* --- the configuration --- */

static cJSON *in_order(const cJSON *object, enum schema_place place, const char *prefix);

/* [{"a": ...}, {"b": ...}] as one map, in that order */
static cJSON *
let_map(const cJSON *list)
{
	cJSON *map = cJSON_CreateObject();
	const cJSON *item;

	cJSON_ArrayForEach(item, list) cJSON_AddItemToObject(
		map, item->child->string, cJSON_Duplicate(item->child, true));
	return map;
}

static cJSON *
copy_in_order(const struct schema_key *key, const cJSON *value, enum schema_place place)
{
	cJSON *array;
	const cJSON *item;

	if (key->type == SCHEMA_MAP)
		return in_order(value, place, key->path);
	if (key->type == SCHEMA_LET)
		return let_map(value);
	if (key->type != SCHEMA_CHILDREN)
		return cJSON_Duplicate(value, true);
	array = cJSON_CreateArray();
	cJSON_ArrayForEach(item, value)
		cJSON_AddItemToArray(array, in_order(item, SCHEMA_CHILD, ""));
	return array;
}

/* A copy of the members that the table knows below prefix, in its order. What is not to be printed is not in the table. */
static cJSON *
in_order(const cJSON *object, enum schema_place place, const char *prefix)
{
	cJSON *result = cJSON_CreateObject();
	size_t skip = *prefix ? strlen(prefix) + 1 : 0;

	for (size_t i = 0; i < schema_n_keys; i++) {
		const struct schema_key *key = &schema_keys[i];
		const char *name = key->path + skip;
		const cJSON *value;

		if (!(key->places & place) || strncmp(key->path, prefix, strlen(prefix)) != 0 ||
			(skip && key->path[skip - 1] != '.') || strchr(name, '.'))
			continue;
		value = cJSON_GetObjectItemCaseSensitive(object, name);
		if (value && (value->child || !(cJSON_IsObject(value) || cJSON_IsArray(value))))
			cJSON_AddItemToObject(result, name, copy_in_order(key, value, place));
	}
	return result;
}

void
config_print_yaml(struct buf *out, const char *document, size_t length)
{
	cJSON *parsed = json_parse(document, length, NULL), *settings, *list;
	const cJSON *controller;

	if (!parsed)
		return;
	settings =
		in_order(cJSON_GetObjectItemCaseSensitive(parsed, "supervisor"), SCHEMA_MAIN, "");
	buf_adds(out, "version: 1\n");
	put_members(out, settings, 0, false);
	list = cJSON_CreateArray();
	cJSON_ArrayForEach(controller, cJSON_GetObjectItemCaseSensitive(parsed, "controllers"))
		cJSON_AddItemToArray(list, in_order(controller, SCHEMA_CONTROLLER, ""));
	buf_adds(out, "controllers:");
	put_value(out, list, 0, 0);
	cJSON_Delete(list);
	cJSON_Delete(settings);
	cJSON_Delete(parsed);
}

/* --- the schema --- */

#define KEY_WIDTH 34 /* "  credentials.clientCertificate" and two blanks */

static void
print_key(struct buf *out, const struct schema_key *key)
{
	size_t start = out->length;

	buf_addf(out, "  %s", key->path);
	do
		buf_addc(out, ' ');
	while (out->length - start < KEY_WIDTH);
	schema_describe(key, out);
	if (key->fallback)
		buf_addf(out, ", default %s", key->fallback);
	if (key->required)
		buf_adds(out, ", required");
	buf_addf(out, "\n%*s%s\n", KEY_WIDTH, "", key->meaning);
}

static void
print_names(struct buf *out, unsigned place, bool later, const char *title)
{
	const char *separator = title;

	for (size_t i = 0; i < schema_n_keys; i++)
		if ((schema_keys[i].places & place) &&
			(schema_keys[i].type == SCHEMA_LATER) == later) {
			buf_addf(out, "%s%s", separator, schema_keys[i].path);
			separator = ", ";
		}
	if (separator != title)
		buf_addc(out, '\n');
}

void
config_print_schema(struct buf *out)
{
	static const struct {
		unsigned place;
		const char *title;
	} sections[] = {
		{SCHEMA_MAIN, "The main file"},
		{SCHEMA_FRAGMENT, "\nA file in conf.d"},
		{SCHEMA_CONTROLLER, "\nAn item of controllers"},
		{SCHEMA_CHILD, "\nAn item of children"},
	};

	for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
		buf_addf(out, "%s\n", sections[i].title);
		for (size_t k = 0; k < schema_n_keys; k++)
			if ((schema_keys[k].places & sections[i].place) &&
				schema_keys[k].type != SCHEMA_LATER)
				print_key(out, &schema_keys[k]);
		print_names(out, sections[i].place, true, "  not supported yet: ");
	}
	print_names(out, SCHEMA_DEFAULTS, false,
		"\ndefaults holds any of these keys of a controller: ");
}
