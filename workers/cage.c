/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from a target what its connections need: files that are read again on rotation, and TCP ports. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/kube/url.h"
#include "common/log.h"
#include "common/sandbox/sandbox.h"
#include "workers/cage.h"

static uint16_t
server_port(const char *server)
{
	struct kube_url url;

	return kube_url_parse(server, &url, NULL) < 0 ? 0 : (uint16_t)url.port;
}

/* As libcurl reads it (CURLOPT_PROXY): without a port it is 1080, but 443 for https. It may hold a password, with an "@" and a colon before the host. */
static uint16_t
proxy_port(const char *proxy)
{
	const char *start = strstr(proxy, "://"), *host, *colon, *end;
	size_t length;
	long port;

	start = start == NULL ? proxy : start + 3;
	length = strcspn(start, "/?#");
	host = memrchr(start, '@', length);
	host = host == NULL ? start : host + 1;
	end = start + length;
	colon = memrchr(host, ':', (size_t)(end - host));
	if (colon == NULL || memchr(colon, ']', (size_t)(end - colon)) != NULL)
		return strncasecmp(proxy, "https://", 8) == 0 ? 443 : 1080;
	port = strtol(colon + 1, NULL, 10);
	return port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
}

void
cage_enter(const struct kube_target *target)
{
	const struct sandbox sandbox = {
		.files = {target->token_file, target->ca_file, target->cert_file, target->key_file},
		.network = true,
		.ports = {server_port(target->server),
			target->proxy_url == NULL ? 0 : proxy_port(target->proxy_url)},
	};
	struct error err = {0};

	if (sandbox_enter(&sandbox, &err) < 0)
		log_warn("the sandbox is not whole: %s", err.text);
}

const char *
cage_outdated(void)
{
	return sandbox_outdated();
}
