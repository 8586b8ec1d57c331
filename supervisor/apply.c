/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the workers in line with a checker's document: what differs is changed, controller by controller, by comparing canonical bytes with what a worker
 * runs or is about to run. Nothing waits: a worker that is to be replaced or removed is asked to stop, and the rest is its own life (worker.c).
 * The document comes from a process that parsed foreign text: names are looked at again here.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/config/syntax.h"
#include "common/json.h"
#include "common/log.h"
#include "common/memory.h"
#include "supervisor/core.h"

struct changes {
	unsigned added, changed, removed, unchanged, invalid;
	struct buf names; /* of what was added, changed, removed: for people */
};

static bool
has_name(const cJSON *names, const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, names)
	{
		if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
			return true;
	}
	return false;
}

/* The file of the document that names the controller, or, when its names can't be read, the one that it came from before. */
static const cJSON *
file_of(const cJSON *document, const struct sup_worker *worker)
{
	const cJSON *file, *by_path = NULL;

	cJSON_ArrayForEach(file, json_get(document, "files", NULL))
	{
		if (has_name(json_get(file, "controllers", NULL), worker->name))
			return file;
		if (worker->file && strcmp(json_string(file, "path", ""), worker->file) == 0)
			by_path = file;
	}
	return by_path;
}

static void
set_file(struct sup_worker *worker, const char *path)
{
	free(worker->file);
	worker->file = path ? xstrdup(path) : NULL;
}

static void
note(struct changes *changes, const char *what, const char *name)
{
	buf_addf(&changes->names, "  %s %s\n", what, name);
}

static void
apply_controller(
	struct supervisor *sup, const char *name, const cJSON *settings, struct changes *changes)
{
	struct sup_worker *worker = supervisor_find(sup, name);
	struct buf bytes = BUF_INIT;

	json_print_canonical(&bytes, settings);
	if (bytes.failed) {
		log_fields(LOG_LEVEL_ERROR, LOG_FIELDS("controller", name),
			"worker %s: no memory for its configuration; it stays as it is", name);
	} else if (!worker) {
		worker = sup_worker_new(&sup->shared, name, bytes.data, bytes.length, NULL);
		supervisor_add(sup, worker);
		sup_worker_event(worker, LIFE_EVENT_START);
		changes->added++;
		note(changes, "added", name);
	} else {
		const char *now = worker->next_config ? worker->next_config : worker->config;
		worker->file_invalid = false;
		if (now && strcmp(now, bytes.data) == 0 && !worker->removed) {
			/* An invalid configuration, or a delay after deaths: a reload is a reason to try at once. */
			if (worker->life == LIFE_WAITING)
				sup_worker_event(worker, LIFE_EVENT_START);
			changes->unchanged++;
		} else {
			worker->removed = false;
			sup_worker_set_config(worker, bytes.data, bytes.length);
			changes->changed++;
			note(changes, "changed", name);
		}
	}
	buf_free(&bytes);
}

/* The first error that names the file, for the state of its controllers. */
static const char *
first_error(const cJSON *document, const char *path)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, json_get(document, "errors", NULL))
	{
		size_t n = strlen(path);
		if (cJSON_IsString(line) && strncmp(line->valuestring, path, n) == 0 &&
			line->valuestring[n] == ':')
			return line->valuestring;
	}
	return "its file has errors";
}

/* Controllers of files with errors: new ones are shown but do not run, others go on with what they had. */
static void
apply_invalid_file(
	struct supervisor *sup, const cJSON *document, const cJSON *file, struct changes *changes)
{
	const char *path = json_string(file, "path", ""), *cause = first_error(document, path);
	const cJSON *name;

	cJSON_ArrayForEach(name, json_get(file, "controllers", NULL))
	{
		/* Names as far as they could be read: what is none is not shown as one. */
		if (!cJSON_IsString(name) ||
			!syntax_is_label(name->valuestring, strlen(name->valuestring)) ||
			json_get(document, "controllers", name->valuestring, NULL))
			continue;
		struct sup_worker *worker = supervisor_find(sup, name->valuestring);
		if (!worker) {
			worker = sup_worker_new(&sup->shared, name->valuestring, NULL, 0, cause);
			supervisor_add(sup, worker);
		} else if (!worker->config) {
			sup_worker_set_cause(worker, cause);
		}
		changes->invalid++;
	}
}

static void
remove_missing(struct supervisor *sup, const cJSON *document, struct changes *changes)
{
	struct sup_worker *worker = sup->workers, *next;

	for (; worker; worker = next) {
		next = worker->next; /* stopping may free it */
		if (json_get(document, "controllers", worker->name, NULL))
			continue;
		const cJSON *file = file_of(document, worker);
		if (file && !json_bool(file, "valid", true)) {
			worker->file_invalid = worker->config != NULL;
			continue;
		}
		if (worker->removed)
			continue;
		changes->removed++;
		note(changes, "removed", worker->name);
		sup_worker_remove(worker);
	}
}

