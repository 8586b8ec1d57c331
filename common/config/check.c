/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker: files in, one document out (config.h describes it). All problems of all files are collected before anything is said.
 *
 * Order matters in one place: vars are read from the environment before template_init() clears it.
 * A problem in a file in conf.d takes that file's controllers out and leaves the others; one in the main file makes the document invalid.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/check.h"
#include "common/config/checker.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/config/place.h"
#include "common/config/syntax.h"
#include "common/config/template_file.h"
#include "common/config/validate.h"
#include "common/json.h"
#include "common/kube/path.h"
#include "common/memory.h"
#include "common/template/template.h"

#define CONTROLLER_MAX (1u << 20)  /* bytes of a controller's part of the document */
#define VARS_MAX       (64u << 10) /* the same of vars, which each controller repeats */

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
	if (file->tree) {
		template_files_read(file);
		file->settings = validate_file(
			file->tree, file->main ? SCHEMA_MAIN : SCHEMA_FRAGMENT, &file->problems);
	} else {
		problems_add(&file->problems, error.line, error.column, "", "%s%s", error.text,
			is_about_expression(file, error.line)
				? "; an expression with ': ', ' #', ',' or braces needs quotes: "
				  "\"${...}\""
				: "");
	}
}

static void
add_entry(struct checker *c, struct config_file *file, const struct yaml_node *node,
	const cJSON *written, size_t index)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(written, "name");
	struct checker_entry *entry;

	c->entries = xreallocarray(c->entries, c->n_entries + 1, sizeof *c->entries);
	entry = &c->entries[c->n_entries++];
	*entry = (struct checker_entry){
		.file = file, .node = node, .written = written, .document = BUF_INIT};
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

static void
complain_taken(const struct checker_entry *entry, const struct checker_entry *other)
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
complain_pair(const struct checker_entry *first, const struct checker_entry *second)
{
	complain_taken(second, first);
	if (first->file != second->file && !first->file->main)
		complain_taken(first, second);
}

static void
check_names(struct checker *c)
{
	const struct checker_entry **named = xcalloc(c->n_entries + 1, sizeof *named);
	size_t n = 0;

	for (size_t i = 0; i < c->n_entries; i++)
		if (c->entries[i].name)
			named[n++] = &c->entries[i];
	qsort(named, n, sizeof *named, checker_by_name);
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
	const struct checker_entry *entry = data;
	const struct yaml_node *node = place_find(entry->node, problem->path);
	const struct config_file *file = template_file_of(node);
	const struct buf *bytes = file ? &file->bytes : &entry->file->bytes;
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
		problems_add_in(&entry->file->problems, template_file_path(node), line, column,
			path, "%s (in %s)", problem->text, problem->expression);
	else
		problems_add_in(&entry->file->problems, template_file_path(node), line, column,
			path, "%s", problem->text);
}

/*
 * A controller that can't be decoded has problems already: its templates are looked at when they are gone. One without
 * expressions is not worth 15 ms of libjq.
 */
static void
check_templates(struct checker_entry *entry)
{
	struct config_controller *controller;
	struct config_templates *templates;

	if (!memmem(entry->document.data, entry->document.length, "${", 2))
		return;
	controller = config_decode_controller(entry->document.data, entry->document.length, NULL);
	if (!controller)
		return;
	templates = config_templates_new(controller);
	(void)template_check(config_templates_source(templates), report_template, entry);
	config_templates_free(templates);
	config_controller_free(controller);
}

static char *
selection_of(const cJSON *effective)
{
	static const char *const keys[] = {"resource", "namespaces", "selector", "fieldSelector"};
	cJSON *picked = cJSON_CreateObject();
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(effective, keys[i]);

		if (value)
			cJSON_AddItemToObject(picked, keys[i], cJSON_Duplicate(value, true));
	}
	json_print_canonical(&text, picked);
	cJSON_Delete(picked);
	return buf_detach(&text, NULL);
}

/* Legal, for each may have children of its own; but both write the conditions. */
static void
warn_shared(struct checker *c, const struct checker_entry *entry)
{
	const struct checker_entry *other = c->entries;
	const struct yaml_node *node = yaml_get(entry->node, "resource");
	struct problems problems = {0};

	while (other < entry &&
		!(other->name && other->selection && !strcmp(other->selection, entry->selection)))
		other++;
	if (other == entry || !node)
		return;
	problems_add(&problems, node->line, node->column, entry->path,
		"resource: controller %s (%s:%d) reconciles the same objects: each overwrites the "
		"other's conditions; "
		"select other objects, or make one controller of the two",
		other->name, other->file->path, other->name_node->line);
	problems_report(&problems, entry->file->path, c->warnings);
	problems_clear(&problems);
}

/* Legal, too; but nginx.stable.example.com is the name of a CRD, and who writes it most likely forgot the version. */
static void
warn_version(struct checker *c, const struct checker_entry *entry)
{
	const struct yaml_node *node = yaml_get(entry->node, "resource");
	struct problems problems = {0};
	struct kube_resource resource;

	if (!node || !node->text || kube_resource_parse(node->text, &resource) < 0 ||
		syntax_is_usual_version(resource.version))
		return;
	problems_add(&problems, node->line, node->column, entry->path,
		"resource: is \"%s\" the version? If %s is the CustomResourceDefinition's name, "
		"write "
		"%s.VERSION.%s.%s",
		resource.version, node->text, resource.plural, resource.version, resource.group);
	problems_report(&problems, entry->file->path, c->warnings);
	problems_clear(&problems);
}

static void
check_entry(struct checker *c, struct checker_entry *entry)
{
	const cJSON *defaults =
		cJSON_GetObjectItemCaseSensitive(c->files.list[0].settings, "defaults");
	cJSON *effective = effective_controller(entry->written, defaults, c->supervisor, c->vars,
		entry->node, entry->path, &entry->file->problems);
	char *directory = xstrdup(entry->file->path);

	effective_anchor(effective, dirname(directory));
	free(directory);
	json_print_canonical(&entry->document, effective);
	entry->selection = selection_of(effective);
	cJSON_Delete(effective);
	if (entry->document.failed || entry->document.length > CONTROLLER_MAX) {
		buf_free(&entry->document);
		problems_add(&entry->file->problems, entry->node->line, entry->node->column,
			entry->path, "is larger than %u MiB with its aliases",
			CONTROLLER_MAX >> 20);
	} else {
		check_templates(entry);
	}
	if (entry->selection) {
		warn_shared(c, entry);
		warn_version(c, entry);
	}
}

static void
resolve_vars(struct checker *c)
{
	struct buf text = BUF_INIT_LIMIT(VARS_MAX);

	c->vars = effective_vars(cJSON_GetObjectItemCaseSensitive(c->supervisor, "vars"));
	json_print(&text, c->vars);
	if (text.failed) {
		problems_add(&c->files.list[0].problems, 0, 0, "vars", "are larger than %u KiB",
			VARS_MAX >> 10);
		cJSON_Delete(c->vars);
		c->vars = cJSON_CreateObject();
	}
	buf_free(&text);
}

static void
checker_clear(struct checker *c)
{
	for (size_t i = 0; i < c->n_entries; i++) {
		free(c->entries[i].path);
		buf_free(&c->entries[i].document);
		free(c->entries[i].selection);
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
	resolve_vars(&c);
	template_init();
	for (size_t i = 0; i < c.n_entries; i++)
		check_entry(&c, &c.entries[i]);
	checker_bound(&c);
	valid = checker_write(&c, strict, ret_document);
	checker_clear(&c);
	return valid;
}
