/* SPDX-License-Identifier: Apache-2.0 */
/* The status document: what runs, in which state, since when, why, and what it died of. */
#include "config.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/sandbox/sandbox.h"
#include "supervisor/core.h"
#include "supervisor/pages.h"

static void
put_text(struct buf *out, const char *key, const char *text)
{
	buf_addf(out, ",\"%s\":", key);
	json_put_string(out, text, strlen(text));
}

/* A negative number is not known: null. */
static void
put_number(struct buf *out, const char *key, double number)
{
	buf_addf(out, ",\"%s\":", key);
	if (number < 0)
		buf_adds(out, "null");
	else
		json_put_number(out, number);
}

/* 0 is never: null. */
static void
put_time(struct buf *out, const char *key, int64_t wall_ns)
{
	char text[32];

	clock_format_rfc3339(text, wall_ns, 3);
	if (wall_ns > 0)
		buf_addf(out, ",\"%s\":\"%s\"", key, text);
	else
		buf_addf(out, ",\"%s\":null", key);
}

static void
put_death(struct buf *out, const struct death *death)
{
	char when[32];

	clock_format_rfc3339(when, death->wall_ns, 3);
	buf_addf(out, "{\"when\":\"%s\",\"reason\":\"%s\"", when, restart_cause_name(death->cause));
	put_text(out, "text", death->text);
	if (death->cause != RESTART_CAUSE_NOT_FORKED && WIFEXITED(death->status))
		put_number(out, "exitCode", WEXITSTATUS(death->status));
	if (death->cause != RESTART_CAUSE_NOT_FORKED && WIFSIGNALED(death->status))
		put_number(out, "signal", WTERMSIG(death->status));
	put_number(out, "lifetimeSeconds", (double)death->lifetime_ns / 1e9);
	put_text(out, "busy", death->object);
	buf_addc(out, '}');
}

/* The latest at the end. */
static void
put_deaths(struct buf *out, const struct restart *restart)
{
	uint64_t n = restart->total < DEATHS_KEPT ? restart->total : DEATHS_KEPT;

	put_number(out, "deathsTotal", (double)restart->total);
	buf_adds(out, ",\"deaths\":[");
	for (uint64_t i = n; i-- > 0;) {
		put_death(out, restart_death(restart, i));
		if (i > 0)
			buf_addc(out, ',');
	}
	buf_addc(out, ']');
}

static void
put_quarantined(struct buf *out, const struct poison *poison, int64_t now_ns)
{
	const char *comma = "";

	buf_adds(out, ",\"quarantined\":[");
	for (size_t i = 0; i < poison->n; i++) {
		const struct worker_suspect *suspect = &poison->suspects[i];
		if (suspect->until_ns == 0)
			continue;
		buf_addf(out, "%s{\"object\":", comma);
		json_put_string(out, suspect->key, strlen(suspect->key));
		put_number(out, "deaths", suspect->deaths);
		put_text(out, "cause", suspect->cause);
		/* Past it, it waits for its turn, or for a worker. */
		put_number(out, "retrySeconds",
			suspect->until_ns > now_ns ? (double)(suspect->until_ns - now_ns) / 1e9
						   : 0);
		buf_addc(out, '}');
		comma = ",";
	}
	buf_addc(out, ']');
}

/* Objects in the worker's store: the sum over their statuses; negative without a process. */
static double
objects(const struct sup_worker *worker)
{
	double sum = 0;

	if (!worker->pid)
		return -1;
	for (unsigned i = 0; i < metric_slots(&metrics[M_OBJECTS]); i++)
		sum += (double)worker->copy.slots[metric_offset(M_OBJECTS) + i];
	return sum;
}

static void
put_worker(struct buf *out, struct sup_worker *worker, int64_t now_ns)
{
	sup_worker_look(worker);
	buf_adds(out, "{\"name\":");
	json_put_string(out, worker->name, strlen(worker->name));
	buf_addf(out, ",\"pid\":%d,\"generation\":%u,\"required\":%s", (int)worker->pid,
		worker->generation, worker->required ? "true" : "false");
	put_text(out, "state", worker_state_name(worker->state));
	put_text(out, "life", life_name(worker->life));
	put_text(out, "cause", worker->cause);
	put_text(out, "busy", worker->copy.busy_since_ns ? worker->copy.busy_key : "");
	put_text(out, "file", worker->file ? worker->file : "");
	buf_addf(out, ",\"fileValid\":%s",
		worker->file_invalid || !worker->config ? "false" : "true");
	put_time(out, "since", clock_wall_ns() - (now_ns - worker->state_since_ns));
	put_number(out, "sinceSeconds", (double)(now_ns - worker->state_since_ns) / 1e9);
	put_number(out, "restarts", (double)sup_worker_restarts(worker));
	put_number(out, "heartbeatAgeSeconds", sup_worker_heartbeat_age(worker, now_ns));
	put_number(out, "watchAgeSeconds", sup_worker_watch_age(worker, now_ns));
	put_number(out, "objects", objects(worker));
	put_number(
		out, "residentMemoryBytes", worker->pid ? (double)sup_worker_memory(worker) : -1);
	put_deaths(out, &worker->restart);
	put_quarantined(out, &worker->poison, now_ns);
	buf_addc(out, '}');
}

static void
put_config(struct buf *out, const struct supervisor *sup)
{
	buf_adds(out, ",\"config\":{\"path\":");
	json_put_string(out, sup->options->config_path, strlen(sup->options->config_path));
	buf_addf(out, ",\"lastReloadSuccessful\":%s", sup->last_reload_good ? "true" : "false");
	put_time(out, "lastReloadSuccess", sup->last_good_reload_wall_ns);
	buf_adds(out, ",\"files\":[");
	for (size_t i = 0; i < sup->n_files; i++) {
		buf_adds(out, i ? ",{\"path\":" : "{\"path\":");
		json_put_string(out, sup->files[i].path, strlen(sup->files[i].path));
		buf_addf(out, ",\"valid\":%s}", sup->files[i].valid ? "true" : "false");
	}
	buf_adds(out, "]}");
}

/* What the workers' sandbox has to do without: null is nothing. */
static void
put_missing(struct buf *out)
{
	const char *missing = sandbox_missing();

	if (missing)
		put_text(out, "sandboxMissing", missing);
	else
		buf_adds(out, ",\"sandboxMissing\":null");
}

void
status_document(struct supervisor *sup, struct buf *out)
{
	int64_t now_ns = clock_monotonic_ns();

	buf_addf(out, "{\"pid\":%d,\"version\":\"" PACKAGE_VERSION "\"", (int)getpid());
	put_number(out, "uptimeSeconds", (double)(now_ns - sup->started_ns) / 1e9);
	buf_addf(out, ",\"stopping\":%s", sup->stopping ? "true" : "false");
	put_missing(out);
	put_config(out, sup);
	buf_adds(out, ",\"workers\":[");
	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		put_worker(out, worker, now_ns);
		if (worker->next)
			buf_addc(out, ',');
	}
	buf_adds(out, "]}");
}
