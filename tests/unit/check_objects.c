/* SPDX-License-Identifier: Apache-2.0 */
/* workers/objects and member: what is read out of an object's bytes when it is stored. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "workers/member.h"
#include "workers/objects.h"

#define OBJECT(metadata, rest)                                                                  \
	"{\"apiVersion\":\"test.dev/"                                                           \
	"v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"" metadata "}" rest \
	"}"
#define SPEC ",\"spec\":{\"x\":1}"

static struct store_entry
entry_of(const char *json)
{
	static struct json_object_info info;
	struct store_entry entry = {.bytes = json, .length = strlen(json), .info = &info};

	ck_assert(jsonscan_object(entry.bytes, entry.length, &info));
	object_entry(&entry);
	return entry;
}

static const struct {
	const char *json;
	bool same; /* as the first */
} versions[] = {
	{OBJECT(",\"resourceVersion\":\"1\",\"generation\":1", SPEC), true},
	/* E87, E89: what a status write changes is not what people wrote. */
	{OBJECT(",\"resourceVersion\":\"2\",\"generation\":2,\"managedFields\":[{\"manager\":\"m\"}"
		"]",
		 SPEC),
		true},
	{OBJECT("", SPEC ",\"status\":{\"a\":1}"), true},
	{OBJECT("", SPEC ",\"status\":{\"a\":2,\"spec\":3}"), true},
	{"{\"status\":{\"a\":1},\"apiVersion\":\"test.dev/"
	 "v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\"}" SPEC "}",
		true},
	{OBJECT("", ",\"spec\":{\"x\":2}"), false},
	{OBJECT("", SPEC ",\"data\":1"), false},
	{OBJECT(",\"labels\":{\"l\":\"1\"}", SPEC), false},
	{OBJECT(",\"annotations\":{\"l\":\"1\"}", SPEC), false},
};

START_TEST(version_follows_what_people_write)
{
	uint64_t first = entry_of(OBJECT("", SPEC)).fingerprint;

	ck_assert_uint_ne(first, 0);
	ck_assert_int_eq(entry_of(versions[_i].json).fingerprint == first, versions[_i].same);
}
END_TEST

static const struct {
	const char *json;
	uint32_t flags;
} flags[] = {
	{OBJECT("", SPEC), 0},
	{OBJECT(",\"deletionTimestamp\":\"2026-11-30T22:05:00Z\"", SPEC), OBJECT_DELETING},
	{OBJECT(",\"annotations\":{\"operatord.io/paused\":\"true\"}", SPEC), OBJECT_PAUSED},
	{OBJECT(",\"annotations\":{\"operatord.io/paused\":\"false\"}", SPEC), 0},
	{OBJECT(",\"annotations\":{\"operatord.io/paused\":true}", SPEC), 0},
	{OBJECT(",\"labels\":{\"operatord.io/paused\":\"true\"}", SPEC), 0},
};

START_TEST(flags_are_seen)
{
	ck_assert_uint_eq(entry_of(flags[_i].json).flags, flags[_i].flags);
}
END_TEST

START_TEST(members_are_compared_and_copied)
{
	static const char json[] = "{\"a\":\"one\",\"n\":5,\"e\":\"\"}";
	const struct json_range all = {0, sizeof(json) - 1}, none = {0, 0};
	char out[256];

	ck_assert(member_is(json, &all, "a", "one"));
	ck_assert(!member_is(json, &all, "a", "on"));
	ck_assert(!member_is(json, &all, "n", "5"));
	ck_assert(member_is(json, &all, "e", ""));
	ck_assert(!member_is(json, &none, "a", "one"));
	member_copy(json, &all, "a", out);
	ck_assert_str_eq(out, "one");
	member_copy(json, &all, "n", out);
	ck_assert_str_eq(out, "");
	member_copy(json, &all, "missing", out);
	ck_assert_str_eq(out, "");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("objects");
	TCase *tcase = tcase_create("objects");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, version_follows_what_people_write, 0,
		sizeof(versions) / sizeof(versions[0]));
	tcase_add_loop_test(tcase, flags_are_seen, 0, sizeof(flags) / sizeof(flags[0]));
	tcase_add_test(tcase, members_are_compared_and_copied);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
