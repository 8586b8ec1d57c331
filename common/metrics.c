/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of what a worker measures, and where each series stands in the scoreboard. Nothing here counts (scoreboard.c)
 * or prints (metrics_text.c). Buckets are a subset of those of controller-runtime and client-go, so that their recording
 * rules work, and few, since every one is a series.
 */
#include "config.h"

#include <string.h>

#include "common/metrics.h"

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof(*(array))))
/* A label whose values are a list of this file. */
#define LABEL(label, list)                                                 \
	{                                                                  \
		.name = (label), .values = (list), .n_values = COUNT(list) \
	}
#define HISTOGRAM(list) \
	.type = METRIC_HISTOGRAM, .buckets = (list), .n_buckets = COUNT(list), .scale = 1e-9
#define METRIC(id, text, ...) [M_##id] = {.help = (text), __VA_ARGS__}

static const double reconcile_buckets[] = {
	0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
static const double queue_buckets[] = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
static const double request_buckets[] = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

/* The last value of each stands for anything else. */
static const char *const results[] = {"success", "requeue", "requeue_after", "error"};
static const char *const reasons[] = {"list", "added", "modified", "deleted", "child-drift",
	"child", "related", "resync", "retry", "timer", "trigger", "reload", "other"};
static const char *const codes[] = {"200", "201", "400", "401", "403", "404", "409", "410", "422",
	"429", "500", "502", "503", "504", "<error>", "other"};
static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "other"};
static const char *const watch_types[] = {
	"added", "modified", "deleted", "bookmark", "error", "malformed", "unknown"};
static const char *const watch_causes[] = {"closed", "expired", "silent", "malformed", "error"};
static const char *const statuses[] = {"ready", "reconciling", "failed", "deleting", "unknown"};
static const char *const operations[] = {"apply", "delete"};
static const char *const children[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
	"16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29",
	"30", "31", "32", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43",
	"44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57",
	"58", "59", "60", "61", "62", "63"};
static const char *const event_results[] = {"posted", "dropped", "failed"};

