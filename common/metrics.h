/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of what a worker measures. It declares each metric once: name, type, help and labels; it sizes the scoreboard, and
 * the supervisor prints /metrics from it. Labels have closed sets of values, so a series is an index, and no label ever holds an
 * object's name. The supervisor adds the label controller (and name, for workqueue_*).
 *
 * Names follow controller-runtime and client-go where they have one.
 */
#ifndef COMMON_METRICS_H
#define COMMON_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buf.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_label {
	const char *name;
	const char *const *values; /* n_values */
	unsigned n_values;
	bool numbered; /* the values are numbers of things that the configuration names: who prints has the names */
};

struct metric {
	const char *name, *help;
	enum metric_type type;
	struct metric_label labels[2]; /* name NULL: fewer */
	const double *buckets;         /* histogram: upper bounds in seconds, without +Inf */
	unsigned n_buckets;
	double scale;                  /* stored integer x scale = shown value; 0 means 1. Durations are stored in nanoseconds: 1e-9 */
};

/* Identifiers of the worker's metrics, in the order of the table in metrics.c. */
enum metric_id {
	M_RECONCILE_TOTAL,          /* controller_runtime_reconcile_total{result} */
	M_RECONCILE_ERRORS_TOTAL,   /* controller_runtime_reconcile_errors_total */
	M_RECONCILE_TIME,           /* controller_runtime_reconcile_time_seconds */
	M_RECONCILE_REASON_TOTAL,   /* operatord_reconcile_reason_total{reason} */
	M_MAX_CONCURRENT,           /* controller_runtime_max_concurrent_reconciles */
	M_ACTIVE_WORKERS,           /* controller_runtime_active_workers */
	M_QUEUE_DEPTH,              /* workqueue_depth */
	M_QUEUE_ADDS_TOTAL,         /* workqueue_adds_total */
	M_QUEUE_RETRIES_TOTAL,      /* workqueue_retries_total */
	M_QUEUE_DURATION,           /* workqueue_queue_duration_seconds */
	M_WORK_DURATION,            /* workqueue_work_duration_seconds */
	M_UNFINISHED_WORK,          /* workqueue_unfinished_work_seconds */
	M_LONGEST_RUNNING,          /* workqueue_longest_running_processor_seconds */
	M_REQUESTS_TOTAL,           /* rest_client_requests_total{code,method}; host is added by the supervisor */
	M_REQUEST_DURATION,         /* rest_client_request_duration_seconds{verb}; watches are not in it */
	M_THROTTLE_DURATION,        /* rest_client_rate_limiter_duration_seconds */
	M_WATCH_EVENTS_TOTAL,       /* operatord_watch_events_total{type}: added, modified, deleted, bookmark, error, unknown, malformed */
	M_WATCH_RESTARTS_TOTAL,     /* operatord_watch_restarts_total{cause}: closed, expired, silent, error, malformed */
	M_LISTS_TOTAL,              /* operatord_lists_total */
	M_OBJECTS,                  /* operatord_objects{status}: ready, reconciling, failed, deleting, unknown */
	M_OLDEST_DELETION,          /* operatord_object_oldest_deletion_timestamp_seconds */
	M_STORE_BYTES,              /* operatord_store_bytes */
	M_CHILD_WRITES_TOTAL,       /* operatord_child_writes_total{operation}: apply, delete */
	M_STATUS_WRITES_TOTAL,      /* operatord_status_writes_total */
	M_DRIFT_REPAIRS_TOTAL,      /* operatord_drift_repairs_total{child}: by number, as in the configuration */
	M_EVENTS_TOTAL,             /* operatord_events_total{result}: posted, dropped, failed */
	M_LOG_DROPPED_TOTAL,        /* operatord_log_lines_dropped_total */
	M_LOG_REPEATED_TOTAL,       /* operatord_log_lines_repeated_total */
	M_OPEN_FDS,                 /* operatord_worker_open_fds */
	METRIC_ID_MAX
};

extern const struct metric metrics[METRIC_ID_MAX];

/*
 * Slots of one metric: a number a label combination (of two labels the second runs faster: index0 * n_values1 + index1); a histogram has
 * for each n_buckets + 1 (+Inf) + 1 (sum): a bucket's slot counts the observations in it alone, printing adds them up.
 */
unsigned metric_slots(const struct metric *metric);
/* First slot of a metric in the scoreboard; of METRIC_ID_MAX: the sum. */
unsigned metric_offset(enum metric_id id);
/* Slots of all metrics; at most METRIC_SLOTS_MAX. */
unsigned metrics_total_slots(void);
#define METRIC_SLOTS_MAX 1024
/* Index of a label's value in its closed set; the last value of each set ("other", "unknown" ...) stands for anything else. */
unsigned metric_label_index(enum metric_id id, unsigned label, const char *value);

/*
 * One family of the text exposition format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats): HELP and TYPE once, then
 * the samples from the metric's first slot on; of a metric with two labels, and of a histogram with one, only series that counted. `constant` are the labels of each series in ready form, e.g. `controller="nginx"`, values escaped by metrics_put_label().
 */
void metrics_put_header(struct buf *out, const struct metric *metric);
void metrics_put_samples(struct buf *out, const struct metric *metric, const char *constant, const uint64_t *slots);
/* The same of a counter whose one label is numbered: a series for each of names. */
void metrics_put_numbered(struct buf *out, const struct metric *metric, const char *constant, const uint64_t *slots, char *const *names, size_t n);
void metrics_put_label(struct buf *out, const char *name, const char *value); /* name="value", escaped */

#endif
