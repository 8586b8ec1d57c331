/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reload: the checker reads the files, and what differs is changed, controller by controller, by comparing canonical bytes. A main file with errors changes
 * nothing; a file of conf.d with errors leaves its own controllers as they run.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
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
	if (!worker) {
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
		if (cJSON_IsString(line) && strncmp(line->valuestring, path, strlen(path)) == 0)
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
		if (!cJSON_IsString(name) ||
			json_get(document, "controllers", name->valuestring, NULL))
			continue;
		struct sup_worker *worker = supervisor_find(sup, name->valuestring);
		if (!worker) {
			worker = sup_worker_new(&sup->shared, name->valuestring, NULL, 0, cause);
			supervisor_add(sup, worker);
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
		worker->removed = true;
		sup_worker_event(worker, LIFE_EVENT_STOP);
	}
}

static void
keep_files(struct supervisor *sup, const cJSON *document)
{
	const cJSON *files = json_get(document, "files", NULL), *file;

	for (size_t i = 0; i < sup->n_files; i++)
		free(sup->files[i].path);
	sup->n_files = 0;
	sup->files =
		xreallocarray(sup->files, (size_t)cJSON_GetArraySize(files), sizeof(*sup->files));
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

static size_t
put_lines(struct buf *text, const cJSON *lines, const char *before)
{
	const cJSON *line;
	size_t n = 0;

	cJSON_ArrayForEach(line, lines)
	{
		if (!cJSON_IsString(line))
			continue;
		buf_addf(text, "%s%s\n", before, line->valuestring);
		n++;
	}
	return n;
}

/* Settings of the supervisor itself: what can't change while it runs is said, not ignored. */
static void
apply_supervisor(struct supervisor *sup, const cJSON *document, struct buf *text)
{
	struct config_supervisor fresh = {0};
	struct error err = {0};

	if (config_decode_supervisor(document, &fresh, &err) < 0) {
		buf_addf(text, "%s\n", err.text);
		return;
	}
	if (sup->config.http_listen && strcmp(sup->config.http_listen, fresh.http_listen) != 0) {
		buf_addf(text, "http.listen: %s needs a restart of operatord; it goes on at %s\n",
			fresh.http_listen, sup->config.http_listen);
		free(fresh.http_listen);
		fresh.http_listen = xstrdup(sup->config.http_listen);
	}
	if (sup->options->log_level < 0 && fresh.log_level != sup->config.log_level) {
		log_set_level(fresh.log_level);
		for (struct sup_worker *worker = sup->workers; worker; worker = worker->next)
			sup_worker_send(worker, RECORD_LOG_LEVEL, (int32_t)fresh.log_level);
	}
	sup->shared.heartbeat_ns = fresh.heartbeat_ns;
	sup->shared.stop_grace_ns = fresh.stop_grace_ns;
	sup->shared.kill_grace_ns = fresh.kill_grace_ns;
	config_supervisor_clear(&sup->config);
	sup->config = fresh;
}

int
reload_apply(struct supervisor *sup, const cJSON *document, struct buf *text)
{
	struct changes changes = {.names = BUF_INIT};
	const cJSON *item;

	put_lines(text, json_get(document, "warnings", NULL), "warning: ");
	if (!json_bool(document, "valid", false)) {
		put_lines(text, json_get(document, "errors", NULL), "");
		buf_adds(text, "nothing was changed: the main file has errors\n");
		return EXIT_CONFIG;
	}
	apply_supervisor(sup, document, text);
	cJSON_ArrayForEach(item, json_get(document, "controllers", NULL))
		apply_controller(sup, item->string, item, &changes);
	remove_missing(sup, document, &changes);
	cJSON_ArrayForEach(item, json_get(document, "files", NULL))
	{
		if (!json_bool(item, "valid", true))
			apply_invalid_file(sup, document, item, &changes);
	}
	keep_files(sup, document);
	size_t errors = put_lines(text, json_get(document, "errors", NULL), "");
	buf_addf(text, "%u added, %u changed, %u removed, %u unchanged\n", changes.added,
		changes.changed, changes.removed, changes.unchanged);
	buf_add(text, changes.names.data, changes.names.length);
	if (errors)
		buf_adds(text, "controllers of files with errors go on as they run\n");
	buf_free(&changes.names);
	return errors ? EXIT_CONFIG : EXIT_STOPPED;
}

/* Logs the answer line by line and tells whoever waits. */
static void
finish(struct supervisor *sup, int code, const char *text)
{
	struct sup_waiter *waiters = sup->waiters;
	char line[1024];

	sup->waiters = NULL;
	sup->last_reload_good = code == 0;
	if (code == 0)
		sup->last_good_reload_wall_ns = clock_wall_ns();
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, p);
		if (code == 0)
			log_info("reload: %s", line);
		else
			log_error("reload: %s", line);
		p += n + (p[n] == '\n');
	}
	while (waiters) {
		struct sup_waiter *next = waiters->next;
		waiters->done(waiters->data, code, text);
		free(waiters);
		waiters = next;
	}
}

static void start(struct supervisor *sup);

static void
on_checked(void *data, cJSON *document, const struct error *err)
{
	struct supervisor *sup = data;
	struct buf text = BUF_INIT;
	int code = EXIT_TROUBLE;

	sup->checker = NULL;
	if (document)
		code = reload_apply(sup, document, &text);
	else
		buf_addf(&text, "%s\n", err->text);
	cJSON_Delete(document);
	finish(sup, code, text.data);
	buf_free(&text);
	if (!sup->reload_again)
		return;
	sup->reload_again = false;
	sup->waiters = sup->queued;
	sup->queued = NULL;
	start(sup);
}

static void
start(struct supervisor *sup)
{
	struct error err = {0};
	char text[600];

	log_info("reload: reading %s", sup->options->config_path);
	sup->checker = checker_start(sup->loop, sup->options->config_path, on_checked, sup, &err);
	if (sup->checker)
		return;
	snprintf(text, sizeof(text), "%s\n", err.text);
	finish(sup, EXIT_TROUBLE, text);
}

void
reload_start(
	struct supervisor *sup, void (*done)(void *data, int code, const char *text), void *data)
{
	struct sup_waiter **list = sup->checker ? &sup->queued : &sup->waiters;

	if (done) {
		struct sup_waiter *waiter = xcalloc(1, sizeof(*waiter));
		*waiter = (struct sup_waiter){.done = done, .data = data, .next = *list};
		*list = waiter;
	}
	/* The one under way may have read the files before they changed: another follows. */
	if (sup->checker)
		sup->reload_again = true;
	else
		start(sup);
}
