/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the counter, each time anew: it is wanted after a SIGKILL only. Whichever hierarchy has the memory controller counts; in a container with a cgroup
 * namespace of its own the path is /, without one it is the host's while the mount begins at our cgroup: the mount's top is tried last.
 */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/oom.h"

#define LINE_SIZE (PATH_MAX + 100)

/* The number behind the word oom_kill at the beginning of a line. */
static int
read_counter(const char *path, uint64_t *ret)
{
	char line[200];
	FILE *file = fopen(path, "re");
	int found = 0;

	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "oom_kill %" SCNu64, ret) == 1;
	fclose(file);
	return found;
}

static int
read_at(const char *mounts, const char *hierarchy, const char *cgroup, const char *file,
	uint64_t *ret)
{
	char path[2 * PATH_MAX + 100];

	(void)snprintf(path, sizeof(path), "%s%s%s/%s", mounts, hierarchy, cgroup, file);
	if (read_counter(path, ret))
		return 1;
	(void)snprintf(path, sizeof(path), "%s%s/%s", mounts, hierarchy, file);
	return read_counter(path, ret);
}

/* One line of proc_pid_cgroup(5), "ID:CONTROLLERS:PATH": is it the hierarchy that accounts memory, and what does it say? */
static int
read_line(const char *mounts, char *line, uint64_t *ret)
{
	char *controllers = strchr(line, ':'), *path;

	line[strcspn(line, "\n")] = '\0';
	path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return 0;
	*controllers++ = '\0';
	*path++ = '\0';
	if (!*controllers)
		return read_at(mounts, "", path, "memory.events", ret) ||
		       read_at(mounts, "/unified", path, "memory.events", ret);
	for (char *word = strtok(controllers, ","); word; word = strtok(NULL, ","))
		if (strcmp(word, "memory") == 0)
			return read_at(mounts, "/memory", path, "memory.oom_control", ret);
	return 0;
}

uint64_t
oom_kills(const char *mounts, const char *membership)
{
	char line[LINE_SIZE];
	uint64_t kills = 0;
	FILE *file = fopen(membership, "re");
	int found = 0;

	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file))
		found = read_line(mounts, line, &kills);
	fclose(file);
	return found ? kills : 0;
}