/* clang-format off */
const struct metric metrics[METRIC_ID_MAX] = {
	METRIC(RECONCILE_TOTAL, "Reconciles that ended, by result.",
		.name = "controller_runtime_reconcile_total", .labels = {LABEL("result", results)}),
	METRIC(RECONCILE_ERRORS_TOTAL, "Reconciles that failed.",
		.name = "controller_runtime_reconcile_errors_total"),
	METRIC(RECONCILE_TIME, "Time from the start of a reconcile to its end, waiting for the server included.",
		.name = "controller_runtime_reconcile_time_seconds", HISTOGRAM(reconcile_buckets)),
	METRIC(RECONCILE_REASON_TOTAL, "Reconciles, by what made them necessary.",
		.name = "operatord_reconcile_reason_total", .labels = {LABEL("reason", reasons)}),
	METRIC(MAX_CONCURRENT, "Most reconciles that may run at once.",
		.name = "controller_runtime_max_concurrent_reconciles", .type = METRIC_GAUGE),
	METRIC(ACTIVE_WORKERS, "Reconciles that run now.",
		.name = "controller_runtime_active_workers", .type = METRIC_GAUGE),
	METRIC(QUEUE_DEPTH, "Objects that wait for a reconcile.",
		.name = "workqueue_depth", .type = METRIC_GAUGE),
	METRIC(QUEUE_ADDS_TOTAL, "Objects that were put into the queue.",
		.name = "workqueue_adds_total"),
	METRIC(QUEUE_RETRIES_TOTAL, "Objects that were put into the queue again after a failure.",
		.name = "workqueue_retries_total"),
	METRIC(QUEUE_DURATION, "Time that an object waited in the queue.",
		.name = "workqueue_queue_duration_seconds", HISTOGRAM(queue_buckets)),
	METRIC(WORK_DURATION, "Time that the work on an object from the queue took.",
		.name = "workqueue_work_duration_seconds", HISTOGRAM(queue_buckets)),
	METRIC(UNFINISHED_WORK, "How long the work that runs has taken so far, added up, at the last heartbeat.",
		.name = "workqueue_unfinished_work_seconds", .type = METRIC_GAUGE, .scale = 1e-9),
	METRIC(LONGEST_RUNNING, "How long the oldest work that runs has taken so far, at the last heartbeat.",
		.name = "workqueue_longest_running_processor_seconds", .type = METRIC_GAUGE, .scale = 1e-9),
	METRIC(REQUESTS_TOTAL, "Requests to the API server, by status code (<error>: no answer), method and host.",
		.name = "rest_client_requests_total", .labels = {LABEL("code", codes), LABEL("method", methods)}),
	METRIC(REQUEST_DURATION, "Time from a request to the end of its answer, by method; watches are not counted.",
		.name = "rest_client_request_duration_seconds", .labels = {LABEL("verb", methods)}, HISTOGRAM(request_buckets)),
	METRIC(THROTTLE_DURATION, "Time that a write waited for its turn under the bound writes.",
		.name = "rest_client_rate_limiter_duration_seconds", HISTOGRAM(request_buckets)),
	METRIC(WATCH_EVENTS_TOTAL, "Events that watches brought, by type.",
		.name = "operatord_watch_events_total", .labels = {LABEL("type", watch_types)}),
	METRIC(WATCH_RESTARTS_TOTAL, "Watches that were opened anew, by cause.",
		.name = "operatord_watch_restarts_total", .labels = {LABEL("cause", watch_causes)}),
	METRIC(LISTS_TOTAL, "Full lists that were read.",
		.name = "operatord_lists_total"),
	METRIC(OBJECTS, "Objects of the resource, by status.",
		.name = "operatord_objects", .type = METRIC_GAUGE, .labels = {LABEL("status", statuses)}),
	METRIC(OLDEST_DELETION, "When the object was deleted that has waited longest for operatord's finalizer, in seconds since 1970; 0: none waits.",
		.name = "operatord_object_oldest_deletion_timestamp_seconds", .type = METRIC_GAUGE, .scale = 1),
	METRIC(STORE_BYTES, "Memory of the store of objects.",
		.name = "operatord_store_bytes", .type = METRIC_GAUGE),
	METRIC(CHILD_WRITES_TOTAL, "Writes of child objects, by operation.",
		.name = "operatord_child_writes_total", .labels = {LABEL("operation", operations)}),
	METRIC(STATUS_WRITES_TOTAL, "Writes of statuses.",
		.name = "operatord_status_writes_total"),
	METRIC(DRIFT_REPAIRS_TOTAL, "Child objects that others had changed and that were put right.",
		.name = "operatord_drift_repairs_total",
		.labels = {{.name = "child", .values = children, .n_values = COUNT(children), .numbered = true}}),
	METRIC(EVENTS_TOTAL, "Kubernetes Events, by what became of them.",
		.name = "operatord_events_total", .labels = {LABEL("result", event_results)}),
	METRIC(LOG_DROPPED_TOTAL, "Log lines that stderr did not take.",
		.name = "operatord_log_lines_dropped_total"),
	METRIC(LOG_REPEATED_TOTAL, "Log lines that were held back as repetitions, and summed up in another.",
		.name = "operatord_log_lines_repeated_total"),
	METRIC(OPEN_FDS, "Open file descriptors of the worker's process, at the last heartbeat.",
		.name = "operatord_worker_open_fds", .type = METRIC_GAUGE),
};
/* clang-format on */

static unsigned
series_count(const struct metric *metric)
{
	unsigned n = 1;

	for (unsigned i = 0; i < COUNT(metric->labels) && metric->labels[i].name; i++)
		n *= metric->labels[i].n_values;
	return n;
}

unsigned
metric_slots(const struct metric *metric)
{
	unsigned n = series_count(metric);

	return metric->type == METRIC_HISTOGRAM ? n * (metric->n_buckets + 2) : n;
}

/* offsets[METRIC_ID_MAX] is the sum. Computed once: metric_add() asks at every event. */
static const unsigned *
offsets(void)
{
	static unsigned table[METRIC_ID_MAX + 1];

	if (table[METRIC_ID_MAX] == 0)
		for (unsigned id = 0; id < METRIC_ID_MAX; id++)
			table[id + 1] = table[id] + metric_slots(&metrics[id]);
	return table;
}

unsigned
metric_offset(enum metric_id id)
{
	return offsets()[id];
}

unsigned
metrics_total_slots(void)
{
	return offsets()[METRIC_ID_MAX];
}

unsigned
metric_label_index(enum metric_id id, unsigned label, const char *value)
{
	const struct metric_label *set = &metrics[id].labels[label];

	for (unsigned i = 0; i + 1 < set->n_values; i++)
		if (strcmp(set->values[i], value) == 0)
			return i;
	return set->n_values - 1;
}
