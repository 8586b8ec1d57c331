/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration. tests/unit/config/NAME.yaml is checked against NAME.ok, the canonical print, which must parse back to itself, or
 * against NAME.err, the problems. CHECK_CONFIG_UPDATE=1 in the environment writes those files anew: look at the difference.
 * What takes several files, or rights, is made in a directory of the test's own.
 * Rows: E107, E111 (child-namespace), E121 (everything, expression-syntax), E153 (aliases), E155 and E157 (merge-key, duplicate-key), E159
 * (text-kept, context-*, booleans), E161 and E165 (bom*, utf16), E163 (tab).
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/config/check.h"
#include "common/config/config.h"
#include "common/config/duration.h"
#include "common/config/quantity.h"
#include "common/config/schema.h"
#include "common/config/syntax.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/template/template.h"

static char directory[] = "/tmp/check-config-XXXXXX";
static char *source; /* tests/unit/config, absolute */
static char *examples;
static bool update; /* read at the start: the checker clears the environment */

/* --- files --- */

/* Relative to the test's directory. */
static void
put_file(const char *name, const void *bytes, size_t length, mode_t mode)
{
	int fd;

	(void)unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
	ck_assert_int_eq(write(fd, bytes, length), (ssize_t)length);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void
put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text), 0644);
}

static void
copy_file(const char *from, const char *to)
{
	struct buf bytes = BUF_INIT;

	ck_assert_msg(buf_read_file(&bytes, from, 1 << 20) == 0, "%s", from);
	put_file(to, bytes.data, bytes.length, 0644);
	buf_free(&bytes);
}

static void
empty_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
			(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		}
	if (dir)
		closedir(dir);
}

static void
clean_up(void)
{
	(void)chmod(".", 0700);
	empty_directory("conf.d");
	empty_directory(".");
}

static void
setup(void)
{
	clean_up();
}

/* --- the document --- */

/* Each check clears the environment. */
static bool
run_check(const char *path, bool strict, struct buf *document)
{
	ck_assert_int_eq(setenv("CHECK_CONFIG_NODE", "node-1", 1), 0);
	return config_check(path, strict, document);
}

static cJSON *
check(const char *path, bool strict, bool expect)
{
	struct buf document = BUF_INIT;
	struct error err = {0};
	cJSON *parsed;
	bool valid = run_check(path, strict, &document);

	parsed = json_parse(document.data, document.length, &err);
	ck_assert_msg(parsed != NULL, "%s: %s", err.text, document.data);
	ck_assert_msg(valid == expect, "%s", document.data);
	ck_assert_int_eq(json_bool(parsed, "valid", !expect), expect);
	ck_assert_int_eq(json_get(parsed, "supervisor", NULL) != NULL, expect);
	buf_free(&document);
	return parsed;
}

static void
join(struct buf *out, const cJSON *array)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, array) buf_addf(out, "%s\n", item->valuestring);
}

/* The problems of main.yaml with that text. */
static char *
problems_of(const char *text)
{
	struct buf lines = BUF_INIT;
	cJSON *document;

	put_text("main.yaml", text);
	document = check("main.yaml", false, false);
	join(&lines, json_get(document, "errors", NULL));
	cJSON_Delete(document);
	return buf_detach(&lines, NULL);
}

static void
expect_lines(const cJSON *array, const char *const *lines)
{
	const cJSON *item;
	size_t i = 0;

	cJSON_ArrayForEach(item, array)
	{
		ck_assert_msg(lines[i] != NULL, "unexpected: %s", item->valuestring);
		ck_assert_str_eq(item->valuestring, lines[i]);
		i++;
	}
	ck_assert_msg(lines[i] == NULL, "missing: %s", lines[i]);
}

#define EXPECT_ERRORS(document, ...) \
	expect_lines(json_get(document, "errors", NULL), (const char *const[]){__VA_ARGS__, NULL})

static const cJSON *
file_of(const cJSON *document, const char *path)
{
	const cJSON *file;

	cJSON_ArrayForEach(
		file, json_get(document, "files", NULL)) if (!strcmp(json_string(file, "path", ""),
								     path)) return file;
	ck_abort_msg("no file %s", path);
	return NULL;
}

/* --- golden files --- */

static bool
read_golden(const char *name, const char *suffix, struct buf *out)
{
	char *path = xasprintf("%s/%s.%s", source, name, suffix);
	int r = buf_read_file(out, path, 1 << 20);

	free(path);
	return r == 0;
}

static void
update_golden(const char *name, const char *suffix, const struct buf *text)
{
	char *path = xasprintf("%s/%s.%s", source, name, suffix);
	FILE *file = fopen(path, "we");

	ck_assert_msg(file != NULL, "%s", path);
	ck_assert_uint_eq(fwrite(text->data, 1, text->length, file), text->length);
	ck_assert_int_eq(fclose(file), 0);
	free(path);
}

static void
compare_golden(const char *name, const char *suffix, const struct buf *got)
{
	struct buf want = BUF_INIT;

	if (update)
		update_golden(name, suffix, got);
	ck_assert_msg(read_golden(name, suffix, &want), "%s.%s is missing; got:\n%s", name, suffix,
		got->data);
	ck_assert_msg(!strcmp(want.data, got->data), "%s.%s\n--- want\n%s--- got\n%s", name, suffix,
		want.data, got->data);
	buf_free(&want);
}

/* Print, check what was printed, print again: the same, and the same document but for vars from the environment. */
static void
expect_round_trip(const struct buf *printed)
{
	struct buf document = BUF_INIT, again = BUF_INIT;

	put_file("printed.yaml", printed->data, printed->length, 0644);
	ck_assert_msg(
		run_check("printed.yaml", true, &document), "%s\n%s", document.data, printed->data);
	config_print_yaml(&again, document.data, document.length);
	ck_assert_str_eq(again.data, printed->data);
	buf_free(&again);
	buf_free(&document);
}

static void
check_golden(const char *name)
{
	char *from = xasprintf("%s/%s.yaml", source, name), *to = xasprintf("%s.yaml", name);
	struct buf document = BUF_INIT, text = BUF_INIT;
	cJSON *parsed;

	setup();
	copy_file(from, to);
	if (run_check(to, true, &document)) {
		config_print_yaml(&text, document.data, document.length);
		compare_golden(name, "ok", &text);
		expect_round_trip(&text);
	} else {
		parsed = json_parse(document.data, document.length, NULL);
		ck_assert_ptr_nonnull(parsed);
		join(&text, json_get(parsed, "errors", NULL));
		cJSON_Delete(parsed);
		compare_golden(name, "err", &text);
	}
	buf_free(&text);
	buf_free(&document);
	free(from);
	free(to);
}

