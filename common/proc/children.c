/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The direct children of this process, those that a subreaper was given included, from /proc (CONFIG_PROC_CHILDREN). A pid from here
 * stays a child's, dead or not, until this process waits for it: so a signal to it can't hit a stranger.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc/proc.h"

/* Adds the pids of a piece of text that ends with white space or the file. */
static size_t
add_pids(char *text, pid_t *pids, size_t n, size_t max)
{
	char *rest = NULL;

	for (char *word = strtok_r(text, " \n", &rest); word != NULL && n < max;
		word = strtok_r(NULL, " \n", &rest)) {
		long pid = strtol(word, NULL, 10);
		if (pid > 1 && pid <= INT32_MAX)
			pids[n++] = (pid_t)pid;
	}
	return n;
}

int
proc_children(pid_t *ret, size_t max)
{
	char path[64], text[4096];
	size_t have = 0, found = 0;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (found < max && (n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		char *end;
		have += (size_t)n;
		text[have] = '\0';
		/* Each pid is followed by a space: what is behind the last one goes on in the next piece. */
		end = strrchr(text, ' ');
		if (end == NULL)
			break;
		*end++ = '\0';
		found = add_pids(text, ret, found, max);
		have -= (size_t)(end - text);
		memmove(text, end, have);
	}
	(void)close(fd);
	return (int)found;
}
