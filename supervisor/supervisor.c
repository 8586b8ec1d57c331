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
#include "supervisor/control.h"
#include "supervisor/core.h"
#include "supervisor/http.h"

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

/* --- the configuration at the start --- */

struct wait {
	struct loop *loop;
	cJSON *document;
	struct error *err;
};

static void
on_checked(void *data, cJSON *document, const struct error *err)
{
	struct wait *wait = data;

	wait->document = document;
	if (!document && wait->err)
		*wait->err = *err;
	loop_stop(wait->loop);
}

static cJSON *
check(struct loop *loop, const char *config_path, struct error *err)
{
	struct wait wait = {.loop = loop, .err = err};

	if (checker_start(loop, config_path, on_checked, &wait, err))
		loop_run(loop);
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

/* Reads the configuration; false: it can't be used, which was said on stderr. */
static bool
first_config(struct supervisor *sup, cJSON **ret_document)
{
	struct error err = {0};
	cJSON *document = check(sup->loop, sup->options->config_path, &err);

	if (!document) {
		fprintf(stderr, "operatord: %s\n", err.text);
		return false;
	}
	bool valid = json_bool(document, "valid", false);
	if (valid && config_decode_supervisor(document, &sup->config, &err) < 0) {
		fprintf(stderr, "operatord: %s\n", err.text);
		valid = false;
	}
	supervisor_print(document, "warnings", "warning: ");
	if (!valid || (sup->config.strict_start && json_get(document, "errors", NULL) &&
			      cJSON_GetArraySize(json_get(document, "errors", NULL)) > 0)) {
		size_t n = supervisor_print(document, "errors", "");
		fprintf(stderr,
			"operatord: %zu error%s in the configuration, nothing was started\n", n,
			n == 1 ? "" : "s");
		cJSON_Delete(document);
		return false;
	}
	*ret_document = document;
	return true;
}

/* --- running --- */

static void
stop_when_empty(struct supervisor *sup)
{
	if (sup->stopping && !sup->workers)
		loop_stop(sup->loop);
}

static void
on_stopped(void *data, struct sup_worker *worker)
{
	struct supervisor *sup = data;
	struct sup_worker **at = &sup->workers;

	if (!sup->stopping && !worker->removed)
		return;
	while (*at && *at != worker)
		at = &(*at)->next;
	if (*at)
		*at = worker->next;
	sup_worker_free(worker);
	stop_when_empty(sup);
}

static void
on_tick(void *data)
{
	struct supervisor *sup = data;
	int64_t now_ns = clock_monotonic_ns(), period_ns = sup->shared.heartbeat_ns;
	/* We were stopped, frozen or starved: nobody is judged for that time. */
	bool late = sup->last_tick_ns && now_ns - sup->last_tick_ns > 2 * period_ns;

	sup->last_tick_ns = now_ns;
	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		sup_worker_check(worker, now_ns, late);
	loop_timer_set(sup->tick, period_ns);
}

static void
on_stop_signal(void *data)
{
	struct supervisor *sup = data;
	struct sup_worker *next;

	if (sup->stops++ == 0)
		log_info("stopping %s", sup->workers ? "the workers" : "");
	else
		log_warn("asked to stop again: the grace is shortened");
	sup->stopping = true;
	checker_free(sup->checker);
	sup->checker = NULL;
	for (struct sup_worker *worker = sup->workers; worker; worker = next) {
		next = worker->next; /* stopping may free it */
		worker->removed = true;
		sup_worker_event(worker, LIFE_EVENT_STOP);
	}
	stop_when_empty(sup);
}

static void
on_hangup(void *data)
{
	struct supervisor *sup = data;

	if (!sup->stopping)
		reload_start(sup, NULL, NULL);
}

static void
on_any_child(void *data, pid_t pid, int status)
{
	(void)data;
	(void)status;
	log_debug("reaped pid %d", (int)pid);
}

/* What a child must not inherit: it is for the main process alone (sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3)). */
static void
clean_environment(void)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
		"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

/* OpenSSL's tables are made once here, and shared by every worker until it writes to them: no socket, no key. */
static void
warm_tables(void)
{
	OPENSSL_init_ssl(0, NULL);
	SSL_CTX_free(SSL_CTX_new(TLS_client_method()));
}

static bool
open_doors(struct supervisor *sup)
{
	struct error err = {0};

	if (sup_control_start(sup, sup->options->control, &sup->control, &err) < 0) {
		log_error("%s", err.text);
		return false;
	}
	sup->http = sup_http_start(sup, sup->config.http_listen, &err);
	if (!sup->http && err.code != 0) {
		log_error("%s", err.text);
		return false;
	}
	return true;
}

static void
run(struct supervisor *sup, const cJSON *document)
{
	static const int stop_signals[] = {SIGTERM, SIGINT, SIGQUIT};
	struct loop_signal *signals[4];
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < 3; i++)
		signals[i] = loop_signal_new(sup->loop, stop_signals[i], on_stop_signal, sup);
	signals[3] = loop_signal_new(sup->loop, SIGHUP, on_hangup, sup);
	struct loop_child *any = loop_child_new(sup->loop, 0, on_any_child, NULL);
	sup->tick = loop_timer_new(sup->loop, on_tick, sup);
	sup->last_reload_good = reload_apply(sup, document, &text) == 0;
	sup->last_good_reload_wall_ns = sup->last_reload_good ? clock_wall_ns() : 0;
	if (!sup->last_reload_good)
		log_error("the configuration has errors:\n%s", text.data);
	buf_free(&text);
	on_tick(sup);
	loop_run(sup->loop);
	loop_timer_free(sup->tick);
	loop_child_free(any);
	for (size_t i = 0; i < 4; i++)
		loop_signal_free(signals[i]);
}

static void
tear_down(struct supervisor *sup)
{
	sup_http_stop(sup->http);
	sup_control_stop(sup->control);
	checker_free(sup->checker);
	for (size_t i = 0; i < sup->n_files; i++)
		free(sup->files[i].path);
	free(sup->files);
	config_supervisor_clear(&sup->config);
	loop_free(sup->loop);
}

int
supervisor_run(const struct supervisor_options *options)
{
	struct supervisor sup = {.options = options,
		.started_ns = clock_monotonic_ns(),
		.started_wall_ns = clock_wall_ns()};
	cJSON *document = NULL;
	int code = EXIT_CONFIG;

	clean_environment();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER,
		1); /* orphans of our workers are ours to reap, as they are for PID 1 */
	sup.loop = loop_new(true);
	if (first_config(&sup, &document)) {
		log_open(options->log_level >= 0 ? (enum log_level)options->log_level
						 : sup.config.log_level,
			sup.config.log_format);
		sup.shared = (struct sup_shared){.loop = sup.loop,
			.worker_main = options->worker_main,
			.heartbeat_ns = sup.config.heartbeat_ns,
			.stop_grace_ns = sup.config.stop_grace_ns,
			.kill_grace_ns = sup.config.kill_grace_ns,
			.stopped = on_stopped,
			.data = &sup};
		code = EXIT_TROUBLE;
		if (open_doors(&sup)) {
			warm_tables();
			log_info("operatord " PACKAGE_VERSION " (pid %d), configuration %s",
				(int)getpid(), options->config_path);
			run(&sup, document);
			code = sup.shared.had_to_kill ? EXIT_TROUBLE : EXIT_STOPPED;
			log_info("stopped");
		}
		cJSON_Delete(document);
	}
	tear_down(&sup);
	return code;
}
