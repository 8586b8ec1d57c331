/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request, taken apart.
 *
 * Paths: /api/VERSION/..., /apis/GROUP/VERSION/..., each with namespaces/NS/PLURAL/NAME/SUB or PLURAL/NAME/SUB. The
 * call owns its copies of path and query; what it points at is good until call_free().
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/call.h"
#include "devserver/tree.h"

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; false for a broken escape or an escaped NUL. */
static bool
unescape(char *text, bool plus)
{
	char *out = text;

	for (const char *p = text; *p; p++) {
		int high, low;

		if (plus && *p == '+') {
			*out++ = ' ';
		} else if (*p == '%') {
			if ((high = hex_digit(p[1])) < 0 || (low = hex_digit(p[2])) < 0 ||
				high + low == 0)
				return false;
			*out++ = (char)(high << 4 | low);
			p += 2;
		} else {
			*out++ = *p;
		}
	}
	*out = '\0';
	return true;
}

static bool
split_path(struct call *call)
{
	char *rest = call->path, *segment;

	while ((segment = strsep(&rest, "/"))) {
		if (!*segment)
			continue;
		if (call->segments == CALL_SEGMENTS || !unescape(segment, false))
			return false;
		call->segment[call->segments++] = segment;
	}
	return true;
}

static bool
split_query(struct call *call)
{
	char *rest = call->query, *pair;

	while ((pair = strsep(&rest, "&"))) {
		char *value = strchr(pair, '=');

		if (!*pair)
			continue;
		if (call->parameters == CALL_QUERY)
			return false;
		if (value)
			*value++ = '\0';
		if (!unescape(pair, true) || (value && !unescape(value, true)))
			return false;
		call->parameter[call->parameters].key = pair;
		call->parameter[call->parameters++].value = value ? value : "";
	}
	return true;
}

bool
call_parse(struct call *call, struct api *api, const struct api_request *request,
	struct api_response *response)
{
	size_t length = strcspn(request->path, "?");

	*call = (struct call){
		.api = api, .request = request, .response = response, .namespace_ = ""};
	call->path = xstrndup(request->path, length);
	call->query = xstrdup(request->path[length] ? request->path + length + 1 : "");
	if (!split_path(call) || !split_query(call))
		return fail_bad_request(call, "the request's path or query can't be read");
	call_negotiate(call);
	return true;
}

void
call_free(struct call *call)
{
	free(call->path);
	free(call->query);
}

const char *
call_parameter(const struct call *call, const char *key)
{
	for (size_t i = 0; i < call->parameters; i++)
		if (strcmp(call->parameter[i].key, key) == 0)
			return call->parameter[i].value;
	return NULL;
}

bool
call_flag(const struct call *call, const char *key)
{
	const char *value = call_parameter(call, key);

	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

bool
call_is(const struct call *call, const char *method)
{
	return strcmp(call->request->method, method) == 0;
}

/* Groups that only CRDs make answer in text. */
static bool
no_resource(struct call *call, const struct kinds *kinds, const char *group)
{
	bool builtin = false;

	call->resource = NULL;
	for (const struct resource *r = kinds->first; r; r = r->next)
		if (r->builtin && strcmp(r->group, group) == 0)
			builtin = true;
	if (builtin)
		return fail_no_path(call);
	call_reply_text(call, 404, "404 page not found\n");
	return false;
}

/* Behind the version: [namespaces/NS/]PLURAL[/NAME[/SUB]]; "namespaces/NS" alone is the Namespace. */
static bool
resolve_rest(struct call *call, const struct kinds *kinds, const char *group, const char *version,
	size_t at)
{
	char **segment = call->segment + at;
	size_t count = call->segments - at;

	if (count >= 3 && strcmp(segment[0], "namespaces") == 0 &&
		strcmp(segment[2], "status") != 0 && strcmp(segment[2], "finalize") != 0) {
		call->namespace_ = segment[1];
		segment += 2;
		count -= 2;
	}
	if (count < 1 || count > 3)
		return fail_no_path(call);
	call->resource = kinds_find(kinds, group, segment[0]);
	call->version = call->resource ? kinds_version(call->resource, version) : NULL;
	if (!call->version || (*call->namespace_ && !kinds_namespaced(call->resource)))
		return no_resource(call, kinds, group);
	call->name = segment[1];
	call->subresource = count > 2 ? segment[2] : NULL;
	if (count < 2)
		call->name = NULL;
	/* A namespaced object has no path without its namespace. */
	if (kinds_namespaced(call->resource) && !*call->namespace_ &&
		(call->name || call_is(call, "POST")))
		return no_resource(call, kinds, group);
	return true;
}

bool
call_is_list(const struct call *call)
{
	size_t at = call->segments && strcmp(call->segment[0], "api") == 0 ? 2 : 3,
	       count = call->segments;

	if (!count || strncmp(call->segment[0], "api", 3) != 0)
		return false;
	return count == at + 1 || (count == at + 3 && strcmp(call->segment[at], "namespaces") == 0);
}

static bool
group_exists(const struct kinds *kinds, const char *group, const char *version)
{
	for (const struct resource *r = kinds->first; r; r = r->next)
		if (strcmp(r->group, group) == 0 && kinds_version(r, version))
			return true;
	return false;
}

bool
call_resolve(struct call *call, const struct kinds *kinds)
{
	bool core = strcmp(call->segment[0], "api") == 0;
	const char *group = core ? "" : call->segment[1], *version = call->segment[core ? 1 : 2];

	if (!group_exists(kinds, group, version)) {
		call_reply_text(call, 404, "404 page not found\n");
		return false;
	}
	return resolve_rest(call, kinds, group, version, core ? 2 : 3);
}

/* One media range of Accept; true: we can answer it. */
static bool
accept_range(struct call *call, const char *range, size_t length)
{
	char *text = xstrndup(range, length);
	bool json = strstr(text, "application/json") || strstr(text, "*/*") ||
		    strstr(text, "application/*");
	bool v1 =
		strstr(text, "g=meta.k8s.io") && strstr(text, "v=v1") && !strstr(text, "v=v1beta1");

	if (strstr(text, "as=Table"))
		call->form = FORM_TABLE;
	else if (strstr(text, "as=PartialObjectMetadata"))
		call->form = FORM_PARTIAL;
	else
		call->form = FORM_OBJECT;
	if (call->form != FORM_OBJECT)
		json = json && v1;
	free(text);
	return json;
}

/* What nobody can be given in another form is given as JSON. */
void
call_negotiate(struct call *call)
{
	const char *accept = call->request->accept;

	call->include_object = call_parameter(call, "includeObject");
	while (accept && *accept) {
		size_t length = strcspn(accept, ",");

		if (accept_range(call, accept, length))
			return;
		accept += length + (accept[length] == ',');
	}
	call->form = FORM_OBJECT;
	call->unacceptable = call->request->accept && *call->request->accept;
}

const char *
call_manager(struct call *call)
{
	const char *manager = call_parameter(call, "fieldManager"),
		   *agent = call->request->user_agent;

	if (manager && *manager)
		return manager;
	return agent && *agent ? agent : "unknown";
}
