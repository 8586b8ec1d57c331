/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a configuration. Who can write one of them decides what runs with our rights, so each must belong to root or to us, and
 * nobody else may write it or put files beside it. Looked at through the open descriptor, so that it can't be swapped in between.
 *
 * On a mount that is read-only neither owner nor mode says anything (a ConfigMap's directory is 0777): there whoever mounted it decides.
 * Symbolic links are followed: ConfigMaps are made of them.
 */
#include <config.h> /* of the build, not the one beside this file */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/config/check.h"
#include "common/config/files.h"
#include "common/config/template_file.h"
#include "common/memory.h"

#define TOTAL_MAX (32u << 20) /* bytes of all files */

static bool
is_read_only(int fd)
{
	struct statvfs vfs;

	return fstatvfs(fd, &vfs) == 0 && (vfs.f_flag & ST_RDONLY);
}

static bool
is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* A sticky directory (/tmp) lets others add files, but not replace ours: good enough for where the main file lies, not for conf.d. */
static bool
is_safe(int fd, const struct stat *st, bool sticky_is_fine, const char *what,
	struct problems *problems)
{
	if (is_read_only(fd))
		return true;
	if (!is_trusted(st->st_uid)) {
		problems_add(problems, 0, 0, "",
			"%s is owned by uid %u; it must belong to root or to uid %u: chown it",
			what, (unsigned)st->st_uid, (unsigned)geteuid());
		return false;
	}
	if ((st->st_mode & 022) && !(sticky_is_fine && (st->st_mode & S_ISVTX))) {
		problems_add(problems, 0, 0, "",
			"%s can be written by others (mode %04o): chmod go-w it", what,
			(unsigned)(st->st_mode & 07777));
		return false;
	}
	return true;
}

/* --- one file --- */

static int
read_all(int fd, size_t size, struct buf *bytes)
{
	char chunk[16384];
	ssize_t n;

	if (buf_reserve(bytes, size + 1) < 0)
		return -ENOMEM;
	while ((n = read(fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf_add(bytes, chunk, (size_t)n);
		if (bytes->length > CONFIG_FILE_MAX)
			return -EFBIG;
	}
	return bytes->failed ? -ENOMEM : 0;
}

void
config_file_read(struct config_file *file, int dirfd, const char *name)
{
	/* Not to wait for a pipe's writer, nor to get a terminal. */
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	if (fd < 0) {
		problems_add(&file->problems, 0, 0, "", "can't be opened: %s", strerror(errno));
		return;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		problems_add(&file->problems, 0, 0, "", "is not a regular file");
	} else if (st.st_size > (off_t)CONFIG_FILE_MAX) {
		problems_add(
			&file->problems, 0, 0, "", "is larger than %u MiB", CONFIG_FILE_MAX >> 20);
	} else if (is_safe(fd, &st, false, "the file", &file->problems)) {
		r = read_all(fd, (size_t)st.st_size, &file->bytes);
		if (r < 0)
			problems_add(&file->problems, 0, 0, "", "can't be read: %s", strerror(-r));
		file->readable = r == 0;
	}
	close(fd);
}

static struct config_file *
add(struct config_files *files, char *path)
{
	struct config_file *file;

	files->list = xreallocarray(files->list, files->n + 1, sizeof *files->list);
	file = &files->list[files->n++];
	*file = (struct config_file){.path = path, .bytes = BUF_INIT};
	return file;
}

/* --- conf.d --- */

static bool
ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

/* Backup and swap names of editors end in something else than .yaml, but not all begin with something else. */
bool
config_file_wanted(const char *name)
{
	if (name[0] == '.' || name[0] == '#')
		return false;
	return ends_with(name, ".yaml") || ends_with(name, ".yml");
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The wanted names in order; false and a problem of the main file if that can't be had. */
static bool
list_names(DIR *dir, char ***ret_names, size_t *ret_n, struct problems *problems)
{
	const struct dirent *entry;
	char **names = NULL;
	size_t n = 0;

	errno = 0;
	while ((entry = readdir(dir)) && n <= CONFIG_FILES_MAX) {
		if (!config_file_wanted(entry->d_name))
			continue;
		names = xreallocarray(names, n + 1, sizeof *names);
		names[n++] = xstrdup(entry->d_name);
	}
	if (!entry && errno)
		problems_add(problems, 0, 0, "conf.d", "can't be read: %s", strerror(errno));
	else if (n > CONFIG_FILES_MAX)
		problems_add(
			problems, 0, 0, "conf.d", "holds more than %d files", CONFIG_FILES_MAX);
	if (n)
		qsort(names, n, sizeof *names, by_bytes);
	*ret_names = names;
	*ret_n = n;
	return problems->n == 0;
}

static void
load_names(struct config_files *files, int dirfd, char **names, size_t n)
{
	size_t total = files->list[0].bytes.length;

	for (size_t i = 0; i < n; i++) {
		struct config_file *file =
			add(files, xasprintf("%s/conf.d/%s", files->directory, names[i]));

		if (total > TOTAL_MAX)
			problems_add(&file->problems, 0, 0, "",
				"not read: the files before it have more than %u MiB",
				TOTAL_MAX >> 20);
		else
			config_file_read(file, dirfd, names[i]);
		total += file->bytes.length;
	}
}

static void
load_directory(struct config_files *files, int parent, struct problems *problems)
{
	int fd = openat(parent, "conf.d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char **names = NULL;
	struct stat st, link;
	DIR *dir = NULL;
	size_t n = 0;

	if (fd < 0) {
		if (errno != ENOENT)
			problems_add(
				problems, 0, 0, "conf.d", "can't be opened: %s", strerror(errno));
		return;
	}
	if (fstat(fd, &st) < 0 || fstatat(parent, "conf.d", &link, AT_SYMLINK_NOFOLLOW) < 0)
		problems_add(problems, 0, 0, "conf.d", "can't be read: %s", strerror(errno));
	else if (!is_trusted(link.st_uid) && !is_read_only(parent))
		problems_add(problems, 0, 0, "", "conf.d is a link owned by uid %u",
			(unsigned)link.st_uid);
	else if (is_safe(fd, &st, false, "the directory conf.d", problems))
		dir = fdopendir(fd);
	if (dir && list_names(dir, &names, &n, problems))
		load_names(files, fd, names, n);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (dir)
		closedir(dir);
	else
		close(fd);
}

/* --- all --- */

static char *
directory_of(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');

	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

void
config_files_load(struct config_files *files, const char *main_path)
{
	struct problems problems = {0}; /* apart: the list moves while files are added */
	struct config_file *main;
	const char *name;
	struct stat st;
	int fd;

	*files = (struct config_files){0};
	main = add(files, xstrdup(main_path));
	main->main = true;
	if (strcmp(main_path, "-") == 0) {
		files->directory = xstrdup(".");
		problems_add(&main->problems, 0, 0, "",
			"standard input is not read: write it to a file (one named - is ./-)");
		return;
	}
	files->directory = directory_of(main_path, &name);
	fd = open(files->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		problems_add(
			&main->problems, 0, 0, "", "can't open its directory: %s", strerror(errno));
	} else {
		config_file_read(main, fd, *name ? name : ".");
		if (is_safe(fd, &st, true, "its directory", &main->problems))
			load_directory(files, fd, &problems);
	}
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < problems.n; i++)
		problems_add(&files->list[0].problems, 0, 0, "", "%s", problems.list[i].text);
	problems_clear(&problems);
}

void
config_files_clear(struct config_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		struct config_file *file = &files->list[i];

		free(file->path);
		buf_free(&file->bytes);
		problems_clear(&file->problems);
		template_files_clear(file);
		yaml_free(file->tree);
		cJSON_Delete(file->settings);
	}
	free(files->list);
	free(files->directory);
	*files = (struct config_files){0};
}
