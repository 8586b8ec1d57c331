/* SPDX-License-Identifier: Apache-2.0 */
/* Values of answer headers (RFC 9110, RFC 9111). Pure. */
#ifndef COMMON_KUBE_HTTP_HEADER_H
#define COMMON_KUBE_HTTP_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_RETRY_AFTER_MAX_NS (300 * 1000000000LL)

/* Is line ("Name: value\r\n", n bytes) the header of that name? Its value without white space around goes to out, cut to size. */
bool http_header_is(const char *line, size_t n, const char *name, char *out, size_t size);
/* Retry-After in seconds or as a date, against now; 0: absent, past or not readable; at most HTTP_RETRY_AFTER_MAX_NS. */
int64_t http_header_retry_after(const char *value, int64_t wall_ns);
/* The text of a `299 agent "text"` warning, unescaped, into out; false: another code, or not readable. */
bool http_header_warning(const char *value, char *out, size_t size);

#endif
