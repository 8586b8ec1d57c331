/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread accepts, and one each serves a connection with blocking calls. Everything shared is under one lock. At the end all sockets
 * are shut down, which ends the threads, and they are joined.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "https_certs.h"
#include "https_server.h"

#define CONNECTIONS_MAX 512
#define REQUESTS_MAX    512
#define RULES_MAX       64

struct connection {
	struct https_server *server;
	pthread_t thread;
	SSL *ssl; /* NULL: plain */
	int fd, number;
	bool open;
};

struct https_server {
	struct https_options options;
	pthread_mutex_t lock;
	pthread_t acceptor;
	int fd, port;
	bool stopping;
	SSL_CTX *context;
	char *ca, *client_cert, *client_key;
	struct https_rule rules[RULES_MAX];
	int used[RULES_MAX], n_rules;
	struct https_request *requests;
	int n_requests;
	struct connection connections[CONNECTIONS_MAX];
	int n_connections;
};

static void
must(bool condition, const char *what)
{
	if (!condition) {
		perror(what);
		abort();
	}
}

static void
make_context(struct https_server *server)
{
	const char *names = server->options.names != NULL ? server->options.names : "IP:127.0.0.1";
	EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256"),
		 *client_key = EVP_EC_gen("P-256");
	X509 *ca = https_certificate("test authority", NULL, ca_key, NULL, NULL);
	X509 *certificate = https_certificate("server", names, key, ca, ca_key);
	X509 *client = https_certificate("client", NULL, client_key, ca, ca_key);

	server->context = SSL_CTX_new(TLS_server_method());
	must(SSL_CTX_use_certificate(server->context, certificate) == 1 &&
			SSL_CTX_use_PrivateKey(server->context, key) == 1,
		"TLS context");
	if (server->options.want_client_cert) {
		X509_STORE_add_cert(SSL_CTX_get_cert_store(server->context), ca);
		SSL_CTX_set_verify(
			server->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	}
	server->ca = https_certificate_text(ca);
	server->client_cert = https_certificate_text(client);
	server->client_key = https_key_text(client_key);
	X509_free(ca);
	X509_free(certificate);
	X509_free(client);
	EVP_PKEY_free(ca_key);
	EVP_PKEY_free(key);
	EVP_PKEY_free(client_key);
}

/* --- Connections -------------------------------------------------------------------- */

static int
take(struct connection *c, char *out, int n)
{
	return c->ssl != NULL ? SSL_read(c->ssl, out, n) : (int)recv(c->fd, out, (size_t)n, 0);
}

static bool
put(struct connection *c, const char *bytes, size_t n)
{
	if (n == 0)
		return true;
	return c->ssl != NULL ? SSL_write(c->ssl, bytes, (int)n) == (int)n
			      : send(c->fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* Reads to the end of a head and the body that its Content-Length tells. */
static bool
read_request(struct connection *c, struct https_request *r)
{
	char head[sizeof(r->line) + sizeof(r->headers)] = "";
	size_t n = 0, length;
	char *space, *found;

	memset(r, 0, sizeof(*r));
	while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
		if (n == sizeof(head) - 1 || take(c, head + n, 1) != 1)
			return false;
		n++;
	}
	head[n] = '\0';
	space = strstr(head, " HTTP/1.1\r\n");
	if (space == NULL)
		return false;
	*space = '\0';
	snprintf(r->line, sizeof(r->line), "%.*s", (int)sizeof(r->line) - 1, head);
	snprintf(r->headers, sizeof(r->headers), "%.*s", (int)sizeof(r->headers) - 1, space + 11);
	found = strcasestr(r->headers, "content-length: ");
	length = found == NULL ? 0 : strtoul(found + 16, NULL, 10);
	for (n = 0; n < length && n < sizeof(r->body) - 1; n++) {
		if (take(c, r->body + n, 1) != 1)
			return false;
	}
	r->connection = c->number;
	if (c->ssl != NULL && SSL_get_servername(c->ssl, TLSEXT_NAMETYPE_host_name) != NULL)
		snprintf(r->server_name, sizeof(r->server_name), "%s",
			SSL_get_servername(c->ssl, TLSEXT_NAMETYPE_host_name));
	return true;
}

static bool
put_head(struct connection *c, const struct https_rule *rule, size_t length)
{
	char head[2048];
	int n = snprintf(head, sizeof(head),
		"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%s", rule->status,
		rule->headers != NULL ? rule->headers : "");

	if (rule->chunk > 0)
		n += snprintf(
			head + n, sizeof(head) - (size_t)n, "Transfer-Encoding: chunked\r\n\r\n");
	else /* cut short or not, by its header there is more than the body when it is not to be complete */
		n += snprintf(head + n, sizeof(head) - (size_t)n, "Content-Length: %zu\r\n\r\n",
			length + (rule->end >= HTTPS_CUT ? 1000 : 0));
	return put(c, head, (size_t)n);
}

static bool
answer(struct connection *c, const struct https_rule *rule)
{
	const char *body = rule->body != NULL ? rule->body : "";
	size_t length = strlen(body);

	if (rule->status == 0)
		return true;
	if (!put_head(c, rule, length))
		return false;
	if (rule->chunk == 0)
		return put(c, body, length);
	for (size_t at = 0; at < length; at += rule->chunk) {
		size_t n = length - at < rule->chunk ? length - at : rule->chunk;
		char size[32];

		if (!put(c, size, (size_t)snprintf(size, sizeof(size), "%zx\r\n", n)) ||
			!put(c, body + at, n) || !put(c, "\r\n", 2))
			return false;
	}
	return rule->end >= HTTPS_CUT || put(c, "0\r\n\r\n", 5);
}

/* Notes a request and finds its rule. */
static struct https_rule
record(struct https_server *server, const struct https_request *r)
{
	struct https_rule rule = {.status = 404, .body = "404 page not found\n"};

	pthread_mutex_lock(&server->lock);
	if (server->n_requests < REQUESTS_MAX)
		server->requests[server->n_requests++] = *r;
	for (int i = 0; i < server->n_rules; i++) {
		const struct https_rule *candidate = &server->rules[i];

		if ((candidate->match == NULL || strstr(r->line, candidate->match) != NULL) &&
			(candidate->times == 0 || server->used[i] < candidate->times)) {
			server->used[i]++;
			rule = *candidate;
			break;
		}
	}
	pthread_mutex_unlock(&server->lock);
	return rule;
}

static void
serve_requests(struct connection *c)
{
	struct https_request *r = malloc(sizeof(*r));
	char byte;

	while (read_request(c, r)) {
		struct https_rule rule = record(c->server, r);
		bool good = answer(c, &rule);

		if (rule.end == HTTPS_STALL)
			(void)take(c, &byte, 1); /* until it is closed by anybody */
		if (rule.end == HTTPS_RESET)
			setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
				sizeof(struct linger));
		if (!good || rule.end != HTTPS_KEEP)
			break;
	}
	free(r);
}

/* Before TLS: plays a proxy for CONNECT. False: this connection is over. */
static bool
greet(struct connection *c)
{
	struct https_request *r;
	char first = 0;
	bool good = true;

	if (recv(c->fd, &first, 1, MSG_PEEK) != 1)
		return false;
	if (first == 'C') {
		r = malloc(sizeof(*r));
		good = read_request(c, r);
		if (good)
			(void)record(c->server, r);
		free(r);
		if (!good || !put(c, "HTTP/1.1 200 OK\r\n\r\n", 19) ||
			recv(c->fd, &first, 1, MSG_PEEK) != 1)
			return false;
	}
	if (first != 0x16) /* no TLS record */
		return true;
	c->ssl = SSL_new(c->server->context);
	SSL_set_fd(c->ssl, c->fd);
	return SSL_accept(c->ssl) == 1;
}

static void *
serve(void *data)
{
	struct connection *c = data;
	char byte;
	bool stalled = c->number < c->server->options.stalled_handshakes;

	while (stalled && recv(c->fd, &byte, 1, 0) == 1)
		;
	if (!stalled && greet(c))
		serve_requests(c);
	SSL_free(c->ssl);
	c->ssl = NULL;
	pthread_mutex_lock(&c->server->lock);
	c->open = false;
	close(c->fd);
	pthread_mutex_unlock(&c->server->lock);
	return NULL;
}

static void *
accept_all(void *data)
{
	struct https_server *server = data;

	for (;;) {
		struct connection *c = &server->connections[server->n_connections];
		int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			return NULL;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
		pthread_mutex_lock(&server->lock);
		must(server->stopping || server->n_connections < CONNECTIONS_MAX, "connections");
		*c = (struct connection){
			.server = server, .fd = fd, .number = server->n_connections, .open = true};
		must(pthread_create(&c->thread, NULL, serve, c) == 0, "pthread_create");
		server->n_connections++;
		pthread_mutex_unlock(&server->lock);
	}
}

/* --- The server ----------------------------------------------------------------------- */

static void
listen_on_loopback(struct https_server *server)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool six = server->options.ipv6;
	struct sockaddr_storage bound;
	socklen_t n = sizeof(bound);

	server->fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(server->fd >= 0 &&
			bind(server->fd, six ? (const void *)&v6 : (const void *)&v4,
				six ? sizeof(v6) : sizeof(v4)) == 0 &&
			listen(server->fd, 64) == 0 &&
			getsockname(server->fd, (struct sockaddr *)&bound, &n) == 0,
		"listen");
	server->port = ntohs(six ? ((struct sockaddr_in6 *)&bound)->sin6_port
				 : ((struct sockaddr_in *)&bound)->sin_port);
}

