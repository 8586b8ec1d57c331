/* SPDX-License-Identifier: Apache-2.0 */
/* workers/status, conditions and prune: what is written into a status, and what a server makes of it. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "workers/conditions.h"
#include "workers/prune.h"
#include "workers/status.h"

static cJSON *
parse(const char *text)
{
	cJSON *value = text == NULL ? NULL : json_parse(text, strlen(text), NULL);

	ck_assert(text == NULL || value != NULL);
	return value;
}

static void
expect(cJSON *got, const char *want)
{
	struct buf out = BUF_INIT;

	if (got != NULL)
		json_print_canonical(&out, got);
	ck_assert_str_eq(out.data, want == NULL ? "" : want);
	buf_free(&out);
	cJSON_Delete(got);
}

static const struct {
	const char *live, *wanted, *patch; /* patch NULL: nothing to write */
} diffs[] = {
	{NULL, "{\"a\":1}", "{\"a\":1}"},
	{"{\"a\":1}", "{\"a\":1}", NULL},
	{"{\"a\":1,\"foreign\":2}", "{\"a\":1}", NULL},
	{"{\"a\":1}", "{\"a\":2}", "{\"a\":2}"},
	{"{\"a\":1}", "{\"a\":\"1\"}", "{\"a\":\"1\"}"},
	{"{\"a\":1,\"owned\":2}", "{\"a\":1}", "{\"owned\":null}"},
	{"{\"m\":{\"x\":1,\"y\":2}}", "{\"m\":{\"x\":1,\"z\":3}}", "{\"m\":{\"y\":null,\"z\":3}}"},
	{"{\"m\":{\"x\":1}}", "{\"m\":5}", "{\"m\":5}"},
	{"{\"l\":[1,2]}", "{\"l\":[1,2]}", NULL},
	{"{\"l\":[1,2]}", "{\"l\":[2,1]}", "{\"l\":[2,1]}"},
	{"{\"l\":[{\"a\":1}]}", "{\"l\":[{\"a\":1,\"b\":2}]}", "{\"l\":[{\"a\":1,\"b\":2}]}"},
	{"{\"l\":[{\"a\":1,\"dropped\":2}]}", "{\"l\":[{\"a\":1}]}", NULL},
	{"{\"gone\":1}", "{\"gone\":2}", NULL},
	/* E125: digits are compared as they are, not as doubles. */
	{"{\"n\":9007199254740993}", "{\"n\":9007199254740992}", "{\"n\":9007199254740992}"},
	{"{\"n\":9007199254740993}", "{\"n\":9007199254740993}", NULL},
};

START_TEST(diff_is_a_merge_patch)
{
	static const char *const owned[] = {"a", "owned", "m", "l", "n"};
	struct status_paths *ignored = status_paths_new();
	cJSON *live = parse(diffs[_i].live), *wanted = parse(diffs[_i].wanted);

	status_paths_add(ignored, "gone");
	status_paths_add(ignored, "l.*.dropped");
	expect(status_diff(live, wanted, owned, 5, ignored), diffs[_i].patch);
	cJSON_Delete(live);
	cJSON_Delete(wanted);
	status_paths_free(ignored);
}
END_TEST

static char said[256];

static void
on_dropped(void *data, const char *path)
{
	(void)data;
	strcat(said, path);
	strcat(said, " ");
}

static const struct {
	const char *sent, *answer, *said, *path;
} learned[] = {
	{"{\"a\":1}", "{\"a\":1}", "", NULL},
	{"{\"a\":1,\"b\":2}", "{\"a\":1}", "b ", "b"},
	{"{\"a\":1}", NULL, "a ", "a"},
	{"{\"m\":{\"x\":1}}", "{\"m\":{}}", "m.x ", "m.x"},
	{"{\"l\":[{\"a\":1,\"b\":1},{\"a\":2,\"b\":2}]}", "{\"l\":[{\"a\":1},{\"a\":2}]}", "l.*.b ",
		"l.*.b"},
	/* Defaults are not what the user has to act on. */
	{"{\"l\":[{\"a\":1}]}", "{\"l\":[{\"a\":1,\"d\":0}]}", "", "l.*.d"},
	{"{\"m\":{\"d\":null}}", "{\"m\":{\"d\":0}}", "", "m.d"},
};

