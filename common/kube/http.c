/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl's multi interface on the event loop: the life of clients, pools and requests.
 *
 * A client owns its pools and requests, a pool its sockets' watchers. libcurl must not be entered from inside its own callbacks,
 * and an owner may cancel, start and even free the client from any callback: starts wait for the `kick` timer, what is cancelled
 * inside libcurl is only marked and swept when the loop's callback ends, and so is a freed client.
 *
 * The resolver's threads are the one thing that freeing does not wait for (CURLOPT_QUICK_EXIT): such a thread ends by itself and
 * touches only memory of its own, but exit(3) beside it is a race. Processes that use this leave by _exit(2).
 *
 * libcurl itself repeats a request once on a fresh connection when a reused one breaks before any byte of the answer; here the
 * same is done for GETs on new connections, and for what libcurl does not see as a broken reuse.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kube/http_internal.h"
#include "common/kube/http_tls.h"
#include "common/memory.h"

/* Idle connections kept, those in use counted in: the default concurrency of a controller and its watches. */
#define POOL_CONNECTIONS 24L

struct http_socket {
	struct http_pool *pool;
	struct loop_io *io;
	int fd;
};

/* --- Requests' ends ---------------------------------------------------------- */

static void
release(struct http_request *r)
{
	TAILQ_REMOVE(&r->client->requests, r, link);
	if (r->pool != NULL) {
		curl_multi_remove_handle(r->pool->multi, r->easy);
		r->pool->running--;
	}
	http_easy_clear(r);
	loop_timer_free(r->header_timer);
	free(r);
}

static void
end(struct http_request *r, int transport, const char *text)
{
	struct http_result result = {
		.transport = transport,
		.complete = transport == 0,
		.status = r->headers_done ? r->status : 0,
		.retry_after_ns = r->retry_after_ns,
		.text = text,
		.warning = r->warning[0] != '\0' ? r->warning : NULL,
		.duration_ns = clock_monotonic_ns() - r->started_ns,
	};

	r->ended = true;
	r->callbacks.done(r->callbacks.data, &result);
	release(r);
}

static bool
deserves_retry(const struct http_request *r, CURLcode code)
{
	long connects = 0;

	if (r->retried || r->got_bytes ||
		(code != CURLE_SEND_ERROR && code != CURLE_RECV_ERROR && code != CURLE_GOT_NOTHING))
		return false;
	curl_easy_getinfo(r->easy, CURLINFO_NUM_CONNECTS, &connects);
	return r->is_get || connects == 0;
}

/* Not a byte in all its time on a connection that was used before: the others of its pool may be as dead, and each would cost a time-out. */
static void
doubt_pool(struct http_request *r)
{
	long connects = 0;

	curl_easy_getinfo(r->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (!r->got_bytes && connects == 0 && r->pool == r->client->pool)
		http_client_fresh_connections(r->client);
}

static void
finish(struct http_request *r, CURLcode code)
{
	if (deserves_retry(r, code)) {
		curl_multi_remove_handle(r->pool->multi, r->easy);
		http_easy_again(r);
		if (curl_multi_add_handle(r->pool->multi, r->easy) == CURLM_OK)
			return;
		code = CURLE_OUT_OF_MEMORY;
	}
	if (code == CURLE_OPERATION_TIMEDOUT)
		doubt_pool(r);
	if (code == CURLE_OK)
		end(r, 0, "");
	else
		end(r, http_easy_errno(r->easy, code),
			r->error[0] != '\0' ? r->error : curl_easy_strerror(code));
}

/* --- Pools --------------------------------------------------------------------- */

static void
pool_free(struct http_pool *pool)
{
	LIST_REMOVE(pool, link);
	curl_multi_cleanup(pool->multi);
	loop_timer_free(pool->timer);
	free(pool);
}

static void
destroy(struct http_client *client)
{
	struct http_request *r;
	struct http_pool *pool;

	while ((r = TAILQ_FIRST(&client->requests)) != NULL)
		release(r);
	while ((pool = LIST_FIRST(&client->pools)) != NULL)
		pool_free(pool);
	loop_timer_free(client->kick);
	http_server_clear(&client->server);
	free(client);
}

/* The end of each callback of the loop: sweeps what was cancelled inside, pools that nobody uses, and the client itself. */
static void
settle(struct http_client *client)
{
	struct http_pool *pool, *next_pool;

	if (--client->depth > 0)
		return;
	if (client->freed) {
		destroy(client);
		return;
	}
	for (struct http_request *r = TAILQ_FIRST(&client->requests), *next; r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->cancelled && !r->ended)
			release(r);
	}
	for (pool = LIST_FIRST(&client->pools); pool != NULL; pool = next_pool) {
		next_pool = LIST_NEXT(pool, link);
		if (pool != client->pool && pool->running == 0)
			pool_free(pool);
	}
}

static void
drain(struct http_pool *pool)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(pool->multi, &left)) != NULL) {
		CURLcode code = message->data.result;
		struct http_request *r = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &r);
		if (!r->cancelled)
			finish(r, code);
	}
}

static void
act(struct http_pool *pool, curl_socket_t fd, int mask)
{
	struct http_client *client = pool->client;
	int running;

	client->depth++;
	curl_multi_socket_action(pool->multi, fd, mask, &running);
	drain(pool);
	settle(client);
}

