/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One transfer of libcurl: its options, and what it calls back. Keys and certificates go in as blobs, so that nothing of them
 * is ever on a disk. The environment decides nothing: proxies and their exceptions are always set.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/kube/http_header.h"
#include "common/kube/http_internal.h"
#include "common/kube/url.h"
#include "common/memory.h"

#define CONNECT_TIMEOUT_MS 10000L
#define HEADER_TIMEOUT_NS  (30 * NSEC_PER_SEC)
/* A peer that acknowledges nothing: found by the kernel, busy or idle, in about half a minute. */
#define KEEPALIVE_IDLE_S     15
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES     3
#define TCP_USER_TIMEOUT_MS  20000

static const struct {
	CURLoption option;
	long value;
} fixed[] = {
	{CURLOPT_NOSIGNAL, 1},
	{CURLOPT_NOPROGRESS, 1},
	{CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
	{CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
	{CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
	{CURLOPT_FOLLOWLOCATION, 0},
	{CURLOPT_PATH_AS_IS, 1},
	{CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS},
	/* A watch holds its buffer for its life, and more than this does not make lists faster. */
	{CURLOPT_BUFFERSIZE, 16384},
	{CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
	/* Without this, ending a request whose name is being resolved waits for the resolver's thread. */
	{CURLOPT_QUICK_EXIT, 1},
};

/* --- What a client's requests share -------------------------------------- */

static char *
copy_bytes(const char *bytes, size_t n)
{
	char *out;

	if (bytes == NULL)
		return NULL;
	out = xcalloc(1, n + 1);
	memcpy(out, bytes, n);
	return out;
}

/* With tls-server-name the URL holds that name, for SNI and verification, while the connection and the Host header stay the server's. */
static void
set_names(struct http_server *server, const struct kube_url *url, const char *tls_server_name)
{
	char authority[272];

	kube_url_authority(url, authority);
	if (tls_server_name == NULL || !url->tls) {
		server->base =
			xasprintf("%s://%s%s", url->tls ? "https" : "http", authority, url->prefix);
		return;
	}
	char *connect_to = xasprintf("%s:%u:%s", tls_server_name, url->port, authority);

	server->base = xasprintf("https://%s:%u%s", tls_server_name, url->port, url->prefix);
	server->host_header = xasprintf("Host: %s", authority);
	server->connect_to = curl_slist_append(NULL, connect_to);
	free(connect_to);
}

int
http_server_init(struct http_server *server, const struct kube_target *target, struct error *err)
{
	struct kube_url url;
	int r = kube_url_parse(target->server, &url, err);

	if (r < 0) {
		error_prefix(err, "server %s", target->server);
		return r;
	}
	set_names(server, &url, target->tls_server_name);
	if (target->proxy_url == NULL)
		server->proxy = xstrdup("");
	else if (strncasecmp(target->proxy_url, "socks5://", 9) ==
		 0) /* names are the proxy's to resolve, as in kubectl */
		server->proxy = xasprintf("socks5h://%s", target->proxy_url + 9);
	else
		server->proxy = xstrdup(target->proxy_url);
	for (size_t i = 0; i < target->n_headers; i++) {
		struct curl_slist *list = curl_slist_append(server->headers, target->headers[i]);

		if (list == NULL)
			return error_set(err, -ENOMEM, "out of memory");
		server->headers = list;
	}
	server->insecure = target->insecure;
	server->ca = copy_bytes(target->ca_pem, target->ca_pem_length);
	server->ca_length = target->ca_pem_length;
	server->cert = copy_bytes(target->cert_pem, target->cert_pem_length);
	server->cert_length = target->cert_pem_length;
	server->key = copy_bytes(target->key_pem, target->key_pem_length);
	server->key_length = target->key_pem_length;
	return 0;
}

void
http_server_clear(struct http_server *server)
{
	free(server->base);
	free(server->host_header);
	curl_slist_free_all(server->connect_to);
	curl_slist_free_all(server->headers);
	if (server->proxy != NULL)
		memory_burn(server->proxy, strlen(server->proxy));
	free(server->ca);
	free(server->cert);
	memory_burn(server->key, server->key_length);
	*server = (struct http_server){0};
}

/* --- libcurl's callbacks --------------------------------------------------- */

static curl_socket_t
open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	static const struct {
		int level, option, value;
	} options[] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
		{IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, TCP_USER_TIMEOUT_MS},
	};
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

	(void)data;
	(void)purpose;
	if (fd < 0)
		return CURL_SOCKET_BAD;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		(void)setsockopt(fd, options[i].level, options[i].option, &options[i].value,
			sizeof(options[i].value));
	return fd;
}

static bool
all_headers(struct http_request *r)
{
	if (r->status < 200) /* 100 Continue and the like: the answer is still to come */
		return true;
	r->headers_done = true;
	loop_timer_clear(r->header_timer);
	if (r->callbacks.headers != NULL)
		r->callbacks.headers(r->callbacks.data, r->status, r->content_type);
	return !r->cancelled;
}

static size_t
on_header(char *line, size_t size, size_t count, void *data)
{
	struct http_request *r = data;
	size_t n = size * count;
	char value[512];

	r->got_bytes = true;
	if (r->cancelled)
		return 0;
	if (n > 5 && strncmp(line, "HTTP/", 5) == 0) {
		long status = 0;

		curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
		r->status = (int)status;
		return n;
	}
	if (r->headers_done) /* trailers */
		return n;
	if (n <= 2 && (*line == '\r' || *line == '\n'))
		return all_headers(r) ? n : 0;
	if (http_header_is(line, n, "content-type", r->content_type, sizeof(r->content_type)))
		return n;
	if (http_header_is(line, n, "retry-after", value, sizeof(value)))
		r->retry_after_ns = http_header_retry_after(value, clock_wall_ns());
	else if (r->warning[0] == '\0' && http_header_is(line, n, "warning", value, sizeof(value)))
		(void)http_header_warning(value, r->warning, sizeof(r->warning));
	return n;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct http_request *r = data;
	size_t n = size * count;

	r->got_bytes = true;
	if (r->cancelled)
		return 0;
	if (r->callbacks.body != NULL && r->callbacks.body(r->callbacks.data, bytes, n) != 0)
		return 0;
	return r->cancelled ? 0 : n;
}

/* --- Setting up -------------------------------------------------------------- */

static bool
add_header(struct http_request *r, const char *name, const char *value)
{
	char *line = xasprintf("%s: %s", name, value);
	struct curl_slist *list = curl_slist_append(r->headers, line);

	memory_burn(line, strlen(line));
	if (list == NULL)
		return false;
	r->headers = list;
	return true;
}

static bool
set_headers(struct http_request *r, const struct http_call *call)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	if (list == NULL)
		return false;
	r->headers = list;
	if (r->client->server.host_header != NULL) {
		list = curl_slist_append(r->headers, r->client->server.host_header);
		if (list == NULL)
			return false;
	}
	for (const struct curl_slist *line = r->client->server.headers; line != NULL;
		line = line->next) {
		list = curl_slist_append(r->headers, line->data);
		if (list == NULL)
			return false;
		r->headers = list;
	}
	return add_header(r, "Accept", call->accept != NULL ? call->accept : "application/json") &&
	       (call->content_type == NULL || add_header(r, "Content-Type", call->content_type)) &&
	       (call->authorization == NULL ||
		       add_header(r, "Authorization", call->authorization)) &&
	       curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers) == CURLE_OK;
}

