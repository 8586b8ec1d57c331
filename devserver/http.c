/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTPS by libmicrohttpd, driven by the loop; the only user of that library in the development server.
 *
 * One thread: the daemon's epoll descriptor is watched, MHD_run() does what is ready, a timer covers its timeouts and
 * the API's own work. A request's body is collected (bounded) and answered at once; a watch is a response of unknown
 * size whose connection sleeps (suspended) while it has nothing to send. An exchange owns its buffers and its watch and
 * lives until the library says that the request is over.
 */
#include "config.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "devserver/http.h"

#define CONNECTIONS_MAX   2000
#define CONNECTION_IDLE_S 120
#define CONNECTION_MEMORY 65536 /* headers and one block of a response */
#define WATCH_BACKLOG_MAX (64 * 1024 * 1024)
#define WATCH_BLOCK       32768
#define PEER_CHECK_NS     (5 * NSEC_PER_SEC)
#define SPIN_NS           NSEC_PER_MSEC

struct http {
	struct loop *loop;
	struct api *api;
	struct MHD_Daemon *daemon;
	struct loop_io *io;
	struct loop_timer *timer;
	const char *token;
	struct exchange *watches;
	int64_t peers_checked;
	size_t sending; /* responses under way, sleeping ones aside */
	bool resume;    /* a sleeping watch has something to send */
};

/* One request, from its first line to the end of its answer. */
struct exchange {
	struct http *http;
	struct MHD_Connection *connection;
	char *uri;
	bool begun, sending;
	struct buf body;
	/* Of a watch: */
	struct api_watch *watch;
	struct buf out;
	size_t sent; /* of out */
	bool sleeping, ended;
	struct exchange *next;
};

static void
set_sending(struct exchange *x, bool on)
{
	if (on && !x->sending)
		x->http->sending++;
	if (!on && x->sending)
		x->http->sending--;
	x->sending = on;
}

static void *
on_uri(void *data, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *x = xcalloc(1, sizeof(*x));

	x->http = data;
	x->connection = connection;
	x->uri = xstrdup(uri);
	x->body = BUF_INIT_LIMIT(API_BODY_MAX + 1);
	x->out = BUF_INIT_LIMIT(WATCH_BACKLOG_MAX);
	return x;
}

static void
unlink_watch(struct exchange *x)
{
	struct exchange **at = &x->http->watches;

	while (*at && *at != x)
		at = &(*at)->next;
	if (*at)
		*at = x->next;
}

static void
on_completed(void *data, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *context;

	(void)data;
	(void)connection;
	(void)code;
	if (!x)
		return;
	set_sending(x, false);
	unlink_watch(x);
	api_watch_free(x->watch);
	buf_free(&x->body);
	buf_free(&x->out);
	free(x->uri);
	free(x);
	*context = NULL;
}

static void
on_line(void *data, const char *bytes, size_t length)
{
	struct exchange *x = data;

	buf_add(&x->out, bytes, length);
	/* A reader that is so far behind starts anew. */
	if (x->out.failed)
		x->ended = true;
	if (x->sleeping)
		x->http->resume = true;
}

static void
on_end(void *data)
{
	struct exchange *x = data;

	x->ended = true;
	x->http->resume = true;
}

static ssize_t
read_watch(void *data, uint64_t position, char *block, size_t max)
{
	struct exchange *x = data;
	size_t n = x->out.length - x->sent;

	(void)position;
	if (!n && x->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!n) {
		x->sleeping = true;
		set_sending(x, false);
		MHD_suspend_connection(x->connection);
		return 0;
	}
	if (n > max)
		n = max;
	memcpy(block, x->out.data + x->sent, n);
	x->sent += n;
	if (x->sent == x->out.length) {
		buf_reset(&x->out);
		x->sent = 0;
	} else if (x->sent > x->out.length / 2) {
		buf_consume(&x->out, x->sent);
		x->sent = 0;
	}
	return (ssize_t)n;
}

