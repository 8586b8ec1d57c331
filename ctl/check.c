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

static const char *
path_of(const struct ctl *ctl, int argc, char **argv)
{
	return argc == 1     ? argv[0]
	       : ctl->config ? ctl->config
			     : SYSCONFDIR "/operatord/operatord.yaml";
}

cJSON *
ctl_read_config(const struct ctl *ctl, const char *verb, int argc, char **argv, int *ret_code)
{
	const char *path = path_of(ctl, argc, argv);
	struct buf document = BUF_INIT;
	struct error err = {0};
	cJSON *answer;

	if (argc > 1) {
		ctl_complain("%s takes one file, e.g.: operatorctl %s operatord.yaml", verb, verb);
		*ret_code = CTL_USAGE;
		return NULL;
	}
	config_check(path, true, &document);
	answer = json_parse(document.data, document.length, &err);
	buf_free(&document);
	if (!answer) {
		ctl_complain("%s: %s", path, err.text);
		*ret_code = CTL_FAILED;
		return NULL;
	}
	print_lines(json_get(answer, "warnings", NULL), "warning: ");
	size_t errors = print_lines(json_get(answer, "errors", NULL), "");
	if (errors == 0)
		return answer;
	ctl_complain("%zu error%s in the configuration", errors, errors == 1 ? "" : "s");
	cJSON_Delete(answer);
	*ret_code = CTL_CONFIG;
	return NULL;
}

int
ctl_check(const struct ctl *ctl, int argc, char **argv)
{
	int code = CTL_DONE;
	cJSON *document = ctl_read_config(ctl, "check", argc, argv, &code);

	if (document)
		print_good(path_of(ctl, argc, argv),
			cJSON_GetArraySize(json_get(document, "controllers", NULL)));
	cJSON_Delete(document);
	return code;
}