START_TEST(golden_files)
{
	struct dirent **names;
	int n = scandir(source, &names, NULL, alphasort), seen = 0;

	ck_assert_msg(n > 0, "%s", source);
	for (int i = 0; i < n; i++) {
		size_t length = strlen(names[i]->d_name);

		if (length > 5 && !strcmp(names[i]->d_name + length - 5, ".yaml")) {
			names[i]->d_name[length - 5] = '\0';
			check_golden(names[i]->d_name);
			seen++;
		}
		free(names[i]);
	}
	free(names);
	ck_assert_int_gt(seen, 50);
}
END_TEST

START_TEST(examples_are_valid)
{
	static const char *const names[] = {
		"nginx", "uuid", "uuid-status", "greeting", "edge", "webapp", "database", "operatord"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *from = xasprintf("%s/%s.yaml", examples, names[i]);
		struct buf printed = BUF_INIT, document = BUF_INIT;

		copy_file(from, "main.yaml");
		ck_assert_msg(run_check("main.yaml", true, &document), "%s", document.data);
		config_print_yaml(&printed, document.data, document.length);
		expect_round_trip(&printed);
		buf_free(&printed);
		buf_free(&document);
		free(from);
	}
}
END_TEST

static char *
example_controller(const char *file, const char *name)
{
	char *from = xasprintf("%s/%s", examples, file);
	struct buf text = BUF_INIT;
	cJSON *document;

	copy_file(from, "main.yaml");
	document = check("main.yaml", true, true);
	json_print(&text, json_get(document, "controllers", name, NULL));
	cJSON_Delete(document);
	free(from);
	return buf_detach(&text, NULL);
}

START_TEST(example_of_both_holds_the_same_as_each)
{
	static const char *const names[] = {"nginx", "uuid"};

	for (size_t i = 0; i < 2; i++) {
		char *file = xasprintf("%s.yaml", names[i]);
		char *alone = example_controller(file, names[i]);
		char *together = example_controller("operatord.yaml", names[i]);

		ck_assert_int_gt((int)strlen(alone), 100);
		ck_assert_str_eq(alone, together);
		free(file);
		free(alone);
		free(together);
	}
}
END_TEST

START_TEST(greeting_goes_into_conf_d)
{
	char *from = xasprintf("%s/operatord.yaml", examples);
	char *greeting = xasprintf("%s/greeting.yaml", examples);
	cJSON *document;

	copy_file(from, "operatord.yaml");
	(void)mkdir("conf.d", 0755);
	copy_file(greeting, "conf.d/greeting.yaml");
	document = check("operatord.yaml", true, true);
	ck_assert_ptr_nonnull(json_get(document, "controllers", "greeting", NULL));
	ck_assert_ptr_nonnull(json_get(document, "controllers", "nginx", NULL));
	cJSON_Delete(document);
	free(from);
	free(greeting);
}
END_TEST

/* --- file: --- */

#define WEB(name) "version: 1\ncontrollers:\n- {name: " name ", resource: webs.v1.example.com}\n"
#define FILE_CHILD(path)                                                           \
	"version: 1\ncontrollers:\n- name: web\n  resource: webs.v1.example.com\n" \
	"  children:\n  - id: a\n    file: " path "\n"
#define MAP(value) "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: " value "\n"

static char *
controller_with_file(const char *path, const char *text)
{
	struct buf out = BUF_INIT;
	cJSON *document;

	put_text(path, text);
	document = check("main.yaml", true, true);
	json_print(&out, json_get(document, "controllers", "web", NULL));
	cJSON_Delete(document);
	return buf_detach(&out, NULL);
}

START_TEST(a_file_is_its_child_s_template)
{
	struct buf printed = BUF_INIT, document = BUF_INIT;
	cJSON *parsed;
	char *one, *two;

	(void)mkdir("sub", 0755);
	put_text("main.yaml", FILE_CHILD("sub/a.yaml"));
	one = controller_with_file("sub/a.yaml", MAP("\"${.spec.a}\""));
	two = controller_with_file("sub/a.yaml", MAP("\"${.spec.b}\""));
	ck_assert_ptr_nonnull(strstr(one, "\"template\":{\"apiVersion\":\"v1\""));
	ck_assert_str_ne(one, two); /* a changed file is a changed controller */
	ck_assert(run_check("main.yaml", true, &document));
	config_print_yaml(&printed, document.data, document.length);
	expect_round_trip(&printed);
	(void)unlink("sub/a.yaml");
	(void)rmdir("sub");
	parsed = json_parse(document.data, document.length, NULL);
	ck_assert_str_eq(
		cJSON_GetArrayItem(json_get(file_of(parsed, "main.yaml"), "templates", NULL), 0)
			->valuestring,
		"./sub/a.yaml");
	cJSON_Delete(parsed);
	buf_free(&printed);
	buf_free(&document);
	free(one);
	free(two);
}
END_TEST

START_TEST(files_of_a_dropped_file_lie_beside_it)
{
	put_text("main.yaml", WEB("main"));
	(void)mkdir("conf.d", 0755);
	(void)mkdir("conf.d/t", 0755);
	put_text("conf.d/a.yaml", FILE_CHILD("t/a.yaml"));
	put_text("conf.d/t/a.yaml", MAP("x"));
	cJSON_Delete(check("main.yaml", true, true));
	(void)unlink("conf.d/t/a.yaml");
	(void)rmdir("conf.d/t");
}
END_TEST

static const struct {
	const char *path, *text, *error;
} file_problems[] = {
	{"a.yaml", NULL, "./a.yaml: can't be opened: No such file or directory\n"},
	{"/etc/passwd", NULL, "main.yaml:7:11: file: expected a path below this file's directory"},
	{"../a.yaml", NULL, "main.yaml:7:11: file: expected a path below this file's directory"},
	{"sub/../a.yaml", NULL, "main.yaml:7:11: file: expected a path below"},
	{"1", NULL, "main.yaml:7:11: file: expected a path below"},
	{"a.yaml\n    template: {}", MAP("x"),
		"main.yaml:7:11: file: a child has template or file"},
	{"a.yaml", MAP("x") "---\n" MAP("x"),
		"./a.yaml:7:1: a second document begins here: one file holds one\n"},
	{"a.yaml", "a: [\n", "./a.yaml:2:1: "},
	{"a.yaml", "", "./a.yaml:1:1: expected an object with apiVersion, kind and metadata\n"},
	{"a.yaml", "- a\n",
		"./a.yaml:1:1: expected an object with apiVersion, kind and metadata\n"},
	{"a.yaml", MAP("0400"),
		"./a.yaml:6:6: controllers[web].children[a].template.data.a: 0400 is"},
	{"a.yaml", MAP("\"${.spec.a +}\""),
		"./a.yaml:6:9: controllers[web].children[a].template.data.a: syntax"},
	{"a.yaml", "kind: ConfigMap\nmetadata: {name: a}\n",
		"./a.yaml:1:1: controllers[web].children[a].template.apiVersion: is missing"},
};

