/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: /livez asks whether this loop turns, /healthz whether something is stuck that should not be (a stale heartbeat beyond its remedy, a watch
 * older than twice its bound while the server answers others), /readyz whether every required worker is live.
 */
#include "config.h"

#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "supervisor/core.h"
#include "supervisor/pages.h"

#define STALE_PERIODS 4 /* one more than after which it is ended */

/* Some watch of another worker is fresh: then an old one is this worker's own trouble, not the server's. */
static bool
server_answers_others(const struct supervisor *sup, const struct sup_worker *than, int64_t now_ns)
{
	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		double age = sup_worker_watch_age(worker, now_ns);
		if (worker != than && age >= 0 && age * 1e9 < (double)worker->watch_silence_ns)
			return true;
	}
	return false;
}

/* Why this worker is not well in the eyes of the page; NULL: it is. alone: who asks for this one by name wants to know even if it is not required. */
static const char *
trouble_of(const struct supervisor *sup, enum health_page page, const struct sup_worker *worker,
	bool alone, int64_t now_ns)
{
	if (page == HEALTH_READY) {
		/* One that the configuration has no more keeps nobody from being ready. */
		bool leaves = worker->removed && worker->life == LIFE_REMOVING;
		if (sup_worker_ready(worker) || !((worker->required && !leaves) || alone))
			return NULL;
		return worker_state_name(worker->state);
	}
	if (page == HEALTH_LIVE || worker->pid == 0)
		return NULL;
	if (worker->life == LIFE_ENDING ||
		sup_worker_heartbeat_age(worker, now_ns) * 1e9 >
			(double)(STALE_PERIODS * sup->shared.heartbeat_ns))
		return "its heartbeat is stale";
	if (sup_worker_watch_age(worker, now_ns) * 1e9 <= 2 * (double)worker->watch_silence_ns)
		return NULL;
	/* Live with a dead watch contradicts itself; out of reach, it may be the server's trouble. */
	if (worker->state == WORKER_LIVE || server_answers_others(sup, worker, now_ns))
		return "its watch is stale";
	return NULL;
}

/* A file so bad that not even the names in it could be read: what is in it does not run, and nobody stands for it in the list. */
static bool
is_unknown(const struct supervisor *sup, const struct sup_file *file)
{
	if (file->valid)
		return false;
	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		if (worker->file && strcmp(worker->file, file->path) == 0)
			return false;
	return true;
}

static bool
put_unknown_files(const struct supervisor *sup, struct buf *list, bool json, bool first)
{
	bool any = false;

	for (size_t i = 0; i < sup->n_files; i++) {
		const char *path = sup->files[i].path;
		if (!is_unknown(sup, &sup->files[i]))
			continue;
		any = true;
		if (json) {
			buf_adds(list, first ? "{\"file\":" : ",{\"file\":");
			json_put_string(list, path, strlen(path));
			buf_adds(list, ",\"ok\":false,\"state\":\"config-invalid\"}");
		} else {
			buf_addf(list, "[-] %s: config-invalid\n", path);
		}
		first = false;
	}
	return any;
}

/* "; 2 deaths in 300 s, the last 3 s ago: killed by SIGSEGV; 1 object quarantined" */
static void
put_history(struct buf *out, const struct sup_worker *worker, int64_t now_ns)
{
	const struct death *last = restart_death(&worker->restart, 0);
	unsigned recent = restart_recent(&worker->restart, now_ns);
	size_t held = poison_held(&worker->poison);

	if (recent > 0)
		buf_addf(out, "; %u death%s in 300 s, the last %.0f s ago: %s", recent,
			recent == 1 ? "" : "s", (double)(now_ns - last->when_ns) / 1e9, last->text);
	if (held > 0)
		buf_addf(out, "; %zu object%s quarantined", held, held == 1 ? "" : "s");
}

static void
put_text(struct buf *out, const struct sup_worker *worker, const char *trouble, int64_t now_ns)
{
	buf_addf(out, "[%c] %s: %s", trouble ? '-' : '+', worker->name,
		worker_state_name(worker->state));
	if (trouble && strcmp(trouble, worker_state_name(worker->state)) != 0)
		buf_addf(out, " (%s)", trouble);
	if (*worker->cause)
		buf_addf(out, ": %s", worker->cause);
	put_history(out, worker, now_ns);
	buf_addc(out, '\n');
}

static void
put_json(struct buf *out, const struct sup_worker *worker, const char *trouble, bool first)
{
	buf_adds(out, first ? "{\"name\":" : ",{\"name\":");
	json_put_string(out, worker->name, strlen(worker->name));
	buf_addf(out, ",\"ok\":%s,\"required\":%s,\"state\":\"%s\",\"cause\":",
		trouble ? "false" : "true", worker->required ? "true" : "false",
		worker_state_name(worker->state));
	json_put_string(out, worker->cause, strlen(worker->cause));
	if (trouble) {
		buf_adds(out, ",\"trouble\":");
		json_put_string(out, trouble, strlen(trouble));
	}
	buf_addc(out, '}');
}

unsigned
health_page(const struct supervisor *sup, enum health_page page, const char *name, bool verbose,
	bool json, struct buf *out)
{
	int64_t now_ns = clock_monotonic_ns();
	bool good = !(page == HEALTH_READY && sup->stopping), first = true, found = !name;
	struct buf list = BUF_INIT;

	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		if (name && strcmp(name, worker->name) != 0)
			continue;
		found = true;
		sup_worker_look(worker);
		const char *trouble = trouble_of(sup, page, worker, name != NULL, now_ns);
		good = good && !trouble;
		if (json)
			put_json(&list, worker, trouble, first);
		else if (verbose || trouble)
			put_text(&list, worker, trouble, now_ns);
		first = false;
	}
	if (page == HEALTH_READY && !name && put_unknown_files(sup, &list, json, first))
		good = false;
	if (!found) {
		buf_adds(out, "no controller has this name\n");
		buf_free(&list);
		return 404;
	}
	if (json)
		buf_addf(out, "{\"ok\":%s,\"stopping\":%s,\"workers\":[%s]}\n",
			good ? "true" : "false", sup->stopping ? "true" : "false", list.data);
	else
		buf_addf(out, "%s%s%s\n", list.data, sup->stopping ? "stopping\n" : "",
			good ? "ok" : "not ok");
	buf_free(&list);
	return good ? 200 : 503;
}
