/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the files that children name as their templates. Whoever can write one decides what is applied with our rights, so they are held to what files.c
 * demands of the configuration's own. A configuration file owns those that it names.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config/template_file.h"
#include "common/memory.h"

const struct config_file *
template_file_of(const struct yaml_node *node)
{
	return node->origin;
}

const char *
template_file_path(const struct yaml_node *node)
{
	return node->origin ? template_file_of(node)->path : NULL;
}

static void
complain(struct config_file *file, const struct yaml_node *node, const char *text)
{
	problems_add(&file->problems, node->line > 0 ? node->line : node->key_line,
		node->line > 0 ? node->column : node->key_column, "file", "%s", text);
}

/* --- paths --- */

/* A relative path without ".." and empty parts: what it names can be seen from it alone. */
static bool
is_below(const char *path)
{
	if (!*path || *path == '/' || strlen(path) >= PATH_MAX)
		return false;
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 0 || (n == 2 && !memcmp(path, "..", 2)))
			return false;
	}
	return true;
}

/* Links lead nowhere else. One that is not there is the business of opening it. */
static bool
stays_within(const char *directory, const char *path)
{
	char *top = realpath(directory, NULL), *real = realpath(path, NULL);
	size_t n = top ? strlen(top) : 0;
	bool within = !top || !real || !strcmp(top, "/") ||
		      (!strncmp(top, real, n) && real[n] == '/');

	free(top);
	free(real);
	return within;
}

/* --- one file --- */

/* Of a file whose problems are shown with those of the one that names it. */
static void
hand_over(struct config_file *file, struct config_file *template)
{
	for (size_t i = 0; i < template->problems.n; i++)
		problems_add_in(&file->problems, template->path, template->problems.list[i].line,
			template->problems.list[i].column, "", "%s",
			template->problems.list[i].text);
	problems_clear(&template->problems);
}

static void
parse(struct config_file *template)
{
	struct yaml_place_error error = {0};

	template->tree = yaml_parse(template->bytes.data, template->bytes.length, &error);
	if (!template->tree)
		problems_add(&template->problems, error.line, error.column, "", "%s", error.text);
	else if (template->tree->type != YAML_MAP || !template->tree->children)
		problems_add(&template->problems, 1, 1, "",
			"expected an object with apiVersion, kind and metadata");
}

static void
load(struct config_file *template, const char *directory)
{
	const char *name = strrchr(template->path, '/') + 1;
	char *parent = xstrndup(template->path, (size_t)(name - template->path));
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!stays_within(directory, template->path))
		problems_add(&template->problems, 0, 0, "",
			"leads out of the directory of the file that names it");
	else if (fd < 0)
		problems_add(&template->problems, 0, 0, "", "can't open its directory: %s",
			strerror(errno));
	else
		config_file_read(template, fd, name);
	if (template->readable && template->bytes.length > TEMPLATE_FILE_MAX)
		problems_add(&template->problems, 0, 0, "", "is larger than %u MiB",
			TEMPLATE_FILE_MAX >> 20);
	else if (template->readable)
		parse(template);
	if (fd >= 0)
		close(fd);
	free(parent);
}

static void
mark(struct yaml_node *node, const struct config_file *template)
{
	node->origin = template;
	for (struct yaml_node *child = node->children; child; child = child->next)
		mark(child, template);
}

/* The tree stands where a template would; memory stays with the two trees. */
static void
graft(struct yaml_node *child, const struct yaml_node *at, struct config_file *template)
{
	static char key[] = "template";
	struct yaml_node **tail = &child->children;

	mark(template->tree, template);
	template->tree->key = key;
	template->tree->key_line = at->key_line;
	template->tree->key_column = at->key_column;
	while (*tail)
		tail = &(*tail)->next;
	*tail = template->tree;
}

static void
read_one(struct config_file *file, struct yaml_node *child)
{
	const struct yaml_node *at = yaml_get(child, "file");
	const char *slash = strrchr(file->path, '/');
	struct config_file *template;
	char *directory;

	if (!at)
		return;
	if (yaml_get(child, "template")) {
		complain(file, at, "a child has template or file, not both");
		return;
	}
	if (at->type != YAML_STRING || strlen(at->text) != at->length || !is_below(at->text)) {
		complain(file, at,
			"expected a path below this file's directory, such as templates/web.yaml, "
			"without ..");
		return;
	}
	if (file->n_templates == TEMPLATE_FILES_MAX) {
		complain(file, at, "more than 1000 files are named in this one");
		return;
	}
	template = xcalloc(1, sizeof *template);
	directory = slash ? xstrndup(file->path, (size_t)(slash - file->path) + 1) : xstrdup("./");
	template->path = xasprintf("%s%s", directory, at->text);
	template->bytes = BUF_INIT;
	file->templates =
		xreallocarray(file->templates, file->n_templates + 1, sizeof *file->templates);
	file->templates[file->n_templates++] = template;
	load(template, directory);
	if (template->tree && template->problems.n == 0)
		graft(child, at, template);
	hand_over(file, template);
	free(directory);
}

/* --- all of a configuration file --- */

static struct yaml_node *
items(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *list = map->type == YAML_MAP ? yaml_get(map, key) : NULL;

	return list && list->type == YAML_LIST ? list->children : NULL;
}

void
template_files_read(struct config_file *file)
{
	for (const struct yaml_node *c = items(file->tree, "controllers"); c; c = c->next)
		for (struct yaml_node *child = items(c, "children"); child; child = child->next)
			if (child->type == YAML_MAP)
				read_one(file, child);
}

void
template_files_clear(struct config_file *file)
{
	for (size_t i = 0; i < file->n_templates; i++) {
		struct config_file *template = file->templates[i];

		free(template->path);
		buf_free(&template->bytes);
		problems_clear(&template->problems);
		yaml_free(template->tree);
		free(template);
	}
	free(file->templates);
}
