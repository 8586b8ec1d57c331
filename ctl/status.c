/* SPDX-License-Identifier: Apache-2.0 */
/* operatorctl status: the workers of the running operatord, a line each, with the cause where one is in trouble; -o json for the whole document. */
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
cell_age(struct ctl_table *table, const cJSON *seconds)
{
	static const struct {
		double at_least, unit;
		char letter;
	} units[] = {
		{2 * 86400, 86400, 'd'}, {2 * 3600, 3600, 'h'}, {2 * 60, 60, 'm'}, {0, 1, 's'}};
	char text[32] = "-";

	if (cJSON_IsNumber(seconds) && seconds->valuedouble >= 0) {
		size_t i = 0;
		while (seconds->valuedouble < units[i].at_least)
			i++;
		snprintf(text, sizeof(text), "%.0f%c", seconds->valuedouble / units[i].unit,
			units[i].letter);
	}
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
		cell_text(table, json_string(worker, "cause", ""));
	}
	ctl_table_print(table);
	ctl_table_free(table);
}

int
ctl_status(const struct ctl *ctl, int argc, char **argv)
{
	struct buf answer = BUF_INIT;
	struct error err = {0};

	(void)argv;
	if (argc != 0) {
		ctl_complain("status takes no arguments");
		return CTL_USAGE;
	}
	int code = ctl_ask(ctl, RECORD_STATUS, 0, &answer);
	if (code == CTL_DONE && ctl->output == CTL_OUTPUT_JSON) {
		fwrite(answer.data, 1, answer.length, stdout);
		putchar('\n');
	} else if (code == CTL_DONE) {
		cJSON *status = json_parse(answer.data, answer.length, &err);
		if (status) {
			print_workers(status);
		} else {
			ctl_complain("operatord's answer can't be read: %s", err.text);
			code = CTL_FAILED;
		}
		cJSON_Delete(status);
	}
	buf_free(&answer);
	return code;
}
