/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics page: each family once, with the samples of all workers together. What workers measure is declared in common/metrics.c, what the
 * supervisor sees itself in the table here; the page and docs/metrics.md are printed from these two.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "supervisor/core.h"
#include "supervisor/pages.h"
#include "supervisor/usage.h"

struct own_metric {
	const char *name, *labels, *help; /* labels: for the document */
	enum metric_type type;
	/* One of them: a number of each worker (a negative one is not known and left out), one of the supervisor, or samples of its own. */
	double (*of_worker)(const struct sup_worker *worker, int64_t now_ns);
	double (*of_supervisor)(const struct supervisor *sup);
	void (*put)(struct buf *out, const char *name, const struct supervisor *sup);
};

/* --- the numbers --- */

static double
memory(const struct sup_worker *worker, int64_t now_ns)
{
	(void)now_ns;
	return worker->pid ? (double)sup_worker_memory(worker) : -1;
}

static double
quarantined(const struct sup_worker *worker, int64_t now_ns)
{
	(void)now_ns;
	return (double)poison_held(&worker->poison);
}

static void
put_labelled(struct buf *out, const char *name, const struct sup_worker *worker, const char *label,
	const char *value, unsigned long long number)
{
	buf_adds(out, name);
	buf_addc(out, '{');
	metrics_put_label(out, "controller", worker->name);
	buf_addc(out, ',');
	metrics_put_label(out, label, value);
	buf_addf(out, "} %llu\n", number);
}

static void
put_restarts(struct buf *out, const char *name, const struct supervisor *sup)
{
	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		for (int cause = 0; cause < RESTART_CAUSE_MAX; cause++)
			put_labelled(out, name, worker, "reason",
				restart_cause_name((enum restart_cause)cause),
				worker->restarts[cause]);
}

static void
put_states(struct buf *out, const char *name, const struct supervisor *sup)
{
	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		for (int state = 0; state < WORKER_STATE_MAX; state++)
			put_labelled(out, name, worker, "state",
				worker_state_name((enum worker_state)state),
				worker->state == (enum worker_state)state);
}

static void
put_files(struct buf *out, const char *name, const struct supervisor *sup)
{
	for (size_t i = 0; i < sup->n_files; i++) {
		buf_adds(out, name);
		buf_addc(out, '{');
		metrics_put_label(out, "file", sup->files[i].path);
		buf_addf(out, "} %d\n", sup->files[i].valid);
	}
}

static void
put_build(struct buf *out, const char *name, const struct supervisor *sup)
{
	(void)sup;
	buf_addf(out, "%s{version=\"" PACKAGE_VERSION "\"} 1\n", name);
}

static double
reload_good(const struct supervisor *sup)
{
	return sup->last_reload_good;
}

static double
reload_time(const struct supervisor *sup)
{
	return (double)sup->last_good_reload_wall_ns / 1e9;
}

static double
lost_lines(const struct supervisor *sup)
{
	(void)sup;
	return (double)log_dropped();
}

static double
repeated_lines(const struct supervisor *sup)
{
	(void)sup;
	return (double)log_repeated();
}

static double
start_time(const struct supervisor *sup)
{
	return (double)sup->started_wall_ns / 1e9;
}

/* Of the process that asks: the names are those of Prometheus' clients. */
#define USAGE(what)                                      \
	static double what(const struct supervisor *sup) \
	{                                                \
		(void)sup;                               \
		return usage_##what();                   \
	}
USAGE(cpu_seconds)
USAGE(resident_bytes)
USAGE(virtual_bytes)
USAGE(open_fds)
USAGE(max_fds)

