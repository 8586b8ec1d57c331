/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker: files in, one document out (config.h describes it). All problems of all files are collected before anything is said.
 *
 * Order matters in one place: vars are read from the environment before template_init() clears it.
 * A problem in a file in conf.d takes that file's controllers out and leaves the others; one in the main file makes the document invalid.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/check.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/config/files.h"
#include "common/config/place.h"
#include "common/config/syntax.h"
#include "common/config/validate.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/template/template.h"

#define DOCUMENT_MAX (1u << 20) /* bytes of a controller's document */

/* A controller as it stands in its file. Borrows from the file. */
struct entry {
	struct config_file *file;
	const struct yaml_node *node, *name_node;
	const cJSON *written;
	const char *name; /* NULL when it can't be read */
	char *path;       /* "controllers[nginx]" */
	cJSON *effective;
};

struct checker {
	struct config_files files;
	struct entry *entries;
	size_t n_entries;
	cJSON *supervisor, *vars;
	cJSON *warnings;
};

/* --- a file --- */

/* What a syntax error on a line with "${" most often means: the library sees only brackets and colons. */
static bool
is_about_expression(const struct config_file *file, int line)
{
	const char *p = file->bytes.data;

	for (; line > 1 && p; line--) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return p && memmem(p, strcspn(p, "\n"), "${", 2);
}

static void
read_tree(struct config_file *file)
{
	struct yaml_place_error error = {0};

	file->tree = yaml_parse(file->bytes.data, file->bytes.length, &error);
	if (file->tree)
		file->settings = validate_file(
			file->tree, file->main ? SCHEMA_MAIN : SCHEMA_FRAGMENT, &file->problems);
	else
		problems_add(&file->problems, error.line, error.column, "", "%s%s", error.text,
			is_about_expression(file, error.line)
				? "; an expression with ': ', ' #', ',' or braces needs quotes: "
				  "\"${...}\""
				: "");
}

static void
add_entry(struct checker *c, struct config_file *file, const struct yaml_node *node,
	const cJSON *written, size_t index)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(written, "name");
	struct entry *entry;

	c->entries = xreallocarray(c->entries, c->n_entries + 1, sizeof *c->entries);
	entry = &c->entries[c->n_entries++];
	*entry = (struct entry){.file = file, .node = node, .written = written};
	if (cJSON_IsString(name)) {
		entry->name = name->valuestring;
		entry->name_node = yaml_get(node, "name");
		entry->path = xasprintf("controllers[%s]", entry->name);
	} else {
		entry->path = xasprintf("controllers[%zu]", index);
	}
}

/* The settings' controllers are in the order of the tree's, one for one (validate.h). */
static void
collect_entries(struct checker *c, struct config_file *file)
{
	const struct yaml_node *list = file->tree && file->tree->type == YAML_MAP
					       ? yaml_get(file->tree, "controllers")
					       : NULL;
	const cJSON *written = cJSON_GetObjectItemCaseSensitive(file->settings, "controllers");
	const struct yaml_node *node = list ? list->children : NULL;
	size_t index = 0;

	written = written ? written->child : NULL;
	for (; node && written; node = node->next, written = written->next)
		add_entry(c, file, node, written, index++);
}

/* --- names --- */

static int
by_name(const void *left, const void *right)
{
	const struct entry *a = *(const struct entry *const *)left;
	const struct entry *b = *(const struct entry *const *)right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a < b ? -1 : a > b);
}

static void
complain_taken(const struct entry *entry, const struct entry *other)
{
	problems_add(&entry->file->problems, entry->name_node->line, entry->name_node->column,
		entry->path, "the name is taken by %s:%d:%d", other->file->path,
		other->name_node->line, other->name_node->column);
}

/*
 * Both places complain, since nobody knows which was meant; but a file that was dropped into conf.d can't make the main file
 * bad: there only the dropped one complains.
 */
static void
complain_pair(const struct entry *first, const struct entry *second)
{
	complain_taken(second, first);
	if (first->file != second->file && !first->file->main)
		complain_taken(first, second);
}

static void
check_names(struct checker *c)
{
	const struct entry **named = xcalloc(c->n_entries + 1, sizeof *named);
	size_t n = 0;

	for (size_t i = 0; i < c->n_entries; i++)
		if (c->entries[i].name)
			named[n++] = &c->entries[i];
	qsort(named, n, sizeof *named, by_name);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(named[i - 1]->name, named[i]->name))
			complain_pair(named[i - 1], named[i]);
	free(named);
	if (c->n_entries > CONFIG_CONTROLLERS_MAX)
		problems_add(&c->files.list[0].problems, 0, 0, "",
			"all files together have more than %d controllers", CONFIG_CONTROLLERS_MAX);
}

/* --- templates --- */

static void
report_template(void *data, const struct template_problem *problem)
{
	const struct entry *entry = data;
	const struct yaml_node *node = place_find(entry->node, problem->path);
	const struct buf *bytes = &entry->file->bytes;
	char path[2 * TEMPLATE_PATH_MAX];
	int line, column;

	place_of_byte(node, problem->offset, bytes->data, bytes->length, &line, &column);
	if (line <= 0) {
		line = node->key_line;
		column = node->key_column;
	}
	snprintf(path, sizeof path, "%s%s%.255s", entry->path, problem->path[0] ? "." : "",
		problem->path);
	if (problem->expression[0])
		problems_add(&entry->file->problems, line, column, path, "%s (in %s)",
			problem->text, problem->expression);
	else
		problems_add(&entry->file->problems, line, column, path, "%s", problem->text);
}