static bool
set_blob(CURL *easy, CURLoption option, char *bytes, size_t n)
{
	struct curl_blob blob = {.data = bytes, .len = n, .flags = CURL_BLOB_NOCOPY};

	return curl_easy_setopt(easy, option, &blob) == CURLE_OK;
}

/* A proxy with TLS is trusted as the server is, as with kubectl. */
static bool
set_tls(CURL *easy, struct http_server *server)
{
	bool good = true;

	if (server->insecure) {
		good = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L) == CURLE_OK &&
		       curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L) == CURLE_OK &&
		       curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L) == CURLE_OK &&
		       curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L) == CURLE_OK;
	} else if (server->ca != NULL) {
		good = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK &&
		       curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL) == CURLE_OK &&
		       set_blob(easy, CURLOPT_CAINFO_BLOB, server->ca, server->ca_length) &&
		       set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, server->ca, server->ca_length);
	}
	if (good && server->cert != NULL)
		good = set_blob(easy, CURLOPT_SSLCERT_BLOB, server->cert, server->cert_length) &&
		       set_blob(easy, CURLOPT_SSLKEY_BLOB, server->key, server->key_length);
	return good;
}

static bool
set_server(CURL *easy, struct http_server *server, const char *path)
{
	char *url = xasprintf("%s%s", server->base, path);
	bool good =
		curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
		curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
		curl_easy_setopt(easy, CURLOPT_CONNECT_TO, server->connect_to) == CURLE_OK &&
		curl_easy_setopt(easy, CURLOPT_PROXY, server->proxy) == CURLE_OK &&
		curl_easy_setopt(easy, CURLOPT_NOPROXY, "") == CURLE_OK &&
		curl_easy_setopt(easy, CURLOPT_USERAGENT, "operatord/" PACKAGE_VERSION) == CURLE_OK;

	free(url);
	return good && set_tls(easy, server);
}

