/* SPDX-License-Identifier: Apache-2.0 */
/* Takes connections from a listening socket, one a turn of the loop. Where the system refuses (no descriptors) it waits a second instead of spinning. */
#ifndef SUPERVISOR_ACCEPTOR_H
#define SUPERVISOR_ACCEPTOR_H

#include <stdbool.h>

#include "common/loop/loop.h"

struct acceptor;

/* Owns the listening socket from now on. taken() owns each connection, which is non-blocking and CLOEXEC; what names the door in the log. */
struct acceptor *acceptor_new(
	struct loop *loop, int fd, const char *what, void (*taken)(void *data, int fd), void *data);
/* While held, connections stay in the kernel's queue. */
void acceptor_hold(struct acceptor *acceptor, bool hold);
void acceptor_free(struct acceptor *acceptor);

#endif
