/* SPDX-License-Identifier: Apache-2.0 */
/* workers/store: versions, mark and sweep, owners, compaction, bounds. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers/store.h"

static struct store_budget budget;
static struct store *store;

static void
setup(void)
{
	budget = (struct store_budget){0};
	store = store_new(&budget);
}

static void
teardown(void)
{
	ck_assert(store_sound(store));
	store_free(store);
	ck_assert_uint_eq(budget.used, 0);
}

struct object {
	const char *name, *uid, *version, *owner;
	size_t padding; /* bytes of spec */
};

static enum store_result
put(const struct object *object, enum store_origin origin)
{
	struct json_object_info info;
	struct store_entry entry = {.info = &info,
		.keep_body = true,
		.owner = object->owner,
		.child = object->owner == NULL ? NULL : "c"};
	char *json = malloc(object->padding + 1024);
	enum store_result result;
	int n;

	n = sprintf(json,
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"%s\","
		"\"resourceVersion\":\"%s\",\"generation\":7,"
		"\"managedFields\":[{\"manager\":\"x\"}]},\"spec\":\"",
		object->name, object->uid, object->version);
	memset(json + n, 'x', object->padding);
	strcpy(json + n + object->padding, "\"}");
	entry.bytes = json;
	entry.length = strlen(json);
	ck_assert(jsonscan_object(entry.bytes, entry.length, &info));
	result = store_put(store, &entry, origin);
	free(json);
	return result;
}

static enum store_result
server(const char *name, const char *uid, const char *version)
{
	return put(&(struct object){name, uid, version, NULL, 0}, STORE_FROM_SERVER);
}

static enum store_result
server_owned(const char *name, const char *uid, const char *version, const char *owner)
{
	return put(&(struct object){name, uid, version, owner, 0}, STORE_FROM_SERVER);
}

static enum store_result
server_sized(const char *name, const char *uid, const char *version, size_t padding)
{
	return put(&(struct object){name, uid, version, NULL, padding}, STORE_FROM_SERVER);
}

static enum store_result
answer(const char *name, const char *uid, const char *version)
{
	return put(&(struct object){name, uid, version, NULL, 0}, STORE_FROM_WRITE);
}

START_TEST(keeps_objects_without_managed_fields)
{
	struct store_view view;

	ck_assert_int_eq(server("a", "u1", "10"), STORE_NEW);
	ck_assert(store_get(store, "ns", "a", &view));
	ck_assert_str_eq(view.bytes, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":"
				     "\"u1\",\"resourceVersion\":"
				     "\"10\",\"generation\":7},\"spec\":\"\"}");
	ck_assert_str_eq(view.uid, "u1");
	ck_assert_str_eq(view.resource_version, "10");
	ck_assert_int_eq(view.generation, 7);
	ck_assert(store_get_uid(store, "u1", &view));
	ck_assert(!store_get_uid(store, "u2", &view));
	ck_assert(!store_get(store, "other", "a", &view));
	ck_assert_uint_eq(store_count(store), 1);
}
END_TEST

/* E81: a list that brings known versions changes nothing. */
START_TEST(same_version_is_no_change)
{
	server("a", "u1", "10");
	ck_assert_int_eq(server("a", "u1", "10"), STORE_SAME);
	ck_assert_int_eq(server("a", "u1", "11"), STORE_CHANGED);
	ck_assert_int_eq(server("a", "u2", "12"), STORE_NEW);
}
END_TEST

/* E85: nothing older than our own write is taken. */
START_TEST(own_write_is_not_undone)
{
	struct store_view view;

	server("a", "u1", "10");
	ck_assert_int_eq(answer("a", "u1", "20"), STORE_CHANGED);
	ck_assert_int_eq(server("a", "u1", "15"), STORE_STALE);
	ck_assert_int_eq(server("a", "u1", "20"), STORE_SAME);
	ck_assert_int_eq(server("a", "u1", "9"), STORE_STALE);
	ck_assert(store_get(store, "ns", "a", &view));
	ck_assert_str_eq(view.resource_version, "20");
	ck_assert_int_eq(server("a", "u1", "21"), STORE_CHANGED);
	ck_assert_int_eq(server("a", "u1", "19"), STORE_STALE);
}
END_TEST

