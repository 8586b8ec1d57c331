/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted HTTPS server on loopback for tests: threads of its own, certificates made at the start, answers by rules, every request
 * recorded. Speaks plain HTTP to who does not begin with TLS, and plays a CONNECT proxy that leads to itself.
 */
#ifndef TESTS_UNIT_HTTPS_SERVER_H
#define TESTS_UNIT_HTTPS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* How the answer goes on behind its body. */
enum https_end {
	HTTPS_KEEP,  /* complete; the connection stays open */
	HTTPS_CLOSE, /* complete; then closed */
	HTTPS_CUT,   /* without its end (last chunk, or the rest of Content-Length); then closed */
	HTTPS_RESET, /* the same with a TCP reset */
	HTTPS_STALL, /* the same, and then nothing, with the connection open */
};

struct https_rule {
	const char *match;   /* part of "METHOD /path", NULL: any */
	int times;           /* serves so often, 0: without end; the first rule that matches and is not used up answers */
	int status;          /* 0: not a byte of an answer, only the end */
	const char *headers; /* more headers, each with its CRLF; NULL: none */
	const char *body;    /* NULL: empty */
	size_t chunk;        /* chunks of so many bytes, each written alone; 0: Content-Length */
	enum https_end end;
};

struct https_options {
	const char *names;       /* subject alternative names, NULL: "IP:127.0.0.1" */
	bool ipv6;               /* listens on ::1 */
	bool want_client_cert;
	int stalled_handshakes;  /* so many connections get no TLS answer */
};

struct https_request {
	char line[2048];     /* "GET /path" */
	char headers[4096];  /* the rest of the head */
	char body[4096];
	char server_name[256]; /* SNI, "" */
	int connection;      /* from 0 */
};

struct https_server;

/* Texts are not copied and must stay. Aborts the test when the system refuses. */
struct https_server *https_server_new(const struct https_options *options);
void https_server_rule(struct https_server *server, const struct https_rule *rule);
/* Drops all rules. */
void https_server_clear(struct https_server *server);
void https_server_free(struct https_server *server);
int https_server_port(const struct https_server *server);
/* PEM texts, owned by the server. */
const char *https_server_ca(const struct https_server *server);
const char *https_server_client_cert(const struct https_server *server);
const char *https_server_client_key(const struct https_server *server);
/* Requests so far whose line holds `match` (NULL: all). */
int https_server_count(struct https_server *server, const char *match);
/* The n-th of them, from 0; false: not there. */
bool https_server_request(struct https_server *server, const char *match, int n, struct https_request *ret);
int https_server_connections(struct https_server *server);
/* Closes every connection that is open. */
void https_server_drop(struct https_server *server);

#endif