static void
add_warnings(struct MHD_Response *response, const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		struct buf value = BUF_INIT;

		buf_adds(&value, "299 - \"");
		for (size_t i = 0; i < length; i++) {
			if (lines[i] == '"' || lines[i] == '\\')
				buf_addc(&value, '\\');
			buf_addc(&value, lines[i]);
		}
		buf_addc(&value, '"');
		MHD_add_response_header(response, "Warning", value.data);
		buf_free(&value);
		lines += length + (lines[length] == '\n');
	}
}

/* Takes the reference to mhd. */
static enum MHD_Result
queue(struct exchange *x, struct MHD_Response *mhd, const struct api_response *response)
{
	enum MHD_Result result;

	if (!mhd)
		return MHD_NO;
	MHD_add_response_header(mhd, "Content-Type",
		response->content_type ? response->content_type : "application/json");
	MHD_add_response_header(mhd, "Cache-Control", "no-cache, private");
	add_warnings(mhd, response->warnings.data);
	set_sending(x, true);
	result = MHD_queue_response(x->connection, (unsigned int)response->status, mhd);
	MHD_destroy_response(mhd);
	return result;
}

/* "admin", "system:anonymous", or NULL for a token that is not ours. */
static const char *
find_user(const struct exchange *x)
{
	const char *header =
		MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Authorization");

	if (!header)
		return "system:anonymous";
	return strncmp(header, "Bearer ", 7) == 0 && strcmp(header + 7, x->http->token) == 0
		       ? "admin"
		       : NULL;
}

static enum MHD_Result
answer(struct exchange *x, const struct api_request *request)
{
	struct api_response response = API_RESPONSE_INIT;
	struct MHD_Response *mhd;
	enum MHD_Result result;
	size_t length;
	char *bytes;

	if (api_is_watch(request)) {
		x->watch = api_watch(x->http->api, request, on_line, on_end, x, &response);
		if (x->watch) {
			x->next = x->http->watches;
			x->http->watches = x;
			mhd = MHD_create_response_from_callback(
				MHD_SIZE_UNKNOWN, WATCH_BLOCK, read_watch, x, NULL);
			result = queue(x, mhd, &response);
			api_response_free(&response);
			return result;
		}
	} else {
		api_handle(x->http->api, request, &response);
	}
	/* Before the next request: what it caused is part of what it did. */
	api_tick(x->http->api);
	if (response.body.failed) {
		response.status = 507;
		buf_reset(&response.body);
	}
	bytes = buf_detach(&response.body, &length);
	mhd = MHD_create_response_from_buffer(
		length, bytes, bytes ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	result = queue(x, mhd, &response);
	log_debug("%s %s: %d", request->method, request->path, response.status);
	api_response_free(&response);
	return result;
}

static enum MHD_Result
on_request(void *data, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *upload, size_t *upload_size, void **context)
{
	struct exchange *x = *context;
	struct api_request request = {0};
	char agent[64];

	(void)data;
	(void)url;
	(void)version;
	if (!x->begun) {
		x->begun = true;
		return MHD_YES;
	}
	if (*upload_size) {
		/* Over the limit the buffer fails and the answer is 413; the rest is read and dropped. */
		buf_add(&x->body, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	request.method = method;
	request.path = x->uri;
	request.accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	request.content_type =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
	request.user = find_user(x);
	request.user_agent = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "User-Agent");
	if (request.user_agent) {
		size_t length = strcspn(request.user_agent, "/");

		if (length >= sizeof(agent))
			length = sizeof(agent) - 1;
		memcpy(agent, request.user_agent, length);
		agent[length] = '\0';
		request.user_agent = agent;
	}
	request.body = x->body.data;
	request.body_length = x->body.failed ? API_BODY_MAX + 1 : x->body.length;
	return answer(x, &request);
}

/* Wakes what has something to send; true: something was. */
static bool
resume_watches(struct http *http)
{
	bool any = false;

	if (!http->resume)
		return false;
	http->resume = false;
	for (struct exchange *x = http->watches; x; x = x->next) {
		if (!x->sleeping || (x->out.length == x->sent && !x->ended))
			continue;
		x->sleeping = false;
		set_sending(x, true);
		MHD_resume_connection(x->connection);
		any = true;
	}
	return any;
}

/* A client that left while its connection slept is not seen by the library. */
static void
check_peers(struct http *http)
{
	int64_t now = clock_monotonic_ns();

	if (now - http->peers_checked < PEER_CHECK_NS)
		return;
	http->peers_checked = now;
	for (struct exchange *x = http->watches; x; x = x->next) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		struct pollfd peer = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};

		if (x->sleeping && poll(&peer, 1, 0) > 0 &&
			peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) {
			x->ended = true;
			http->resume = true;
		}
	}
}