/* E129: a pruned field is noticed in the answer, said once, and not written again. */
START_TEST(learns_what_the_schema_keeps)
{
	struct status_paths *ignored = status_paths_new();
	cJSON *sent = parse(learned[_i].sent), *answer = parse(learned[_i].answer);

	said[0] = '\0';
	status_learn(ignored, sent, answer, on_dropped, NULL);
	status_learn(ignored, sent, answer, on_dropped, NULL);
	ck_assert_str_eq(said, learned[_i].said);
	if (learned[_i].path != NULL)
		ck_assert(status_paths_has(ignored, learned[_i].path));
	expect(status_diff(answer, sent, NULL, 0, ignored), NULL);
	status_paths_clear(ignored);
	ck_assert(learned[_i].path == NULL || !status_paths_has(ignored, learned[_i].path));
	cJSON_Delete(sent);
	cJSON_Delete(answer);
	status_paths_free(ignored);
}
END_TEST

START_TEST(additions_are_told_from_changes)
{
	static const struct {
		const char *live, *patch;
		bool adds;
	} cases[] = {
		{"{\"a\":1}", "{\"b\":1}", true},
		{"{\"a\":1}", "{\"a\":2}", false},
		{"{\"a\":1}", "{\"a\":null}", false},
		{"{\"m\":{\"a\":1}}", "{\"m\":{\"b\":1}}", true},
		{"{\"l\":[{\"a\":1}]}", "{\"l\":[{\"a\":1,\"b\":2}]}", true},
		{"{\"l\":[{\"a\":1}]}", "{\"l\":[{\"a\":2,\"b\":2}]}", false},
		{"{\"l\":[1]}", "{\"l\":[1,2]}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cJSON *live = parse(cases[i].live), *patch = parse(cases[i].patch);

		ck_assert_msg(status_only_adds(live, patch) == cases[i].adds, "case %zu", i);
		cJSON_Delete(live);
		cJSON_Delete(patch);
	}
}
END_TEST

/* --- conditions --- */

#define READY(status, reason, message, time)                                         \
	"{\"lastTransitionTime\":\"" time "\",\"message\":\"" message                \
	"\",\"observedGeneration\":3,\"reason\":\"" reason "\",\"status\":\"" status \
	"\",\"type\":\"Ready\"}"
#define OTHER(type, reason, message, time)                            \
	"{\"lastTransitionTime\":\"" time "\",\"message\":\"" message \
	"\",\"observedGeneration\":3,\"reason\":\"" reason            \
	"\",\"status\":\"True\",\"type\":\"" type "\"}"
#define FOREIGN "{\"status\":\"True\",\"type\":\"Foreign\"}"

static const struct {
	const char *live;
	enum verdict verdict;
	const char *message, *merged;
} merges[] = {
	{NULL, VERDICT_SUCCEEDED, "ok", "[" READY("True", "Succeeded", "ok", "now") "]"},
	/* The time stays while the status does. */
	{"[" READY("True", "Succeeded", "ok", "then") "]", VERDICT_SUCCEEDED, "new",
		"[" READY("True", "Succeeded", "new", "then") "]"},
	{"[" READY("True", "Succeeded", "ok", "then") "]", VERDICT_RENDER_FAILED, "bad",
		"[" READY("False", "RenderFailed", "bad", "now") "," OTHER(
			"Stalled", "RenderFailed", "bad", "now") "]"},
	{"[" READY("False", "RenderFailed", "bad", "then") "," OTHER(
		 "Stalled", "RenderFailed", "bad", "then") "]",
		VERDICT_SUCCEEDED, "ok", "[" READY("True", "Succeeded", "ok", "now") "]"},
	/* E117: waiting is no error. */
	{NULL, VERDICT_WAITING_FOR_CHILD, "w",
		"[" READY("False", "WaitingForChild", "w", "now") "," OTHER(
			"Reconciling", "WaitingForChild", "w", "now") "]"},
	/* Others' conditions keep their content and place. */
	{"[" FOREIGN "," READY("True", "Succeeded", "ok", "then") "]", VERDICT_SUCCEEDED, "ok",
		"[" FOREIGN "," READY("True", "Succeeded", "ok", "then") "]"},
	{"[" READY("True", "Succeeded", "ok", "then") "," FOREIGN "]", VERDICT_PAUSED, "p",
		"[" READY("Unknown", "Paused", "p", "now") "," FOREIGN "]"},
};

START_TEST(conditions_are_merged)
{
	cJSON *live = parse(merges[_i].live);

	expect(conditions_merge(live, merges[_i].verdict, merges[_i].message, 3, "now"),
		merges[_i].merged);
	cJSON_Delete(live);
}
END_TEST

/* E227, E229: cut at a character, whatever the length. */
START_TEST(text_is_cut_at_a_character)
{
	char text[1100];

	ck_assert_uint_eq(conditions_cut("", 1024), 0);
	ck_assert_uint_eq(conditions_cut("abc", 3), 3);
	ck_assert_uint_eq(conditions_cut("abc", 2), 2);
	memset(text, 'x', sizeof(text));
	strcpy(text + 1023, "\xf0\x9f\x98\x80");
	ck_assert_uint_eq(conditions_cut(text, 1024), 1023);
	strcpy(text + 1020, "\xf0\x9f\x98\x80");
	ck_assert_uint_eq(conditions_cut(text, 1024), 1024);
	strcpy(text + 1020, "\xf0\x9f\x98\x80z");
	ck_assert_uint_eq(conditions_cut(text, 1024), 1024);
}
END_TEST

/* --- prune.max --- */

START_TEST(prunes_of_a_start_are_counted_first)
{
	struct prune_gate gate = {.max = 3};

	prune_gate_expect(&gate);
	prune_gate_expect(&gate);
	ck_assert(!prune_gate_listed(&gate));
	ck_assert_int_eq(prune_gate_ask(&gate, true, false, 2), PRUNE_HOLD);
	ck_assert(!prune_gate_seen(&gate));
	ck_assert_int_eq(prune_gate_ask(&gate, false, true, 2), PRUNE_HOLD);
	/* An object of later may prune at once. */
	ck_assert_int_eq(prune_gate_ask(&gate, false, false, 50), PRUNE_GO);
	ck_assert_int_eq(prune_gate_ask(&gate, true, false, 1), PRUNE_HOLD);
	ck_assert(prune_gate_seen(&gate));
	ck_assert_int_eq(prune_gate_ask(&gate, false, true, 2), PRUNE_GO);
}
END_TEST

START_TEST(too_many_prunes_are_blocked)
{
	struct prune_gate gate = {.max = 3};

	prune_gate_expect(&gate);
	prune_gate_listed(&gate);
	ck_assert_int_eq(prune_gate_ask(&gate, true, false, 4), PRUNE_HOLD);
	ck_assert(prune_gate_seen(&gate));
	ck_assert(!prune_gate_seen(&gate));
	ck_assert_int_eq(prune_gate_ask(&gate, false, true, 4), PRUNE_BLOCKED);
	ck_assert_int_eq(prune_gate_ask(&gate, false, false, 4), PRUNE_GO);
}
END_TEST

START_TEST(an_empty_start_decides_at_once)
{
	struct prune_gate gate = {.max = 0};

	ck_assert(prune_gate_listed(&gate));
	prune_gate_expect(&gate);
	ck_assert_uint_eq(gate.left, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("status");
	TCase *tcase = tcase_create("status");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, diff_is_a_merge_patch, 0, sizeof(diffs) / sizeof(diffs[0]));
	tcase_add_loop_test(
		tcase, learns_what_the_schema_keeps, 0, sizeof(learned) / sizeof(learned[0]));
	tcase_add_test(tcase, additions_are_told_from_changes);
	tcase_add_loop_test(tcase, conditions_are_merged, 0, sizeof(merges) / sizeof(merges[0]));
	tcase_add_test(tcase, text_is_cut_at_a_character);
	tcase_add_test(tcase, prunes_of_a_start_are_counted_first);
	tcase_add_test(tcase, too_many_prunes_are_blocked);
	tcase_add_test(tcase, an_empty_start_decides_at_once);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
