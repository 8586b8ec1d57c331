/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVSERVER_BASE64_H
#define DEVSERVER_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include "common/buf.h"

/* RFC 4648 section 4 with padding; appends. */
void base64_encode(struct buf *out, const void *bytes, size_t length);
/* Strict, of length bytes; appends. false: not base64. */
bool base64_decode(struct buf *out, const char *text, size_t length);

#endif
