/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints metrics in the text exposition format 0.0.4. Scrapes of hundreds of workers pass through here, so samples are put
 * together from ready parts without printf. Slots come from a worker and are any numbers; whatever they are, the page stays
 * well-formed: a histogram's buckets never fall, and its count is its last bucket. Failure is that of the buffer.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/metrics.h"
#include "common/utf8.h"

static const char *const type_names[] = {
	[METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};

/* Escapes backslash and line end, in label values also the quote. What is no UTF-8 would make a scraper refuse the whole page. */
static void
put_escaped(struct buf *out, const char *text, char quote)
{
	const char *end = text + strlen(text), *from = text, *p = text;

	while (p < end) {
		size_t n = utf8_sequence(p, end);
		const char *form = n == 0                 ? "\xef\xbf\xbd"
				   : *p == '\\'           ? "\\\\"
				   : *p == '\n'           ? "\\n"
				   : quote && *p == quote ? "\\\""
							  : NULL;
		if (form) {
			buf_add(out, from, (size_t)(p - from));
			buf_adds(out, form);
			from = p + 1;
		}
		p += n ? n : 1;
	}
	buf_add(out, from, (size_t)(p - from));
}

void
metrics_put_label(struct buf *out, const char *name, const char *value)
{
	buf_adds(out, name);
	buf_add(out, "=\"", 2);
	put_escaped(out, value, '"');
	buf_addc(out, '"');
}

void
metrics_put_header(struct buf *out, const struct metric *metric)
{
	buf_adds(out, "# HELP ");
	buf_adds(out, metric->name);
	buf_addc(out, ' ');
	put_escaped(out, metric->help, '\0');
	buf_adds(out, "\n# TYPE ");
	buf_adds(out, metric->name);
	buf_addc(out, ' ');
	buf_adds(out, type_names[metric->type]);
	buf_addc(out, '\n');
}

/* Writes the digits of value before end, returns their start. */
static char *
digits_before(char *end, uint64_t value)
{
	do
		*--end = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	return end;
}

static void
put_integer(struct buf *out, uint64_t value)
{
	char text[20], *end = text + sizeof(text), *p = digits_before(end, value);

	buf_add(out, p, (size_t)(end - p));
}

/* Nanoseconds as seconds, exactly: "1.5", "0.00001". */
static void
put_seconds(struct buf *out, uint64_t ns)
{
	char text[10], *end = text + sizeof(text), *p;
	uint64_t fraction = ns % 1000000000;

	put_integer(out, ns / 1000000000);
	if (fraction == 0)
		return;
	p = digits_before(end, fraction + 1000000000);
	*p = '.';
	while (end[-1] == '0')
		end--;
	buf_add(out, p, (size_t)(end - p));
}

static void
put_value(struct buf *out, double scale, uint64_t value)
{
	/* Scales are constants of tables: they are compared as they were written. */
	if (!(scale < 0 || scale > 0) || !(scale < 1 || scale > 1))
		put_integer(out, value);
	else if (!(scale < 1e-9 || scale > 1e-9))
		put_seconds(out, value);
	else
		buf_addf(out, "%.17g", (double)value * scale);
}

/* The labels of one series, in ready form, without braces. */
static void
put_series_labels(
	struct buf *labels, const struct metric *metric, const char *constant, unsigned series)
{
	unsigned n1 = metric->labels[1].name ? metric->labels[1].n_values : 1;
	const unsigned at[2] = {series / n1, series % n1};

	buf_reset(labels);
	if (constant)
		buf_adds(labels, constant);
	for (unsigned i = 0; i < 2 && metric->labels[i].name; i++) {
		if (labels->length)
			buf_addc(labels, ',');
		/* Values of tables need no escaping. */
		buf_adds(labels, metric->labels[i].name);
		buf_add(labels, "=\"", 2);
		buf_adds(labels, metric->labels[i].values[at[i]]);
		buf_addc(labels, '"');
	}
}

/* NAME, suffix and the labels, up to the value. le: the bucket's bound, with its quotes and equals sign, or NULL. */
static void
put_name(struct buf *out, const char *name, const char *suffix, const struct buf *labels,
	const struct buf *le)
{
	buf_adds(out, name);
	buf_adds(out, suffix);
	if (labels->length || le) {
		buf_addc(out, '{');
		buf_add(out, labels->data, labels->length);
		if (le && labels->length)
			buf_addc(out, ',');
		if (le)
			buf_add(out, le->data, le->length);
		buf_addc(out, '}');
	}
	buf_addc(out, ' ');
}

static void
put_bound(struct buf *le, const struct metric *metric, unsigned bucket)
{
	buf_reset(le);
	buf_adds(le, "le=\"");
	if (bucket == metric->n_buckets)
		buf_adds(le, "+Inf");
	else
		put_seconds(le, (uint64_t)(metric->buckets[bucket] * 1e9 + 0.5));
	buf_addc(le, '"');
}

static uint64_t
add_clamped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void
put_histogram(struct buf *out, const struct metric *metric, const struct buf *labels,
	const uint64_t *slots)
{
	struct buf le = BUF_INIT;
	uint64_t count = 0;

	for (unsigned i = 0; i <= metric->n_buckets; i++) {
		count = add_clamped(count, slots[i]);
		put_bound(&le, metric, i);
		put_name(out, metric->name, "_bucket", labels, &le);
		put_integer(out, count);
		buf_addc(out, '\n');
	}
	put_name(out, metric->name, "_sum", labels, NULL);
	put_value(out, metric->scale, slots[metric->n_buckets + 1]);
	buf_addc(out, '\n');
	put_name(out, metric->name, "_count", labels, NULL);
	put_integer(out, count);
	buf_addc(out, '\n');
	out->failed = out->failed || le.failed;
	buf_free(&le);
}

/* Of the many combinations of two labels most never happen, and a histogram is many lines: these begin when they count. */
static bool
is_left_out(const struct metric *metric, const uint64_t *values)
{
	if (metric->type != METRIC_HISTOGRAM)
		return metric->labels[1].name && *values == 0;
	for (unsigned i = 0; metric->labels[0].name && i <= metric->n_buckets; i++)
		if (values[i])
			return false;
	return metric->labels[0].name != NULL;
}

void
metrics_put_samples(
	struct buf *out, const struct metric *metric, const char *constant, const uint64_t *slots)
{
	unsigned step = metric->type == METRIC_HISTOGRAM ? metric->n_buckets + 2 : 1;
	unsigned n = metric_slots(metric) / step;
	struct buf labels = BUF_INIT;

	for (unsigned series = 0; series < n; series++) {
		const uint64_t *values = slots + (size_t)series * step;

		if (is_left_out(metric, values))
			continue;
		put_series_labels(&labels, metric, constant, series);
		if (metric->type == METRIC_HISTOGRAM) {
			put_histogram(out, metric, &labels, values);
			continue;
		}
		put_name(out, metric->name, "", &labels, NULL);
		put_value(out, metric->scale, *values);
		buf_addc(out, '\n');
	}
	out->failed = out->failed || labels.failed;
	buf_free(&labels);
}

void
metrics_put_numbered(struct buf *out, const struct metric *metric, const char *constant,
	const uint64_t *slots, char *const *names, size_t n)
{
	struct buf labels = BUF_INIT;

	for (size_t i = 0; i < n && i < metric->labels[0].n_values; i++) {
		buf_reset(&labels);
		buf_adds(&labels, constant);
		buf_addc(&labels, ',');
		metrics_put_label(&labels, metric->labels[0].name, names[i]);
		put_name(out, metric->name, "", &labels, NULL);
		put_value(out, metric->scale, slots[i]);
		buf_addc(out, '\n');
	}
	out->failed = out->failed || labels.failed;
	buf_free(&labels);
}
