/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the checker's document. By hand, its keys in order, rather than as one tree: a thousand controllers are large. The
 * controllers' parts are canonical JSON already.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/check.h"
#include "common/config/checker.h"
#include "common/json.h"
#include "common/memory.h"

int
checker_by_name(const void *left, const void *right)
{
	const struct checker_entry *a = *(const struct checker_entry *const *)left;
	const struct checker_entry *b = *(const struct checker_entry *const *)right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a < b ? -1 : a > b);
}

static cJSON *
describe_file(const struct checker *c, const struct config_file *file)
{
	cJSON *object = cJSON_CreateObject(), *names;

	cJSON_AddItemToObject(object, "path", json_new_string(file->path, strlen(file->path)));
	cJSON_AddBoolToObject(object, "valid", file->problems.n == 0);
	cJSON_AddBoolToObject(object, "main", file->main);
	names = cJSON_AddArrayToObject(object, "controllers");
	for (size_t i = 0; i < c->n_entries; i++)
		if (c->entries[i].file == file && c->entries[i].name)
			cJSON_AddItemToArray(names, cJSON_CreateString(c->entries[i].name));
	names = cJSON_AddArrayToObject(object, "templates");
	for (size_t i = 0; i < file->n_templates; i++)
		cJSON_AddItemToArray(names, json_new_string(file->templates[i]->path,
						    strlen(file->templates[i]->path)));
	return object;
}

static bool
is_usable(const struct checker_entry *entry)
{
	return entry->name && !entry->file->problems.n;
}

/* {"name":{...},...}, sorted; the parts are canonical already. Names are unique: files with one that is not have problems. */
static void
put_controllers(const struct checker *c, struct buf *out)
{
	const struct checker_entry **sorted = xcalloc(c->n_entries + 1, sizeof *sorted);
	size_t n = 0;

	for (size_t i = 0; i < c->n_entries; i++)
		if (is_usable(&c->entries[i]))
			sorted[n++] = &c->entries[i];
	if (n)
		qsort(sorted, n, sizeof *sorted, checker_by_name);
	buf_addc(out, '{');
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "%s\"%s\":", i ? "," : "", sorted[i]->name);
		buf_add(out, sorted[i]->document.data, sorted[i]->document.length);
	}
	buf_addc(out, '}');
	free(sorted);
}

/* {"name": {"place": "FILE:LINE", "children": {"id": "FILE:LINE"}}}: where in the files it is written, for people. */
static cJSON *
places(const struct checker *c)
{
	cJSON *all = cJSON_CreateObject();
	char text[PATH_MAX + 16];

	for (size_t i = 0; i < c->n_entries; i++) {
		const struct checker_entry *entry = &c->entries[i];
		const struct yaml_node *children = yaml_get(entry->node, "children"), *id;
		cJSON *place, *of_children;

		if (!is_usable(entry))
			continue;
		place = cJSON_AddObjectToObject(all, entry->name);
		snprintf(text, sizeof text, "%s:%d", entry->file->path, entry->node->line);
		cJSON_AddItemToObject(place, "place", json_new_string(text, strlen(text)));
		of_children = cJSON_AddObjectToObject(place, "children");
		for (const struct yaml_node *child = children ? children->children : NULL; child;
			child = child->next) {
			id = yaml_get(child, "id");
			snprintf(text, sizeof text, "%s:%d", entry->file->path, child->line);
			if (id && id->text)
				cJSON_AddItemToObject(
					of_children, id->text, json_new_string(text, strlen(text)));
		}
	}
	return all;
}

void
checker_bound(struct checker *c)
{
	size_t total = 0;

	for (size_t i = 0; i < c->n_entries; i++)
		if (is_usable(&c->entries[i]))
			total += c->entries[i].document.length + 128;
	if (total > CONFIG_DOCUMENT_MAX / 2)
		problems_add(&c->files.list[0].problems, 0, 0, "",
			"all controllers together are larger than %u MiB",
			CONFIG_DOCUMENT_MAX / 2 >> 20);
}

static void
put_part(struct buf *out, const char *key, const cJSON *value)
{
	buf_adds(out, key);
	json_print_canonical(out, value);
}

bool
checker_write(struct checker *c, bool strict, struct buf *out)
{
	cJSON *errors = cJSON_CreateArray(), *files = cJSON_CreateArray();
	bool valid = c->files.list[0].problems.n == 0;

	for (size_t i = 0; i < c->files.n; i++) {
		struct config_file *file = &c->files.list[i];

		problems_report(&file->problems, file->path, errors);
		cJSON_AddItemToArray(files, describe_file(c, file));
		valid = valid && !(strict && file->problems.n);
	}
	buf_addc(out, '{');
	if (valid) {
		buf_adds(out, "\"controllers\":");
		put_controllers(c, out);
	}
	put_part(out, valid ? ",\"errors\":" : "\"errors\":", errors);
	put_part(out, ",\"files\":", files);
	if (valid) {
		cJSON *where = places(c);

		put_part(out, ",\"places\":", where);
		cJSON_Delete(where);
	}
	if (valid)
		put_part(out, ",\"supervisor\":", c->supervisor);
	buf_addf(out, ",\"valid\":%s", valid ? "true" : "false");
	put_part(out, ",\"warnings\":", c->warnings);
	buf_addc(out, '}');
	cJSON_Delete(errors);
	cJSON_Delete(files);
	return valid && !out->failed;
}
