/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads kubeconfig files and looks entries up across them. Only what is looked up is validated, so a broken entry that
 * nobody uses blocks nothing. The bytes of the files hold secrets: they are overwritten before they are freed.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/kube/kubeconfig_set.h"
#include "common/memory.h"

/* Absolute without following links: a link to a file elsewhere keeps its own directory's certificates, as for kubectl. */
static char *
directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *cwd, *out;

	if (*path == '/')
		return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
	cwd = getcwd(NULL, 0);
	if (cwd == NULL)
		return NULL;
	if (slash == NULL)
		return cwd;
	out = xasprintf("%s/%.*s", cwd, (int)(slash - path), path);
	free(cwd);
	return out;
}

/* Neither is asked for, but what says that it is something else is. */
static int
check_kind(const struct kubeconfig_file *file, const char *key, const char *want, struct error *err)
{
	const struct yaml_node *node = yaml_get(file->root, key);

	if (node == NULL || node->type == YAML_NULL || node->text == NULL || node->length == 0 ||
		strcmp(node->text, want) == 0)
		return 0;
	return error_set(err, -EINVAL,
		"kubeconfig %s:%d:%d: its %s is %.40s; that of a kubeconfig is %s", file->path,
		node->line, node->column, key, node->text, want);
}

static int
parse_file(struct kubeconfig_file *file, const struct buf *bytes, struct error *err)
{
	struct yaml_place_error place = {0};

	file->root = yaml_parse(bytes->data, bytes->length, &place);
	if (file->root == NULL)
		return error_set(err, -EINVAL, "kubeconfig %s:%d:%d: %s", file->path, place.line,
			place.column, place.text);
	if (file->root->type != YAML_MAP && file->root->type != YAML_NULL)
		return error_set(err, -EINVAL,
			"kubeconfig %s: it is not a map, so not a kubeconfig", file->path);
	return check_kind(file, "kind", "Config", err) < 0
		       ? -EINVAL
		       : check_kind(file, "apiVersion", "v1", err);
}

static void
burn_texts(struct yaml_node *node)
{
	/* Depth is bounded by the parser. */
	for (; node != NULL; node = node->next) {
		if (node->text != NULL)
			explicit_bzero(node->text, node->length);
		burn_texts(node->children);
	}
}

static void
file_free(struct kubeconfig_file *file)
{
	burn_texts(file->root);
	yaml_free(file->root);
	free(file->path);
	free(file->directory);
	*file = (struct kubeconfig_file){0};
}

int
kubeconfig_set_add(struct kubeconfig_set *set, const char *path, struct error *err)
{
	struct buf bytes = BUF_INIT;
	struct kubeconfig_file *file = &set->files[set->n];
	int r;

	if (set->n == KUBECONFIG_FILES_MAX)
		return error_set(
			err, -E2BIG, "KUBECONFIG names more than %d files", KUBECONFIG_FILES_MAX);
	r = buf_read_file(&bytes, path, KUBECONFIG_SIZE_MAX);
	if (r < 0) {
		error_set(err, r, "kubeconfig %s: %s", path, strerror(-r));
		goto out;
	}
	file->path = xstrdup(path);
	file->directory = directory_of(path);
	if (file->directory == NULL)
		r = error_set(err, -errno, "kubeconfig %s: the working directory is gone", path);
	else
		r = parse_file(file, &bytes, err);
	if (r < 0)
		file_free(file);
	else
		set->n++;
out:
	explicit_bzero(bytes.data, bytes.length);
	buf_free(&bytes);
	return r;
}

void
kubeconfig_set_free(struct kubeconfig_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		file_free(&set->files[i]);
	set->n = 0;
}

const char *
kubeconfig_set_current_context(const struct kubeconfig_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct yaml_node *node = yaml_get(set->files[i].root, "current-context");

		if (node != NULL && node->text != NULL && node->type != YAML_NULL &&
			node->length > 0)
			return node->text;
	}
	return NULL;
}

