/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema table and look-ups in it. The order of the table is the order in which keys are printed.
 *
 * Names in SCHEMA_LATER are promised by the design: they are refused as "not supported yet", never taken and ignored.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/config/duration.h"
#include "common/config/quantity.h"
#include "common/config/schema.h"
#include "common/spelling.h"

#define MS                 NSEC_PER_MSEC
#define SEC                NSEC_PER_SEC
#define MIN                (60 * NSEC_PER_SEC)
#define HOUR               (3600 * NSEC_PER_SEC)
#define MI                 (INT64_C(1) << 20)
#define TI                 (INT64_C(1) << 40)
#define FILES              (SCHEMA_MAIN | SCHEMA_FRAGMENT)
#define TUNING             (SCHEMA_DEFAULTS | SCHEMA_CONTROLLER)
#define WHERE              .places =
#define MEANS              .meaning =
#define BETWEEN(low, high) .min = (low), .max = (high)

/* clang-format off */
const struct schema_key schema_keys[] = {
	/* the files */
	{"version", SCHEMA_INT, WHERE FILES, .required = true, BETWEEN(1, 1),
	 MEANS "format of this file"},
	{"instance", SCHEMA_TEXT, WHERE SCHEMA_MAIN, "default", .syntax = syntax_label,
	 MEANS "names this installation on the cluster; in field managers and labels"},
	{"cluster", SCHEMA_MAP, WHERE SCHEMA_MAIN,
	 MEANS "which API server; without it as kubectl: $KUBECONFIG, in a pod its service account, ~/.kube/config"},
	{"cluster.kubeconfig", SCHEMA_TEXT, WHERE SCHEMA_MAIN,
	 MEANS "kubeconfig file; a relative path starts at this file's directory"},
	{"cluster.context", SCHEMA_TEXT, WHERE SCHEMA_MAIN,
	 MEANS "context of the kubeconfig; without it its current-context"},
	{"http", SCHEMA_MAP, WHERE SCHEMA_MAIN,
	 MEANS "the server of /livez, /readyz, /healthz and /metrics"},
	{"http.listen", SCHEMA_TEXT, WHERE SCHEMA_MAIN, "auto", .syntax = syntax_listen,
	 MEANS "ADDRESS:PORT, :PORT, unix:/PATH, off; auto is :8080 in a cluster, else 127.0.0.1:8080"},
	{"log", SCHEMA_MAP, WHERE SCHEMA_MAIN, MEANS "the log on standard error"},
	{"log.level", SCHEMA_WORD, WHERE SCHEMA_MAIN, "info", .words = "error warn info debug",
	 MEANS "least important lines that are written"},
	{"log.format", SCHEMA_WORD, WHERE SCHEMA_MAIN, "auto", .words = "auto journald text json",
	 MEANS "auto: journald's prefixes in the journal, text on a terminal, else json"},
	{"vars", SCHEMA_VARS, WHERE SCHEMA_MAIN,
	 MEANS "values for expressions: $vars.NAME; {fromEnv: NAME} takes an environment variable"},
	{"defaults", SCHEMA_DEFAULT_MAP, WHERE SCHEMA_MAIN,
	 MEANS "settings for all controllers, where they have none of their own"},
	{"strictStart", SCHEMA_BOOL, WHERE SCHEMA_MAIN, "false",
	 MEANS "a bad file in conf.d ends the start; without it only its controllers do not run"},
	{"reload", SCHEMA_WORD, WHERE SCHEMA_MAIN, "manual", .words = "manual auto",
	 MEANS "manual: by SIGHUP and operatorctl reload; auto: also half a second after the last change of a file"},
	{"heartbeat", SCHEMA_DURATION, WHERE SCHEMA_MAIN, "5s", BETWEEN(100 * MS, 5 * MIN),
	 MEANS "period of a worker's sign of life; three without one and it is ended"},
	{"stopGrace", SCHEMA_DURATION, WHERE SCHEMA_MAIN, "20s", BETWEEN(0, HOUR),
	 MEANS "time for workers to end what runs before they get SIGTERM"},
	{"killGrace", SCHEMA_DURATION, WHERE SCHEMA_MAIN, "3s", BETWEEN(0, 10 * MIN),
	 MEANS "time from SIGTERM to SIGKILL"},
	{"controllers", SCHEMA_CONTROLLERS, WHERE FILES,
	 MEANS "what to run; one worker process each"},

	/* a controller */
	{"name", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER, .required = true, .syntax = syntax_label,
	 MEANS "of the worker, in logs, metrics, labels and the field manager"},
	{"resource", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER, .required = true, .syntax = syntax_resource,
	 MEANS "what to watch: PLURAL.VERSION.GROUP, the core group as pods.v1."},
	{"namespaces", SCHEMA_NAMESPACES, WHERE TUNING, "all",
	 MEANS "where to watch; a list is one watch each"},
	{"selector", SCHEMA_TEXT, WHERE TUNING, .syntax = syntax_label_selector,
	 MEANS "label selector of the objects to handle"},
	{"fieldSelector", SCHEMA_TEXT, WHERE TUNING, .syntax = syntax_field_selector,
	 MEANS "field selector of the objects to handle"},
	{"let", SCHEMA_LET, WHERE SCHEMA_CONTROLLER,
	 MEANS "names for values that expressions use as $NAME; each may use those before it"},
	{"children", SCHEMA_CHILDREN, WHERE SCHEMA_CONTROLLER,
	 MEANS "the objects to keep for each object"},
	{"status", SCHEMA_STATUS, WHERE SCHEMA_CONTROLLER,
	 MEANS "template of the object's status; a member {once: \"${...}\"} is written only while it is absent"},
	{"statusOnError", SCHEMA_STATUS, WHERE SCHEMA_CONTROLLER,
	 MEANS "status while a reconcile fails ($error.message); never in place of a once value"},
	{"required", SCHEMA_BOOL, WHERE TUNING, "true",
	 MEANS "/readyz answers 503 while its worker is not live"},
	{"paused", SCHEMA_BOOL, WHERE TUNING, "false",
	 MEANS "watch, but write nothing"},
	{"concurrency", SCHEMA_INT, WHERE TUNING, "16", BETWEEN(1, 1000),
	 MEANS "objects in work at once"},
	{"prune", SCHEMA_MAP, WHERE TUNING, MEANS "removal of children that are no longer wanted"},
	{"prune.max", SCHEMA_INT, WHERE TUNING, "10", BETWEEN(0, 1000000),
	 MEANS "more than so many after a start or reload are held back"},
	{"onRemove", SCHEMA_WORD, WHERE TUNING, "release", .words = "release keep delete",
	 MEANS "when a reload finds the controller removed: take our finalizers off and keep the children, touch nothing, delete the children"},
	{"removeTimeout", SCHEMA_DURATION, WHERE TUNING, "2m", BETWEEN(SEC, 24 * HOUR),
	 MEANS "time for what onRemove says"},
	{"stuckAfter", SCHEMA_DURATION, WHERE TUNING, "5m", BETWEEN(SEC, 24 * HOUR),
	 MEANS "an object under deletion that waits for its finalizer for so long says why"},
	{"watchSilence", SCHEMA_DURATION, WHERE TUNING, "70s", BETWEEN(100 * MS, HOUR),
	 MEANS "a watch without a byte for so long is opened anew"},
	{"requestTimeout", SCHEMA_DURATION, WHERE TUNING, "30s", BETWEEN(100 * MS, HOUR),
	 MEANS "for one request other than a watch"},
	{"resync", SCHEMA_DURATION, WHERE TUNING, "10h", BETWEEN(SEC, 8760 * HOUR),
	 MEANS "period of listing all and reconciling each"},
	{"retry", SCHEMA_MAP, WHERE TUNING, MEANS "delays after a failed reconcile"},
	{"retry.min", SCHEMA_DURATION, WHERE TUNING, "5ms", BETWEEN(MS, HOUR),
	 MEANS "first delay; each further one is twice as long"},
	{"retry.max", SCHEMA_DURATION, WHERE TUNING, "5m", BETWEEN(MS, 24 * HOUR),
	 MEANS "longest delay"},
	{"renderTimeout", SCHEMA_DURATION, WHERE TUNING, "100ms", BETWEEN(MS, 10 * SEC),
	 MEANS "for the expressions of one template"},
	{"writes", SCHEMA_MAP, WHERE TUNING, MEANS "bound on requests that change something"},
	{"writes.perSecond", SCHEMA_NUMBER, WHERE TUNING, "50", BETWEEN(0, 100000),
	 MEANS "on average"},
	{"writes.burst", SCHEMA_INT, WHERE TUNING, "100", BETWEEN(1, 100000),
	 MEANS "at once"},
	{"limits", SCHEMA_MAP, WHERE TUNING, MEANS "bounds on the worker process"},
	{"limits.memory", SCHEMA_BYTES, WHERE TUNING, BETWEEN(8 * MI, TI),
	 MEANS "memory it may allocate"},
	{"limits.files", SCHEMA_INT, WHERE TUNING, BETWEEN(16, 1048576),
	 MEANS "open files"},
	{"credentials", SCHEMA_MAP, WHERE SCHEMA_CONTROLLER,
	 MEANS "who this controller is on the cluster; relative paths start at the directory of the file they are in"},
	{"credentials.kubeconfig", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER,
	 MEANS "its own kubeconfig, in place of cluster.kubeconfig: it may name another cluster"},
	{"credentials.context", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER,
	 MEANS "its own context, in place of cluster.context"},
	{"credentials.tokenFile", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER,
	 MEANS "file with a bearer token, in place of all that the kubeconfig or pod says of the user; read again each minute and on a 401"},
	{"credentials.clientCertificate", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER,
	 MEANS "file with a certificate in PEM, likewise; with clientKey"},
	{"credentials.clientKey", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER,
	 MEANS "file with its key in PEM"},
	{"impersonate", SCHEMA_MAP, WHERE SCHEMA_CONTROLLER,
	 MEANS "act as somebody else; its identity needs the right to impersonate"},
	{"impersonate.user", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER,
	 MEANS "user name, such as system:serviceaccount:NAMESPACE:NAME"},
	{"impersonate.uid", SCHEMA_TEXT, WHERE SCHEMA_CONTROLLER, MEANS "the user's uid"},
	{"impersonate.groups", SCHEMA_TEXTS, WHERE SCHEMA_CONTROLLER, MEANS "groups that the user is in"},
	{"impersonate.extra", SCHEMA_TEXT_LISTS, WHERE SCHEMA_CONTROLLER, MEANS "further attributes of the user"},
	{"related", SCHEMA_LATER, WHERE TUNING},
	{"hooks", SCHEMA_LATER, WHERE TUNING},
	{"mode", SCHEMA_LATER, WHERE TUNING},
	{"conditions", SCHEMA_LATER, WHERE TUNING},
	{"requeueAfter", SCHEMA_LATER, WHERE TUNING},
	{"events", SCHEMA_LATER, WHERE TUNING},
	{"isolation", SCHEMA_LATER, WHERE TUNING},

	/* a child */
	{"id", SCHEMA_TEXT, WHERE SCHEMA_CHILD, .required = true, .syntax = syntax_label,
	 MEANS "name within the controller: $children.ID in expressions, a label on the object"},
	{"forEach", SCHEMA_EACH, WHERE SCHEMA_CHILD,
	 MEANS "{NAME: \"${LIST}\"}: one object for each item, which is $NAME in let, when and template; $children.ID is a list then, by name"},
	{"let", SCHEMA_LET, WHERE SCHEMA_CHILD,
	 MEANS "names of this child's own; they may use those of its controller and of forEach"},
	{"when", SCHEMA_CONDITION, WHERE SCHEMA_CHILD,
	 MEANS "the child is kept while this is true, removed when it is false; without it always kept"},
	{"literal", SCHEMA_BOOL, WHERE SCHEMA_CHILD, "false",
	 MEANS "the template holds no expressions: ${ is text"},
	{"conflict", SCHEMA_WORD, WHERE SCHEMA_CHILD, "force", .words = "force fail",
	 MEANS "fields that another manager owns: take them, or report the conflict"},
	{"template", SCHEMA_TEMPLATE, WHERE SCHEMA_CHILD,
	 MEANS "the object; apiVersion and kind are literals, its namespace is the parent's"},
	{"file", SCHEMA_FILE, WHERE SCHEMA_CHILD,
	 MEANS "a YAML file that holds the template, one object, in the directory of this file or below it"},
	{"dependsOn", SCHEMA_IDS, WHERE SCHEMA_CHILD,
	 MEANS "ids of children that must be ready before this one is applied; what exists of it stays meanwhile"},
	{"readyWhen", SCHEMA_CONDITION, WHERE SCHEMA_CHILD,
	 MEANS "the child ($self) is ready while this is true; without it as its kind says (replicas, phase, conditions)"},
	{"owner", SCHEMA_WORD, WHERE SCHEMA_CHILD, .words = "reference finalizer none",
	 MEANS "what ties it to its parent: an owner reference (within the parent's namespace), a finalizer on the parent (anywhere), nothing; without it reference, or none where it is retained"},
	{"adopt", SCHEMA_BOOL, WHERE SCHEMA_CHILD, "true",
	 MEANS "an object of its name that is there already is taken over; false: it is left alone, and the conflict is reported"},
	{"createOnly", SCHEMA_PATHS, WHERE SCHEMA_CHILD,
	 MEANS "fields, such as spec.replicas, that are ours only when it is made: whoever changes them later has them"},
	{"ignoreFields", SCHEMA_PATHS, WHERE SCHEMA_CHILD,
	 MEANS "fields of the template that are never applied"},
	{"update", SCHEMA_WORD, WHERE SCHEMA_CHILD, "apply", .words = "apply recreate",
	 MEANS "a change of a field that the server holds immutable: report that it is refused, or delete the object and make it anew"},
	{"deletion", SCHEMA_WORD, WHERE SCHEMA_CHILD, .words = "delete retain",
	 MEANS "when it is no longer wanted, or its parent goes; without it retain for Namespace, PersistentVolumeClaim and CustomResourceDefinition, else delete"},
};
/* clang-format on */
const size_t schema_n_keys = sizeof schema_keys / sizeof schema_keys[0];