/* The watch was quicker than the answer. */
START_TEST(late_answer_is_stale)
{
	struct store_view view;

	server("a", "u1", "30");
	ck_assert_int_eq(answer("a", "u1", "25"), STORE_STALE);
	ck_assert(store_remove(store, "ns", "a", "u1"));
	ck_assert_int_eq(answer("a", "u1", "31"), STORE_STALE);
	ck_assert(!store_get(store, "ns", "a", &view));
	/* An object that matches a selector again has the same uid. */
	ck_assert_int_eq(server("a", "u1", "32"), STORE_NEW);
}
END_TEST

/* A server that was set back gives lower versions to new objects. */
START_TEST(new_uid_with_lower_version)
{
	answer("a", "u1", "1000");
	ck_assert_int_eq(server("a", "u2", "5"), STORE_NEW);
	ck_assert(store_remove(store, "ns", "a", NULL));
	ck_assert_int_eq(server("a", "u3", "6"), STORE_NEW);
	ck_assert_int_eq(server("a", "u2", "7"), STORE_STALE);
}
END_TEST

static void
count(void *data, const struct store_view *view)
{
	char *names = data;

	strcat(names, view->name);
}

/* E79, E225: what a list does not bring is announced and gone. */
START_TEST(sweep_removes_the_unseen)
{
	char gone[16] = "";

	server("a", "u1", "1");
	server("b", "u2", "2");
	server("c", "u3", "3");
	store_begin(store);
	server("a", "u1", "1");
	server("c", "u3", "4");
	answer("d", "u4", "5");
	store_sweep(store, count, gone);
	ck_assert_str_eq(gone, "b");
	ck_assert_uint_eq(store_count(store), 3);
}
END_TEST

START_TEST(stale_objects_survive_a_sweep)
{
	char gone[16] = "";

	answer("a", "u1", "20");
	store_begin(store);
	ck_assert_int_eq(server("a", "u1", "10"), STORE_STALE);
	store_sweep(store, count, gone);
	ck_assert_str_eq(gone, "");
}
END_TEST

START_TEST(finds_by_owner)
{
	char found[16] = "";

	server_owned("a", "u1", "1", "owner-1");
	server_owned("b", "u2", "2", "owner-2");
	server_owned("c", "u3", "3", "owner-1");
	store_each_of(store, "owner-1", count, found);
	ck_assert_uint_eq(strlen(found), 2);
	server_owned("c", "u3", "4", "owner-2");
	found[0] = '\0';
	store_each_of(store, "owner-2", count, found);
	ck_assert_uint_eq(strlen(found), 2);
	store_remove(store, "ns", "b", NULL);
	found[0] = '\0';
	store_each_of(store, "owner-2", count, found);
	ck_assert_str_eq(found, "c");
}
END_TEST

START_TEST(notes_and_flags_live_as_long_as_the_uid)
{
	struct store_view view;

	server("a", "u1", "1");
	store_set_note(store, "ns", "a", 1, 42);
	store_set_flags(store, "ns", "a", 0, 1u << 20 | 1u);
	server_sized("a", "u1", "2", 5000);
	store_get(store, "ns", "a", &view);
	ck_assert_uint_eq(view.notes[1], 42);
	ck_assert_uint_eq(view.flags, 1u << 20);
	server("a", "u2", "3");
	store_get(store, "ns", "a", &view);
	ck_assert_uint_eq(view.notes[1], 0);
	ck_assert_uint_eq(view.flags, 0);
	ck_assert(!store_set_note(store, "ns", "missing", 1, 1));
}
END_TEST

