/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTPS front of the API server (libmicrohttpd on the loop). */
#ifndef DEVSERVER_HTTP_H
#define DEVSERVER_HTTP_H

#include "common/error.h"
#include "common/loop/loop.h"
#include "devserver/api.h"
#include "devserver/tls.h"

struct http;

/*
 * Serves api on a listening socket (taken over) until http_free(). Requests with the token are the user "admin"; other
 * tokens get 401, none is "system:anonymous". identity and token must outlive it. NULL: could not start.
 */
struct http *http_new(struct loop *loop, struct api *api, int listen_fd,
	const struct tls_identity *identity, const char *token, struct error *err);
/* Ends every connection, watches included. */
void http_free(struct http *http);

#endif
