/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words for the service manager: READY, RELOADING, STOPPING, and a status line for systemctl status: how many workers are live, which are in trouble, and
 * how the last reload went. It is sent when it has changed and only then; what changed is looked at each time the loop is about to wait. What is not taken is
 * sent again, the newest only.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/utf8.h"
#include "common/worker_state.h"
#include "supervisor/core.h"
#include "supervisor/notify.h"
#include "supervisor/service.h"

#define STATUS_MAX   500
#define NAMED_MAX    3 /* workers in trouble that are named, the others are counted */
#define RESULT_MAX   200
#define LINES_MAX    100
#define RETRY_MIN_NS (100 * NSEC_PER_MSEC)
#define RETRY_MAX_NS (5 * NSEC_PER_SEC)
#define MARGIN_USEC  2000000

struct service {
	struct supervisor *sup;
	struct notify *notify;
	struct loop_prepare *prepare;
	char result[RESULT_MAX]; /* of the last reload, "": there was none */
	char told[STATUS_MAX];   /* the last status sent */
	char unsent[LINES_MAX];  /* lines that were not taken, "": none */
	struct loop_timer *retry;
	int64_t retry_ns;
	bool ready;
};

/* On its way to live, or on its way out, is no trouble. */
static bool
in_trouble(const struct sup_worker *worker)
{
	return worker->state > WORKER_REMOVING && worker->state != WORKER_STOPPED;
}

/* " (dns: forbidden, uuid: unreachable, and 4 more in trouble)" */
static void
write_troubles(const struct service *service, char *out, size_t size)
{
	unsigned n = 0;
	size_t length = 0;

	*out = '\0';
	for (const struct sup_worker *worker = service->sup->workers; worker; worker = worker->next)
		if (in_trouble(worker) && n++ < NAMED_MAX)
			length += (size_t)snprintf(out + length, size - length, "%s%s: %s",
				length ? ", " : " (", worker->name,
				worker_state_name(worker->state));
	if (n > NAMED_MAX)
		length += (size_t)snprintf(
			out + length, size - length, ", and %u more in trouble", n - NAMED_MAX);
	if (n > 0)
		(void)snprintf(out + length, size - length, ")");
}

/* "2 of 3 workers live (uuid: unreachable)" and the last reload's result, as the STATUS= line. */
static void
write_status(const struct service *service, char out[STATUS_MAX])
{
	char troubles[NAMED_MAX * 100 + 50];
	unsigned n = 0, live = 0;

	for (const struct sup_worker *worker = service->sup->workers; worker;
		worker = worker->next) {
		n++;
		live += sup_worker_ready(worker);
	}
	write_troubles(service, troubles, sizeof(troubles));
	(void)snprintf(out, STATUS_MAX, "STATUS=%s%u of %u worker%s live%s%s%s",
		service->sup->stopping ? "stopping, " : "", live, n, n == 1 ? "" : "s", troubles,
		*service->result ? "; " : "", service->result);
}

static void
try_again_later(struct service *service)
{
	service->told[0] = '\0';
	loop_timer_set(service->retry, service->retry_ns);
	service->retry_ns =
		service->retry_ns * 2 < RETRY_MAX_NS ? service->retry_ns * 2 : RETRY_MAX_NS;
}

/* Sends the status if it differs from the last one, behind the lines in `before`. */
static void
send_status(struct service *service, const char *before)
{
	char status[STATUS_MAX], message[STATUS_MAX + LINES_MAX];

	write_status(service, status);
	if (*before)
		(void)snprintf(service->unsent, sizeof(service->unsent), "%s", before);
	else if (loop_timer_active(service->retry) || strcmp(status, service->told) == 0)
		return;
	(void)snprintf(message, sizeof(message), "%s%s", service->unsent, status);
	if (!notify_send(service->notify, message)) {
		try_again_later(service);
		return;
	}
	memcpy(service->told, status, sizeof(status));
	service->unsent[0] = '\0';
	service->retry_ns = RETRY_MIN_NS;
	loop_timer_clear(service->retry);
}

static void
on_retry(void *data)
{
	send_status(data, "");
}

static void
on_prepare(void *data)
{
	struct service *service = data;

	if (service->ready)
		send_status(service, "");
}

struct service *
service_new(struct supervisor *sup, struct loop *loop)
{
	struct service *service = xcalloc(1, sizeof(*service));

	service->sup = sup;
	service->notify = notify_new(loop);
	service->prepare = loop_prepare_new(loop, on_prepare, service);
	service->retry = loop_timer_new(loop, on_retry, service);
	service->retry_ns = RETRY_MIN_NS;
	return service;
}

void
service_free(struct service *service)
{
	if (!service)
		return;
	loop_prepare_free(service->prepare);
	loop_timer_free(service->retry);
	notify_free(service->notify);
	free(service);
}

void
service_ready(struct service *service)
{
	if (!service)
		return;
	service->ready = true;
	send_status(service, "READY=1\n");
}

void
service_reloading(struct service *service)
{
	char lines[LINES_MAX];

	if (!service)
		return;
	(void)snprintf(lines, sizeof(lines), "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\n",
		clock_monotonic_ns() / 1000);
	send_status(service, lines);
}

/* The line that says most: of what was done the count, of a failure the first error. */
static void
keep_result(struct service *service, int code, const char *text)
{
	const char *what = code == EXIT_STOPPED ? "reloaded: " : "reload failed: ";
	size_t room = RESULT_MAX - 1 - strlen(what);

	while (strncmp(text, "warning: ", 9) == 0 && strchr(text, '\n') && strchr(text, '\n')[1])
		text = strchr(text, '\n') + 1;
	int n = (int)utf8_cut(text, strcspn(text, "\n"), room);
	(void)snprintf(service->result, RESULT_MAX, "%s%.*s", what, n, text);
	utf8_clean_line(service->result);
}

void
service_reloaded(struct service *service, int code, const char *text)
{
	if (!service)
		return;
	keep_result(service, code, text);
	send_status(service, "READY=1\n");
}

void
service_stopping(struct service *service)
{
	const struct sup_shared *shared;
	char lines[LINES_MAX];

	if (!service)
		return;
	shared = &service->sup->shared;
	(void)snprintf(lines, sizeof(lines), "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRId64 "\n",
		(shared->stop_grace_ns + shared->kill_grace_ns) / 1000 + MARGIN_USEC);
	send_status(service, lines);
}
