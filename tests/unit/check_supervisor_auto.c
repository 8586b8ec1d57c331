/* SPDX-License-Identifier: Apache-2.0 */
/* reload: auto. Changes are followed by themselves however they are made; what is no change, or is not finished, is not. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "tests/unit/supervisor_fixture.h"

#define AUTO    "reload: auto\n"
#define EXTRA   "version: 1\ncontrollers:\n- {name: extra, resource: things.v1.example.com}\n"
#define WITH_FILE \
	"version: 1\ncontrollers:\n- name: b\n  resource: things.v1.example.com\n" \
	"  children:\n  - {id: web, file: web.tpl}\n"
#define TEMPLATE(value) \
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  a: \"\"\n  b: " value "\n"
#define READING "reload: reading"
/* Longer than the time that must be quiet, shorter than until the look that needs no event. */
#define QUIET_MS 800

static struct site site;

static void
start(const char *top, const char *names)
{
	site_open(&site, top, names);
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
}

static void
remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	char below[512];

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		(void)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (unlink(below) < 0)
			remove_tree(below);
	}
	if (dir)
		(void)closedir(dir);
	(void)rmdir(path);
}

static void
teardown(void)
{
	char directory[64];

	(void)snprintf(directory, sizeof(directory), "%s", site.directory);
	site_close(&site);
	remove_tree(directory);
}

/* Paths below the site's directory. */
static const char *
at(const char *name)
{
	static char paths[4][192];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", site.directory, name);
	return path;
}