START_TEST(files_that_can_t_be_used)
{
	char *text = xasprintf(FILE_CHILD("%s"), file_problems[_i].path), *errors;

	(void)unlink("a.yaml");
	if (file_problems[_i].text)
		put_text("a.yaml", file_problems[_i].text);
	errors = problems_of(text);
	ck_assert_msg(!strncmp(errors, file_problems[_i].error, strlen(file_problems[_i].error)),
		"%s", errors);
	ck_assert_msg(
		file_problems[_i].path[0] != 'a' || !strstr(errors, "is missing; write it here"),
		"%s", errors);
	free(errors);
	free(text);
}
END_TEST

START_TEST(files_of_others_and_links_out_are_refused)
{
	char *errors;

	put_text("a.yaml", MAP("x"));
	ck_assert_int_eq(chmod("a.yaml", 0666), 0);
	errors = problems_of(FILE_CHILD("a.yaml"));
	ck_assert_str_eq(
		errors, "./a.yaml: the file can be written by others (mode 0666): chmod go-w it\n");
	free(errors);
	(void)unlink("a.yaml");
	ck_assert_int_eq(symlink("/etc/hostname", "a.yaml"), 0);
	errors = problems_of(FILE_CHILD("a.yaml"));
	ck_assert_str_eq(
		errors, "./a.yaml: leads out of the directory of the file that names it\n");
	free(errors);
	(void)unlink("a.yaml");
	put_text("b", MAP("x"));
	ck_assert_int_eq(symlink("b", "a.yaml"), 0);
	put_text("main.yaml", FILE_CHILD("a.yaml"));
	cJSON_Delete(check("main.yaml", true, true));
}
END_TEST

/* --- conf.d --- */

START_TEST(conf_d_in_order_and_by_name)
{
	static const char *const skipped[] = {".a.yaml", "a.yaml~", "a.yaml.bak", "a.yaml.swp",
		"#a.yaml#", "#a.yaml", "README", "a.json", ".yaml"};
	static const char *const read[] = {"10-b.yaml", "9-a.yaml", "Z.yml", "z.yaml"};
	const cJSON *files;
	cJSON *document;

	put_text("main.yaml", WEB("main"));
	(void)mkdir("conf.d", 0755);
	for (size_t i = 0; i < sizeof skipped / sizeof skipped[0]; i++) {
		char *path = xasprintf("conf.d/%s", skipped[i]);
		put_text(path, "not: valid");
		free(path);
	}
	for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
		char *path = xasprintf("conf.d/%s", read[i]);
		char *text = xasprintf(
			"version: 1\ncontrollers:\n- {name: c%zu, resource: webs.v1.example.com}\n",
			i);
		put_text(path, text);
		free(path);
		free(text);
	}
	document = check("main.yaml", true, true);
	files = json_get(document, "files", NULL);
	ck_assert_int_eq(cJSON_GetArraySize(files), 5);
	ck_assert_str_eq(json_string(files->child, "path", ""), "main.yaml");
	files = files->child->next;
	for (size_t i = 0; i < 4; i++, files = files->next) {
		ck_assert_str_eq(json_string(files, "path", "") + strlen("./conf.d/"), read[i]);
		ck_assert(!json_bool(files, "main", true));
	}
	ck_assert_int_eq(cJSON_GetArraySize(json_get(document, "controllers", NULL)), 5);
	cJSON_Delete(document);
}
END_TEST

START_TEST(bad_conf_d_file_leaves_the_others)
{
	cJSON *document;
	const cJSON *file;

	put_text("main.yaml", WEB("main"));
	(void)mkdir("conf.d", 0755);
	put_text("conf.d/bad.yaml", WEB("bad") "  replicas: 1\n- name: bad2\n");
	put_text("conf.d/good.yaml", WEB("good"));
	put_text("conf.d/top.yaml", "version: 1\ninstance: a\n");
	document = check("main.yaml", false, true);
	file = file_of(document, "./conf.d/bad.yaml");
	ck_assert(!json_bool(file, "valid", true));
	ck_assert_int_eq(cJSON_GetArraySize(json_get(document, "controllers", NULL)), 2);
	ck_assert(!json_bool(file_of(document, "./conf.d/top.yaml"), "valid", true));
	ck_assert(json_bool(file_of(document, "./conf.d/good.yaml"), "valid", false));
	cJSON_Delete(document);
	cJSON_Delete(check("main.yaml", true, false));
}
END_TEST

START_TEST(bad_file_still_names_its_controllers)
{
	cJSON *document;
	const cJSON *names;

	put_text("main.yaml", WEB("main"));
	(void)mkdir("conf.d", 0755);
	put_text("conf.d/bad.yaml",
		WEB("one") "- {name: two, resource: webs.v1.example.com, foo: 1}\n");
	document = check("main.yaml", false, true);
	names = json_get(file_of(document, "./conf.d/bad.yaml"), "controllers", NULL);
	ck_assert_int_eq(cJSON_GetArraySize(names), 2);
	ck_assert_str_eq(names->child->next->valuestring, "two");
	EXPECT_ERRORS(document, "./conf.d/bad.yaml:4:46: controllers[two].foo: unknown key foo");
	cJSON_Delete(document);
}
END_TEST

START_TEST(bad_main_file_reports_conf_d_too)
{
	cJSON *document;

	put_text("main.yaml", "version: 1\nfoo: 1\n");
	(void)mkdir("conf.d", 0755);
	put_text("conf.d/a.yaml", WEB("a") "- {name: b}\n");
	document = check("main.yaml", false, false);
	EXPECT_ERRORS(document, "main.yaml:2:1: foo: unknown key foo",
		"./conf.d/a.yaml:4:3: controllers[b].resource: is missing");
	ck_assert_ptr_null(json_get(document, "controllers", NULL));
	cJSON_Delete(document);
}
END_TEST

START_TEST(name_in_two_files)
{
	cJSON *document;

	put_text("main.yaml", WEB("main"));
	(void)mkdir("conf.d", 0755);
	put_text("conf.d/a.yaml", WEB("same"));
	put_text("conf.d/b.yaml", "version: 1\n"
				  "controllers: [{resource: x.v1.y, name: same}]\n");
	put_text("conf.d/c.yaml", WEB("main"));
	document = check("main.yaml", false, true);
	EXPECT_ERRORS(document,
		"./conf.d/a.yaml:3:10: controllers[same]: the name is taken by "
		"./conf.d/b.yaml:2:40",
		"./conf.d/b.yaml:2:40: controllers[same]: the name is taken by "
		"./conf.d/a.yaml:3:10",
		"./conf.d/c.yaml:3:10: controllers[main]: the name is taken by main.yaml:3:10");
	ck_assert_int_eq(cJSON_GetArraySize(json_get(document, "controllers", NULL)), 1);
	cJSON_Delete(document);
}
END_TEST

