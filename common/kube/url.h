/* SPDX-License-Identifier: Apache-2.0 */
/* The URL of an API server, taken apart (RFC 3986): "https://[::1]:6443/k8s/clusters/c-1". */
#ifndef COMMON_KUBE_URL_H
#define COMMON_KUBE_URL_H

#include <stdbool.h>
#include "common/error.h"

struct kube_url {
	bool tls;          /* https, else http */
	char host[256];    /* without brackets */
	bool bracketed;    /* an IPv6 address */
	unsigned port;     /* 1-65535; 443 or 80 when the URL has none */
	bool port_given;
	char prefix[512];  /* "" or "/path", without a slash at its end */
};

/* 0 or -EINVAL with what is wrong. Credentials, queries and fragments are refused; slashes at the end are dropped. */
int kube_url_parse(const char *text, struct kube_url *ret, struct error *err);
/* "host:port", IPv6 in brackets; out holds 272 bytes. */
void kube_url_authority(const struct kube_url *url, char out[272]);

#endif
