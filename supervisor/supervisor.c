/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: reads the configuration (in the checker), runs a worker for each controller, looks after them, and stops them all. It does no
 * Kubernetes traffic, reads no credentials, never blocks. After the start an error is something to report and go on from.
 */
#include "config.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "common/sandbox/sandbox.h"
#include "supervisor/control.h"
#include "supervisor/core.h"
#include "supervisor/http.h"
#include "supervisor/oom.h"
#include "supervisor/service.h"

struct sup_worker *
supervisor_find(const struct supervisor *sup, const char *name)
{
	struct sup_worker *worker = sup->workers;

	while (worker && strcmp(worker->name, name) != 0)
		worker = worker->next;
	return worker;
}

void
supervisor_add(struct supervisor *sup, struct sup_worker *worker)
{
	struct sup_worker **at = &sup->workers;

	while (*at && strcmp((*at)->name, worker->name) < 0)
		at = &(*at)->next;
	worker->next = *at;
	*at = worker;
}

enum log_level
supervisor_log_level(const struct supervisor *sup)
{
	if (sup->log_level_asked >= 0)
		return (enum log_level)sup->log_level_asked;
	return sup->options->log_level >= 0 ? (enum log_level)sup->options->log_level
					    : sup->config.log_level;
}

void
supervisor_pass_log_level(struct supervisor *sup, enum log_level before)
{
	enum log_level level = supervisor_log_level(sup);

	if (level == before)
		return;
	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		sup_worker_send(worker, RECORD_LOG_LEVEL, (int32_t)level);
}

void
supervisor_ask_log_level(struct supervisor *sup, int level)
{
	enum log_level before = supervisor_log_level(sup);

	sup->log_level_asked = level;
	log_set_level(supervisor_log_level(sup));
	supervisor_pass_log_level(sup, before);
	log_info("the log's level is %s, was %s", log_level_name(supervisor_log_level(sup)),
		log_level_name(before));
}

/* --- the configuration at the start --- */

struct wait {
	struct loop *loop;
	cJSON *document;
	struct error *err;
	bool done;
};

static void
on_checked(void *data, cJSON *document, const struct error *err)
{
	struct wait *wait = data;

	wait->document = document;
	wait->done = true;
	if (!document && wait->err)
		*wait->err = *err;
	loop_stop(wait->loop);
}

/* NULL without an error: the loop was stopped by something else. */
static cJSON *
check(struct loop *loop, const char *config_path, struct error *err)
{
	struct wait wait = {.loop = loop, .err = err};
	struct checker *checker = checker_start(loop, config_path, on_checked, &wait, err);

	if (!checker)
		return NULL;
	loop_run(loop);
	if (!wait.done)
		checker_free(checker);
	return wait.document;
}

cJSON *
supervisor_check(const char *config_path, struct error *err)
{
	struct loop *loop = loop_new(true);
	cJSON *document = check(loop, config_path, err);

	loop_free(loop);
	return document;
}

size_t
supervisor_print(const cJSON *document, const char *list, const char *before)
{
	const cJSON *line;
	size_t n = 0;

	cJSON_ArrayForEach(line, json_get(document, list, NULL))
	{
		fprintf(stderr, "%s%s\n", before, cJSON_IsString(line) ? line->valuestring : "?");
		n++;
	}
	return n;
}

/* Reads the configuration. EXIT_STOPPED with a document, or without one when asked to stop meanwhile; else what is wrong was said on stderr. */
static int
first_config(struct supervisor *sup, cJSON **ret_document)
{
	struct error err = {0};
	config_state_take(sup->options->config_path, &sup->loaded);
	cJSON *document = check(sup->loop, sup->options->config_path, &err);

	if (!document && sup->stopping)
		return EXIT_STOPPED;
	if (document)
		reload_note_templates(sup, document);
	bool good = document && json_bool(document, "valid", false) &&
		    config_decode_supervisor(document, &sup->config, &err) == 0;
	if (err.code)
		fprintf(stderr, "operatord: %s\n", err.text);
	if (good && (!sup->config.strict_start || apply_is_whole(document))) {
		*ret_document = document;
		return EXIT_STOPPED;
	}
	supervisor_print(document, "warnings", "warning: ");
	size_t n = supervisor_print(document, "errors", "");
	if (n > 0)
		fprintf(stderr,
			"operatord: %zu error%s in the configuration, nothing was started\n", n,
			n == 1 ? "" : "s");
	cJSON_Delete(document);
	return EXIT_CONFIG;
}

/* --- running --- */

static void
on_tick(void *data)
{
	struct supervisor *sup = data;
	int64_t now_ns = clock_monotonic_ns(), period_ns = sup->shared.heartbeat_ns;
	/* Nobody is judged for the time that we were away. */
	bool late = sup_is_late(&sup->last_tick_ns, now_ns, period_ns);

	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		sup_worker_check(worker, now_ns, late);
	log_flush(false);
	loop_timer_set(sup->tick, period_ns);
}

static void
on_stop_signal(void *data)
{
	stop_request(data);
}

static void
on_hangup(void *data)
{
	reload_start(data, NULL, NULL);
}

/* Debug, and back to what it was. */
static void
on_user_signal(void *data)
{
	struct supervisor *sup = data;

	if (!sup->configured)
		return;
	supervisor_ask_log_level(
		sup, sup->log_level_asked == LOG_LEVEL_DEBUG ? -1 : LOG_LEVEL_DEBUG);
}

