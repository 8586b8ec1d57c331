/* SPDX-License-Identifier: Apache-2.0 */
/* What the service manager is told of the supervisor. Each does nothing without one. */
#ifndef SUPERVISOR_SERVICE_H
#define SUPERVISOR_SERVICE_H

struct loop;
struct service;
struct supervisor;

/* Early, before anything is forked: pings the watchdog from here on (notify_new()). */
struct service *service_new(struct supervisor *sup, struct loop *loop);
void service_free(struct service *service);
/* The configuration is applied, the doors are open, the workers are forked. From here on STATUS= follows the count of those that are live. */
void service_ready(struct service *service);
void service_reloading(struct service *service);
/* Ready again, whatever came of it: the protocol has no word for a failed reload, so the status says it, until the next one. code: an exit code. */
void service_reloaded(struct service *service, int code, const char *text);
/* Also asks for the time that stopping may take by the configuration. */
void service_stopping(struct service *service);

#endif
