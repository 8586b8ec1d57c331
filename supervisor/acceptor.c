/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of the control socket and of the HTTP server. A connection that can't be taken keeps its listening socket readable: without a pause the loop would
 * turn as fast as it can for as long as the shortage lasts. Who waits in the kernel's queue is served afterwards.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "supervisor/acceptor.h"

#define PAUSE_NS NSEC_PER_SEC

struct acceptor {
	int fd;
	bool held;
	const char *what;
	void (*taken)(void *data, int fd);
	void *data;
	struct loop_io *io;
	struct loop_timer *pause;
};

static void
listen_again(struct acceptor *acceptor)
{
	bool wanted = !acceptor->held && !loop_timer_active(acceptor->pause);

	loop_io_set(acceptor->io, acceptor->fd, wanted ? LOOP_READ : 0);
}

static void
on_connection(void *data, int events)
{
	struct acceptor *acceptor = data;
	int fd = accept4(acceptor->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd >= 0) {
		acceptor->taken(acceptor->data, fd);
		return;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	log_warn("%s: no connection can be taken for now: %s", acceptor->what, strerror(errno));
	loop_timer_set(acceptor->pause, PAUSE_NS);
	listen_again(acceptor);
}

static void
on_pause_over(void *data)
{
	listen_again(data);
}

struct acceptor *
acceptor_new(
	struct loop *loop, int fd, const char *what, void (*taken)(void *data, int fd), void *data)
{
	struct acceptor *acceptor = xcalloc(1, sizeof(*acceptor));

	*acceptor = (struct acceptor){.fd = fd, .what = what, .taken = taken, .data = data};
	acceptor->io = loop_io_new(loop, on_connection, acceptor);
	acceptor->pause = loop_timer_new(loop, on_pause_over, acceptor);
	listen_again(acceptor);
	return acceptor;
}

void
acceptor_hold(struct acceptor *acceptor, bool hold)
{
	if (acceptor->held == hold)
		return;
	acceptor->held = hold;
	listen_again(acceptor);
}

void
acceptor_free(struct acceptor *acceptor)
{
	if (!acceptor)
		return;
	loop_io_free(acceptor->io);
	loop_timer_free(acceptor->pause);
	close(acceptor->fd);
	free(acceptor);
}
