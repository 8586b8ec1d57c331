/* SPDX-License-Identifier: Apache-2.0 */
/* operatorctl check [FILE]: reads and checks a configuration as operatord would at its start, without a server; prints every error with its place. */
#include "config.h"

#include <stdio.h>

#include "common/config/check.h"
#include "common/json.h"
#include "ctl/ctl.h"

static size_t
print_lines(const cJSON *list, const char *before)
{
	const cJSON *line;
	size_t n = 0;

	cJSON_ArrayForEach(line, list)
	{
		fprintf(stderr, "%s%s\n", before, cJSON_IsString(line) ? line->valuestring : "?");
		n++;
	}
	return n;
}

static void
print_good(const char *path, int n)
{
	printf("%s: ok, %d controller%s\n", path, n, n == 1 ? "" : "s");
}

int
ctl_check(const struct ctl *ctl, int argc, char **argv)
{
	const char *path = argc == 1     ? argv[0]
			   : ctl->config ? ctl->config
					 : SYSCONFDIR "/operatord/operatord.yaml";
	struct buf document = BUF_INIT;
	struct error err = {0};

	if (argc > 1) {
		ctl_complain("check takes one file, e.g.: operatorctl check operatord.yaml");
		return CTL_USAGE;
	}
	config_check(path, true, &document);
	cJSON *answer = json_parse(document.data, document.length, &err);
	buf_free(&document);
	if (!answer) {
		ctl_complain("%s: %s", path, err.text);
		return CTL_FAILED;
	}
	print_lines(json_get(answer, "warnings", NULL), "warning: ");
	size_t errors = print_lines(json_get(answer, "errors", NULL), "");
	if (errors)
		ctl_complain("%zu error%s in the configuration", errors, errors == 1 ? "" : "s");
	else
		print_good(path, cJSON_GetArraySize(json_get(answer, "controllers", NULL)));
	cJSON_Delete(answer);
	return errors ? CTL_CONFIG : CTL_DONE;
}
