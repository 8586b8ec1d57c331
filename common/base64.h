/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648, section 4, with padding), as kubeconfigs and Secrets hold it. */
#ifndef COMMON_BASE64_H
#define COMMON_BASE64_H

#include <stddef.h>
#include "common/buf.h"

/*
 * Decodes text of n characters; CR and LF are skipped, everything else must be exact: full groups, padding where it belongs and
 * nowhere else, no bits left over. 0, and the caller owns *ret (NUL-terminated, memory_burn() or free()); -EBADMSG or -ENOMEM.
 */
int base64_decode(const char *text, size_t n, char **ret, size_t *ret_length);

/* Appends. */
void base64_encode(struct buf *out, const void *bytes, size_t length);

#endif