/* In place, as an editor that keeps the inode does. */
static void
put(const char *name, const char *text)
{
	FILE *file = fopen(at(name), "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(at(name), 0644), 0);
}

static void
move(const char *from, const char *to)
{
	ck_assert_int_eq(rename(at(from), at(to)), 0);
}

static unsigned
reads(void)
{
	return site_log_has(&site, READING);
}

/* The first looks after the start are over: a file written just before it may be read once more. */
static unsigned
settled(void)
{
	unsigned before;

	do {
		before = reads();
		pause_ms(QUIET_MS);
	} while (reads() != before);
	return before;
}

static char *
main_text(void)
{
	struct buf text = BUF_INIT;

	ck_assert_int_eq(buf_read_file(&text, site.config, 1 << 20), 0);
	return buf_detach(&text, NULL);
}

START_TEST(test_a_file_comes_and_goes)
{
	start(AUTO, "a");
	pid_t a = site_pid(&site, "a");

	site_write(&site, "a.yaml", EXTRA);
	WAIT_FOR(site_is(&site, "extra", "live"));
	site_remove(&site, "a.yaml");
	WAIT_FOR(site_pid(&site, "extra") == 0);
	ck_assert_int_eq(site_pid(&site, "a"), a);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* The file of a child's template is one of the configuration's. */
START_TEST(test_a_template_changes)
{
	start(AUTO, "a");
	site_write(&site, "web.tpl", TEMPLATE("one"));
	site_write(&site, "b.yaml", WITH_FILE);
	WAIT_FOR(site_is(&site, "b", "live"));
	unsigned before = settled();
	pid_t a = site_pid(&site, "a"), b = site_pid(&site, "b");

	site_write(&site, "web.tpl", TEMPLATE("two"));
	WAIT_FOR(reads() == before + 1);
	WAIT_FOR(site_is(&site, "b", "live") && site_pid(&site, "b") != b);
	ck_assert_int_eq(site_pid(&site, "a"), a);
	site_write(&site, "web.tpl", TEMPLATE("["));
	WAIT_FOR(site_log_has(&site, "conf.d/web.tpl:"));
	ck_assert_uint_eq(settled(), before + 2);
	ck_assert(site_is(&site, "b", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* Bursts are one reload, and a bad file is refused as by hand. */
START_TEST(test_a_burst_and_a_bad_file)
{
	start(AUTO, "a");
	unsigned before = settled();

	for (int i = 0; i < 20; i++) {
		site_write(&site, i % 2 ? "a.yaml" : "b.yaml", "version: 1\ncontrollers: []\n");
		pause_ms(20);
	}
	WAIT_FOR(reads() > before);
	ck_assert_uint_eq(settled(), before + 1);
	put("main.yaml", "nonsense: 1\n");
	WAIT_FOR(site_log_has(&site, "nothing was changed: the main file has errors") == 1);
	ck_assert(site_is(&site, "a", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

static const char *const litter[] = {"4913", ".main.yaml.swp", ".main.yaml.swx", "main.yaml~",
	"#main.yaml#", "conf.d/.a.yaml.swp", "conf.d/4913", "conf.d/#a.yaml#", "conf.d/a.yaml~",
	"conf.d/.#a.yaml", "conf.d/a.yaml.bak", "notes.txt"};

START_TEST(test_what_editors_leave_is_no_change)
{
	start(AUTO, "a");
	unsigned before = settled();

	for (size_t i = 0; i < sizeof(litter) / sizeof(*litter); i++) {
		put(litter[i], "not: yaml: at all");
		pause_ms(20);
	}
	for (size_t i = 0; i < sizeof(litter) / sizeof(*litter); i++)
		ck_assert_int_eq(unlink(at(litter[i])), 0);
	ck_assert_uint_eq(settled(), before);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* As vim saves: a probe, the old file out of the way, a new one, the old one removed. As sed -i and many others: by rename. As emacs: in place. */
static void
save(int how, const char *text)
{
	if (how == 0) {
		put("4913", "");
		ck_assert_int_eq(unlink(at("4913")), 0);
		move("main.yaml", "main.yaml~");
		put("main.yaml", text);
		ck_assert_int_eq(unlink(at("main.yaml~")), 0);
	} else if (how == 1) {
		put("sedXYZ", text);
		move("sedXYZ", "main.yaml");
	} else {
		ck_assert_int_eq(symlink("me@here.1", at(".#main.yaml")), 0);
		put("main.yaml", text);
		ck_assert_int_eq(unlink(at(".#main.yaml")), 0);
	}
}

START_TEST(test_each_way_to_save)
{
	start(AUTO, "a");
	unsigned before = settled();
	char *text = main_text();
	struct buf longer = BUF_INIT;

	buf_addf(&longer, "%s- {name: extra, resource: things.v1.example.com}\n", text);
	save(_i, longer.data);
	WAIT_FOR(site_is(&site, "extra", "live"));
	ck_assert_uint_eq(settled(), before + 1);
	save(_i, text);
	WAIT_FOR(site_pid(&site, "extra") == 0);
	buf_free(&longer);
	free(text);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* Half of it is a valid file that has no extra. */
START_TEST(test_a_file_is_not_read_before_its_writer_is_done)
{
	site_open(&site, AUTO, "a");
	site_write(&site, "a.yaml", EXTRA);
	site_start(&site);
	WAIT_FOR(site_is(&site, "extra", "live"));
	unsigned before = settled();
	pid_t extra = site_pid(&site, "extra");
	FILE *file = fopen(at("conf.d/a.yaml"), "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs("version: 1\n", file), 0);
	ck_assert_int_eq(fflush(file), 0);
	pause_ms(QUIET_MS);
	ck_assert_uint_eq(reads(), before);
	ck_assert_int_ge(fputs("controllers:\n- {name: extra, resource: things.v1.example.com}\n- "
			       "{name: more, resource: things.v1.example.com}\n",
				 file),
		0);
	ck_assert_int_eq(fclose(file), 0);
	WAIT_FOR(site_is(&site, "more", "live"));
	ck_assert_uint_eq(reads(), before + 1);
	ck_assert_int_eq(site_pid(&site, "extra"), extra);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* A ConfigMap's volume: each name is a link through ..data, which is moved from one directory to the next. */
static void
publish(const char *folder, const char *version, const char *name, const char *text)
{
	char path[128], link[128];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, version);
	ck_assert_int_eq(mkdir(at(path), 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", folder, version, name);
	put(path, text);
	(void)snprintf(link, sizeof(link), "%s/..data_tmp", folder);
	ck_assert_int_eq(symlink(version, at(link)), 0);
	(void)snprintf(path, sizeof(path), "%s/..data", folder);
	move(link, path);
}

START_TEST(test_a_config_map)
{
	site_open(&site, AUTO, "a");
	char *text = main_text();
	struct buf longer = BUF_INIT;

	publish(".", "..2026_1", "main.yaml", text);
	ck_assert_int_eq(unlink(site.config), 0);
	ck_assert_int_eq(symlink("..data/main.yaml", site.config), 0);
	publish("conf.d", "..2026_1", "a.yaml", "version: 1\ncontrollers: []\n");
	ck_assert_int_eq(symlink("..data/a.yaml", at("conf.d/a.yaml")), 0);
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	unsigned before = settled();

	publish("conf.d", "..2026_2", "a.yaml", EXTRA);
	WAIT_FOR(site_is(&site, "extra", "live"));
	ck_assert_uint_eq(settled(), before + 1);
	buf_addf(&longer, "%s- {name: more, resource: things.v1.example.com}\n", text);
	publish(".", "..2026_2", "main.yaml", longer.data);
	WAIT_FOR(site_is(&site, "more", "live"));
	ck_assert_uint_eq(settled(), before + 2);
	buf_free(&longer);
	free(text);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_conf_d_comes_later_and_is_replaced)
{
	site_open(&site, AUTO, "a");
	ck_assert_int_eq(rmdir(at("conf.d")), 0);
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	(void)settled();
	ck_assert_int_eq(mkdir(at("conf.d"), 0755), 0);
	(void)settled();
	site_write(&site, "a.yaml", EXTRA);
	WAIT_FOR(site_is(&site, "extra", "live"));

	move("conf.d", "old");
	ck_assert_int_eq(mkdir(at("conf.d"), 0755), 0);
	WAIT_FOR(site_pid(&site, "extra") == 0);
	unsigned before = settled();
	put("old/a.yaml", "no business of ours");
	ck_assert_uint_eq(settled(), before);
	site_write(&site, "a.yaml", EXTRA);
	WAIT_FOR(site_is(&site, "extra", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* inotify sees the link's directory, not the target's: the look every few seconds does. */
START_TEST(test_the_target_of_a_link)
{
	site_open(&site, AUTO, "a");
	ck_assert_int_eq(mkdir(at("elsewhere"), 0755), 0);
	put("elsewhere/file", "version: 1\ncontrollers: []\n");
	ck_assert_int_eq(symlink("../elsewhere/file", at("conf.d/a.yaml")), 0);
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	(void)settled();
	put("elsewhere/file", EXTRA);
	WAIT_FOR(site_is(&site, "extra", "live"));
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

/* The limits of a user namespace, as whoever is in it sees them; false: this system lets nobody. */
static bool
set_inotify_limit(pid_t pid, const char *value)
{
	char path[64];
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		int ns = open(path, O_RDONLY | O_CLOEXEC);
		if (ns < 0 || setns(ns, CLONE_NEWUSER) < 0)
			_exit(1);
		int fd = open("/proc/sys/user/max_inotify_instances", O_WRONLY | O_CLOEXEC);
		_exit(fd >= 0 && write(fd, value, strlen(value)) > 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(test_without_inotify)
{
	site_open(&site, "", "a");
	site.own_user_namespace = true;
	site_start(&site);
	WAIT_FOR(site_is(&site, "a", "live"));
	if (!set_inotify_limit(site.pid, "0")) {
		(void)fputs("NOT TESTED: no user namespace can be made here, so inotify can't be "
			    "taken away\n",
			stderr);
		(void)site_stop(&site, SIGTERM);
		return;
	}
	site_write_main(&site, AUTO, "a");
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(site_log_has(&site, "reload: auto: no inotify: ") == 1);
	site_write(&site, "a.yaml", EXTRA);
	WAIT_FOR(site_is(&site, "extra", "live"));
	ck_assert_uint_eq(site_log_has(&site, "reload: auto: no inotify: "), 1);
	ck_assert(set_inotify_limit(site.pid, "10"));
	WAIT_FOR(site_log_has(&site, "inotify works now") == 1);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

START_TEST(test_on_and_off_by_reloads)
{
	start("", "a");
	unsigned before = settled();

	site_write(&site, "a.yaml", EXTRA);
	ck_assert_uint_eq(settled(), before);
	site_write_main(&site, AUTO, "a");
	ck_assert_int_eq(kill(site.pid, SIGHUP), 0);
	WAIT_FOR(site_is(&site, "extra", "live"));
	site_remove(&site, "a.yaml");
	WAIT_FOR(site_pid(&site, "extra") == 0);
	site_write_main(&site, "reload: manual\n", "a");
	before = settled();
	site_write(&site, "a.yaml", EXTRA);
	ck_assert_uint_eq(settled(), before);
	ck_assert_int_eq(site_stop(&site, SIGTERM), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("reload: auto");
	TCase *tcase = tcase_create("changes");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_a_file_comes_and_goes);
	tcase_add_test(tcase, test_a_template_changes);
	tcase_add_test(tcase, test_a_burst_and_a_bad_file);
	tcase_add_test(tcase, test_what_editors_leave_is_no_change);
	tcase_add_loop_test(tcase, test_each_way_to_save, 0, 3);
	tcase_add_test(tcase, test_a_file_is_not_read_before_its_writer_is_done);
	tcase_add_test(tcase, test_a_config_map);
	tcase_add_test(tcase, test_conf_d_comes_later_and_is_replaced);
	tcase_add_test(tcase, test_the_target_of_a_link);
	tcase_add_test(tcase, test_without_inotify);
	tcase_add_test(tcase, test_on_and_off_by_reloads);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