static void
keep_files(struct supervisor *sup, const cJSON *document)
{
	const cJSON *files = json_get(document, "files", NULL), *file;

	for (size_t i = 0; i < sup->n_files; i++)
		free(sup->files[i].path);
	sup->n_files = 0;
	sup->files = xreallocarray(
		sup->files, (size_t)cJSON_GetArraySize(files) + 1, sizeof(*sup->files));
	cJSON_ArrayForEach(file, files)
	{
		sup->files[sup->n_files++] = (struct sup_file){
			xstrdup(json_string(file, "path", "")), json_bool(file, "valid", false)};
	}
	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		cJSON_ArrayForEach(file, files)
		{
			if (has_name(json_get(file, "controllers", NULL), worker->name))
				set_file(worker, json_string(file, "path", ""));
		}
	}
}

bool
apply_is_whole(const cJSON *document)
{
	const cJSON *file;

	cJSON_ArrayForEach(file, json_get(document, "files", NULL))
	{
		if (!json_bool(file, "valid", false))
			return false;
	}
	return json_bool(document, "valid", false) &&
	       cJSON_GetArraySize(json_get(document, "errors", NULL)) == 0;
}

/* --- settings of the supervisor itself: what can't change while it runs is said, not ignored --- */

/* Everything on the cluster carries the instance's name: half a change would leave the children of the old one behind. */
static bool
changes_instance(
	const struct supervisor *sup, const struct config_supervisor *fresh, struct buf *text)
{
	if (strcmp(sup->config.instance, fresh->instance) == 0)
		return false;
	buf_addf(text,
		"instance: %s needs a restart of operatord, it runs as %s: nothing was changed\n",
		fresh->instance, sup->config.instance);
	return true;
}

/* What is listened on stays on record, so that every reload that differs says so. */
static void
keep_listen(struct supervisor *sup, struct config_supervisor *fresh, struct buf *text)
{
	if (strcmp(sup->config.http_listen, fresh->http_listen) == 0)
		return;
	buf_addf(text, "http.listen: %s needs a restart of operatord; it goes on at %s\n",
		fresh->http_listen, sup->config.http_listen);
	free(fresh->http_listen);
	fresh->http_listen = xstrdup(sup->config.http_listen);
}

static void
take_settings(struct supervisor *sup, const struct config_supervisor *fresh)
{
	enum log_level level = supervisor_log_level(sup);

	config_supervisor_clear(&sup->config);
	sup->config = *fresh;
	sup->shared.heartbeat_ns = fresh->heartbeat_ns;
	sup->shared.stop_grace_ns = fresh->stop_grace_ns;
	sup->shared.kill_grace_ns = fresh->kill_grace_ns;
	log_open(supervisor_log_level(sup), fresh->log_format);
	reload_watch(sup);
	supervisor_pass_log_level(sup, level);
}

int
apply_settings(struct supervisor *sup, const cJSON *document, struct sup_report *report)
{
	struct config_supervisor fresh = {0};
	struct error err = {0};
	struct buf *text = &report->problems;

	if (config_decode_supervisor(document, &fresh, &err) < 0) {
		buf_addf(text, "%s: nothing was changed\n", err.text);
		return EXIT_CONFIG;
	}
	if (changes_instance(sup, &fresh, text)) {
		config_supervisor_clear(&fresh);
		return EXIT_TROUBLE;
	}
	keep_listen(sup, &fresh, text);
	take_settings(sup, &fresh);
	return EXIT_STOPPED;
}

void
apply_controllers(struct supervisor *sup, const cJSON *document, struct sup_report *report)
{
	struct changes changes = {.names = BUF_INIT};
	struct buf *text = &report->changes;
	const cJSON *item;

	/* First who goes: one that begins may take what they leave. */
	remove_missing(sup, document, &changes);
	cJSON_ArrayForEach(item, json_get(document, "controllers", NULL))
		apply_controller(sup, item->string, item, &changes);
	cJSON_ArrayForEach(item, json_get(document, "files", NULL))
	{
		if (!json_bool(item, "valid", true))
			apply_invalid_file(sup, document, item, &changes);
	}
	keep_files(sup, document);
	buf_addf(text, "%u added, %u changed, %u removed, %u unchanged\n", changes.added,
		changes.changed, changes.removed, changes.unchanged);
	buf_add(text, changes.names.data, changes.names.length);
	if (!apply_is_whole(document))
		buf_adds(text, sup->configured
				       ? "controllers of files with errors go on as they run\n"
				       : "controllers of files with errors are not started\n");
	buf_free(&changes.names);
}
