/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the program when it is asked, and makes of what it printed a credential or of what went wrong one line. Keeps nothing: when to ask is
 * renewal.c's, what is in use credentials.c's.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/kube/exec.h"
#include "common/kube/exec_answer.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/runner/runner.h"

#define TIMEOUT_NS   (60 * NSEC_PER_SEC)
#define GRACE_NS     (2 * NSEC_PER_SEC)
#define ANSWER_LIMIT ((size_t)1 << 20)

struct exec_source {
	const struct kube_exec *exec;
	char *path, *directory;
	const char **argv;
	struct runner_command command;
	struct runner *runner;
	struct loop_timer *refusal; /* answers for a runner that is gone */
	void (*answer)(void *owner, const struct kube_credential *credential, const char *why);
	void *owner;
	void (*lost)(void *data);
	void *data;
};

/* --- where it is --- */

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Relative entries are skipped: what is found must not depend on where we stand. Caller frees. */
static char *
look_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = xstrdup(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin"), *rest = copy;
	char *found = NULL, *entry;

	while (found == NULL && (entry = strsep(&rest, ":")) != NULL) {
		char *full = *entry == '/' ? xasprintf("%s/%s", entry, name) : NULL;
		if (full != NULL && is_program(full))
			found = full;
		else
			free(full);
	}
	free(copy);
	return found;
}

/* The hint is a configuration's text, perhaps of many lines; a condition and a log have one. */
static void
add_hint(const struct kube_exec *exec, struct error *err)
{
	char text[256];
	size_t n = 0;

	if (exec->install_hint == NULL)
		return;
	for (const char *c = exec->install_hint; *c != '\0' && n < sizeof(text) - 1; c++)
		text[n++] = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
	text[n] = '\0';
	struct error before = *err;
	error_set(err, before.code, "%s; %s", before.text, text);
}

static int
find_program(struct exec_source *s, struct error *err)
{
	const char *command = s->exec->argv[0];

	s->path = strchr(command, '/') != NULL ? xstrdup(command) : look_in_path(command);
	if (s->path != NULL)
		return 0;
	error_set(err, -ENOENT, "credential program %s: not found in PATH", command);
	add_hint(s->exec, err);
	return -ENOENT;
}

/* --- a run --- */

static void
give(struct exec_source *s, const struct kube_credential *credential, const char *why)
{
	void (*answer)(void *owner, const struct kube_credential *credential, const char *why) =
		s->answer;

	s->answer = NULL;
	if (credential == NULL)
		log_warn("%s", why);
	/* May free the source. */
	answer(s->owner, credential, why);
}

static void
give_trouble(struct exec_source *s, const struct runner_result *result)
{
	struct error err;
	char text[256];

	runner_result_text(result, text, sizeof(text));
	error_set(&err, -EIO, "credential program %s %s%s%s", s->exec->argv[0], text,
		*result->last_line != '\0' ? ": " : "", result->last_line);
	if (result->outcome == RUNNER_NOT_STARTED) {
		error_set(&err, -result->error, "credential program: %s", text);
		if (result->error == ENOENT)
			add_hint(s->exec, &err);
	}
	give(s, NULL, err.text);
}

static void
on_done(void *data, const struct runner_result *result)
{
	struct exec_source *s = data;
	struct kube_credential credential;
	struct error err = {0};
	cJSON *json = NULL;

	if (result->outcome != RUNNER_EXITED || result->code != 0) {
		give_trouble(s, result);
		return;
	}
	if (exec_answer_parse(result->answer, result->answer_length, s->exec->api_version,
		    &credential, &json, &err) < 0) {
		error_prefix(&err,
			"credential program %s exited with code 0, but its answer is no credential",
			s->exec->argv[0]);
		give(s, NULL, err.text);
		return;
	}
	log_debug("a credential from %s, after %lld ms", s->exec->argv[0],
		(long long)(result->duration_ns / NSEC_PER_MSEC));
	give(s, &credential, NULL);
	exec_answer_free(json);
}

static void
on_line(void *data, int fd, const char *text, size_t length)
{
	const struct exec_source *s = data;

	(void)fd;
	log_info("credential program %s: %.*s", s->exec->argv[0], (int)length, text);
}

static void
on_refusal(void *data)
{
	give(data, NULL, "no credential: the runner of the credential program is gone");
}

static void
ask(void *data,
	void (*answer)(void *owner, const struct kube_credential *credential, const char *why),
	void *owner)
{
	struct exec_source *s = data;
	const struct runner_request request = {.done = on_done, .line = on_line, .data = s};

	s->answer = answer;
	s->owner = owner;
	if (runner_start(s->runner, &request, NULL, NULL) < 0)
		loop_timer_set(s->refusal, 0);
}

/* --- its life --- */

static void
on_lost(void *data)
{
	struct exec_source *s = data;

	log_error("the runner of the credential program is gone");
	if (s->lost != NULL)
		s->lost(s->data);
}

static void
source_free(void *data)
{
	struct exec_source *s = data;

	runner_free(s->runner);
	loop_timer_free(s->refusal);
	free(s->argv);
	free(s->path);
	free(s->directory);
	free(s);
}

static void
fill_command(struct exec_source *s)
{
	size_t n = 0;

	while (s->exec->argv[n] != NULL)
		n++;
	s->argv = xcalloc(n + 1, sizeof(*s->argv));
	memcpy(s->argv, s->exec->argv, n * sizeof(*s->argv));
	s->argv[0] = s->path;
	s->directory = getcwd(NULL, 0);
	s->command = (struct runner_command){.name = "credentials",
		.argv = s->argv,
		.env = (const char *const *)s->exec->env,
		.inherit_env = true,
		.directory = s->directory,
		.answer = RUNNER_ANSWER_STDOUT,
		.answer_limit = ANSWER_LIMIT,
		.timeout_ns = TIMEOUT_NS,
		.kill_grace_ns = GRACE_NS};
}

int
kube_exec_new(struct loop *loop, const struct kube_target *target, const char *name,
	void (*lost)(void *data), void *data, struct kube_source *ret, struct error *err)
{
	struct exec_source *s = xcalloc(1, sizeof(*s));
	struct runner_options options = {.commands = &s->command,
		.n_commands = 1,
		.concurrency = 1,
		.lost = on_lost,
		.data = s};
	char *title;
	int r;

	s->exec = target->exec;
	s->lost = lost;
	s->data = data;
	s->refusal = loop_timer_new(loop, on_refusal, s);
	r = find_program(s, err);
	if (r == 0) {
		fill_command(s);
		title = xasprintf("%s: runner%s%s", program_invocation_short_name,
			name != NULL ? " " : "", name != NULL ? name : "");
		options.title = title;
		r = runner_new(loop, &options, &s->runner, err);
		free(title);
	}
	if (r < 0) {
		source_free(s);
		return r;
	}
	*ret = (struct kube_source){.ask = ask, .free = source_free, .data = s};
	return 0;
}