/* A controller that can't be decoded has problems already: its templates are looked at when they are gone. */
static void
check_templates(struct entry *entry, const struct buf *document)
{
	struct config_controller *controller =
		config_decode_controller(document->data, document->length, NULL);
	struct config_templates *templates;

	if (!controller)
		return;
	templates = config_templates_new(controller);
	(void)template_check(config_templates_source(templates), report_template, entry);
	config_templates_free(templates);
	config_controller_free(controller);
}

/* nginx.stable.example.com is plural nginx, version stable: legal, and hardly ever meant. */
static void
warn_version(struct checker *c, const struct entry *entry)
{
	const cJSON *resource = cJSON_GetObjectItemCaseSensitive(entry->written, "resource");
	const struct yaml_node *node;
	const char *dot;
	struct problems problems = {0};

	if (!resource)
		return;
	dot = strchr(resource->valuestring, '.');
	node = yaml_get(entry->node, "resource");
	if (!dot || (dot[1] == 'v' && isdigit((unsigned char)dot[2])))
		return;
	problems_add(&problems, node->line, node->column, entry->path,
		"resource: \"%.*s\" is taken for the version, as in PLURAL.VERSION.GROUP",
		(int)strcspn(dot + 1, "."), dot + 1);
	problems_report(&problems, entry->file->path, c->warnings);
	problems_clear(&problems);
}

static void
check_entry(struct checker *c, struct entry *entry)
{
	const cJSON *defaults =
		cJSON_GetObjectItemCaseSensitive(c->files.list[0].settings, "defaults");
	struct buf document = BUF_INIT;

	entry->effective = effective_controller(entry->written, defaults, c->supervisor, c->vars,
		entry->node, entry->path, &entry->file->problems);
	json_print_canonical(&document, entry->effective);
	if (document.failed || document.length > DOCUMENT_MAX)
		problems_add(&entry->file->problems, entry->node->line, entry->node->column,
			entry->path, "is larger than %u MiB with its vars and aliases",
			DOCUMENT_MAX >> 20);
	else
		check_templates(entry, &document);
	buf_free(&document);
	warn_version(c, entry);
}

/* --- the document --- */

static cJSON *
describe_file(const struct checker *c, const struct config_file *file)
{
	cJSON *object = cJSON_CreateObject(), *names;

	cJSON_AddStringToObject(object, "path", file->path);
	cJSON_AddBoolToObject(object, "valid", file->problems.n == 0);
	cJSON_AddBoolToObject(object, "main", file->main);
	names = cJSON_AddArrayToObject(object, "controllers");
	for (size_t i = 0; i < c->n_entries; i++)
		if (c->entries[i].file == file && c->entries[i].name)
			cJSON_AddItemToArray(names, cJSON_CreateString(c->entries[i].name));
	return object;
}

static void
add_controllers(struct checker *c, cJSON *document)
{
	cJSON *controllers = cJSON_AddObjectToObject(document, "controllers");

	for (size_t i = 0; i < c->n_entries; i++) {
		struct entry *entry = &c->entries[i];

		if (entry->file->problems.n || !entry->name)
			continue;
		cJSON_AddItemToObject(controllers, entry->name, entry->effective);
		entry->effective = NULL;
	}
}

static bool
write_document(struct checker *c, bool strict, struct buf *out)
{
	cJSON *document = cJSON_CreateObject(), *files, *errors;
	bool valid = c->files.list[0].problems.n == 0;

	errors = cJSON_AddArrayToObject(document, "errors");
	files = cJSON_AddArrayToObject(document, "files");
	for (size_t i = 0; i < c->files.n; i++) {
		struct config_file *file = &c->files.list[i];

		problems_report(&file->problems, file->path, errors);
		cJSON_AddItemToArray(files, describe_file(c, file));
		valid = valid && !(strict && file->problems.n);
	}
	cJSON_AddBoolToObject(document, "valid", valid);
	cJSON_AddItemToObject(document, "warnings", c->warnings);
	c->warnings = NULL;
	if (valid) {
		cJSON_AddItemToObject(document, "supervisor", c->supervisor);
		c->supervisor = NULL;
		add_controllers(c, document);
	}
	json_print_canonical(out, document);
	cJSON_Delete(document);
	return valid && !out->failed;
}

static void
checker_clear(struct checker *c)
{
	for (size_t i = 0; i < c->n_entries; i++) {
		free(c->entries[i].path);
		cJSON_Delete(c->entries[i].effective);
	}
	free(c->entries);
	cJSON_Delete(c->supervisor);
	cJSON_Delete(c->vars);
	cJSON_Delete(c->warnings);
	config_files_clear(&c->files);
}

bool
config_check(const char *main_path, bool strict, struct buf *ret_document)
{
	struct checker c = {.warnings = cJSON_CreateArray()};
	bool valid;

	config_files_load(&c.files, main_path);
	for (size_t i = 0; i < c.files.n; i++)
		if (c.files.list[i].readable) {
			read_tree(&c.files.list[i]);
			collect_entries(&c, &c.files.list[i]);
		}
	check_names(&c);
	c.supervisor = effective_supervisor(c.files.list[0].settings, c.files.directory);
	c.vars = effective_vars(cJSON_GetObjectItemCaseSensitive(c.supervisor, "vars"));
	template_init();
	for (size_t i = 0; i < c.n_entries; i++)
		check_entry(&c, &c.entries[i]);
	valid = write_document(&c, strict, ret_document);
	checker_clear(&c);
	return valid;
}
