/* SPDX-License-Identifier: Apache-2.0 */
/* The table is sound and fits the scoreboard; the page is well-formed whatever a worker wrote (E199, E201, E203). */
#include "config.h"

#include <check.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/metrics.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool
is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

START_TEST(the_table_is_sound)
{
	const struct metric *m = &metrics[_i];

	ck_assert_ptr_nonnull(m->name);
	ck_assert(is_name(m->name));
	ck_assert_uint_gt(strlen(m->help), 10);
	/* promtool's rules. */
	ck_assert_int_eq(ends_with(m->name, "_total"), m->type == METRIC_COUNTER);
	ck_assert_int_eq(ends_with(m->name, "_seconds"), m->scale > 0);
	for (unsigned i = 0; i < METRIC_ID_MAX; i++)
		ck_assert(i == (unsigned)_i || strcmp(metrics[i].name, m->name) != 0);
	for (unsigned i = 0; i < 2 && m->labels[i].name; i++) {
		ck_assert(is_name(m->labels[i].name));
		ck_assert_uint_gt(m->labels[i].n_values, 1);
		for (unsigned v = 0; v < m->labels[i].n_values; v++)
			ck_assert_ptr_null(strpbrk(m->labels[i].values[v], "\"\\\n"));
	}
	ck_assert_int_eq(m->n_buckets > 0, m->type == METRIC_HISTOGRAM);
	for (unsigned i = 1; i < m->n_buckets; i++)
		ck_assert_double_lt(m->buckets[i - 1], m->buckets[i]);
}
END_TEST

START_TEST(slots_follow_each_other_and_fit)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < METRIC_ID_MAX; i++) {
		ck_assert_uint_eq(metric_offset((enum metric_id)i), sum);
		ck_assert_uint_gt(metric_slots(&metrics[i]), 0);
		sum += metric_slots(&metrics[i]);
	}
	ck_assert_uint_eq(metrics_total_slots(), sum);
	ck_assert_uint_le(sum, METRIC_SLOTS_MAX);
	ck_assert_uint_eq(metric_slots(&metrics[M_REQUESTS_TOTAL]), 16 * 6);
	ck_assert_uint_eq(metric_slots(&metrics[M_RECONCILE_TIME]), 13 + 2);
}
END_TEST

START_TEST(unknown_label_values_are_the_last)
{
	const struct metric_label *codes = &metrics[M_REQUESTS_TOTAL].labels[0];

	for (unsigned i = 0; i < codes->n_values; i++)
		ck_assert_uint_eq(metric_label_index(M_REQUESTS_TOTAL, 0, codes->values[i]), i);
	ck_assert_str_eq(codes->values[metric_label_index(M_REQUESTS_TOTAL, 0, "418")], "other");
	ck_assert_str_eq(metrics[M_REQUESTS_TOTAL].labels[1].values[metric_label_index(
				 M_REQUESTS_TOTAL, 1, "BREW")],
		"other");
	ck_assert_str_eq(metrics[M_WATCH_EVENTS_TOTAL].labels[0].values[metric_label_index(
				 M_WATCH_EVENTS_TOTAL, 0, "")],
		"unknown");
}
END_TEST

static const double bounds[] = {0.00001, 0.005, 0.25, 1, 2.5, 1000};
static const char *const colours[] = {"red", "blue", "other"};
static const char *const shapes[] = {"round", "other"};

