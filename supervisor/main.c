/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatord: the options, and the only place that knows both the supervisor and the workers.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/config/check.h"
#include "common/json.h"
#include "common/proc/proc.h"
#include "supervisor/supervisor.h"
#include "workers/worker.h"

static void
help(FILE *out)
{
	fputs("usage: operatord [OPTIONS]\n"
	      "       operatord worker NAME [OPTIONS]   runs one controller in the foreground, for "
	      "a debugger\n\n"
	      "  -c, --config FILE      the configuration (default: " SYSCONFDIR
	      "/operatord/operatord.yaml)\n"
	      "      --check            checks the configuration and ends\n"
	      "      --print            with --check: prints the effective configuration as YAML\n"
	      "      --schema           prints every key with its type, default and meaning\n"
	      "      --log-level LEVEL  error, warn, info or debug, over the configuration's\n"
	      "      --control PATH     the control socket, for operatorctl\n"
	      "  -h, --help             this text\n"
	      "      --version          the version\n\n"
	      "Signals: SIGTERM, SIGINT, SIGQUIT stop it, SIGHUP reads the configuration anew,\n"
	      "SIGUSR2 logs at level debug and back.\n"
	      "Exit codes: 0 stopped as asked, 1 a worker had to be killed or it could not do its "
	      "job, 64 wrong usage,\n"
	      "77 no permission, 78 bad configuration.\n\n"
	      "Example: operatord -c examples/nginx.yaml --check\n",
		out);
}

enum {
	OPTION_CHECK = 256,
	OPTION_PRINT,
	OPTION_SCHEMA,
	OPTION_LOG_LEVEL,
	OPTION_CONTROL,
	OPTION_VERSION
};

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'},
	{"check", no_argument, NULL, OPTION_CHECK},
	{"print", no_argument, NULL, OPTION_PRINT},
	{"schema", no_argument, NULL, OPTION_SCHEMA},
	{"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
	{"control", required_argument, NULL, OPTION_CONTROL},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

struct arguments {
	struct supervisor_options run;
	bool check, print;
};

static int
print_schema(void)
{
	struct buf out = BUF_INIT;

	config_print_schema(&out);
	fwrite(out.data, 1, out.length, stdout);
	buf_free(&out);
	return EXIT_STOPPED;
}

/* Takes one option; -1: go on, else the exit code. */
static int
take_option(struct arguments *arguments, int option)
{
	switch (option) {
	case 'c':
		arguments->run.config_path = optarg;
		return -1;
	case OPTION_CHECK:
		arguments->check = true;
		return -1;
	case OPTION_PRINT:
		arguments->print = true;
		return -1;
	case OPTION_CONTROL:
		arguments->run.control = optarg;
		return -1;
	case OPTION_SCHEMA:
		return print_schema();
	case OPTION_VERSION:
		puts("operatord " PACKAGE_VERSION);
		return EXIT_STOPPED;
	case 'h':
		help(stdout);
		return EXIT_STOPPED;
	case OPTION_LOG_LEVEL:
		arguments->run.log_level = log_level_parse(optarg);
		if (arguments->run.log_level >= 0)
			return -1;
		fprintf(stderr, "operatord: --log-level %s: error, warn, info or debug is needed\n",
			optarg);
		return EXIT_USAGE;
	default:
		fputs("See operatord --help.\n", stderr); /* getopt_long has said what is wrong */
		return EXIT_USAGE;
	}
}

/* The checked document, or NULL: said on stderr. Errors of any file count. */
static cJSON *
checked(const char *path, size_t *ret_errors)
{
	struct error err = {0};
	cJSON *document = supervisor_check(path, &err);

	if (!document) {
		fprintf(stderr, "operatord: %s\n", err.text);
		return NULL;
	}
	supervisor_print(document, "warnings", "warning: ");
	*ret_errors = supervisor_print(document, "errors", "");
	return document;
}

static int
check_only(const struct arguments *arguments)
{
	struct buf out = BUF_INIT, bytes = BUF_INIT;
	size_t errors;
	cJSON *document = checked(arguments->run.config_path, &errors);

	if (!document)
		return EXIT_CONFIG;
	if (errors) {
		fprintf(stderr, "operatord: %zu error%s in the configuration\n", errors,
			errors == 1 ? "" : "s");
	} else if (arguments->print) {
		json_print(&bytes, document);
		config_print_yaml(&out, bytes.data, bytes.length);
		fwrite(out.data, 1, out.length, stdout);
	} else {
		int n = cJSON_GetArraySize(json_get(document, "controllers", NULL));
		printf("%s: ok, %d controller%s\n", arguments->run.config_path, n,
			n == 1 ? "" : "s");
	}
	buf_free(&bytes);
	buf_free(&out);
	cJSON_Delete(document);
	return errors ? EXIT_CONFIG : EXIT_STOPPED;
}

/* One controller in this process. */
static int
run_worker(const struct arguments *arguments, const char *name)
{
	struct buf bytes = BUF_INIT;
	size_t errors;
	cJSON *document = checked(arguments->run.config_path, &errors);
	const cJSON *controller = json_get(document, "controllers", name, NULL);

	if (!controller) {
		if (document)
			fprintf(stderr, "operatord: %s: no valid controller '%s'\n",
				arguments->run.config_path, name);
		cJSON_Delete(document);
		return EXIT_CONFIG;
	}
	json_print_canonical(&bytes, controller);
	cJSON_Delete(document);
	log_open(arguments->run.log_level >= 0 ? (enum log_level)arguments->run.log_level
					       : LOG_LEVEL_INFO,
		LOG_FORMAT_AUTO);
	struct worker_args args = {.name = name,
		.config = bytes.data,
		.config_length = bytes.length,
		.generation = 1,
		.fd_down = -1,
		.fd_up = -1,
		.fd_scoreboard = -1};
	int code = worker_main(&args);
	buf_free(&bytes);
	return code;
}

int
main(int argc, char **argv)
{
	static char name[] = "operatord";
	struct arguments arguments = {.run = {.config_path = SYSCONFDIR "/operatord/operatord.yaml",
					      .log_level = -1,
					      .worker_main = worker_main}};
	int option, code;

	/* First: it moves the arguments away from where the title stands, and argv to their copies. */
	proc_title_init(argc, argv);
	proc_sanitize_fds();
	argv[0] = name; /* for what getopt_long says */
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		code = take_option(&arguments, option);
		if (code >= 0)
			return code;
	}
	const char *worker = NULL;
	if (argc - optind == 2 && strcmp(argv[optind], "worker") == 0) {
		worker = argv[optind + 1];
	} else if (optind != argc && strcmp(argv[optind], "worker") == 0) {
		fputs("operatord: worker takes the name of one controller\n", stderr);
		return EXIT_USAGE;
	} else if (optind != argc) {
		fprintf(stderr, "operatord: '%s' is not understood; see operatord --help\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	if (arguments.print && !arguments.check) {
		fputs("operatord: --print goes with --check\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments.check)
		return check_only(&arguments);
	return worker ? run_worker(&arguments, worker) : supervisor_run(&arguments.run);
}
