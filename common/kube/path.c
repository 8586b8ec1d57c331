/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the API by the Kubernetes API conventions: the core group lives below /api, every other below /apis.
 * Every part that comes from outside is percent-escaped (RFC 3986, 2.3: all but unreserved), so that a name can neither
 * leave its segment nor add a query. Failures show in the buffer's `failed`, which the caller looks at.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/kube/path.h"

static bool
unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

static void
put_escaped(struct buf *out, const char *text)
{
	/* "." and ".." would be taken for steps in the path by anything between us and the server. */
	bool dots = strcmp(text, ".") == 0 || strcmp(text, "..") == 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (unreserved(c) && !(dots && c == '.'))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
	}
}

static void
put_segment(struct buf *out, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	buf_addc(out, '/');
	put_escaped(out, text);
}

void
kube_path(struct buf *out, const struct kube_resource *resource, const char *namespace_,
	const char *name, const char *subresource)
{
	buf_adds(out, resource->group[0] == '\0' ? "/api" : "/apis");
	put_segment(out, resource->group);
	put_segment(out, resource->version);
	if (namespace_ != NULL && *namespace_ != '\0') {
		buf_adds(out, "/namespaces");
		put_segment(out, namespace_);
	}
	put_segment(out, resource->plural);
	put_segment(out, name);
	put_segment(out, subresource);
}

void
kube_path_query(struct buf *out, const char *key, const char *value)
{
	if (value == NULL)
		return;
	buf_addc(out, memchr(out->data, '?', out->length) == NULL ? '?' : '&');
	put_escaped(out, key);
	buf_addc(out, '=');
	put_escaped(out, value);
}

/* Copies a part of a resource's name: letters of DNS names only, and not empty unless told. */
static int
take(char *out, size_t size, const char *from, size_t length, bool may_be_empty)
{
	if (length >= size || (length == 0 && !may_be_empty))
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		char c = from[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'))
			return -EINVAL;
	}
	if (length > 0 && (from[0] == '.' || from[0] == '-' || from[length - 1] == '.' ||
				  from[length - 1] == '-'))
		return -EINVAL;
	memcpy(out, from, length);
	out[length] = '\0';
	return 0;
}

int
kube_resource_parse(const char *name, struct kube_resource *ret)
{
	struct kube_resource r = {0};
	const char *first = strchr(name, '.');
	const char *second = first == NULL ? NULL : strchr(first + 1, '.');

	if (second == NULL ||
		take(r.plural, sizeof(r.plural), name, (size_t)(first - name), false) < 0 ||
		take(r.version, sizeof(r.version), first + 1, (size_t)(second - first - 1), false) <
			0 ||
		take(r.group, sizeof(r.group), second + 1, strlen(second + 1), true) < 0)
		return -EINVAL;
	*ret = r;
	return 0;
}

void
kube_api_version(char out[320], const struct kube_resource *resource)
{
	snprintf(out, 320, "%s%s%s", resource->group, resource->group[0] == '\0' ? "" : "/",
		resource->version);
}

void
kube_resource_of_kind(const char *api_version, const char *kind, struct kube_resource *ret)
{
	const char *slash = strchr(api_version, '/');

	*ret = (struct kube_resource){0};
	if (slash != NULL)
		snprintf(ret->group, sizeof(ret->group), "%.*s", (int)(slash - api_version),
			api_version);
	snprintf(ret->version, sizeof(ret->version), "%s", slash != NULL ? slash + 1 : api_version);
	snprintf(ret->kind, sizeof(ret->kind), "%s", kind);
}