/* A ConfigMap's directory: data behind two links. */
START_TEST(links_are_followed)
{
	cJSON *document;

	put_text("main.yaml", "version: 1\n");
	(void)mkdir("conf.d", 0755);
	ck_assert_int_eq(mkdir("conf.d/..1", 0755), 0);
	put_text("conf.d/..1/a.yaml", WEB("a"));
	ck_assert_int_eq(symlink("..1", "conf.d/..data"), 0);
	ck_assert_int_eq(symlink("..data/a.yaml", "conf.d/a.yaml"), 0);
	document = check("main.yaml", true, true);
	ck_assert_ptr_nonnull(json_get(document, "controllers", "a", NULL));
	cJSON_Delete(document);
	empty_directory("conf.d/..1");
}
END_TEST

/* --- who may write --- */

START_TEST(files_that_others_can_write)
{
	static const struct {
		mode_t directory, conf_d, file, fragment;
		bool valid, fragment_valid;
	} cases[] = {
		{0700, 0755, 0644, 0644, true, true},
		{0755, 0700, 0600, 0400, true, true},
		{01777, 0755, 0644, 0644, true, true}, /* /tmp: nobody can replace ours */
		{0777, 0755, 0644, 0644, false, true},
		{0770, 0755, 0644, 0644, false, true},
		{0755, 0775, 0644, 0644, false, true},
		{0755, 01777, 0644, 0644, false, true},
		{0755, 0755, 0664, 0644, false, true},
		{0755, 0755, 0646, 0644, false, true},
		{0755, 0755, 0644, 0666, true, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		cJSON *document;

		setup();
		(void)mkdir("conf.d", 0755);
		put_file("main.yaml", "version: 1\n", 11, cases[i].file);
		put_file("conf.d/a.yaml", WEB("a"), strlen(WEB("a")), cases[i].fragment);
		ck_assert_int_eq(chmod("conf.d", cases[i].conf_d), 0);
		ck_assert_int_eq(chmod(".", cases[i].directory), 0);
		document = check("main.yaml", false, cases[i].valid);
		if (cases[i].valid)
			ck_assert_int_eq(
				json_bool(file_of(document, "./conf.d/a.yaml"), "valid", false),
				cases[i].fragment_valid);
		cJSON_Delete(document);
	}
	ck_assert_int_eq(chmod(".", 0700), 0);
}
END_TEST

START_TEST(files_of_others)
{
	cJSON *document;

	if (geteuid() != 0)
		return; /* only root can give a file away */
	put_text("main.yaml", WEB("main"));
	(void)mkdir("conf.d", 0755);
	put_text("conf.d/a.yaml", WEB("a"));
	ck_assert_int_eq(chown("conf.d/a.yaml", 12345, 0), 0);
	document = check("main.yaml", false, true);
	EXPECT_ERRORS(document,
		"./conf.d/a.yaml: the file is owned by uid 12345; it must belong to root "
		"or to uid 0: chown it");
	cJSON_Delete(document);
	ck_assert_int_eq(chown("conf.d", 12345, 0), 0);
	cJSON_Delete(check("main.yaml", false, false));
	ck_assert_int_eq(chown("conf.d", 0, 0), 0);
	ck_assert_int_eq(chown("main.yaml", 12345, 0), 0);
	cJSON_Delete(check("main.yaml", false, false));
}
END_TEST

/* A ConfigMap's volume: 0777 and of anybody, but nobody can write to it. */
START_TEST(read_only_mounts)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return; /* only root can mount */
	ck_assert_int_eq(mkdir("volume", 0755), 0);
	ck_assert_int_eq(mount("none", "volume", "tmpfs", 0, "mode=0777"), 0);
	put_file("volume/main.yaml", "version: 1\n", 11, 0666);
	ck_assert_int_eq(chown("volume/main.yaml", 12345, 12345), 0);
	cJSON_Delete(check("volume/main.yaml", true, false));
	ck_assert_int_eq(mount("none", "volume", "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
	cJSON_Delete(check("volume/main.yaml", true, true));
	ck_assert_int_eq(umount("volume"), 0);
	ck_assert_int_eq(rmdir("volume"), 0);
}
END_TEST

START_TEST(files_that_are_none)
{
	static const char *const paths[] = {"nothing.yaml", "no/such/directory.yaml", ".",
		"conf.d/", "conf.d", "fifo", "loop", "main.yaml/x"};

	put_text("main.yaml", "version: 1\n");
	(void)mkdir("conf.d", 0755);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		cJSON *document = check(paths[i], false, false);
		ck_assert_int_eq(cJSON_GetArraySize(json_get(document, "errors", NULL)), 1);
		cJSON_Delete(document);
	}
}
END_TEST

START_TEST(large_files)
{
	size_t length = CONFIG_FILE_MAX + 1;
	char *bytes = xcalloc(1, length + 1);
	cJSON *document;

	memset(bytes, '#', length);
	put_file("main.yaml", bytes, length, 0644);
	document = check("main.yaml", false, false);
	EXPECT_ERRORS(document, "main.yaml: is larger than 4 MiB");
	cJSON_Delete(document);
	memcpy(bytes, "version: 1\n", 11);
	put_file("main.yaml", bytes, length - 1, 0644);
	cJSON_Delete(check("main.yaml", false, true));
	free(bytes);
}
END_TEST

/* Hundreds of problems in one file: the first hundred and how many more. */
START_TEST(many_problems)
{
	struct buf text = BUF_INIT;
	cJSON *document;

	buf_adds(&text, "version: 1\n");
	for (int i = 0; i < 300; i++)
		buf_addf(&text, "unknown%d: 1\n", i);
	put_file("main.yaml", text.data, text.length, 0644);
	document = check("main.yaml", false, false);
	ck_assert_int_eq(cJSON_GetArraySize(json_get(document, "errors", NULL)), 101);
	ck_assert_str_eq(cJSON_GetArrayItem(json_get(document, "errors", NULL), 100)->valuestring,
		"main.yaml: 200 more problems");
	cJSON_Delete(document);
	buf_free(&text);
}
END_TEST

START_TEST(many_controllers)
{
	struct buf text = BUF_INIT;
	cJSON *document;
	char *problems;

	buf_adds(&text, "version: 1\ncontrollers:\n");
	for (int i = 0; i < CONFIG_CONTROLLERS_MAX; i++)
		buf_addf(&text, "- {name: c%d, resource: webs.v1.example.com}\n", i);
	put_file("main.yaml", text.data, text.length, 0644);
	document = check("main.yaml", false, true);
	ck_assert_int_eq(cJSON_GetArraySize(json_get(document, "controllers", NULL)),
		CONFIG_CONTROLLERS_MAX);
	cJSON_Delete(document);
	buf_adds(&text, "- {name: more, resource: webs.v1.example.com}\n");
	problems = problems_of(text.data);
	ck_assert_str_eq(problems, "main.yaml:1003:3: controllers: more than 1000 items\n");
	free(problems);
	buf_free(&text);
}
END_TEST

START_TEST(warnings)
{
	cJSON *document;

	put_text("main.yaml",
		"version: 1\ncontrollers:\n- {name: a, resource: sites.v1.example.com}\n"
		"- {name: b, resource: webs.v1.example.com}\n- {name: c, resource: "
		"webs.v1.example.com, namespaces: [x]}\n"
		"- {name: d, resource: webs.v1.example.com, namespaces: all}\n"
		"- {name: e, resource: webs.stable.example.com}\n");
	document = check("main.yaml", true, true);
	expect_lines(json_get(document, "warnings", NULL),
		(const char *const[]){
			"main.yaml:6:23: controllers[d]: resource: controller b (main.yaml:4) "
			"reconciles "
			"the same objects: each overwrites the other's conditions; select other "
			"objects, "
			"or make one controller of the two",
			"main.yaml:7:23: controllers[e]: resource: is \"stable\" the version? If "
			"webs.stable.example.com is the CustomResourceDefinition's name, write "
			"webs.VERSION.stable.example.com",
			NULL});
	cJSON_Delete(document);
}
END_TEST

/* --- decoding --- */

static struct config_controller *
decode(const cJSON *document, const char *name)
{
	struct buf bytes = BUF_INIT;
	struct error err = {0};
	struct config_controller *controller;

	json_print_canonical(&bytes, json_get(document, "controllers", name, NULL));
	controller = config_decode_controller(bytes.data, bytes.length, &err);
	ck_assert_msg(controller != NULL, "%s", err.text);
	buf_free(&bytes);
	return controller;
}

/* Paths start at the directory of the file that has them: DIR for the main file, DIR/conf.d for what is dropped in. */
START_TEST(an_identity_of_its_own)
{
	struct config_controller *controller;
	char *here = realpath(".", NULL), want[PATH_MAX + 32];
	cJSON *document;

	put_text("main.yaml",
		"version: 1\ncluster: {kubeconfig: all, context: edge}\ncontrollers:\n"
		"- name: a\n  resource: webs.v1.example.com\n"
		"  credentials: {tokenFile: secret/token}\n"
		"  impersonate: {user: jane, groups: [dev], extra: {k: [v]}}\n");
	(void)mkdir("conf.d", 0755);
	put_text("conf.d/b.yaml",
		"version: 1\ncontrollers:\n- name: b\n  resource: sites.v1.example.com\n"
		"  credentials: {kubeconfig: own, clientCertificate: /c.pem, clientKey: k.pem}\n");
	document = check("main.yaml", false, true);
	controller = decode(document, "a");
	(void)snprintf(want, sizeof want, "%s/secret/token", here);
	ck_assert_str_eq(controller->token_file, want);
	(void)snprintf(want, sizeof want, "%s/all", here);
	ck_assert_str_eq(controller->kubeconfig, want);
	ck_assert_str_eq(controller->context, "edge");
	ck_assert_ptr_null(controller->certificate_file);
	ck_assert_str_eq(json_string(controller->impersonate, "user", ""), "jane");
	config_controller_free(controller);
	controller = decode(document, "b");
	(void)snprintf(want, sizeof want, "%s/conf.d/own", here);
	ck_assert_str_eq(controller->kubeconfig, want);
	ck_assert_ptr_null(controller->context); /* of another file */
	ck_assert_str_eq(controller->certificate_file, "/c.pem");
	(void)snprintf(want, sizeof want, "%s/conf.d/k.pem", here);
	ck_assert_str_eq(controller->key_file, want);
	ck_assert_ptr_null(controller->impersonate);
	config_controller_free(controller);
	cJSON_Delete(document);
	free(here);
}
END_TEST

static cJSON *
check_everything(void)
{
	char *from = xasprintf("%s/everything.yaml", source);

	copy_file(from, "main.yaml");
	free(from);
	return check("main.yaml", true, true);
}

START_TEST(decodes_the_supervisor)
{
	struct config_supervisor config;
	cJSON *document = check_everything();

	ck_assert_int_eq(config_decode_supervisor(document, &config, NULL), 0);
	ck_assert_str_eq(config.instance, "edge-1");
	ck_assert_str_eq(config.http_listen, "[::1]:8081");
	ck_assert_int_eq(config.log_level, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(config.log_format, LOG_FORMAT_JSON);
	ck_assert(config.strict_start);
	ck_assert(config.reload_auto);
	ck_assert_int_eq(config.heartbeat_ns, 2 * NSEC_PER_SEC);
	ck_assert_int_eq(config.stop_grace_ns, 90 * NSEC_PER_SEC);
	ck_assert_int_eq(config.kill_grace_ns, 0);
	config_supervisor_clear(&config);
	cJSON_Delete(document);
}
END_TEST

START_TEST(decodes_a_controller)
{
	cJSON *document = check_everything();
	struct config_controller *c = decode(document, "web");

	ck_assert_str_eq(c->name, "web");
	ck_assert_str_eq(c->resource.plural, "webs");
	ck_assert_str_eq(c->resource.version, "v1beta1");
	ck_assert_str_eq(c->resource.group, "example.com");
	ck_assert_uint_eq(c->n_namespaces, 2);
	ck_assert_str_eq(c->namespaces[0], "default");
	ck_assert_str_eq(c->namespaces[1], "web");
	ck_assert_str_eq(c->field_selector, "metadata.name!=one");
	ck_assert(!c->required && c->paused);
	ck_assert_uint_eq(c->concurrency, 1);
	ck_assert_uint_eq(c->prune_max, 0);
	ck_assert_int_eq(c->watch_silence_ns, 1500 * NSEC_PER_MSEC);
	ck_assert_int_eq(c->request_timeout_ns, 500 * NSEC_PER_MSEC);
	ck_assert_int_eq(c->resync_ns, 3600 * NSEC_PER_SEC);
	ck_assert_int_eq(c->retry_min_ns, 10 * NSEC_PER_MSEC);
	ck_assert_int_eq(c->retry_max_ns, 60 * NSEC_PER_SEC);
	ck_assert_int_eq(c->render_timeout_ns, NSEC_PER_SEC);
	ck_assert(c->writes_per_second > 12.4 && c->writes_per_second < 12.6);
	ck_assert_uint_eq(c->writes_burst, 5);
	ck_assert_int_eq(c->memory_limit, 64 << 20);
	ck_assert_int_eq(c->file_limit, 256);
	ck_assert_str_eq(c->instance, "edge-1");
	ck_assert_str_eq(c->kubeconfig, "/other/kubeconfig");
	ck_assert_str_eq(c->context, "there");
	ck_assert_str_eq(c->token_file, "/secret/token");
	ck_assert_ptr_null(c->certificate_file);
	ck_assert_str_eq(json_string(c->impersonate, "user", ""), "jane");
	ck_assert_int_eq(c->heartbeat_ns, 2 * NSEC_PER_SEC);
	ck_assert_str_eq(json_string(c->vars, "node", ""), "node-1");
	ck_assert_str_eq(json_string(c->vars, "zone", ""), "eu-1");
	ck_assert_uint_eq(c->n_children, 2);
	ck_assert_str_eq(c->children[0].id, "config");
	ck_assert_str_eq(c->children[0].api_version, "v1");
	ck_assert_str_eq(c->children[0].kind, "ConfigMap");
	ck_assert_int_eq(c->children[0].conflict, CONFIG_CONFLICT_FAIL);
	ck_assert(!c->children[0].literal && c->children[1].literal);
	ck_assert(cJSON_IsString(c->children[0].when) && cJSON_IsFalse(c->children[1].when));
	config_controller_free(c);
	c = decode(document, "pods");
	ck_assert_str_eq(c->resource.group, "");
	ck_assert_uint_eq(c->n_namespaces, 0);
	ck_assert_ptr_null(c->status);
	ck_assert_ptr_null(c->selector);
	ck_assert_uint_eq(c->concurrency, 4);
	ck_assert_int_eq(c->memory_limit, 0);
	config_controller_free(c);
	cJSON_Delete(document);
}
END_TEST

START_TEST(decodes_ties)
{
	static const struct {
		enum config_owner owner;
		bool retain;
	} wanted[] = {{CONFIG_OWNER_FINALIZER, false}, {CONFIG_OWNER_REFERENCE, false},
		{CONFIG_OWNER_NONE, false}, {CONFIG_OWNER_NONE, true}, {CONFIG_OWNER_NONE, true},
		{CONFIG_OWNER_FINALIZER, false}, {CONFIG_OWNER_REFERENCE, false}};
	char *from = xasprintf("%s/child-ties-good.yaml", source);
	cJSON *document;
	struct config_controller *c;

	copy_file(from, "ties.yaml");
	document = check("ties.yaml", true, true);
	c = decode(document, "web");
	ck_assert_int_eq(c->on_remove, CONFIG_REMOVE_DELETE);
	ck_assert_int_eq(c->remove_timeout_ns, 10 * NSEC_PER_SEC);
	ck_assert_int_eq(c->stuck_after_ns, 60 * NSEC_PER_SEC);
	ck_assert_uint_eq(c->n_children, 7);
	for (size_t i = 0; i < 7; i++) {
		ck_assert_int_eq(c->children[i].owner, wanted[i].owner);
		ck_assert_int_eq(c->children[i].retain, wanted[i].retain);
	}
	config_controller_free(c);
	cJSON_Delete(document);
	free(from);
}
END_TEST

START_TEST(defaults_of_the_table)
{
	struct config_supervisor supervisor;
	struct config_controller *c;
	cJSON *document;

	put_text("main.yaml", WEB("a"));
	document = check("main.yaml", true, true);
	ck_assert_int_eq(config_decode_supervisor(document, &supervisor, NULL), 0);
	ck_assert_str_eq(supervisor.instance, "default");
	ck_assert_str_eq(supervisor.http_listen, "auto");
	ck_assert_int_eq(supervisor.heartbeat_ns, 5 * NSEC_PER_SEC);
	ck_assert_int_eq(supervisor.stop_grace_ns, 20 * NSEC_PER_SEC);
	ck_assert_int_eq(supervisor.kill_grace_ns, 3 * NSEC_PER_SEC);
	ck_assert(!supervisor.strict_start);
	ck_assert(!supervisor.reload_auto);
	config_supervisor_clear(&supervisor);
	c = decode(document, "a");
	ck_assert(c->required && !c->paused);
	ck_assert_uint_eq(c->concurrency, 16);
	ck_assert_uint_eq(c->prune_max, 10);
	ck_assert_int_eq(c->on_remove, CONFIG_REMOVE_RELEASE);
	ck_assert_int_eq(c->remove_timeout_ns, 120 * NSEC_PER_SEC);
	ck_assert_int_eq(c->stuck_after_ns, 300 * NSEC_PER_SEC);
	ck_assert_int_eq(c->watch_silence_ns, 70 * NSEC_PER_SEC);
	ck_assert_int_eq(c->request_timeout_ns, 30 * NSEC_PER_SEC);
	ck_assert_int_eq(c->resync_ns, 36000 * NSEC_PER_SEC);
	ck_assert_int_eq(c->retry_min_ns, 5 * NSEC_PER_MSEC);
	ck_assert_int_eq(c->retry_max_ns, 300 * NSEC_PER_SEC);
	ck_assert_int_eq(c->render_timeout_ns, 100 * NSEC_PER_MSEC);
	ck_assert(c->writes_per_second > 49.9 && c->writes_per_second < 50.1);
	ck_assert_uint_eq(c->writes_burst, 100);
	ck_assert_ptr_null(c->kubeconfig);
	config_controller_free(c);
	cJSON_Delete(document);
}
END_TEST

/* A document that does not fit is an error: each member in turn is taken out or made a list. */
START_TEST(refuses_documents_that_do_not_fit)
{
	static const char *const optional[] = {"selector", "fieldSelector", "status",
		"statusOnError", "limits", "cluster", "vars", "credentials", "impersonate"};
	cJSON *document = check_everything(), *copy;
	const cJSON *whole = json_get(document, "controllers", "web", NULL), *member;
	struct buf bytes = BUF_INIT;

	cJSON_ArrayForEach(member, whole)
	{
		bool needed = true;

		for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
			needed = needed && strcmp(optional[i], member->string) != 0;
		for (int way = needed ? 0 : 1; way < 2; way++) {
			struct error err = {0};
			struct config_controller *c;

			if (way == 1 && !strcmp(member->string, "limits"))
				continue;
			copy = cJSON_Duplicate(whole, true);
			cJSON_DeleteItemFromObjectCaseSensitive(copy, member->string);
			if (way == 1)
				cJSON_AddItemToObject(copy, member->string, cJSON_Parse("[1]"));
			buf_reset(&bytes);
			json_print(&bytes, copy);
			c = config_decode_controller(bytes.data, bytes.length, &err);
			if (way == 1 && !strcmp(member->string, "cluster"))
				ck_assert_ptr_nonnull(c);
			else
				ck_assert_msg(
					!c && err.code < 0 && err.text[0], "%s", member->string);
			config_controller_free(c);
			cJSON_Delete(copy);
		}
	}
	ck_assert_ptr_null(config_decode_controller("[", 1, NULL));
	ck_assert_ptr_null(config_decode_controller("[]", 2, NULL));
	ck_assert_int_lt(config_decode_supervisor(whole, &(struct config_supervisor){0}, NULL), 0);
	buf_free(&bytes);
	cJSON_Delete(document);
}
END_TEST

START_TEST(equal_settings_are_equal_documents)
{
	static const char *const texts[] = {
		"version: 1\nstopGrace: 90s\ncontrollers: [{name: a, resource: a.v1.b, resync: "
		"60s, limits: "
		"{memory: 64Mi}, namespaces: [a, b]}]\n",
		"controllers:\n- resource: a.v1.b\n  limits:\n    memory: 65536Ki\n  namespaces: "
		"[b, a]\n  "
		"name: \"a\"\n  concurrency: 16\nstopGrace: 1m30s\nversion: 1\ndefaults: {resync: "
		"1m}\n",
	};
	struct buf documents[2] = {BUF_INIT, BUF_INIT};

	for (size_t i = 0; i < 2; i++) {
		put_text("main.yaml", texts[i]);
		cJSON *document = check("main.yaml", true, true);
		/* Only where they are written differs. */
		cJSON_DeleteItemFromObjectCaseSensitive(document, "places");
		json_print_canonical(&documents[i], document);
		cJSON_Delete(document);
	}
	ck_assert_ptr_nonnull(strstr(documents[0].data, "\"stopGrace\":\"90s\""));
	ck_assert_str_eq(documents[0].data, documents[1].data);
	buf_free(&documents[0]);
	buf_free(&documents[1]);
}
END_TEST

START_TEST(relative_kubeconfig_starts_at_the_file)
{
	char *here = getcwd(NULL, 0), *want = xasprintf("%s/sub/kube/config", here);
	cJSON *document;

	ck_assert_int_eq(mkdir("sub", 0755), 0);
	put_text("sub/main.yaml", "version: 1\ncluster: {kubeconfig: kube/config}\n");
	document = check("sub/main.yaml", true, true);
	ck_assert_str_eq(
		json_get(document, "supervisor", "cluster", "kubeconfig", NULL)->valuestring, want);
	cJSON_Delete(document);
	empty_directory("sub");
	free(want);
	free(here);
}
END_TEST

/* --- templates --- */

START_TEST(groups_of_templates)
{
	cJSON *document = check_everything();
	struct config_controller *c = decode(document, "web");
	struct config_templates *t = config_templates_new(c);
	const struct template_source *source_ = config_templates_source(t);
	const struct template_group *g = source_->groups;

	ck_assert_uint_eq(source_->n_groups, CONFIG_CHILD_GROUPS * 2 + 3);
	ck_assert_uint_eq(source_->n_children, 2);
	ck_assert_str_eq(source_->children_ids[1], "raw");
	ck_assert_ptr_eq(source_->vars, c->vars);
	ck_assert_str_eq(g[config_group_when(c, 0)].path, "children[config].when");
	ck_assert(g[config_group_when(c, 0)].boolean);
	ck_assert_str_eq(g[config_group_template(c, 1)].path, "children[raw].template");
	ck_assert(g[config_group_template(c, 1)].literal);
	ck_assert_ptr_eq(g[config_group_template(c, 1)].value, c->children[1].template_);
	ck_assert_ptr_nonnull(json_get(g[config_group_status(c)].value, "list", NULL));
	ck_assert_ptr_null(json_get(g[config_group_status(c)].value, "token", NULL));
	ck_assert(
		g[config_group_on_error(c)].allow_error && !g[config_group_status(c)].allow_error);
	ck_assert_uint_eq(config_n_once(t), 1);
	ck_assert_str_eq(config_once_key(t, 0), "token");
	ck_assert_str_eq(g[config_group_once(c, 0)].path, "status.token.once");
	ck_assert(g[config_group_once(c, 0)].allow_uuid && !g[config_group_status(c)].allow_uuid);
	ck_assert_str_eq(g[config_group_once(c, 0)].value->valuestring, "${$uuid}");
	config_templates_free(t);
	config_controller_free(c);
	c = decode(document, "pods");
	t = config_templates_new(c);
	source_ = config_templates_source(t);
	ck_assert_uint_eq(source_->n_groups, 2);
	ck_assert(cJSON_IsNull(source_->groups[config_group_status(c)].value));
	ck_assert_uint_eq(config_n_once(t), 0);
	config_templates_free(t);
	config_controller_free(c);
	cJSON_Delete(document);
}
END_TEST

/* --- small things --- */

START_TEST(durations)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: refused */
		const char *canonical;
	} cases[] = {
		{"0s", 0, "0s"},
		{"5ms", 5, "5ms"},
		{"70s", 70000, "70s"},
		{"1h30m", 5400000, "90m"},
		{"1m10s", 70000, "70s"},
		{"24h", 86400000, "24h"},
		{"1.5s", 1500, "1500ms"},
		{"0.25h", 900000, "15m"},
		{"0.1h", 360000, "6m"},
		{"", -1, ""},
		{"s", -1, ""},
		{"5", -1, ""},
		{"5 s", -1, ""},
		{"-5s", -1, ""},
		{"1.s", -1, ""},
		{".5s", -1, ""},
		{"1d", -1, ""},
		{"1hs", -1, ""},
		{"1h30", -1, ""},
		{"99999999999h", -1, ""},
		{"99999999999999999999s", -1, ""},
		{"9223372036s9223372036s", -1, ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char canonical[32];
		int64_t ns = -7;
		int r = duration_parse(cases[i].text, &ns);

		ck_assert_msg((r == 0) == (cases[i].ms >= 0), "%s", cases[i].text);
		ck_assert_int_eq(ns, r < 0 ? -7 : cases[i].ms * NSEC_PER_MSEC);
		if (r < 0)
			continue;
		duration_format(canonical, ns);
		ck_assert_str_eq(canonical, cases[i].canonical);
	}
}
END_TEST

START_TEST(quantities)
{
	static const struct {
		const char *text;
		int64_t bytes; /* -1: refused */
		const char *canonical;
	} cases[] = {
		{"0", 0, "0"},
		{"1023", 1023, "1023"},
		{"64Mi", 67108864, "64Mi"},
		{"65536Ki", 67108864, "64Mi"},
		{"67108864", 67108864, "64Mi"},
		{"1Gi", 1073741824, "1Gi"},
		{"500M", 500000000, "500M"},
		{"1024k", 1024000, "1000Ki"},
		{"2T", 2000000000000, "2T"},
		{"", -1, ""},
		{"Mi", -1, ""},
		{"64MB", -1, ""},
		{"64mi", -1, ""},
		{"1.5Gi", -1, ""},
		{"-1", -1, ""},
		{"99999999999Ti", -1, ""},
		{"99999999999999999999", -1, ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char canonical[32];
		int64_t bytes = -7;
		int r = quantity_parse(cases[i].text, &bytes);

		ck_assert_msg((r == 0) == (cases[i].bytes >= 0), "%s", cases[i].text);
		ck_assert_int_eq(bytes, r < 0 ? -7 : cases[i].bytes);
		if (r < 0)
			continue;
		quantity_format(canonical, bytes);
		ck_assert_str_eq(canonical, cases[i].canonical);
	}
}
END_TEST

START_TEST(selectors)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{"app=web", true},
		{"app==web,tier!=test", true},
		{"a in (b),c notin (d,e)", true},
		{"a in(b, c)", true},
		{"a,!b", true},
		{"example.com/a=b", true},
		{"a=", true},
		{"  a = b , c ", true},
		{"inner=a", true},
		{"a=b,", false},
		{",a", false},
		{"a==", true},
		{"a=b=c", false},
		{"a in ()", true},
		{"a in (b", false},
		{"a (b)", false},
		{"/a=b", false},
		{"A.example.com/a=b", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		ck_assert_msg((syntax_label_selector(cases[i].text, NULL) == 0) == cases[i].good,
			"%s", cases[i].text);
}
END_TEST

START_TEST(suggestions)
{
	static const struct {
		enum schema_place place;
		const char *prefix, *written, *want;
	} cases[] = {
		{SCHEMA_CONTROLLER, "", "watchsilence", "watchSilence"},
		{SCHEMA_CONTROLLER, "", "resorce", "resource"},
		{SCHEMA_CONTROLLER, "", "reosurce", "resource"},
		{SCHEMA_CONTROLLER, "retry.", "mni", "min"}, {SCHEMA_CONTROLLER, "", "mni", NULL},
		{SCHEMA_MAIN, "", "controler", "controllers"},
		{SCHEMA_MAIN, "", "completelyDifferent", NULL}, {SCHEMA_MAIN, "", "", NULL},
		{SCHEMA_CHILD, "", "foreach", "forEach"},
		{SCHEMA_CONTROLLER, "", "hoks", NULL}, /* refused keys are no advice */
	};
	char longest[400];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *got = schema_suggest(cases[i].place, cases[i].prefix, cases[i].written);
		ck_assert_pstr_eq(got, cases[i].want);
	}
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	ck_assert_ptr_null(schema_suggest(SCHEMA_MAIN, "", longest));
}
END_TEST

/* Each key of the table has what its type asks for, its parent, and a default that the checker itself takes. */
START_TEST(schema_table_is_sound)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < schema_n_keys; i++) {
		const struct schema_key *key = &schema_keys[i];
		const char *dot = strchr(key->path, '.');

		ck_assert_msg(key->places != 0, "%s", key->path);
		ck_assert_msg(key->type == SCHEMA_LATER || key->meaning, "%s", key->path);
		ck_assert_msg((key->type == SCHEMA_WORD) == (key->words != NULL), "%s", key->path);
		if (dot) {
			char *parent = xstrndup(key->path, (size_t)(dot - key->path));
			ck_assert_int_eq(schema_places_of(parent) & key->places, key->places);
			free(parent);
		}
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(!(schema_keys[j].places & key->places) ||
					      strcmp(schema_keys[j].path, key->path) != 0,
				"%s is there twice", key->path);
	}
	config_print_schema(&text);
	for (size_t i = 0; i < schema_n_keys; i++)
		ck_assert_msg(
			strstr(text.data, schema_keys[i].path) != NULL, "%s", schema_keys[i].path);
	compare_golden("schema", "txt", &text);
	buf_free(&text);
}
END_TEST

