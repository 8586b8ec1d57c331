/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl status: the workers of the running operatord, a line each, with the cause where one is in trouble; status NAME: one of them with its deaths
 * and the objects that it leaves alone; -o json for the whole document.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "ctl/ctl.h"

static void
cell_text(struct ctl_table *table, const char *text)
{
	ctl_table_cell(table, text, strlen(text));
}

/* "3s", "12m", "5h", "4d": as kubectl shows ages; "-" when it is not known. */
static void
age_text(const cJSON *seconds, char *text, size_t n)
{
	static const struct {
		double at_least, unit;
		char letter;
	} units[] = {
		{2 * 86400, 86400, 'd'}, {2 * 3600, 3600, 'h'}, {2 * 60, 60, 'm'}, {0, 1, 's'}};

	snprintf(text, n, "-");
	if (cJSON_IsNumber(seconds) && seconds->valuedouble >= 0) {
		size_t i = 0;
		while (seconds->valuedouble < units[i].at_least)
			i++;
		snprintf(text, n, "%.0f%c", seconds->valuedouble / units[i].unit, units[i].letter);
	}
}

static void
cell_age(struct ctl_table *table, const cJSON *seconds)
{
	char text[32];

	age_text(seconds, text, sizeof(text));
	cell_text(table, text);
}

static void
cell_number(struct ctl_table *table, const cJSON *number, double divisor, const char *unit)
{
	char text[32] = "-";

	if (cJSON_IsNumber(number))
		snprintf(text, sizeof(text), "%.*f%s", divisor > 1 ? 1 : 0,
			number->valuedouble / divisor, unit);
	cell_text(table, text);
}

static void
cell_cause(struct ctl_table *table, const cJSON *worker)
{
	const char *cause = json_string(worker, "cause", "");
	int held = cJSON_GetArraySize(json_get(worker, "quarantined", NULL));
	char text[64];

	snprintf(text, sizeof(text), "%d object%s quarantined", held, held == 1 ? "" : "s");
	cell_text(table, *cause || held == 0 ? cause : text);
}

static void
print_workers(const cJSON *status)
{
	static const char *const headings[] = {
		"NAME", "STATE", "PID", "OBJECTS", "RESTARTS", "WATCH", "MEMORY", "CAUSE"};
	struct ctl_table *table = ctl_table_new(headings, 8);
	const cJSON *worker;

	cJSON_ArrayForEach(worker, json_get(status, "workers", NULL))
	{
		int64_t pid = json_int(worker, "pid", 0);
		char text[32] = "-";
		cell_text(table, json_string(worker, "name", "?"));
		cell_text(table, json_string(worker, "state", "?"));
		if (pid > 0)
			snprintf(text, sizeof(text), "%lld", (long long)pid);
		cell_text(table, text);
		cell_number(table, json_get(worker, "objects", NULL), 1, "");
		cell_number(table, json_get(worker, "restarts", NULL), 1, "");
		cell_age(table, json_get(worker, "watchAgeSeconds", NULL));
		cell_number(table, json_get(worker, "residentMemoryBytes", NULL), 1048576, "Mi");
		cell_cause(table, worker);
	}
	ctl_table_print(table);
	ctl_table_free(table);
}

/* --- one worker --- */

static void
print_line(const char *key, const char *value)
{
	if (*value)
		printf("%-12s%s\n", key, value);
}

static void
print_number(const char *key, const cJSON *number, double divisor, const char *unit)
{
	if (cJSON_IsNumber(number))
		printf("%-12s%.*f%s\n", key, divisor > 1 ? 1 : 0, number->valuedouble / divisor,
			unit);
}

static void
print_age(const char *key, const cJSON *seconds)
{
	char text[32];

	age_text(seconds, text, sizeof(text));
	if (cJSON_IsNumber(seconds))
		printf("%-12s%s ago\n", key, text);
}

