/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes log lines to stderr, never blocking, although stderr is shared with others and must not be made O_NONBLOCK for
 * them: a socket takes MSG_DONTWAIT; a pipe is opened anew by /proc, which gives a description of our own that may be O_NONBLOCK and that our children inherit; a
 * terminal, and a pipe that is not ours to open, is asked by poll(2) first, and by RWF_NOWAIT where the kernel knows it for pipes (6.4 and later). Without
 * either a pipe could block when another writer takes the last page between the two calls. A line that does not get through is the caller's to count.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/log_line.h"

static struct {
	enum { SINK_WAITS, SINK_SOCKET, SINK_FILE } kind;
	bool no_nowait; /* the kernel refused RWF_NOWAIT */
	bool torn;      /* the last line was written in part */
} sink;

/* Whoever else holds the pipe keeps the description that blocks. */
static void
own_pipe(void)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL), fd;

	if (flags < 0 || (flags & O_NONBLOCK))
		return;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)dup2(fd, STDERR_FILENO);
	(void)close(fd);
}

void
log_sink_open(mode_t mode)
{
	if (S_ISFIFO(mode))
		own_pipe();
	sink.kind = S_ISSOCK(mode) ? SINK_SOCKET : S_ISREG(mode) ? SINK_FILE : SINK_WAITS;
	sink.no_nowait = false;
	sink.torn = false;
}

static ssize_t
write_waiting_sink(const char *bytes, size_t n)
{
	struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
	ssize_t r;

	/* POLLERR: nobody reads the pipe; writing would raise SIGPIPE. */
	if (poll(&ready, 1, 0) != 1 || (ready.revents & (POLLERR | POLLNVAL)) ||
		!(ready.revents & POLLOUT)) {
		errno = EAGAIN;
		return -1;
	}
	if (!sink.no_nowait) {
		r = pwritev2(STDERR_FILENO, &iov, 1, -1, RWF_NOWAIT);
		if (r >= 0 || errno == EAGAIN || errno == EINTR)
			return r;
		sink.no_nowait = true;
	}
	return write(STDERR_FILENO, bytes, n);
}

static bool
write_whole(const char *bytes, size_t n)
{
	ssize_t r;

	do {
		if (sink.kind == SINK_SOCKET)
			r = send(STDERR_FILENO, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		else if (sink.kind == SINK_WAITS)
			r = write_waiting_sink(bytes, n);
		else
			r = write(STDERR_FILENO, bytes, n);
	} while (r < 0 && errno == EINTR);
	if (r > 0)
		sink.torn = (size_t)r < n;
	return r == (ssize_t)n;
}

bool
log_sink_write(const char *line, size_t length)
{
	/* A socket or a full disk may have taken a part of the last line: what follows must not continue it. */
	if (sink.torn && !write_whole("\n", 1))
		return false;
	return write_whole(line, length);
}