/* clang-format off */
static const struct own_metric own[] = {
	{"operatord_worker_state", "controller, state", "1 for the state that the worker is in.",
		METRIC_GAUGE, .put = put_states},
	{"operatord_worker_restarts_total", "controller, reason", "Starts of a worker after its first, by how the life before ended.",
		METRIC_COUNTER, .put = put_restarts},
	{"operatord_worker_heartbeat_age_seconds", "controller", "Seconds since the worker's event loop last turned.",
		METRIC_GAUGE, .of_worker = sup_worker_heartbeat_age},
	{"operatord_worker_watch_age_seconds", "controller", "Seconds since the worker last heard from its watch.",
		METRIC_GAUGE, .of_worker = sup_worker_watch_age},
	{"operatord_worker_resident_memory_bytes", "controller", "Resident memory of the worker's process.",
		METRIC_GAUGE, .of_worker = memory},
	{"operatord_quarantined_objects", "controller", "Objects that ended their worker more than once and are left alone for now.",
		METRIC_GAUGE, .of_worker = quarantined},
	{"operatord_worker_cpu_seconds_total", "controller", "User and system CPU time of the worker's processes, earlier ones included.",
		METRIC_COUNTER, .of_worker = sup_worker_cpu},
	{"operatord_config_last_reload_successful", "", "1 if the last reading of the configuration found no error.",
		METRIC_GAUGE, .of_supervisor = reload_good},
	{"operatord_config_last_reload_success_timestamp_seconds", "", "When the configuration was last read without an error.",
		METRIC_GAUGE, .of_supervisor = reload_time},
	{"operatord_config_file_valid", "file", "1 if the last reading of this file found no error.",
		METRIC_GAUGE, .put = put_files},
	{"operatord_supervisor_log_lines_dropped_total", "", "Log lines of the supervisor that stderr did not take.",
		METRIC_COUNTER, .of_supervisor = lost_lines},
	{"operatord_supervisor_log_lines_repeated_total", "", "Log lines of the supervisor that were held back as repetitions.",
		METRIC_COUNTER, .of_supervisor = repeated_lines},
	{"operatord_build_info", "version", "1, with the version as a label.",
		METRIC_GAUGE, .put = put_build},
	{"process_start_time_seconds", "", "Start time of the supervisor since the epoch.",
		METRIC_GAUGE, .of_supervisor = start_time},
	{"process_cpu_seconds_total", "", "User and system CPU time of the supervisor.",
		METRIC_COUNTER, .of_supervisor = cpu_seconds},
	{"process_resident_memory_bytes", "", "Resident memory of the supervisor.",
		METRIC_GAUGE, .of_supervisor = resident_bytes},
	{"process_virtual_memory_bytes", "", "Virtual memory of the supervisor.",
		METRIC_GAUGE, .of_supervisor = virtual_bytes},
	{"process_open_fds", "", "Open file descriptors of the supervisor.",
		METRIC_GAUGE, .of_supervisor = open_fds},
	{"process_max_fds", "", "Most file descriptors that the supervisor may have open.",
		METRIC_GAUGE, .of_supervisor = max_fds},
};
/* clang-format on */
#define OWN (sizeof(own) / sizeof(own[0]))

/* --- the page --- */

static void
put_workers(struct buf *out, const struct own_metric *m, const struct supervisor *sup)
{
	int64_t now_ns = clock_monotonic_ns();

	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		double value = m->of_worker(worker, now_ns);
		if (value < 0)
			continue;
		buf_adds(out, m->name);
		buf_addc(out, '{');
		metrics_put_label(out, "controller", worker->name);
		buf_addf(out, "} %.10g\n", value);
	}
}

static void
put_own(struct buf *out, const struct own_metric *m, const struct supervisor *sup)
{
	const struct metric header = {.name = m->name, .help = m->help, .type = m->type};

	metrics_put_header(out, &header);
	if (m->put)
		m->put(out, m->name, sup);
	else if (m->of_worker)
		put_workers(out, m, sup);
	else
		buf_addf(out, "%s %.15g\n", m->name, m->of_supervisor(sup));
}

/* Who has a label of the same value in client-go: workqueue_* its queue's name, rest_client_* its server's. */
static const struct {
	const char *prefix, *label;
} more_labels[] = {{"workqueue_", "name"}, {"rest_client_", "host"}};
#define MORE_LABELS (sizeof(more_labels) / sizeof(more_labels[0]))