static void
print_deaths(const cJSON *worker)
{
	static const char *const headings[] = {"DIED", "AFTER", "HOW", "AT WORK ON"};
	const cJSON *deaths = json_get(worker, "deaths", NULL), *death;
	int64_t total = json_int(worker, "deathsTotal", 0);

	if (cJSON_GetArraySize(deaths) == 0)
		return;
	printf("\nDeaths: %lld since operatord started; the latest at the end\n", (long long)total);
	struct ctl_table *table = ctl_table_new(headings, 4);
	cJSON_ArrayForEach(death, deaths)
	{
		cell_text(table, json_string(death, "when", "?"));
		cell_age(table, json_get(death, "lifetimeSeconds", NULL));
		cell_text(table, json_string(death, "text", "?"));
		cell_text(table, json_string(death, "busy", ""));
	}
	ctl_table_print(table);
	ctl_table_free(table);
}

static void
print_quarantined(const cJSON *worker)
{
	static const char *const headings[] = {"OBJECT", "DEATHS", "RETRY IN", "HOW"};
	const cJSON *objects = json_get(worker, "quarantined", NULL), *object;

	if (cJSON_GetArraySize(objects) == 0)
		return;
	puts("\nQuarantined objects: the worker ended at work on them; they are left alone until "
	     "they are "
	     "changed, or their time has come");
	struct ctl_table *table = ctl_table_new(headings, 4);
	cJSON_ArrayForEach(object, objects)
	{
		cell_text(table, json_string(object, "object", "?"));
		cell_number(table, json_get(object, "deaths", NULL), 1, "");
		cell_age(table, json_get(object, "retrySeconds", NULL));
		cell_text(table, json_string(object, "cause", ""));
	}
	ctl_table_print(table);
	ctl_table_free(table);
}

static int
print_worker(const cJSON *status, const char *name)
{
	const cJSON *worker = NULL, *each;

	cJSON_ArrayForEach(each, json_get(status, "workers", NULL))
	{
		if (strcmp(json_string(each, "name", ""), name) == 0)
			worker = each;
	}
	if (!worker) {
		ctl_complain("no controller is called '%s'; operatorctl status shows all", name);
		return CTL_FAILED;
	}
	print_line("Name", name);
	print_line("State", json_string(worker, "state", "?"));
	print_age("Since", json_get(worker, "sinceSeconds", NULL));
	print_line("Cause", json_string(worker, "cause", ""));
	print_number(
		"Pid", json_int(worker, "pid", 0) ? json_get(worker, "pid", NULL) : NULL, 1, "");
	print_line("File", json_string(worker, "file", ""));
	print_line("At work on", json_string(worker, "busy", ""));
	print_number("Objects", json_get(worker, "objects", NULL), 1, "");
	print_number("Restarts", json_get(worker, "restarts", NULL), 1, "");
	print_age("Heartbeat", json_get(worker, "heartbeatAgeSeconds", NULL));
	print_age("Watch", json_get(worker, "watchAgeSeconds", NULL));
	print_number("Memory", json_get(worker, "residentMemoryBytes", NULL), 1048576, "Mi");
	print_quarantined(worker);
	print_deaths(worker);
	return CTL_DONE;
}

/* --- the verb --- */

static int
print_status(const struct buf *answer, const char *name)
{
	struct error err = {0};
	cJSON *status = json_parse(answer->data, answer->length, &err);
	int code = CTL_DONE;

	if (!status) {
		ctl_complain("operatord's answer can't be read: %s", err.text);
		return CTL_FAILED;
	}
	if (name)
		code = print_worker(status, name);
	else
		print_workers(status);
	cJSON_Delete(status);
	return code;
}

int
ctl_status(const struct ctl *ctl, int argc, char **argv)
{
	struct buf answer = BUF_INIT;

	if (ctl->output == CTL_OUTPUT_WIDE || ctl->output == CTL_OUTPUT_NAME) {
		ctl_complain("status has the outputs table and json only");
		return CTL_USAGE;
	}
	if (argc > 1 || (argc == 1 && ctl->output == CTL_OUTPUT_JSON)) {
		ctl_complain("status takes the name of one controller, or none; -o json shows all");
		return CTL_USAGE;
	}
	int code = ctl_ask(ctl, RECORD_STATUS, 0, &answer);
	if (code == CTL_DONE && ctl->output == CTL_OUTPUT_JSON) {
		fwrite(answer.data, 1, answer.length, stdout);
		putchar('\n');
	} else if (code == CTL_DONE) {
		code = print_status(&answer, argc == 1 ? argv[0] : NULL);
	}
	buf_free(&answer);
	return code;
}
