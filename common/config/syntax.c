/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of text settings: names by RFC 1123, resources, addresses. Knows nothing of YAML or of where the text stood. */
#include <config.h> /* of the build, not the one beside this file */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "common/config/syntax.h"
#include "common/kube/path.h"

static bool
is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool
is_alnum(char c)
{
	return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

bool
syntax_is_label(const char *text, size_t length)
{
	if (length < 1 || length > 63 || !is_lower_alnum(text[0]) ||
		!is_lower_alnum(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_lower_alnum(text[i]) && text[i] != '-')
			return false;
	return true;
}

bool
syntax_is_subdomain(const char *text, size_t length)
{
	size_t start = 0;

	if (length > 253)
		return false;
	for (size_t i = 0; i <= length; i++)
		if (i == length || text[i] == '.') {
			if (!syntax_is_label(text + start, i - start))
				return false;
			start = i + 1;
		}
	return true;
}

bool
syntax_is_label_value(const char *text, size_t length)
{
	if (length == 0)
		return true;
	if (length > 63 || !is_alnum(text[0]) || !is_alnum(text[length - 1]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

bool
syntax_is_label_key(const char *text, size_t length)
{
	const char *slash = memchr(text, '/', length);
	size_t prefix = slash ? (size_t)(slash - text) : 0;

	if (slash && !syntax_is_subdomain(text, prefix))
		return false;
	if (slash)
		prefix++;
	return length > prefix && syntax_is_label_value(text + prefix, length - prefix);
}

bool
syntax_is_identifier(const char *text)
{
	size_t length = strlen(text);

	if (length < 1 || length > 63 || isdigit((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_alnum(text[i]) && text[i] != '_')
			return false;
	return true;
}

int
syntax_text(const char *text, struct error *err)
{
	return *text ? 0 : error_set(err, -EINVAL, "is empty; leave the key out");
}

int
syntax_label(const char *text, struct error *err)
{
	if (syntax_is_label(text, strlen(text)))
		return 0;
	return error_set(err, -EINVAL,
		"write 1 to 63 lower-case letters, digits or '-', a letter or digit at both ends");
}

/* "nginx.stable.example.com/v1" or "stable.example.com/v1/nginx": what one may have meant by it. */
static int
resource_with_slash(const char *text, struct error *err)
{
	const char *slash = strchr(text, '/'), *second = strchr(slash + 1, '/');
	const char *dot = strchr(text, '.');

	if (second && !strchr(second + 1, '/'))
		return error_set(err, -EINVAL, "write %s.%.*s.%.*s", second + 1,
			(int)(second - slash - 1), slash + 1, (int)(slash - text), text);
	if (dot && dot < slash && !second)
		return error_set(err, -EINVAL,
			"write %.*s.%s.%.*s, or PLURAL.%s.%.*s if this is group and version",
			(int)(dot - text), text, slash + 1, (int)(slash - dot - 1), dot + 1,
			slash + 1, (int)(slash - text), text);
	return error_set(
		err, -EINVAL, "write PLURAL.VERSION.GROUP, such as nginx.v1.stable.example.com");
}

bool
syntax_is_usual_version(const char *text)
{
	return text[0] == 'v' && isdigit((unsigned char)text[1]);
}

/*
 * A CustomResourceDefinition's version is a label that begins with a letter, and its group has a dot: without one, what was written is PLURAL.GROUP, a
 * CRD's own name, and the version was forgotten.
 */
static bool
is_version(const char *version, const char *group)
{
	return syntax_is_usual_version(version) ||
	       (islower((unsigned char)version[0]) && strchr(group, '.') != NULL);
}

int
syntax_resource(const char *text, struct error *err)
{
	struct kube_resource resource;

	if (strchr(text, '/') && strlen(text) < 300)
		return resource_with_slash(text, err);
	if (kube_resource_parse(text, &resource) == 0 &&
		syntax_is_label(resource.plural, strlen(resource.plural)) &&
		syntax_is_label(resource.version, strlen(resource.version)) &&
		(!resource.group[0] ||
			syntax_is_subdomain(resource.group, strlen(resource.group)))) {
		if (is_version(resource.version, resource.group))
			return 0;
		return error_set(err, -EINVAL,
			"has no version (v1, v1beta2): write %s.VERSION.%s%s%s", resource.plural,
			resource.version, resource.group[0] ? "." : "", resource.group);
	}
	return error_set(err, -EINVAL,
		"write PLURAL.VERSION.GROUP in lower case, such as nginx.v1.stable.example.com, "
		"or pods.v1. for the core group");
}

/* An IPv4 address, an IPv6 one in brackets, or localhost: the supervisor asks no name server. */
static bool
is_host(const char *text, size_t length)
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr address;
	bool brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';

	if (length == strlen("localhost") && !memcmp(text, "localhost", length))
		return true;
	if (brackets) {
		text++;
		length -= 2;
	}
	if (length >= sizeof host)
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	return inet_pton(brackets ? AF_INET6 : AF_INET, host, &address) == 1;
}

static bool
is_port(const char *text)
{
	unsigned port = 0;

	if (!*text || strlen(text) > 5)
		return false;
	for (; isdigit((unsigned char)*text); text++)
		port = port * 10 + (unsigned)(*text - '0');
	return !*text && port <= UINT16_MAX;
}

int
syntax_listen(const char *text, struct error *err)
{
	const char *colon = strrchr(text, ':');

	if (!strcmp(text, "auto") || !strcmp(text, "off"))
		return 0;
	if (!strncmp(text, "unix:", 5)) {
		if (text[5] == '/' && strlen(text + 5) < sizeof((struct sockaddr_un){0}).sun_path)
			return 0;
		return error_set(err, -EINVAL,
			"write unix: and an absolute path of at most %zu bytes",
			sizeof((struct sockaddr_un){0}).sun_path - 1);
	}
	if (colon && is_port(colon + 1) && (colon == text || is_host(text, (size_t)(colon - text))))
		return 0;
	return error_set(err, -EINVAL,
		"write auto, off, :PORT, ADDRESS:PORT (IPv6 in brackets) or unix:/PATH");
}
