/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl: for those who write configurations and those on call. Here are only the options, which may stand before or behind the verb, the
 * table of verbs, and the help; each verb is a file of its own.
 */
#include "config.h"

#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "ctl/ctl.h"

static const struct verb {
	const char *name, *arguments, *summary, *example;
	int (*run)(const struct ctl *ctl, int argc, char **argv);
} verbs[] = {
	{"check", "[FILE]", "checks a configuration without starting anything",
		"operatorctl check /etc/operatord/operatord.yaml", ctl_check},
	{"rbac", "[FILE]",
		"prints the least rights for a configuration as YAML; asks the server which "
		"resources are behind the kinds",
		"operatorctl rbac operatord.yaml --service-account operatord/operatord", ctl_rbac},
	{"list", "RESOURCE", "lists objects of any resource: NAMESPACE, NAME, START TIME",
		"operatorctl list pods -A", ctl_list},
	{"watch", "RESOURCE", "prints each event of a resource as it comes, until interrupted",
		"operatorctl watch nginx", ctl_watch},
	{"release", "RESOURCE [NAME...]",
		"takes operatord's finalizers off objects, for when no operatord is there to do "
		"it; writes only with --yes",
		"operatorctl release -A nginx --dry-run", ctl_release},
	{"reload", "", "has operatord read its configuration anew and prints the result",
		"operatorctl reload", ctl_reload},
	{"status", "[NAME]", "shows the workers of the running operatord, or all about one",
		"operatorctl status nginx", ctl_status},
	{"loglevel", "LEVEL",
		"error, warn, info, debug: the running operatord logs at it until told \"config\" "
		"or restarted",
		"operatorctl loglevel debug", ctl_loglevel},
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const char *const output_names[CTL_OUTPUT_MAX] = {"table", "wide", "name", "json"};

void
ctl_complain(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_apply_mask(text);
	fprintf(stderr, "operatorctl: %s\n", text);
}

static void
help(FILE *out)
{
	fputs("usage: operatorctl VERB [ARGUMENTS] [OPTIONS]\n\nVerbs:\n", out);
	for (size_t i = 0; i < N_VERBS; i++)
		fprintf(out, "  %-9s%-20s%s\n", verbs[i].name, verbs[i].arguments,
			verbs[i].summary);
	fputs("\nOptions:\n"
	      "  -n, --namespace NS    only this namespace (default: the context's, else "
	      "\"default\")\n"
	      "  -A, --all-namespaces  all namespaces\n"
	      "  -l, --selector SEL    only objects with these labels, e.g. app=web\n"
	      "  -o, --output FORM     table (default), wide (the server's own columns), name, "
	      "json\n"
	      "      --kubeconfig FILE the cluster (default: $KUBECONFIG, else ~/.kube/config)\n"
	      "      --context NAME    a context of the kubeconfig\n"
	      "  -c, --config FILE     the configuration for check and rbac (default: " SYSCONFDIR
	      "/operatord/operatord.yaml)\n"
	      "      --dry-run         release: only say what would be done\n"
	      "      --yes             release: do it\n"
	      "      --instance NAME   release: only finalizers of this installation\n"
	      "      --service-account NS/NAME  rbac: who gets the rights (default: "
	      "operatord/operatord)\n"
	      "      --control PATH    the control socket of the running operatord\n"
	      "  -h, --help            this text; after a verb, an example of it\n"
	      "      --version         the version\n\n"
	      "Exit codes: 0 done, 1 it could not be done, 64 wrong usage, 77 no permission, 78 "
	      "bad configuration.\n",
		out);
}

static int
parse_output(const char *word)
{
	for (int i = 0; i < CTL_OUTPUT_MAX; i++) {
		if (strcmp(word, output_names[i]) == 0)
			return i;
	}
	return -1;
}

enum {
	OPTION_KUBECONFIG = 256,
	OPTION_CONTEXT,
	OPTION_CONTROL,
	OPTION_DRY_RUN,
	OPTION_YES,
	OPTION_INSTANCE,
	OPTION_ACCOUNT,
	OPTION_VERSION
};

static const struct option options[] = {
	{"namespace", required_argument, NULL, 'n'},
	{"all-namespaces", no_argument, NULL, 'A'},
	{"selector", required_argument, NULL, 'l'},
	{"output", required_argument, NULL, 'o'},
	{"kubeconfig", required_argument, NULL, OPTION_KUBECONFIG},
	{"context", required_argument, NULL, OPTION_CONTEXT},
	{"config", required_argument, NULL, 'c'},
	{"control", required_argument, NULL, OPTION_CONTROL},
	{"dry-run", no_argument, NULL, OPTION_DRY_RUN},
	{"yes", no_argument, NULL, OPTION_YES},
	{"instance", required_argument, NULL, OPTION_INSTANCE},
	{"service-account", required_argument, NULL, OPTION_ACCOUNT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

/* Takes one option; -1: go on, else the exit code. */
static int
take_option(struct ctl *ctl, int option, bool *ret_help)
{
	int output;

	switch (option) {
	case 'n':
		ctl->namespace_ = optarg;
		return -1;
	case 'A':
		ctl->all_namespaces = true;
		return -1;
	case 'l':
		ctl->selector = optarg;
		return -1;
	case 'c':
		ctl->config = optarg;
		return -1;
	case 'h':
		*ret_help = true;
		return -1;
	case OPTION_KUBECONFIG:
		ctl->kubeconfig = optarg;
		return -1;
	case OPTION_CONTEXT:
		ctl->context = optarg;
		return -1;
	case OPTION_CONTROL:
		ctl->control = optarg;
		return -1;
	case OPTION_DRY_RUN:
		ctl->dry_run = true;
		return -1;
	case OPTION_YES:
		ctl->yes = true;
		return -1;
	case OPTION_INSTANCE:
		ctl->instance = optarg;
		return -1;
	case OPTION_ACCOUNT:
		ctl->account = optarg;
		return -1;
	case OPTION_VERSION:
		puts("operatorctl " PACKAGE_VERSION);
		return CTL_DONE;
	case 'o':
		output = parse_output(optarg);
		if (output < 0) {
			ctl_complain("-o %s: not known; table, wide, name or json", optarg);
			return CTL_USAGE;
		}
		ctl->output = (enum ctl_output)output;
		return -1;
	default:
		fputs("See operatorctl --help.\n", stderr); /* getopt_long has said what is wrong */
		return CTL_USAGE;
	}
}

static const struct verb *
find_verb(const char *word)
{
	for (size_t i = 0; i < N_VERBS; i++) {
		if (strcmp(word, verbs[i].name) == 0)
			return &verbs[i];
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	static char name[] = "operatorctl";
	struct ctl ctl = {0};
	bool want_help = false;
	int option;

	argv[0] = name; /* for what getopt_long says */
	setlocale(LC_TIME, "");
	log_open(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	while ((option = getopt_long(argc, argv, "n:Al:o:c:h", options, NULL)) != -1) {
		int code = take_option(&ctl, option, &want_help);
		if (code >= 0)
			return code;
	}
	if (optind == argc) {
		help(want_help ? stdout : stderr);
		return want_help ? CTL_DONE : CTL_USAGE;
	}
	const struct verb *verb = find_verb(argv[optind]);
	if (!verb) {
		ctl_complain(
			"'%s' is not a verb of operatorctl; see operatorctl --help", argv[optind]);
		return CTL_USAGE;
	}
	if (want_help) {
		printf("operatorctl %s %s\n  %s\n\nExample:\n  %s\n", verb->name, verb->arguments,
			verb->summary, verb->example);
		return CTL_DONE;
	}
	return verb->run(&ctl, argc - optind - 1, argv + optind + 1);
}