struct https_server *
https_server_new(const struct https_options *options)
{
	struct https_server *server = calloc(1, sizeof(*server));

	if (options != NULL)
		server->options = *options;
	server->requests = calloc(REQUESTS_MAX, sizeof(*server->requests));
	pthread_mutex_init(&server->lock, NULL);
	make_context(server);
	listen_on_loopback(server);
	must(pthread_create(&server->acceptor, NULL, accept_all, server) == 0, "pthread_create");
	return server;
}

void
https_server_rule(struct https_server *server, const struct https_rule *rule)
{
	pthread_mutex_lock(&server->lock);
	must(server->n_rules < RULES_MAX, "rules");
	server->used[server->n_rules] = 0;
	server->rules[server->n_rules++] = *rule;
	pthread_mutex_unlock(&server->lock);
}

void
https_server_clear(struct https_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->n_rules = 0;
	pthread_mutex_unlock(&server->lock);
}

void
https_server_drop(struct https_server *server)
{
	pthread_mutex_lock(&server->lock);
	for (int i = 0; i < server->n_connections; i++) {
		if (server->connections[i].open)
			shutdown(server->connections[i].fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&server->lock);
}

void
https_server_free(struct https_server *server)
{
	server->stopping = true;
	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->acceptor, NULL);
	https_server_drop(server);
	for (int i = 0; i < server->n_connections; i++)
		pthread_join(server->connections[i].thread, NULL);
	close(server->fd);
	SSL_CTX_free(server->context);
	pthread_mutex_destroy(&server->lock);
	free(server->ca);
	free(server->client_cert);
	free(server->client_key);
	free(server->requests);
	free(server);
}

int
https_server_port(const struct https_server *server)
{
	return server->port;
}

const char *
https_server_ca(const struct https_server *server)
{
	return server->ca;
}

const char *
https_server_client_cert(const struct https_server *server)
{
	return server->client_cert;
}

const char *
https_server_client_key(const struct https_server *server)
{
	return server->client_key;
}

bool
https_server_request(
	struct https_server *server, const char *match, int n, struct https_request *ret)
{
	bool found = false;

	pthread_mutex_lock(&server->lock);
	for (int i = 0; i < server->n_requests && !found; i++) {
		if (match != NULL && strstr(server->requests[i].line, match) == NULL)
			continue;
		if (n-- == 0) {
			found = true;
			if (ret != NULL)
				*ret = server->requests[i];
		}
	}
	pthread_mutex_unlock(&server->lock);
	return found;
}

int
https_server_count(struct https_server *server, const char *match)
{
	int n = 0;

	while (https_server_request(server, match, n, NULL))
		n++;
	return n;
}

int
https_server_connections(struct https_server *server)
{
	int n;

	pthread_mutex_lock(&server->lock);
	n = server->n_connections;
	pthread_mutex_unlock(&server->lock);
	return n;
}