static const struct page_case {
	const char *what;
	struct metric metric;
	const char *constant;
	uint64_t slots[8];
	const char *page;
} page_cases[] = {
	{"no labels", {.name = "a_total", .help = "Help."}, NULL, {5},
		"# HELP a_total Help.\n# TYPE a_total counter\na_total 5\n"},
	{"the largest number", {.name = "a", .help = "Help.", .type = METRIC_GAUGE}, "",
		{UINT64_MAX}, "# HELP a Help.\n# TYPE a gauge\na 18446744073709551615\n"},
	{"escaped help", {.name = "a", .help = "A \\ and\na \"quote\".", .type = METRIC_GAUGE},
		"c=\"x\"", {0},
		"# HELP a A \\\\ and\\na \"quote\".\n# TYPE a gauge\na{c=\"x\"} 0\n"},
	{"one label", {.name = "a_total", .help = "H", .labels = {{"colour", colours, 3}}},
		"c=\"x\"", {1, 0, 3},
		"# HELP a_total H\n# TYPE a_total counter\na_total{c=\"x\",colour=\"red\"} 1\n"
		"a_total{c=\"x\",colour=\"blue\"} 0\na_total{c=\"x\",colour=\"other\"} 3\n"},
	{"two labels",
		{.name = "a_total",
			.help = "H",
			.labels = {{"colour", colours, 3}, {"shape", shapes, 2}}},
		NULL, {0, 1, 2, 0, 0, 6},
		"# HELP a_total H\n# TYPE a_total counter\na_total{colour=\"red\",shape=\"other\"} "
		"1\n"
		"a_total{colour=\"blue\",shape=\"round\"} "
		"2\na_total{colour=\"other\",shape=\"other\"} 6\n"},
	{"nanoseconds", {.name = "a_seconds", .help = "H", .type = METRIC_GAUGE, .scale = 1e-9},
		NULL, {1500000000}, "# HELP a_seconds H\n# TYPE a_seconds gauge\na_seconds 1.5\n"},
	{"another scale", {.name = "a", .help = "H", .type = METRIC_GAUGE, .scale = 0.5}, NULL, {5},
		"# HELP a H\n# TYPE a gauge\na 2.5\n"},
	{"histogram",
		{.name = "h",
			.help = "H",
			.type = METRIC_HISTOGRAM,
			.buckets = bounds,
			.n_buckets = 6,
			.scale = 1e-9},
		"c=\"x\"", {1, 0, 2, 0, 0, 3, 4, 12000000001},
		"# HELP h H\n# TYPE h histogram\n"
		"h_bucket{c=\"x\",le=\"0.00001\"} 1\nh_bucket{c=\"x\",le=\"0.005\"} 1\n"
		"h_bucket{c=\"x\",le=\"0.25\"} 3\nh_bucket{c=\"x\",le=\"1\"} "
		"3\nh_bucket{c=\"x\",le=\"2.5\"} 3\n"
		"h_bucket{c=\"x\",le=\"1000\"} 6\nh_bucket{c=\"x\",le=\"+Inf\"} 10\n"
		"h_sum{c=\"x\"} 12.000000001\nh_count{c=\"x\"} 10\n"},
	/* Sums that would wrap would let a bucket fall. */
	{"hostile histogram",
		{.name = "h",
			.help = "H",
			.type = METRIC_HISTOGRAM,
			.buckets = bounds,
			.n_buckets = 2,
			.scale = 1e-9},
		NULL, {UINT64_MAX, 5, 1, 0},
		"# HELP h H\n# TYPE h histogram\nh_bucket{le=\"0.00001\"} 18446744073709551615\n"
		"h_bucket{le=\"0.005\"} 18446744073709551615\nh_bucket{le=\"+Inf\"} "
		"18446744073709551615\n"
		"h_sum 0\nh_count 18446744073709551615\n"},
};

START_TEST(pages)
{
	const struct page_case *c = &page_cases[_i];
	struct buf out = BUF_INIT;

	metrics_put_header(&out, &c->metric);
	metrics_put_samples(&out, &c->metric, c->constant, c->slots);
	ck_assert_msg(strcmp(out.data, c->page) == 0, "%s:\n%s", c->what, out.data);
	buf_free(&out);
}
END_TEST

static const struct {
	const char *value, *text;
} labels[] = {
	{"nginx", "c=\"nginx\""},
	{"", "c=\"\""},
	{"a\"b\\c\nd", "c=\"a\\\"b\\\\c\\nd\""},
	{"h\xc3\xa9", "c=\"h\xc3\xa9\""},
	{"\xff"
	 "a\xc3",
		"c=\"\xef\xbf\xbd"
		"a\xef\xbf\xbd\""},
};

START_TEST(label_values_are_escaped)
{
	struct buf out = BUF_INIT;

	metrics_put_label(&out, "c", labels[_i].value);
	ck_assert_str_eq(out.data, labels[_i].text);
	buf_free(&out);
}
END_TEST

START_TEST(a_full_buffer_fails)
{
	static const uint64_t slots[METRIC_SLOTS_MAX];

	for (size_t limit = 1; limit < 600; limit += 7) {
		struct buf out = BUF_INIT_LIMIT(limit);
		metrics_put_samples(&out, &metrics[M_RECONCILE_TIME], "c=\"x\"", slots);
		ck_assert(out.failed);
		buf_free(&out);
	}
}
END_TEST

START_TEST(numbered_series_have_the_names_of_the_configuration)
{
	char one[] = "web", two[] = "a-b";
	char *const names[] = {one, two};
	static uint64_t slots[METRIC_SLOTS_MAX] = {3, 0, 9};
	struct buf out = BUF_INIT;

	ck_assert(metrics[M_DRIFT_REPAIRS_TOTAL].labels[0].numbered);
	metrics_put_numbered(&out, &metrics[M_DRIFT_REPAIRS_TOTAL], "controller=\"x\"", slots, names, 2);
	ck_assert_str_eq(out.data,
		"operatord_drift_repairs_total{controller=\"x\",child=\"web\"} 3\n"
		"operatord_drift_repairs_total{controller=\"x\",child=\"a-b\"} 0\n");
	buf_free(&out);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("metrics");
	TCase *tcase = tcase_create("metrics");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, the_table_is_sound, 0, METRIC_ID_MAX);
	tcase_add_test(tcase, slots_follow_each_other_and_fit);
	tcase_add_test(tcase, unknown_label_values_are_the_last);
	tcase_add_loop_test(tcase, pages, 0, COUNT(page_cases));
	tcase_add_loop_test(tcase, label_values_are_escaped, 0, COUNT(labels));
	tcase_add_test(tcase, a_full_buffer_fails);
	tcase_add_test(tcase, numbered_series_have_the_names_of_the_configuration);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