/* Objects of changing sizes, deterministic: the store equals a simple model, and garbage stays bounded. */
START_TEST(churn_keeps_memory_bounded)
{
	enum { N = 500, ROUNDS = 40 };
	uint64_t random = 1;
	size_t sizes[N] = {0};
	struct store_view view;
	char name[16], uid[16], version[16];
	size_t live = 0;
	unsigned v = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			snprintf(name, sizeof(name), "o%d", i);
			snprintf(uid, sizeof(uid), "u%d-%d", i, round / 10);
			snprintf(version, sizeof(version), "%u", ++v);
			if (random >> 61 == 0) {
				store_remove(store, "ns", name, NULL);
				sizes[i] = 0;
				continue;
			}
			sizes[i] = 1 + (size_t)(random >> 33) % 3000;
			ck_assert_int_ne(server_sized(name, uid, version, sizes[i]), STORE_FULL);
		}
		ck_assert(store_sound(store));
	}
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "o%d", i);
		ck_assert_int_eq(store_get(store, "ns", name, &view), sizes[i] > 0);
		live += sizes[i] > 0 ? view.length + 200 : 0;
	}
	ck_assert_uint_lt(store_bytes(store), live + live / 3 + 300000);
}
END_TEST

START_TEST(budget_is_kept)
{
	enum store_result result = STORE_NEW;
	char name[16];
	struct store_view view;
	int i;

	budget.limit = 400000;
	for (i = 0; i < 1000 && result == STORE_NEW; i++) {
		snprintf(name, sizeof(name), "o%d", i);
		result = server_sized(name, name, "1", 1000);
	}
	ck_assert_int_eq(result, STORE_FULL);
	ck_assert_int_gt(i, 200);
	ck_assert_uint_le(budget.used, budget.limit);
	ck_assert(store_get(store, "ns", "o0", &view));
	ck_assert(!store_get(store, "ns", name, &view));
	for (int k = 0; k < 150; k++) {
		char old[16];

		snprintf(old, sizeof(old), "o%d", k);
		store_remove(store, "ns", old, NULL);
	}
	ck_assert_int_eq(server_sized(name, name, "1", 1000), STORE_NEW);
}
END_TEST

START_TEST(bad_names_are_refused)
{
	char name[400];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(server(name, "u", "1"), STORE_REFUSED);
	ck_assert_int_eq(server("a\\u0041", "u", "1"), STORE_REFUSED);
	ck_assert_int_eq(server("", "u", "1"), STORE_REFUSED);
}
END_TEST

START_TEST(versions_compare_as_numbers)
{
	ck_assert_int_eq(store_compare_versions("9", "10"), -1);
	ck_assert_int_eq(store_compare_versions("10", "9"), 1);
	ck_assert_int_eq(store_compare_versions("10", "10"), 0);
	ck_assert_int_eq(store_compare_versions("a", "10"), 0);
	ck_assert_int_eq(store_compare_versions("", "10"), 0);
	ck_assert_int_eq(store_compare_versions("99999999999999999999999", "1"), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("store");
	TCase *tcase = tcase_create("store");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, keeps_objects_without_managed_fields);
	tcase_add_test(tcase, same_version_is_no_change);
	tcase_add_test(tcase, own_write_is_not_undone);
	tcase_add_test(tcase, late_answer_is_stale);
	tcase_add_test(tcase, new_uid_with_lower_version);
	tcase_add_test(tcase, sweep_removes_the_unseen);
	tcase_add_test(tcase, stale_objects_survive_a_sweep);
	tcase_add_test(tcase, finds_by_owner);
	tcase_add_test(tcase, notes_and_flags_live_as_long_as_the_uid);
	tcase_add_test(tcase, churn_keeps_memory_bounded);
	tcase_add_test(tcase, budget_is_kept);
	tcase_add_test(tcase, bad_names_are_refused);
	tcase_add_test(tcase, versions_compare_as_numbers);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
