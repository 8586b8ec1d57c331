/* SPDX-License-Identifier: Apache-2.0 */
/* The service manager's side of a daemon: sd_notify(3) and sd_watchdog_enabled(3), without libsystemd. */
#ifndef SUPERVISOR_NOTIFY_H
#define SUPERVISOR_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include "common/loop/loop.h"

struct notify;

/*
 * Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so that nothing that we start speaks for the service, and pings the watchdog from
 * the loop from now on, if there is one and it is meant for this process. Never fails: without a service manager, or with a socket that can't be
 * used (logged), what follows does nothing.
 */
struct notify *notify_new(struct loop *loop);
void notify_free(struct notify *notify);
/* One message: lines of VARIABLE=VALUE. false: whoever listens does not take it now (a full queue, a service manager that starts anew), and must not hold us up:
 * to be sent again later if it matters. */
bool notify_send(const struct notify *notify, const char *lines);
/* Time between pings, 0: no watchdog. */
int64_t notify_ping_ns(const struct notify *notify);

#endif
