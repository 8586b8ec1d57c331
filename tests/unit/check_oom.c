/* SPDX-License-Identifier: Apache-2.0 */
/* Tests for supervisor/oom: the kernel's counter in each layout of cgroups, on files that look like them. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/oom.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static char top[] = "/tmp/check-oom-XXXXXX";

/* With the directories above it. */
static void
put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *slash = strchr(path + strlen(top) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	(void)fclose(file);
}

static void
setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(top));
}

static void
teardown(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

static const struct {
	const char *membership, *file, *text;
	uint64_t kills;
} layouts[] = {
	/* v2, v2 with a namespace of its own, v2 beside v1, v1, v1 in a container that sees its own cgroup as the top */
	{"0::/a/b\n", "m/a/b/memory.events", "low 0\nhigh 3\nmax 1\noom 2\noom_kill 7\n", 7},
	{"0::/\n", "m/memory.events", "oom_kill 4\n", 4},
	{"2:cpu:/x\n0::/a\n", "m/unified/a/memory.events", "oom_kill 5\n", 5},
	{"9:cpu,memory:/a\n0::/a\n", "m/memory/a/memory.oom_control",
		"oom_kill_disable 0\nunder_oom 0\noom_kill 6\n", 6},
	{"4:memory:/host/path\n", "m/memory/memory.oom_control", "oom_kill 8\n", 8},
	/* no counter, nonsense, a limit of the reader */
	{"4:memory:/a\n", "m/memory/a/memory.oom_control", "under_oom 0\n", 0},
	{"nonsense\n:\n::\n0:\n", "m/memory.events", "oom_kill many\n", 0},
	{"", "m/memory.events", "oom_kill 1\n", 0},
};

START_TEST(each_layout)
{
	char mounts[64], membership[64];

	put("cgroup", layouts[_i].membership);
	put(layouts[_i].file, layouts[_i].text);
	(void)snprintf(mounts, sizeof(mounts), "%s/m", top);
	(void)snprintf(membership, sizeof(membership), "%s/cgroup", top);
	ck_assert_uint_eq(oom_kills(mounts, membership), layouts[_i].kills);
	ck_assert_uint_eq(oom_kills(mounts, "/nonexistent"), 0);
	ck_assert_uint_eq(oom_kills("/nonexistent", membership), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("oom");
	TCase *tcase = tcase_create("layouts");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, each_layout, 0, COUNT(layouts));
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