static bool
set_body(struct http_request *r, const struct http_call *call)
{
	if (call->body == NULL && r->is_get)
		return curl_easy_setopt(r->easy, CURLOPT_HTTPGET, 1L) == CURLE_OK;
	/* A DELETE without a body stays one; others say that theirs is empty. */
	if (call->body != NULL || strcmp(call->method, "DELETE") != 0) {
		if (curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE,
			    (curl_off_t)call->body_length) != CURLE_OK ||
			curl_easy_setopt(r->easy, CURLOPT_COPYPOSTFIELDS,
				call->body != NULL ? call->body : "") != CURLE_OK)
			return false;
	}
	return curl_easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, call->method) == CURLE_OK;
}

static bool
set_callbacks(struct http_request *r)
{
	return curl_easy_setopt(r->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(r->easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
	       curl_easy_setopt(r->easy, CURLOPT_HEADERDATA, r) == CURLE_OK &&
	       curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
	       curl_easy_setopt(r->easy, CURLOPT_WRITEDATA, r) == CURLE_OK &&
	       curl_easy_setopt(r->easy, CURLOPT_ERRORBUFFER, r->error) == CURLE_OK &&
	       curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r) == CURLE_OK;
}

/* The time that is left, which a second try does not get anew. */
static void
set_timeout(struct http_request *r)
{
	int64_t left = (r->timeout_ns != 0 ? r->timeout_ns : HEADER_TIMEOUT_NS) -
		       (clock_monotonic_ns() - r->started_ns);

	if (r->timeout_ns != 0)
		(void)curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS,
			(long)(left > NSEC_PER_MSEC ? left / NSEC_PER_MSEC : 1));
	else
		loop_timer_set(r->header_timer, left > 0 ? left : 0);
}

int
http_easy_setup(struct http_request *r, const struct http_call *call)
{
	r->easy = curl_easy_init();
	if (r->easy == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if ((curl_easy_setopt)(r->easy, fixed[i].option, fixed[i].value) != CURLE_OK)
			return -ENOMEM;
	}
	if (!set_callbacks(r) || !set_server(r->easy, &r->client->server, call->path) ||
		!set_body(r, call) || !set_headers(r, call))
		return -ENOMEM;
	set_timeout(r);
	return 0;
}

void
http_easy_again(struct http_request *r)
{
	r->retried = true;
	r->error[0] = '\0';
	(void)curl_easy_setopt(r->easy, CURLOPT_FRESH_CONNECT, 1L);
	set_timeout(r);
}

void
http_easy_clear(struct http_request *r)
{
	if (r->easy != NULL)
		curl_easy_cleanup(r->easy);
	/* One of the lines is the Authorization header. */
	for (struct curl_slist *line = r->headers; line != NULL; line = line->next)
		explicit_bzero(line->data, strlen(line->data));
	curl_slist_free_all(r->headers);
}

int
http_easy_errno(CURL *easy, CURLcode code)
{
	long number = 0;

	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return -EHOSTUNREACH;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
		return number > 0 ? -(int)number : -ECONNREFUSED;
	case CURLE_PROXY:
		return -ECONNREFUSED;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return -EPROTO;
	case CURLE_WRITE_ERROR:
	case CURLE_ABORTED_BY_CALLBACK:
		return -ECANCELED;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	default:
		return -ECONNRESET;
	}
}