static bool
is_named(const struct yaml_node *item, const char *name)
{
	const struct yaml_node *node = item->type == YAML_MAP ? yaml_get(item, "name") : NULL;

	return node != NULL && node->text != NULL && strlen(name) == node->length &&
	       strcmp(node->text, name) == 0;
}

static const struct yaml_node *
items_of(const struct kubeconfig_file *file, const char *list)
{
	const struct yaml_node *node = yaml_get(file->root, list);

	return node != NULL && node->type == YAML_LIST ? node->children : NULL;
}

/* The item of that name in one file: 0, -ENOENT or -EINVAL. */
static int
find_in_file(const struct kubeconfig_file *file, const char *list, const char *name,
	const struct yaml_node **ret, struct error *err)
{
	const struct yaml_node *found = NULL;

	for (const struct yaml_node *item = items_of(file, list); item != NULL; item = item->next) {
		if (!is_named(item, name))
			continue;
		if (found != NULL)
			return error_set(err, -EINVAL,
				"kubeconfig %s:%d: %s has \"%s\" twice, first in line %d",
				file->path, item->line, list, name, found->line);
		found = item;
	}
	if (found == NULL)
		return -ENOENT;
	*ret = found;
	return 0;
}

int
kubeconfig_set_find(const struct kubeconfig_set *set, const char *list, const char *member,
	const char *name, struct kubeconfig_entry *ret, struct error *err)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct kubeconfig_file *file = &set->files[i];
		const struct yaml_node *item = NULL, *value;
		int r = find_in_file(file, list, name, &item, err);

		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		value = yaml_get(item, member);
		if (value != NULL && value->type == YAML_NULL)
			value = NULL;
		if (value != NULL && value->type != YAML_MAP)
			return error_set(err, -EINVAL,
				"kubeconfig %s:%d:%d: %s of \"%s\" must be a map", file->path,
				value->line, value->column, member, name);
		*ret = (struct kubeconfig_entry){.file = file, .value = value};
		return 0;
	}
	return -ENOENT;
}

void
kubeconfig_set_names(const struct kubeconfig_set *set, const char *list, struct buf *out)
{
	for (size_t i = 0; i < set->n; i++) {
		for (const struct yaml_node *item = items_of(&set->files[i], list); item != NULL;
			item = item->next) {
			const struct yaml_node *name =
				item->type == YAML_MAP ? yaml_get(item, "name") : NULL;

			if (name != NULL && name->text != NULL)
				buf_addf(out, "%s%s", out->length > 0 ? ", " : "", name->text);
		}
	}
}

int
kubeconfig_text(
	const struct kubeconfig_entry *entry, const char *key, const char **ret, struct error *err)
{
	const struct yaml_node *node = entry->value == NULL ? NULL : yaml_get(entry->value, key);

	*ret = NULL;
	if (node == NULL || node->type == YAML_NULL)
		return 0;
	if (node->type != YAML_STRING)
		return error_set(err, -EINVAL,
			"kubeconfig %s:%d:%d: %s must be text; put it in quotes", entry->file->path,
			node->line, node->column, key);
	if (strlen(node->text) != node->length)
		return error_set(err, -EINVAL, "kubeconfig %s:%d:%d: %s holds a NUL",
			entry->file->path, node->line, node->column, key);
	if (node->length > 0)
		*ret = node->text;
	return 0;
}

int
kubeconfig_bool(const struct kubeconfig_entry *entry, const char *key, bool *ret, struct error *err)
{
	static const struct {
		const char *text;
		bool value;
	} words[] = {{"yes", true}, {"on", true}, {"no", false}, {"off", false}};
	const struct yaml_node *node = entry->value == NULL ? NULL : yaml_get(entry->value, key);

	*ret = false;
	if (node == NULL || node->type == YAML_NULL)
		return 0;
	if (node->type == YAML_BOOL) {
		*ret = strcasecmp(node->text, "true") == 0;
		return 0;
	}
	for (size_t i = 0; node->plain && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(node->text, words[i].text) == 0) {
			*ret = words[i].value;
			return 0;
		}
	}
	return error_set(err, -EINVAL, "kubeconfig %s:%d:%d: %s must be true or false",
		entry->file->path, node->line, node->column, key);
}
