/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health and metrics over HTTP by libmicrohttpd on the supervisor's loop: its epoll descriptor is watched, MHD_run() does what is ready, a timer covers
 * its timeouts. Answers are made at once from memory. Connections, header size, idle time, the time until a request is there and the memory of answers that are not read
 * yet are bounded.
 *
 * Traps of the library that are dealt with here: it spins when there is no descriptor for a connection, so connections are taken by acceptor.c; a timeout of 0 may mean
 * nothing that can go on; its own timeout is idle time, which a slow sender keeps from passing.
 */
#include "config.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "supervisor/acceptor.h"
#include "supervisor/core.h"
#include "supervisor/http.h"
#include "supervisor/listen.h"
#include "supervisor/pages.h"

#define CONNECTIONS_MAX   64
#define CONNECTIONS_KEPT  48 /* above it each new one costs the one that was silent longest */
#define CONNECTION_MEMORY 16384
#define CONNECTION_IDLE_S 30
#define FIRST_LIMIT_NS \
	(10 * NSEC_PER_SEC) /* from the connection to the end of its request's headers */
#define NEXT_LIMIT_NS \
	(90 * NSEC_PER_SEC) /* from one request's headers to the next one's: a drip must not last */
#define SPIN_NS NSEC_PER_MSEC
/* Of answers under way: who does not read keeps one for CONNECTION_IDLE_S. A small one, and one at a time, is always given. */
#define ANSWERS_MAX  ((size_t)32 << 20)
#define ANSWER_SMALL ((size_t)64 << 10)

struct sup_http {
	struct supervisor *sup;
	struct MHD_Daemon *daemon;
	struct acceptor *acceptor;
	struct loop_io *io;
	struct loop_timer *timer;
	char *socket_path; /* a Unix socket: removed at the end */
	struct peer *peers;
	size_t answers; /* bytes */
};

/* A body under way, freed by the library when nobody needs it any more. */
struct answer {
	struct sup_http *http;
	size_t length;
	char *bytes;
};

/* A connection, and when it is cut if no request has come by then; 0: it was cut. */
struct peer {
	int fd;
	int64_t due_ns;
	int64_t heard_ns; /* when it came or last asked */
	struct peer *previous, *next;
};

/* --- connections --- */

static void
peer_free(struct sup_http *http, struct peer *peer)
{
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		http->peers = peer->next;
	if (peer->next)
		peer->next->previous = peer->previous;
	free(peer);
}

static void
cut(struct peer *peer)
{
	shutdown(peer->fd, SHUT_RDWR);
	peer->due_ns = 0;
}

/* Connections that only stay open must not keep a probe out: over CONNECTIONS_KEPT the one that was silent longest goes. */
static void
cut_silent_peer(struct sup_http *http)
{
	struct peer *silent = NULL;
	unsigned kept = 0;

	for (struct peer *peer = http->peers; peer; peer = peer->next) {
		if (peer->due_ns == 0 || peer->fd < 0)
			continue;
		kept++;
		if (!silent || peer->heard_ns <= silent->heard_ns)
			silent = peer;
	}
	if (kept > CONNECTIONS_KEPT)
		cut(silent);
}

static void
on_connection(void *data, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	struct sup_http *http = data;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*context)
			peer_free(http, *context);
		*context = NULL;
		return;
	}
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = xcalloc(1, sizeof(*peer));
	int64_t now_ns = clock_monotonic_ns();
	*peer = (struct peer){.fd = info ? info->connect_fd : -1,
		.due_ns = now_ns + FIRST_LIMIT_NS,
		.heard_ns = now_ns,
		.next = http->peers};
	if (http->peers)
		http->peers->previous = peer;
	http->peers = peer;
	*context = peer;
	cut_silent_peer(http);
}