static void
on_any_child(void *data, pid_t pid, int status)
{
	(void)data;
	(void)status;
	log_debug("reaped pid %d", (int)pid);
}

/* OpenSSL's tables are made once here, and shared by every worker until it writes to them: no socket, no key. */
static void
warm_tables(void)
{
	OPENSSL_init_ssl(0, NULL);
	SSL_CTX_free(SSL_CTX_new(TLS_client_method()));
}

static int
open_doors(struct supervisor *sup)
{
	struct error err = {0};

	if (sup_control_start(sup, sup->options->control, &sup->control, &err) < 0)
		goto fail;
	sup->http = sup_http_start(sup, sup->config.http_listen, &err);
	if (sup->http || err.code == 0)
		return EXIT_STOPPED;
fail:
	log_error("not started: %s", err.text);
	return err.code == -EACCES || err.code == -EPERM ? EXIT_NO_PERMISSION : EXIT_TROUBLE;
}

/* Once, and not by each worker: they go on with what there is. */
static void
say_what_is_missing(void)
{
	const char *missing = sandbox_missing();

	if (missing)
		log_warn("this system has no %s: workers run with the confinement that is left",
			missing);
}

/* Everything up to the first workers. */
static int
start(struct supervisor *sup)
{
	cJSON *document = NULL;
	struct sup_report report = {BUF_INIT, BUF_INIT};
	int code = first_config(sup, &document);

	if (code != EXIT_STOPPED || sup->stopping)
		goto out;
	log_open(supervisor_log_level(sup), sup->config.log_format);
	log_hold_repeats();
	code = open_doors(sup);
	if (code != EXIT_STOPPED)
		goto out;
	warm_tables();
	log_info("operatord " PACKAGE_VERSION " (pid %d), configuration %s", (int)getpid(),
		sup->options->config_path);
	say_what_is_missing();
	sup->last_reload_good = reload_apply(sup, document, &report) == EXIT_STOPPED;
	sup->last_good_reload_wall_ns = sup->last_reload_good ? clock_wall_ns() : 0;
	reload_log("configuration", sup->last_reload_good ? EXIT_STOPPED : EXIT_CONFIG, &report);
	sup->configured = true;
	on_tick(sup);
	service_ready(sup->service);
	reload_next(sup);
out:
	sup_report_clear(&report);
	cJSON_Delete(document);
	return code;
}

enum { SIGNALS = 5 };

/* Before the first fork, so that none is lost; as PID 1 those without a handler would be ignored. */
static void
watch_signals(struct supervisor *sup, struct loop_signal *ret[SIGNALS])
{
	static const int stops[] = {SIGTERM, SIGINT, SIGQUIT};
	sigset_t none;

	for (int i = 0; i < SIGNALS - 2; i++)
		ret[i] = loop_signal_new(sup->loop, stops[i], on_stop_signal, sup);
	ret[SIGNALS - 2] = loop_signal_new(sup->loop, SIGHUP, on_hangup, sup);
	ret[SIGNALS - 1] = loop_signal_new(sup->loop, SIGUSR2, on_user_signal, sup);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a log that reached RLIMIT_FSIZE */
	signal(SIGUSR1, SIG_IGN);
	/* Whoever started us may have blocked some. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
tear_down(struct supervisor *sup)
{
	sup_http_stop(sup->http);
	reload_cancel(sup);
	sup_control_stop(sup->control);
	loop_timer_free(sup->tick);
	for (size_t i = 0; i < sup->n_files; i++)
		free(sup->files[i].path);
	free(sup->files);
	config_supervisor_clear(&sup->config);
	cJSON_Delete(sup->templates);
}

int
supervisor_run(const struct supervisor_options *options)
{
	struct supervisor sup = {.options = options,
		.log_level_asked = -1,
		.started_ns = clock_monotonic_ns(),
		.started_wall_ns = clock_wall_ns()};
	struct loop_signal *signals[SIGNALS];

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0,
		0); /* orphans of our workers are ours to reap, as they are for PID 1 */
	sup.loop = loop_new(true);
	sup.shared = (struct sup_shared){.loop = sup.loop,
		.worker_main = options->worker_main,
		.workers = &sup.workers,
		.stopped = stop_on_stopped,
		.data = &sup,
		.oom_kills = oom_kills(OOM_MOUNTS, OOM_MEMBERSHIP)};
	watch_signals(&sup, signals);
	sup.service = service_new(&sup, sup.loop);
	struct loop_child *any = loop_child_new(sup.loop, 0, on_any_child, NULL);
	sup.tick = loop_timer_new(sup.loop, on_tick, &sup);
	int code = start(&sup);
	if (code == EXIT_STOPPED && !(sup.stopping && !sup.configured))
		loop_run(sup.loop);
	if (code == EXIT_STOPPED) {
		code = sup.shared.had_to_kill ? EXIT_TROUBLE : EXIT_STOPPED;
		log_info("stopped%s", code == EXIT_STOPPED ? "" : "; not every worker by itself");
	}
	log_flush(true);
	tear_down(&sup);
	service_free(sup.service);
	loop_child_free(any);
	for (int i = 0; i < SIGNALS; i++)
		loop_signal_free(signals[i]);
	loop_free(sup.loop);
	return code;
}