static const char *
more_label(const struct metric *metric)
{
	for (size_t i = 0; i < MORE_LABELS; i++)
		if (strncmp(metric->name, more_labels[i].prefix, strlen(more_labels[i].prefix)) ==
			0)
			return more_labels[i].label;
	return NULL;
}

/* The labels that every series of a worker has for this metric. */
static void
constant_labels(struct buf *out, const struct sup_worker *worker, const struct metric *metric)
{
	const char *more = more_label(metric);

	buf_reset(out);
	metrics_put_label(out, "controller", worker->name);
	if (!more)
		return;
	buf_addc(out, ',');
	metrics_put_label(
		out, more, strcmp(more, "host") == 0 ? worker->server_host : worker->name);
}

static void
put_measured(struct buf *out, enum metric_id id, const struct supervisor *sup, uint64_t *slots)
{
	struct buf labels = BUF_INIT;

	metrics_put_header(out, &metrics[id]);
	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		/* A process that is not there has no queue and no objects, not none of them. */
		if (metrics[id].type == METRIC_GAUGE && worker->pid == 0)
			continue;
		sup_worker_slots(worker, id, slots);
		constant_labels(&labels, worker, &metrics[id]);
		if (metrics[id].labels[0].numbered)
			metrics_put_numbered(out, &metrics[id], labels.data, slots,
				worker->children, worker->n_children);
		else
			metrics_put_samples(out, &metrics[id], labels.data, slots);
	}
	buf_free(&labels);
}

void
metrics_page(struct supervisor *sup, struct buf *out)
{
	uint64_t *slots = xcalloc(METRIC_SLOTS_MAX, sizeof(*slots));

	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		sup_worker_look(worker);
	for (unsigned id = 0; id < METRIC_ID_MAX; id++)
		put_measured(out, (enum metric_id)id, sup, slots);
	for (size_t i = 0; i < OWN; i++)
		put_own(out, &own[i], sup);
	free(slots);
}

/* --- the document --- */

/* "<error>" would be taken for a tag. */
static void
put_markdown(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '<')
			buf_adds(out, "&lt;");
		else
			buf_addc(out, *text);
}

static void
put_row(struct buf *out, const char *name, enum metric_type type, const char *labels,
	const char *help)
{
	static const char *const types[] = {[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram"};

	buf_addf(out, "| `%s` | %s | ", name, types[type]);
	put_markdown(out, labels);
	buf_adds(out, " | ");
	put_markdown(out, help);
	buf_adds(out, " |\n");
}

/* "controller, code (200, 201 ...), method (...), host" */
static void
describe_labels(struct buf *out, const struct metric *metric)
{
	const char *more = more_label(metric);

	buf_reset(out);
	buf_adds(out, "controller");
	for (int i = 0; i < 2 && metric->labels[i].name; i++) {
		const struct metric_label *label = &metric->labels[i];

		buf_addf(out, ", %s", label->name);
		if (label->numbered)
			continue;
		buf_adds(out, " (");
		for (unsigned v = 0; v < label->n_values; v++)
			buf_addf(out, "%s%s", v ? ", " : "", label->values[v]);
		buf_addc(out, ')');
	}
	if (more)
		buf_addf(out, ", %s", more);
}

void
metrics_describe(struct buf *out)
{
	struct buf labels = BUF_INIT;

	buf_adds(out, "| name | type | labels | meaning |\n|---|---|---|---|\n");
	for (unsigned id = 0; id < METRIC_ID_MAX; id++) {
		describe_labels(&labels, &metrics[id]);
		put_row(out, metrics[id].name, metrics[id].type, labels.data, metrics[id].help);
	}
	for (size_t i = 0; i < OWN; i++)
		put_row(out, own[i].name, own[i].type, own[i].labels, own[i].help);
	buf_free(&labels);
}