/* Cuts those that take too long to say what they want; returns the time until the next one may be due, -1: none. */
static int64_t
cut_slow_peers(struct sup_http *http)
{
	int64_t now_ns = clock_monotonic_ns(), due_ns = -1;

	for (struct peer *peer = http->peers; peer; peer = peer->next) {
		int64_t left_ns = peer->due_ns - now_ns;
		if (peer->due_ns == 0 || peer->fd < 0)
			continue;
		if (left_ns <= 0) {
			cut(peer);
		} else if (due_ns < 0 || left_ns < due_ns) {
			due_ns = left_ns;
		}
	}
	return due_ns;
}

/* --- requests --- */

static void
answer_free(void *data)
{
	struct answer *answer = data;

	answer->http->answers -= answer->length;
	free(answer->bytes);
	free(answer);
}

static struct MHD_Response *
response_of(struct sup_http *http, struct buf *body)
{
	struct answer *answer = xcalloc(1, sizeof(*answer));
	struct MHD_Response *response;

	answer->http = http;
	answer->bytes = buf_detach(body, &answer->length);
	http->answers += answer->length;
	response = answer->bytes ? MHD_create_response_from_buffer_with_free_callback_cls(
					   answer->length, answer->bytes, answer_free, answer)
				 : NULL;
	if (!response)
		answer_free(answer);
	return response;
}

static enum MHD_Result
answer(struct sup_http *http, struct MHD_Connection *connection, unsigned status, const char *type,
	struct buf *body)
{
	struct MHD_Response *response;

	if (body->length > ANSWER_SMALL && http->answers > 0 &&
		http->answers + body->length > ANSWERS_MAX) {
		buf_reset(body);
		buf_adds(body, "too many answers wait for their readers\n");
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
		type = "text/plain; charset=utf-8";
	}
	response = response_of(http, body);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static bool
asks_json(struct MHD_Connection *connection)
{
	const char *format =
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "format");

	return format && strcmp(format, "json") == 0;
}

static enum MHD_Result
answer_health(struct sup_http *http, struct MHD_Connection *connection, enum health_page page,
	const char *name)
{
	struct buf body = BUF_INIT;
	bool json = asks_json(connection);
	/* "?verbose" has no value: its presence is what counts. */
	bool verbose = MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "verbose",
			       7, NULL, NULL) == MHD_YES;
	unsigned status = health_page(http->sup, page, name, verbose, json, &body);

	return answer(http, connection, status,
		json ? "application/json" : "text/plain; charset=utf-8", &body);
}

static enum MHD_Result
route(struct sup_http *http, struct MHD_Connection *connection, const char *url)
{
	struct buf body = BUF_INIT;

	if (strcmp(url, "/livez") == 0)
		return answer_health(http, connection, HEALTH_LIVE, NULL);
	if (strcmp(url, "/readyz") == 0)
		return answer_health(http, connection, HEALTH_READY, NULL);
	if (strcmp(url, "/healthz") == 0)
		return answer_health(http, connection, HEALTH_HEALTHY, NULL);
	if (strncmp(url, "/healthz/", 9) == 0)
		return answer_health(http, connection, HEALTH_HEALTHY, url + 9);
	if (strncmp(url, "/readyz/", 8) == 0)
		return answer_health(http, connection, HEALTH_READY, url + 8);
	if (strcmp(url, "/metrics") == 0) {
		metrics_page(http->sup, &body);
		return answer(http, connection, MHD_HTTP_OK,
			"text/plain; version=0.0.4; charset=utf-8", &body);
	}
	buf_adds(&body,
		"not found; there are /livez, /healthz[/NAME], /readyz[/NAME] and /metrics\n");
	return answer(http, connection, MHD_HTTP_NOT_FOUND, "text/plain; charset=utf-8", &body);
}

