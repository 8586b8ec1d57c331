/* SPDX-License-Identifier: Apache-2.0 */
/* workers/finalizer, workers/leaving: names within the bounds, and patches that touch ours alone. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "workers/finalizer.h"
#include "workers/leaving.h"

#define OURS "operatord.io/edge.app"

/* E137: no two are one, for neither label has a dot. The length is the configuration's check to see to. */
START_TEST(names)
{
	char *a = finalizer_name("edge", "app"), *b = finalizer_name("edge-app", "a");

	ck_assert_str_eq(a, OURS);
	ck_assert_str_eq(b, "operatord.io/edge-app.a");
	free(a);
	free(b);
}
END_TEST

#define OBJECT(more) "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"" more "}}"
#define PATCH(list)  "{\"metadata\":{\"resourceVersion\":\"7\",\"finalizers\":[" list "]}}"
#define DELETION     ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\""

static const struct {
	const char *object, *added, *removed; /* NULL: nothing to do */
} patches[] = {
	{OBJECT(""), PATCH("\"" OURS "\""), NULL},
	{OBJECT(",\"finalizers\":null"), PATCH("\"" OURS "\""), NULL},
	{OBJECT(",\"finalizers\":[]"), PATCH("\"" OURS "\""), NULL},
	{OBJECT(",\"finalizers\":[\"x.io/b\", \"x.io/a\"]"),
		PATCH("\"x.io/b\",\"x.io/a\",\"" OURS "\""), NULL},
	{OBJECT(",\"finalizers\":[\"" OURS "\"]"), NULL, PATCH("")},
	{OBJECT(",\"finalizers\":[\"x.io/b\",\"" OURS "\" , \"x.io/a\"]"), NULL,
		PATCH("\"x.io/b\",\"x.io/a\"")},
	/* others of operatord, and names that begin alike */
	{OBJECT(",\"finalizers\":[\"" OURS "2\",\"operatord.io/edge.ap\"]"),
		PATCH("\"" OURS "2\",\"operatord.io/edge.ap\",\"" OURS "\""), NULL},
	/* E131: none is added under deletion; ours goes then too */
	{OBJECT(DELETION ",\"finalizers\":[\"x.io/b\"]"), NULL, NULL},
	{OBJECT(DELETION ",\"finalizers\":[\"x.io/b\",\"" OURS "\"]"), NULL, PATCH("\"x.io/b\"")},
	/* not what it should be */
	{OBJECT(",\"finalizers\":\"" OURS "\""), PATCH("\"" OURS "\""), NULL},
	{"nonsense", NULL, NULL},
};

static void
check_patch(bool made, const struct buf *out, const char *wanted)
{
	ck_assert_msg(made == (wanted != NULL), "%s", made ? out->data : "none was made");
	if (wanted != NULL)
		ck_assert_str_eq(out->data, wanted);
}

START_TEST(patches_touch_ours_alone)
{
	const char *object = patches[_i].object;
	struct buf out = BUF_INIT;

	check_patch(
		finalizer_add_patch(&out, object, strlen(object), OURS), &out, patches[_i].added);
	buf_reset(&out);
	check_patch(finalizer_remove_patch(&out, object, strlen(object), OURS), &out,
		patches[_i].removed);
	buf_free(&out);
}
END_TEST

START_TEST(all_of_a_prefix)
{
	static const char object[] = OBJECT(
		",\"finalizers\":[\"operatord.io/a.b\",\"x.io/b\",\"operatord.io/c.d\",\"operatord."
		"iox/y\"]");
	struct buf out = BUF_INIT, removed = BUF_INIT;

	ck_assert(finalizer_remove_all_patch(
		&out, object, strlen(object), "operatord.io/", &removed));
	ck_assert_str_eq(out.data, PATCH("\"x.io/b\",\"operatord.iox/y\""));
	ck_assert_str_eq(removed.data, "operatord.io/a.b,operatord.io/c.d");
	buf_reset(&out);
	ck_assert(!finalizer_remove_all_patch(&out, object, strlen(object), "other.io/", NULL));
	buf_free(&out);
	buf_free(&removed);
}
END_TEST

static bool
add(struct leaving *leaving, const char *uid, const char *time)
{
	char object[200];
	int n = snprintf(object, sizeof(object),
		"{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":\"%s\"}}", time);

	return leaving_add(leaving, uid, object, (size_t)n);
}

START_TEST(the_oldest_that_leaves)
{
	struct leaving leaving = {0};

	ck_assert_int_eq(leaving_oldest(&leaving), 0);
	ck_assert(add(&leaving, "b", "1970-01-01T00:02:00Z"));
	ck_assert(add(&leaving, "a", "1970-01-01T00:01:00Z"));
	ck_assert(add(&leaving, "c", "nonsense"));
	ck_assert(!add(&leaving, "a", "1970-01-01T00:00:01Z"));
	ck_assert_int_eq(leaving_oldest(&leaving), 60);
	ck_assert_ptr_nonnull(leaving_find(&leaving, "c"));
	leaving_remove(&leaving, "a");
	leaving_remove(&leaving, "nobody");
	ck_assert_int_eq(leaving_oldest(&leaving), 120);
	ck_assert_ptr_null(leaving_find(&leaving, "a"));
	for (int i = 0; i < 100; i++) {
		char uid[16];

		snprintf(uid, sizeof(uid), "u%d", i);
		ck_assert(add(&leaving, uid, "1970-01-01T01:00:00Z"));
	}
	leaving_remove(&leaving, "b");
	ck_assert_int_eq(leaving_oldest(&leaving), 3600);
	leaving_clear(&leaving);
	ck_assert_int_eq(leaving_oldest(&leaving), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("finalizer");
	TCase *cases = tcase_create("finalizer");

	tcase_add_test(cases, names);
	tcase_add_loop_test(
		cases, patches_touch_ours_alone, 0, (int)(sizeof(patches) / sizeof(patches[0])));
	tcase_add_test(cases, all_of_a_prefix);
	tcase_add_test(cases, the_oldest_that_leaves);
	suite_add_tcase(suite, cases);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
