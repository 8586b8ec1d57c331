/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the configuration's files: a few calls of stat(2), nothing is read. Files that the checker would not read (editors' backups, swap files) don't
 * count, nor does the time of a directory, which those would change. An error is a part of the look, so a file that can be read again is a change.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/config/check.h"
#include "common/config/files.h"
#include "common/memory.h"
#include "supervisor/config_state.h"

#define TICK_NS \
	(20 * NSEC_PER_MSEC) /* more than a jiffy of any kernel, with which times in inodes step */

struct look {
	uint64_t hash;
	int64_t newest_ns;
};

static int64_t
time_ns(const struct timespec *time)
{
	return time->tv_sec * NSEC_PER_SEC + time->tv_nsec;
}

/* A sum: the order of a directory's names says nothing. */
static void
add(struct look *look, const char *name, const uint64_t *words, size_t size)
{
	look->hash += XXH3_64bits_withSeed(words, size, XXH3_64bits(name, strlen(name)));
}

static void
add_error(struct look *look, const char *name, int error)
{
	const uint64_t words[] = {(uint64_t)error};

	add(look, name, words, sizeof(words));
}

static void
add_file(struct look *look, int directory, const char *name)
{
	struct stat st;

	if (fstatat(directory, name, &st, 0) < 0) {
		add_error(look, name, errno);
		return;
	}
	int64_t changed_ns = time_ns(&st.st_ctim);
	const uint64_t words[] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
		(uint64_t)st.st_mode, (uint64_t)st.st_uid, (uint64_t)time_ns(&st.st_mtim),
		(uint64_t)changed_ns};
	add(look, name, words, sizeof(words));
	if (changed_ns > look->newest_ns)
		look->newest_ns = changed_ns;
}

/* Which directory it is and who may write it; -1: there is none. */
static int
open_directory(struct look *look, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		add_error(look, name, errno);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	const uint64_t words[] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_mode,
		(uint64_t)st.st_uid};
	add(look, name, words, sizeof(words));
	return fd;
}

static void
add_dropped(struct look *look, const char *path)
{
	int fd = open_directory(look, path, "conf.d/");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	unsigned n = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) && n <= CONFIG_FILES_MAX) {
		if (!config_file_wanted(entry->d_name))
			continue;
		add_file(look, fd, entry->d_name);
		n++;
	}
	closedir(dir);
}

char *
config_state_directory(const char *main_path, bool dropped)
{
	const char *slash = strrchr(main_path, '/');

	return xasprintf("%.*s%s", slash ? (int)(slash - main_path) + 1 : 2,
		slash ? main_path : "./", dropped ? "conf.d" : "");
}

void
config_state_take(const char *main_path, struct config_state *ret)
{
	char *directory = config_state_directory(main_path, false),
	     *dropped = config_state_directory(main_path, true);
	int64_t at_ns = clock_wall_ns();
	struct look look = {0};

	int fd = open_directory(&look, directory, "./");
	if (fd >= 0)
		close(fd);
	add_file(&look, AT_FDCWD, main_path);
	add_dropped(&look, dropped);
	int64_t ago_ns = clock_wall_ns() - look.newest_ns;
	*ret = (struct config_state){look.hash, ago_ns < TICK_NS && ago_ns > -TICK_NS, at_ns};
	free(directory);
	free(dropped);
}

void
config_state_add(struct config_state *state, const cJSON *paths)
{
	struct look look = {.hash = state->hash};
	const cJSON *path;

	cJSON_ArrayForEach(path, paths) add_file(&look, AT_FDCWD, path->valuestring);
	state->hash = look.hash;
	if (look.newest_ns > state->at_ns - TICK_NS)
		state->racy = true;
}

bool
config_state_same(const struct config_state *before, const struct config_state *now)
{
	return before->hash == now->hash && !before->racy;
}