static unsigned int
connections(const struct http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

static void
set_timer(struct http *http, int64_t api_due)
{
	int64_t due = http->watches ? PEER_CHECK_NS : -1;
	MHD_UNSIGNED_LONG_LONG ms;

	if (api_due >= 0 && (due < 0 || api_due < due))
		due = api_due;
	if (MHD_get_timeout(http->daemon, &ms) == MHD_YES) {
		/* 0 can mean a partial handshake that will not go on by itself: no spinning on that. */
		int64_t wait = ms ? (int64_t)ms * NSEC_PER_MSEC : http->sending ? 0 : SPIN_NS;

		if (due < 0 || wait < due)
			due = wait;
	}
	if (due >= 0)
		loop_timer_set(http->timer, due);
	else
		loop_timer_clear(http->timer);
}

static void
run(struct http *http)
{
	unsigned int before;
	int64_t due;

	do {
		before = connections(http);
		MHD_run(http->daemon);
		check_peers(http);
		due = api_tick(http->api);
		/* After a close under the connection limit, only another run accepts. */
	} while (resume_watches(http) || connections(http) < before);
	set_timer(http, due);
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

static void on_log(void *data, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static void
on_log(void *data, const char *format, va_list args)
{
	struct buf text = BUF_INIT;

	(void)data;
	buf_vaddf(&text, format, args);
	text.data[strcspn(text.data, "\n")] = '\0';
	log_debug("http: %s", text.data);
	buf_free(&text);
}

struct http *
http_new(struct loop *loop, struct api *api, int listen_fd, const struct tls_identity *identity,
	const char *token, struct error *err)
{
	struct http *http = xcalloc(1, sizeof(*http));
	const union MHD_DaemonInfo *info;

	*http = (struct http){.loop = loop, .api = api, .token = token};
	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TLS | MHD_USE_ERROR_LOG, 0, NULL,
		NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_HTTPS_MEM_KEY, identity->key.data,
		MHD_OPTION_HTTPS_MEM_CERT, identity->certificate.data, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)CONNECTION_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_uri, http,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_END);
	if (!http->daemon) {
		error_set(err, -EIO, "can't start the HTTPS server");
		close(listen_fd);
		free(http);
		return NULL;
	}
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	http->timer = loop_timer_new(loop, on_timer, http);
	http->io = loop_io_new(loop, on_ready, http);
	loop_io_set(http->io, info->epoll_fd, LOOP_READ);
	run(http);
	return http;
}

void
http_free(struct http *http)
{
	int fd;

	if (!http)
		return;
	loop_io_free(http->io);
	loop_timer_free(http->timer);
	for (struct exchange *x = http->watches; x; x = x->next)
		x->ended = true;
	http->resume = true;
	resume_watches(http);
	fd = MHD_quiesce_daemon(http->daemon);
	MHD_stop_daemon(http->daemon);
	if (fd >= 0)
		close(fd);
	free(http);
}
