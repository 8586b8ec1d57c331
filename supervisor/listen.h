/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets from their text in the configuration: "ADDRESS:PORT", ":PORT" (every address, IPv6 and IPv4), "[::1]:PORT", "unix:PATH". */
#ifndef SUPERVISOR_LISTEN_H
#define SUPERVISOR_LISTEN_H

#include "common/error.h"

/* "auto" as what it means here: ":8080" in a cluster ($KUBERNETES_SERVICE_HOST is set), else "127.0.0.1:8080". Others as they are. */
const char *listen_resolve(const char *listen_);
/* The path of "unix:PATH", NULL: it is an address. */
const char *listen_path(const char *listen_);
/*
 * A listening, non-blocking socket, or -errno with the text in err. A Unix socket that nobody listens on is replaced, one in use is -EADDRINUSE; whoever
 * may enter its directory may connect. The caller unlinks it.
 */
int listen_open(const char *listen_, struct error *err);

#endif