static enum MHD_Result
on_request(void *data, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *upload, size_t *upload_size, void **context)
{
	static char seen;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct buf body = BUF_INIT;

	(void)version;
	(void)upload;
	if (!*context) { /* the headers are in */
		struct peer *peer = info ? info->socket_context : NULL;
		*context = &seen;
		if (peer && peer->due_ns) {
			peer->heard_ns = clock_monotonic_ns();
			peer->due_ns = peer->heard_ns + NEXT_LIMIT_NS;
		}
		return MHD_YES;
	}
	if (*upload_size) { /* a body that nobody wants */
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		buf_adds(&body, "only GET and HEAD\n");
		return answer(data, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			"text/plain; charset=utf-8", &body);
	}
	return route(data, connection, url);
}

/* --- the loop --- */

static unsigned
connections(const struct sup_http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

static void
run(struct sup_http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;
	unsigned before;

	(void)cut_slow_peers(http);
	do {
		before = connections(http);
		MHD_run(http->daemon);
	} while (connections(http) < before);
	acceptor_hold(http->acceptor, connections(http) >= CONNECTIONS_MAX);
	/* Those that came in this run are among them. */
	int64_t due_ns = cut_slow_peers(http);
	if (MHD_get_timeout(http->daemon, &ms) == MHD_YES) {
		int64_t wait_ns = ms ? (int64_t)ms * NSEC_PER_MSEC : SPIN_NS;
		if (due_ns < 0 || wait_ns < due_ns)
			due_ns = wait_ns;
	}
	if (due_ns >= 0)
		loop_timer_set(http->timer, due_ns);
	else
		loop_timer_clear(http->timer);
}

static void
on_ready(void *data, int events)
{
	(void)events;
	run(data);
}

static void
on_timer(void *data)
{
	run(data);
}

/* The library would take connections itself, but spins while there are no descriptors for them. */
static void
on_taken(void *data, int fd)
{
	struct sup_http *http = data;
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(address);

	(void)getpeername(fd, (struct sockaddr *)&address, &length);
	/* It closes what it refuses. */
	if (MHD_add_connection(http->daemon, fd, (const struct sockaddr *)&address, length) !=
		MHD_YES)
		log_warn("http: a connection was refused: %s", strerror(errno));
	run(http);
}

static void on_log(void *data, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void
on_log(void *data, const char *format, va_list args)
{
	char text[256];

	(void)data;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http: %s", text);
}

/* --- start and stop --- */

static struct MHD_Daemon *
start_daemon(struct sup_http *http)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request,
		http, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_IDLE_S, MHD_OPTION_END);
}

struct sup_http *
sup_http_start(struct supervisor *sup, const char *listen_, struct error *err)
{
	struct sup_http *http;
	const char *path;
	int fd;

	listen_ = listen_resolve(listen_);
	path = listen_path(listen_);
	error_set(err, 0, "off");
	if (strcmp(listen_, "off") == 0)
		return NULL;
	fd = listen_open(listen_, err);
	if (fd < 0)
		return NULL;
	http = xcalloc(1, sizeof(*http));
	http->sup = sup;
	http->daemon = start_daemon(http);
	if (!http->daemon) {
		error_set(err, -EIO, "http.listen: %s: libmicrohttpd does not start: %s", listen_,
			strerror(errno));
		close(fd);
		free(http);
		return NULL;
	}
	http->socket_path = path ? xstrdup(path) : NULL;
	http->io = loop_io_new(sup->loop, on_ready, http);
	http->timer = loop_timer_new(sup->loop, on_timer, http);
	loop_io_set(http->io, MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		LOOP_READ);
	http->acceptor = acceptor_new(sup->loop, fd, "http", on_taken, http);
	log_info("health and metrics at %s%s", path ? "" : "http://", listen_);
	return http;
}

void
sup_http_stop(struct sup_http *http)
{
	if (!http)
		return;
	loop_io_free(http->io);
	loop_timer_free(http->timer);
	acceptor_free(http->acceptor);
	MHD_stop_daemon(http->daemon);
	if (http->socket_path)
		unlink(http->socket_path);
	free(http->socket_path);
	free(http);
}