static Suite *
config_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *tc = tcase_create("config");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, golden_files);
	tcase_add_test(tc, examples_are_valid);
	tcase_add_test(tc, example_of_both_holds_the_same_as_each);
	tcase_add_test(tc, greeting_goes_into_conf_d);
	tcase_add_test(tc, a_file_is_its_child_s_template);
	tcase_add_test(tc, files_of_a_dropped_file_lie_beside_it);
	tcase_add_loop_test(
		tc, files_that_can_t_be_used, 0, sizeof file_problems / sizeof file_problems[0]);
	tcase_add_test(tc, files_of_others_and_links_out_are_refused);
	tcase_add_test(tc, conf_d_in_order_and_by_name);
	tcase_add_test(tc, bad_conf_d_file_leaves_the_others);
	tcase_add_test(tc, bad_file_still_names_its_controllers);
	tcase_add_test(tc, bad_main_file_reports_conf_d_too);
	tcase_add_test(tc, name_in_two_files);
	tcase_add_test(tc, links_are_followed);
	tcase_add_test(tc, files_that_others_can_write);
	tcase_add_test(tc, files_of_others);
	tcase_add_test(tc, read_only_mounts);
	tcase_add_test(tc, files_that_are_none);
	tcase_add_test(tc, large_files);
	tcase_add_test(tc, many_problems);
	tcase_add_test(tc, many_controllers);
	tcase_add_test(tc, an_identity_of_its_own);
	tcase_add_test(tc, warnings);
	tcase_add_test(tc, decodes_the_supervisor);
	tcase_add_test(tc, decodes_a_controller);
	tcase_add_test(tc, decodes_ties);
	tcase_add_test(tc, defaults_of_the_table);
	tcase_add_test(tc, refuses_documents_that_do_not_fit);
	tcase_add_test(tc, equal_settings_are_equal_documents);
	tcase_add_test(tc, relative_kubeconfig_starts_at_the_file);
	tcase_add_test(tc, groups_of_templates);
	tcase_add_test(tc, durations);
	tcase_add_test(tc, quantities);
	tcase_add_test(tc, selectors);
	tcase_add_test(tc, suggestions);
	tcase_add_test(tc, schema_table_is_sound);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	const char *srcdir = getenv("srcdir");
	char *top = realpath(srcdir ? srcdir : ".", NULL);
	SRunner *runner = srunner_create(config_suite());
	int failed;

	update = getenv("CHECK_CONFIG_UPDATE") != NULL;
	source = xasprintf("%s/tests/unit/config", top);
	examples = xasprintf("%s/examples", top);
	if (!mkdtemp(directory) || chdir(directory) < 0)
		return EXIT_FAILURE;
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	clean_up();
	(void)rmdir(directory);
	free(source);
	free(examples);
	free(top);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
