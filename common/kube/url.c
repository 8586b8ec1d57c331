/* SPDX-License-Identifier: Apache-2.0 */
/* Takes apart server URLs; strict, since what it lets through becomes part of requests. Pure. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kube/url.h"

static int
parse_scheme(const char **p, struct kube_url *url, struct error *err)
{
	if (strncasecmp(*p, "https://", 8) == 0) {
		url->tls = true;
		*p += 8;
		return 0;
	}
	if (strncasecmp(*p, "http://", 7) == 0) {
		*p += 7;
		return 0;
	}
	return error_set(err, -EINVAL, "it must begin with https://");
}

static bool
host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_';
}

static int
parse_host(const char **p, struct kube_url *url, struct error *err)
{
	const char *start = *p, *end;

	if (*start == '[') {
		struct in6_addr address;

		end = strchr(++start, ']');
		if (end == NULL || (size_t)(end - start) >= sizeof(url->host))
			return error_set(err, -EINVAL, "the IPv6 address has no closing bracket");
		memcpy(url->host, start, (size_t)(end - start));
		url->bracketed = true;
		*p = end + 1;
		if (inet_pton(AF_INET6, url->host, &address) != 1)
			return error_set(err, -EINVAL, "[%s] is not an IPv6 address", url->host);
		return 0;
	}
	for (end = start; host_char(*end); end++)
		;
	if (*end == '@')
		return error_set(err, -EINVAL, "credentials do not belong into the server's URL");
	if (end == start || (size_t)(end - start) >= sizeof(url->host))
		return error_set(err, -EINVAL, "it has no valid host name");
	memcpy(url->host, start, (size_t)(end - start));
	*p = end;
	return 0;
}

static int
parse_port(const char **p, struct kube_url *url, struct error *err)
{
	unsigned port = 0;
	const char *c = *p;

	url->port = url->tls ? 443 : 80;
	if (*c != ':')
		return 0;
	for (c++; *c >= '0' && *c <= '9' && port <= 65535; c++)
		port = port * 10 + (unsigned)(*c - '0');
	if (memchr(c, '@', strcspn(c, "/?#")) != NULL)
		return error_set(err, -EINVAL, "credentials do not belong into the server's URL");
	if (port == 0 || port > 65535 || (*c != '\0' && *c != '/' && *c != '?' && *c != '#'))
		return error_set(err, -EINVAL, "the port must be a number from 1 to 65535");
	url->port = port;
	url->port_given = true;
	*p = c;
	return 0;
}

static int
parse_prefix(const char *p, struct kube_url *url, struct error *err)
{
	size_t n = strlen(p);

	if (*p != '\0' && *p != '/')
		return error_set(err, -EINVAL, "unexpected '%c' behind the host", *p);
	for (const char *c = p; *c != '\0'; c++) {
		if (*c == '?' || *c == '#' || *c <= ' ' || (unsigned char)*c >= 0x7f || *c == '"' ||
			*c == '\\')
			return error_set(
				err, -EINVAL, "the path must be plain, without query or fragment");
	}
	while (n > 0 && p[n - 1] == '/')
		n--;
	if (n >= sizeof(url->prefix))
		return error_set(
			err, -EINVAL, "the path is longer than %zu bytes", sizeof(url->prefix) - 1);
	memcpy(url->prefix, p, n);
	return 0;
}

int
kube_url_parse(const char *text, struct kube_url *ret, struct error *err)
{
	struct kube_url url = {0};
	const char *p = text;
	int r;

	if ((r = parse_scheme(&p, &url, err)) < 0 || (r = parse_host(&p, &url, err)) < 0 ||
		(r = parse_port(&p, &url, err)) < 0 || (r = parse_prefix(p, &url, err)) < 0)
		return r;
	*ret = url;
	return 0;
}

void
kube_url_authority(const struct kube_url *url, char out[272])
{
	snprintf(out, 272, url->bracketed ? "[%s]:%u" : "%s:%u", url->host, url->port);
}