static void
on_io(void *data, int events)
{
	struct http_socket *s = data;

	/* s may be gone when act() returns. */
	act(s->pool, s->fd,
		((events & LOOP_READ) != 0 ? CURL_CSELECT_IN : 0) |
			((events & LOOP_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void
on_timeout(void *data)
{
	act(data, CURL_SOCKET_TIMEOUT, 0);
}

static int
set_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
	struct http_pool *pool = data;
	struct http_socket *s = socket_data;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (s != NULL) {
			loop_io_free(s->io);
			free(s);
			curl_multi_assign(pool->multi, fd, NULL);
		}
		return 0;
	}
	if (s == NULL) {
		s = xcalloc(1, sizeof(*s));
		s->pool = pool;
		s->fd = fd;
		s->io = loop_io_new(pool->client->loop, on_io, s);
		curl_multi_assign(pool->multi, fd, s);
	}
	loop_io_set(s->io, fd,
		((what & CURL_POLL_IN) != 0 ? LOOP_READ : 0) |
			((what & CURL_POLL_OUT) != 0 ? LOOP_WRITE : 0));
	return 0;
}

static int
set_timer(CURLM *multi, long timeout_ms, void *data)
{
	struct http_pool *pool = data;

	(void)multi;
	if (timeout_ms < 0)
		loop_timer_clear(pool->timer);
	else
		loop_timer_set(pool->timer, timeout_ms * NSEC_PER_MSEC);
	return 0;
}

static struct http_pool *
pool_new(struct http_client *client)
{
	struct http_pool *pool;
	CURLM *multi = curl_multi_init();

	if (multi == NULL)
		return NULL;
	pool = xcalloc(1, sizeof(*pool));
	pool->client = client;
	pool->multi = multi;
	pool->timer = loop_timer_new(client->loop, on_timeout, pool);
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, pool);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(multi, CURLMOPT_TIMERDATA, pool);
	curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, POOL_CONNECTIONS);
	LIST_INSERT_HEAD(&client->pools, pool, link);
	return pool;
}

/* --- Starting --------------------------------------------------------------------- */

static void
launch(struct http_request *r)
{
	struct http_pool *pool = r->client->pool;

	if (curl_multi_add_handle(pool->multi, r->easy) != CURLM_OK) {
		end(r, -ENOMEM, "out of memory");
		return;
	}
	r->pool = pool;
	pool->running++;
}

static void
on_kick(void *data)
{
	struct http_client *client = data;
	struct http_request *r;

	client->depth++;
	/* From the front each time: a done callback may have changed the list anywhere. */
	for (r = TAILQ_FIRST(&client->requests); r != NULL;) {
		if (r->pool != NULL || r->cancelled) {
			r = TAILQ_NEXT(r, link);
			continue;
		}
		launch(r);
		r = TAILQ_FIRST(&client->requests);
	}
	settle(client);
}

static void
on_header_timeout(void *data)
{
	struct http_request *r = data;
	struct http_client *client = r->client;

	if (r->cancelled)
		return;
	client->depth++;
	if (r->pool != NULL)
		doubt_pool(r);
	end(r, -ETIMEDOUT, "no answer in time: the headers did not come within 30 s");
	settle(client);
}

struct http_client *
http_client_new(struct loop *loop, const struct kube_target *target, struct error *err)
{
	struct http_client *client = xcalloc(1, sizeof(*client));

	TAILQ_INIT(&client->requests);
	LIST_INIT(&client->pools);
	client->loop = loop;
	client->kick = loop_timer_new(loop, on_kick, client);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		error_set(err, -ENOMEM, "libcurl refuses to start");
		goto fail;
	}
	if (http_tls_check(target, err) < 0 || http_server_init(&client->server, target, err) < 0)
		goto fail;
	client->pool = pool_new(client);
	if (client->pool == NULL) {
		error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	return client;
fail:
	destroy(client);
	return NULL;
}

void
http_client_free(struct http_client *client)
{
	struct http_request *r;

	if (client == NULL)
		return;
	if (client->depth == 0) {
		destroy(client);
		return;
	}
	client->freed = true;
	TAILQ_FOREACH(r, &client->requests, link)
	r->cancelled = true;
}

struct http_request *
http_start(struct http_client *client, const struct http_call *call,
	const struct http_callbacks *callbacks)
{
	struct http_request *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->client = client;
	r->callbacks = *callbacks;
	r->timeout_ns = call->timeout_ns;
	r->started_ns = clock_monotonic_ns();
	r->is_get = strcmp(call->method, "GET") == 0;
	r->header_timer = loop_timer_new(client->loop, on_header_timeout, r);
	TAILQ_INSERT_TAIL(&client->requests, r, link);
	if (http_easy_setup(r, call) < 0) {
		release(r);
		return NULL;
	}
	loop_timer_set(client->kick, 0);
	return r;
}

void
http_cancel(struct http_request *r)
{
	if (r == NULL || r->ended)
		return;
	r->cancelled = true;
	loop_timer_clear(r->header_timer);
	if (r->client->depth == 0)
		release(r);
}

void
http_client_fresh_connections(struct http_client *client)
{
	struct http_pool *pool = pool_new(client);

	if (pool == NULL) /* no memory for a new one: the old one still works */
		return;
	client->pool = pool;
	if (client->depth == 0) {
		client->depth++;
		settle(client);
	}
}
