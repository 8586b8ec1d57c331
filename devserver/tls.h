/* SPDX-License-Identifier: Apache-2.0 */
/* A CA and a server certificate, made anew at each start and kept in memory. */
#ifndef DEVSERVER_TLS_H
#define DEVSERVER_TLS_H

#include "common/buf.h"
#include "common/error.h"

struct tls_identity {
	struct buf ca, certificate, key; /* PEM */
};

/* For 127.0.0.1, ::1, localhost and, when not NULL, one more address. 0 or -EIO; tls_free() in any case. */
int tls_generate(struct tls_identity *ret, const char *address, struct error *err);
void tls_free(struct tls_identity *identity); /* burns the key */

#endif
