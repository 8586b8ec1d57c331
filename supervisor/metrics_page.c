/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics page: each family once, with the samples of all workers together. Families of the workers come from common/metrics; the supervisor's own
 * are here, in one table.
 */
#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "supervisor/core.h"
#include "supervisor/pages.h"

static void
family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* One number of each worker; a negative one is not known and left out. */
struct worker_metric {
	const char *name, *type, *help;
	double (*value)(const struct sup_worker *worker, int64_t now_ns);
};

static double
restarts(const struct sup_worker *worker, int64_t now_ns)
{
	(void)now_ns;
	return (double)worker->restarts;
}

static double
memory(const struct sup_worker *worker, int64_t now_ns)
{
	(void)now_ns;
	return worker->pid ? (double)sup_worker_memory(worker) : -1;
}

static const struct worker_metric worker_metrics[] = {
	{"operatord_worker_restarts_total", "counter", "Starts of a worker after its first.",
		restarts},
	{"operatord_worker_heartbeat_age_seconds", "gauge",
		"Seconds since the worker's event loop last turned.", sup_worker_heartbeat_age},
	{"operatord_worker_watch_age_seconds", "gauge",
		"Seconds since the worker last heard from its watch.", sup_worker_watch_age},
	{"operatord_worker_resident_memory_bytes", "gauge",
		"Resident memory of the worker's process.", memory},
};

static void
put_worker_metrics(const struct supervisor *sup, struct buf *out, int64_t now_ns)
{
	for (size_t i = 0; i < sizeof(worker_metrics) / sizeof(worker_metrics[0]); i++) {
		const struct worker_metric *m = &worker_metrics[i];
		family(out, m->name, m->type, m->help);
		for (const struct sup_worker *worker = sup->workers; worker;
			worker = worker->next) {
			double value = m->value(worker, now_ns);
			if (value < 0)
				continue;
			buf_addf(out, "%s{", m->name);
			metrics_put_label(out, "controller", worker->name);
			buf_addf(out, "} %.10g\n", value);
		}
	}
	family(out, "operatord_worker_state", "gauge", "1 for the state that the worker is in.");
	for (const struct sup_worker *worker = sup->workers; worker; worker = worker->next) {
		for (unsigned state = 0; state < WORKER_STATE_MAX; state++) {
			buf_adds(out, "operatord_worker_state{");
			metrics_put_label(out, "controller", worker->name);
			buf_addf(out, ",state=\"%s\"} %d\n",
				worker_state_name((enum worker_state)state),
				worker->state == (enum worker_state)state);
		}
	}
}

static void
put_config_metrics(const struct supervisor *sup, struct buf *out)
{
	family(out, "operatord_config_last_reload_successful", "gauge",
		"1 if the last reading of the configuration found no error.");
	buf_addf(out, "operatord_config_last_reload_successful %d\n", sup->last_reload_good);
	family(out, "operatord_config_last_reload_success_timestamp_seconds", "gauge",
		"When the configuration was last read without an error.");
	buf_addf(out, "operatord_config_last_reload_success_timestamp_seconds %.3f\n",
		(double)sup->last_good_reload_wall_ns / 1e9);
	family(out, "operatord_config_file_valid", "gauge",
		"1 if the last reading of this file found no error.");
	for (size_t i = 0; i < sup->n_files; i++) {
		buf_adds(out, "operatord_config_file_valid{");
		metrics_put_label(out, "file", sup->files[i].path);
		buf_addf(out, "} %d\n", sup->files[i].valid);
	}
	family(out, "operatord_build_info", "gauge", "1, with the version as a label.");
	buf_adds(out, "operatord_build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
}

static unsigned
open_fds(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!directory)
		return 0;
	while (readdir(directory))
		n++;
	closedir(directory);
	return n > 3 ? n - 3 : 0; /* ".", "..", and the directory itself */
}

/* The process metrics that Prometheus' clients give, of the supervisor. */
static void
put_process_metrics(const struct supervisor *sup, struct buf *out)
{
	struct rusage usage;
	unsigned long long pages = 0;

	getrusage(RUSAGE_SELF, &usage);
	FILE *file = fopen("/proc/self/statm", "re");
	if (file) {
		if (fscanf(file, "%*u %llu", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	family(out, "process_start_time_seconds", "gauge",
		"Start time of the supervisor since the epoch.");
	buf_addf(out, "process_start_time_seconds %.3f\n", (double)sup->started_wall_ns / 1e9);
	family(out, "process_cpu_seconds_total", "counter",
		"User and system CPU time of the supervisor.");
	buf_addf(out, "process_cpu_seconds_total %.6f\n",
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	family(out, "process_resident_memory_bytes", "gauge", "Resident memory of the supervisor.");
	buf_addf(out, "process_resident_memory_bytes %llu\n",
		pages * (unsigned long long)sysconf(_SC_PAGESIZE));
	family(out, "process_open_fds", "gauge", "Open file descriptors of the supervisor.");
	buf_addf(out, "process_open_fds %u\n", open_fds());
}

/* The labels that every series of a worker has for this metric. */
static void
constant_labels(struct buf *out, const struct sup_worker *worker, enum metric_id id)
{
	buf_reset(out);
	metrics_put_label(out, "controller", worker->name);
	if (strncmp(metrics[id].name, "workqueue_", 10) == 0) {
		buf_addc(out, ',');
		metrics_put_label(out, "name", worker->name);
	} else if (id == M_REQUESTS_TOTAL) {
		buf_addc(out, ',');
		metrics_put_label(out, "host", worker->server_host);
	}
}

void
metrics_page(struct supervisor *sup, struct buf *out)
{
	int64_t now_ns = clock_monotonic_ns();
	struct buf labels = BUF_INIT;
	uint64_t *slots = xcalloc(METRIC_SLOTS_MAX, sizeof(*slots));

	for (struct sup_worker *worker = sup->workers; worker; worker = worker->next)
		sup_worker_look(worker);
	put_worker_metrics(sup, out, now_ns);
	for (unsigned id = 0; id < METRIC_ID_MAX; id++) {
		metrics_put_header(out, &metrics[id]);
		for (const struct sup_worker *worker = sup->workers; worker;
			worker = worker->next) {
			sup_worker_slots(worker, (enum metric_id)id, slots);
			constant_labels(&labels, worker, (enum metric_id)id);
			metrics_put_samples(out, &metrics[id], labels.data, slots);
		}
	}
	put_config_metrics(sup, out);
	put_process_metrics(sup, out);
	free(slots);
	buf_free(&labels);
}