const struct schema_key *
schema_find(enum schema_place place, const char *path)
{
	for (size_t i = 0; i < schema_n_keys; i++)
		if ((schema_keys[i].places & place) && !strcmp(schema_keys[i].path, path))
			return &schema_keys[i];
	return NULL;
}

unsigned
schema_places_of(const char *path)
{
	unsigned places = 0;

	for (size_t i = 0; i < schema_n_keys; i++)
		if (!strcmp(schema_keys[i].path, path))
			places |= schema_keys[i].places;
	return places;
}

const char *
schema_place_name(unsigned places)
{
	static const struct {
		unsigned places;
		const char *name;
	} names[] = {
		{SCHEMA_FRAGMENT, "a file's top level"},
		{SCHEMA_MAIN, "the main file's top level"},
		{SCHEMA_DEFAULTS, "a controller or defaults"},
		{SCHEMA_CONTROLLER, "a controller"},
		{SCHEMA_CHILD, "a child"},
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (places & names[i].places)
			return names[i].name;
	return "nothing";
}

const char *
schema_suggest(enum schema_place place, const char *prefix, const char *written)
{
	size_t skip = strlen(prefix), length = strlen(written);
	unsigned nearest = length > 3 ? 3 : 2; /* that, or more, is no likeness */
	const char *found = NULL;

	for (size_t i = 0; i < schema_n_keys; i++) {
		const struct schema_key *key = &schema_keys[i];
		const char *name = key->path + skip;
		unsigned d;

		if (!(key->places & place) || key->type == SCHEMA_LATER ||
			strncmp(key->path, prefix, skip) != 0 || strchr(name, '.'))
			continue;
		d = spelling_distance(written, name);
		if (d < nearest) {
			nearest = d;
			found = name;
		}
	}
	return found;
}

bool
schema_is_leaf(const struct schema_key *key)
{
	return key->type != SCHEMA_MAP && key->type != SCHEMA_FILE && key->type != SCHEMA_LATER;
}

static void
describe_range(const struct schema_key *key, struct buf *out)
{
	char low[32], high[32];

	if (key->type == SCHEMA_DURATION) {
		duration_format(low, key->min);
		duration_format(high, key->max);
	} else if (key->type == SCHEMA_BYTES) {
		quantity_format(low, key->min);
		quantity_format(high, key->max);
	} else {
		snprintf(low, sizeof low, "%" PRId64, key->min);
		snprintf(high, sizeof high, "%" PRId64, key->max);
	}
	if (key->type == SCHEMA_NUMBER)
		buf_addf(out, " above %s, at most %s", low, high);
	else
		buf_addf(out, " from %s to %s", low, high);
}

/* "force fail" as "force or fail", "a b c" as "a, b or c" */
static void
describe_words(const char *words, struct buf *out)
{
	for (size_t n; *words; words += n + (words[n] == ' ')) {
		const char *rest;

		n = strcspn(words, " ");
		buf_add(out, words, n);
		rest = words + n;
		if (*rest)
			buf_adds(out, strchr(rest + 1, ' ') ? ", " : " or ");
	}
}

void
schema_describe(const struct schema_key *key, struct buf *out)
{
	static const char *const names[] = {
		[SCHEMA_TEXT] = "text",
		[SCHEMA_BOOL] = "true or false",
		[SCHEMA_INT] = "a whole number",
		[SCHEMA_NUMBER] = "a number",
		[SCHEMA_DURATION] = "a duration",
		[SCHEMA_BYTES] = "an amount of bytes",
		[SCHEMA_MAP] = "a map",
		[SCHEMA_VARS] = "a map of names and values",
		[SCHEMA_DEFAULT_MAP] = "a map of a controller's keys",
		[SCHEMA_CONTROLLERS] = "a list of controllers",
		[SCHEMA_CHILDREN] = "a list of children",
		[SCHEMA_NAMESPACES] = "all or a list of names",
		[SCHEMA_TEXTS] = "a list of texts",
		[SCHEMA_TEXT_LISTS] = "a map of lists of texts",
		[SCHEMA_CONDITION] = "true, false or an expression",
		[SCHEMA_TEMPLATE] = "an object with expressions",
		[SCHEMA_LET] = "a map of names and expressions",
		[SCHEMA_EACH] = "a map of one name and an expression",
		[SCHEMA_IDS] = "a list of ids",
		[SCHEMA_PATHS] = "a list of paths",
		[SCHEMA_FILE] = "a path in place of template",
		[SCHEMA_STATUS] = "a map with expressions",
		[SCHEMA_LATER] = "not supported yet",
	};

	if (key->type == SCHEMA_WORD)
		describe_words(key->words, out);
	else if (key->type == SCHEMA_INT && key->min == key->max)
		buf_addf(out, "%" PRId64, key->min);
	else
		buf_adds(out, names[key->type]);
	if (key->min < key->max && key->type >= SCHEMA_INT && key->type <= SCHEMA_BYTES)
		describe_range(key, out);
}
