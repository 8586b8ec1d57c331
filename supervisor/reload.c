/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reload: the checker reads the files, apply.c changes what differs. A main file with errors, a checker that failed and a change that can't be made at run time
 * change nothing; a file of conf.d with errors leaves its own controllers as they run. One reload at a time; whoever asks meanwhile waits for one more after
 * it, since the files may have changed after the running one read them.
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
#include "supervisor/service.h"

static void
put_lines(struct buf *text, const cJSON *lines, const char *before)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, lines)
	{
		if (!cJSON_IsString(line))
			continue;
		buf_addf(text, "%s%s\n", before, line->valuestring);
	}
}

int
reload_apply(struct supervisor *sup, const cJSON *document, struct sup_report *report)
{
	struct buf *text = &report->problems;
	int code;

	put_lines(text, json_get(document, "warnings", NULL), "warning: ");
	put_lines(text, json_get(document, "errors", NULL), "");
	if (!json_bool(document, "valid", false)) {
		buf_adds(text, "nothing was changed: the main file has errors\n");
		return EXIT_CONFIG;
	}
	code = apply_settings(sup, document, report);
	if (code != EXIT_STOPPED)
		return code;
	apply_controllers(sup, document, report);
	return apply_is_whole(document) ? EXIT_STOPPED : EXIT_CONFIG;
}

static void
log_lines(const char *what, enum log_level level, const struct buf *lines)
{
	for (const char *text = lines->data; *text;) {
		size_t n = strcspn(text, "\n");
		bool warning = strncmp(text, "warning: ", 9) == 0;

		log_fields(warning ? LOG_LEVEL_WARN : level, NULL, "%s: %.*s", what, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

void
reload_log(const char *what, int code, const struct sup_report *report)
{
	/* A problem with which all was applied is what needs a restart. */
	log_lines(what, code == EXIT_STOPPED ? LOG_LEVEL_WARN : LOG_LEVEL_ERROR, &report->problems);
	log_lines(what, LOG_LEVEL_INFO, &report->changes);
}

void
sup_report_clear(struct sup_report *report)
{
	buf_free(&report->problems);
	buf_free(&report->changes);
}

static void
answer_all(struct sup_waiter **list, int code, const char *text)
{
	while (*list) {
		struct sup_waiter *waiter = *list;
		*list = waiter->next;
		waiter->done(waiter->data, code, text);
		free(waiter);
	}
}

/* Logs the answer and tells whoever waits. Clears the report. */
static void
finish(struct supervisor *sup, int code, struct sup_report *report)
{
	struct buf *text = &report->problems;
	const char *answer;

	sup->last_reload_good = code == EXIT_STOPPED;
	if (sup->last_reload_good)
		sup->last_good_reload_wall_ns = clock_wall_ns();
	reload_log("reload", code, report);
	buf_add(text, report->changes.data, report->changes.length);
	answer = text->failed || report->changes.failed ? "no memory for the report: see the log\n"
							: text->data;
	service_reloaded(sup->service, code, answer);
	answer_all(&sup->waiters, code, answer);
	sup_report_clear(report);
}

void
reload_note_templates(struct supervisor *sup, const cJSON *document)
{
	const cJSON *file, *path;

	cJSON_Delete(sup->templates);
	sup->templates = cJSON_CreateArray();
	cJSON_ArrayForEach(file, json_get(document, "files", NULL))
	{
		cJSON_ArrayForEach(path, json_get(file, "templates", NULL))
		{
			if (cJSON_IsString(path))
				cJSON_AddItemToArray(
					sup->templates, cJSON_CreateString(path->valuestring));
		}
	}
	config_state_add(&sup->loaded, sup->templates);
}

static void start(struct supervisor *sup);

static void
on_checked(void *data, cJSON *document, const struct error *err)
{
	struct supervisor *sup = data;
	struct sup_report report = {BUF_INIT, BUF_INIT};
	int code = EXIT_CONFIG;

	sup->checker = NULL;
	if (document)
		reload_note_templates(sup, document);
	if (document)
		code = reload_apply(sup, document, &report);
	else
		buf_addf(&report.problems, "%s; nothing was changed\n", err->text);
	cJSON_Delete(document);
	finish(sup, code, &report);
	reload_next(sup);
}

static void
start(struct supervisor *sup)
{
	struct sup_report report = {BUF_INIT, BUF_INIT};
	struct error err = {0};

	log_info("reload: reading %s", sup->options->config_path);
	service_reloading(sup->service);
	config_state_take(sup->options->config_path, &sup->loaded);
	sup->checker = checker_start(sup->loop, sup->options->config_path, on_checked, sup, &err);
	if (sup->checker)
		return;
	/* Not read, so that reload: auto finds a change at its next look. */
	sup->loaded = (struct config_state){.racy = true};
	buf_addf(&report.problems, "%s; nothing was changed\n", err.text);
	finish(sup, EXIT_TROUBLE, &report);
}

void
reload_start(
	struct supervisor *sup, void (*done)(void *data, int code, const char *text), void *data)
{
	bool later = sup->checker || !sup->configured;
	struct sup_waiter **list = later ? &sup->queued : &sup->waiters;

	if (sup->stopping) {
		if (done)
			done(data, EXIT_TROUBLE, "not reloaded: operatord is stopping\n");
		return;
	}
	if (done) {
		struct sup_waiter *waiter = xcalloc(1, sizeof(*waiter));
		*waiter = (struct sup_waiter){.done = done, .data = data, .next = *list};
		*list = waiter;
	}
	if (later)
		sup->reload_again = true;
	else
		start(sup);
}

void
reload_next(struct supervisor *sup)
{
	if (!sup->reload_again || sup->checker)
		return;
	sup->reload_again = false;
	sup->waiters = sup->queued;
	sup->queued = NULL;
	start(sup);
}

static void
on_changed(void *data)
{
	reload_start(data, NULL, NULL);
}

void
reload_watch(struct supervisor *sup)
{
	if (sup->config.reload_auto && !sup->auto_reload) {
		sup->auto_reload = auto_reload_new(
			sup->loop, sup->options->config_path, &sup->loaded,
			&sup->templates, on_changed, sup);
	} else if (!sup->config.reload_auto) {
		auto_reload_free(sup->auto_reload);
		sup->auto_reload = NULL;
	}
}

void
reload_cancel(struct supervisor *sup)
{
	static const char text[] = "not reloaded: operatord is stopping\n";

	auto_reload_free(sup->auto_reload);
	sup->auto_reload = NULL;
	checker_free(sup->checker);
	sup->checker = NULL;
	sup->reload_again = false;
	answer_all(&sup->waiters, EXIT_TROUBLE, text);
	answer_all(&sup->queued, EXIT_TROUBLE, text);
}
