/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which descriptors a process has: those of its start, and those of a child after its fork. Nothing is closed twice and
 * nothing is left open by accident; where close_range(2) is missing (kernels before 5.9, valgrind) /proc says what is open.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/proc/fds.h"
#include "common/proc/proc.h"

#define FDS_A_POLL  64
#define FDS_COUNTED 4096

static int
open_max(void)
{
	long max = sysconf(_SC_OPEN_MAX);

	return max > 0 && max < 65536 ? (int)max : 65536;
}

/* Returns whether /proc was there. */
static bool
close_listed(int first)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return false;
	while ((entry = readdir(dir)) != NULL) {
		long fd = strtol(entry->d_name, NULL, 10);
		if (fd >= first && fd < INT_MAX && fd != dirfd(dir))
			(void)close((int)fd);
	}
	(void)closedir(dir);
	return true;
}

void
fds_close_from(int first)
{
#ifdef HAVE_CLOSE_RANGE
	if (close_range((unsigned)first, ~0U, 0) == 0)
		return;
#endif
	if (close_listed(first))
		return;
	for (int fd = first, max = open_max(); fd < max; fd++)
		(void)close(fd);
}

int
fds_move(const struct proc_fd *fds, size_t n_fds)
{
	int above = 3 + (int)n_fds;
	int *copies = xcalloc(n_fds, sizeof(*copies));
	int r = 0;

	/* First out of the way of all targets, then to them: whatever the order, none is overwritten before it moved. */
	for (size_t i = 0; r == 0 && i < n_fds; i++) {
		copies[i] = fcntl(fds[i].fd, F_DUPFD_CLOEXEC, above);
		if (copies[i] < 0)
			r = -errno;
	}
	for (size_t i = 0; r == 0 && i < n_fds; i++)
		if (dup2(copies[i], fds[i].target) < 0)
			r = -errno;
	free(copies);
	if (r == 0)
		fds_close_from(above);
	return r;
}

/* The first descriptor after those that systemd passes for socket activation, sd_listen_fds(3). */
static int
first_after_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	long n;

	if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid())
		return 3;
	n = strtol(count, NULL, 10);
	return n > 0 && n < 1024 ? 3 + (int)n : 3;
}

void
proc_sanitize_fds(void)
{
	int fd, first = first_after_passed();

	/* open(2) takes the lowest free number, so that this fills the gaps among 0, 1 and 2. */
	do
		fd = open("/dev/null", O_RDWR | O_NOCTTY); /* NOLINT: 0 to 2 are passed on */
	while (fd >= 0 && fd < 3);
	if (fd >= 3)
		(void)close(fd);
	for (fd = 3; fd < first; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	fds_close_from(first);
}

/* poll(2) says POLLNVAL of a number that is not open; it takes no more entries than RLIMIT_NOFILE. */
static unsigned
open_among(int first, unsigned n)
{
	struct pollfd fds[FDS_A_POLL];
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = first + (int)i};
	if (poll(fds, n, 0) < 0)
		return 0;
	for (unsigned i = 0; i < n; i++)
		open += !(fds[i].revents & POLLNVAL);
	return open;
}

unsigned
proc_open_fds(void)
{
	struct rlimit limit = {.rlim_cur = FDS_A_POLL};
	unsigned n, found, open = 0;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	n = limit.rlim_cur < FDS_A_POLL ? (unsigned)limit.rlim_cur : FDS_A_POLL;
	for (int first = 0; first < FDS_COUNTED; first += (int)n) {
		found = n > 0 ? open_among(first, n) : 0;
		open += found;
		/* The system gives the lowest free number: behind so many that are free there is hardly one. */
		if (found == 0 || (rlim_t)first + n >= limit.rlim_cur)
			break;
	}
	return open;
}

int
proc_pipe(int ret_fds[2])
{
	return pipe2(ret_fds, O_CLOEXEC) < 0 ? -errno : 0;
}
