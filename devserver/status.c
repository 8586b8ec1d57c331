/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: documents, and the Status of each failure in the real server's words, since clients and people read them.
 *
 * Overwrites what the response held; takes the trees it is given where the header says so.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/buf.h"
#include "common/memory.h"
#include "devserver/call.h"
#include "devserver/causes.h"
#include "devserver/tree.h"

#define CAUSES_MAX 100

cJSON *
causes_add(cJSON *causes, const char *reason, const char *field, const char *format, ...)
{
	struct buf text = BUF_INIT;
	cJSON *cause;
	va_list args;

	if (!causes)
		causes = cJSON_CreateArray();
	if (cJSON_GetArraySize(causes) >= CAUSES_MAX)
		return causes;
	va_start(args, format);
	buf_vaddf(&text, format, args);
	va_end(args);
	cause = cJSON_CreateObject();
	tree_set_string(cause, "reason", reason);
	tree_set_string(cause, "message", text.data);
	tree_set_string(cause, "field", field);
	cJSON_AddItemToArray(causes, cause);
	buf_free(&text);
	return causes;
}

cJSON *
status_tree(int code, const char *reason, const char *message, cJSON *details)
{
	cJSON *status = cJSON_CreateObject();

	tree_set_string(status, "kind", "Status");
	tree_set_string(status, "apiVersion", "v1");
	tree_set(status, "metadata", cJSON_CreateObject());
	tree_set_string(status, "status", "Failure");
	tree_set_string(status, "message", message);
	if (reason && *reason)
		tree_set_string(status, "reason", reason);
	if (details)
		tree_set(status, "details", details);
	tree_set_int(status, "code", code);
	return status;
}

void
call_reply(struct call *call, int status, const cJSON *tree)
{
	buf_reset(&call->response->body);
	call->response->status = status;
	call->response->content_type = "application/json";
	json_print(&call->response->body, tree);
	buf_addc(&call->response->body, '\n');
}

void
call_reply_text(struct call *call, int status, const char *text)
{
	buf_reset(&call->response->body);
	call->response->status = status;
	call->response->content_type = "text/plain; charset=utf-8";
	buf_adds(&call->response->body, text);
}

void
call_warn(struct call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vaddf(&call->response->warnings, format, args);
	va_end(args);
	buf_addc(&call->response->warnings, '\n');
}

static bool vfail(struct call *call, int code, const char *reason, cJSON *details, const char *format,
	va_list args) __attribute__((format(printf, 5, 0)));

static bool
vfail(struct call *call, int code, const char *reason, cJSON *details, const char *format,
	va_list args)
{
	struct buf text = BUF_INIT;
	cJSON *status;

	buf_vaddf(&text, format, args);
	status = status_tree(code, reason, text.data, details);
	call_reply(call, code, status);
	cJSON_Delete(status);
	buf_free(&text);
	return false;
}

bool
fail(struct call *call, int code, const char *reason, cJSON *details, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfail(call, code, reason, details, format, args);
	va_end(args);
	return false;
}

bool
fail_bad_request(struct call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfail(call, 400, "BadRequest", NULL, format, args);
	va_end(args);
	return false;
}

bool
fail_internal(struct call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfail(call, 500, "", NULL, format, args);
	va_end(args);
	return false;
}

const char *
call_resource_name(const struct call *call)
{
	static char name[600];

	snprintf(name, sizeof(name), "%s%s%s", call->resource->plural,
		*call->resource->group ? "." : "", call->resource->group);
	return name;
}

/* kind: the plural, as the real server has it, or the kind for 422. */
static cJSON *
object_details(const struct call *call, const char *name, const char *kind)
{
	cJSON *details = cJSON_CreateObject();

	if (name && *name)
		tree_set_string(details, "name", name);
	if (*call->resource->group)
		tree_set_string(details, "group", call->resource->group);
	tree_set_string(details, "kind", kind);
	return details;
}

bool
fail_not_found(struct call *call)
{
	return fail(call, 404, "NotFound", object_details(call, call->name, call->resource->plural),
		"%s \"%s\" not found", call_resource_name(call), call->name);
}

bool
fail_no_path(struct call *call)
{
	return fail(call, 404, "NotFound", cJSON_CreateObject(),
		"the server could not find the requested resource");
}

bool
fail_method(struct call *call)
{
	return fail(call, 405, "MethodNotAllowed", cJSON_CreateObject(),
		"the server does not allow this method on the requested resource");
}

bool
fail_exists(struct call *call, const char *name)
{
	return fail(call, 409, "AlreadyExists", object_details(call, name, call->resource->plural),
		"%s \"%s\" already exists", call_resource_name(call), name);
}

bool
fail_conflict(struct call *call, const char *name, const char *why)
{
	return fail(call, 409, "Conflict", object_details(call, name, call->resource->plural),
		"Operation cannot be fulfilled on %s \"%s\": %s", call_resource_name(call), name,
		why ? why
		    : "the object has been modified; please apply your changes to the latest "
		      "version and try again");
}

bool
fail_invalid_kind(struct call *call, const char *kind, const char *name, cJSON *causes)
{
	const struct resource *r = call->resource;
	cJSON *details = object_details(call, name, kind);
	bool many = causes->child && causes->child->next;
	struct buf text = BUF_INIT;

	for (const cJSON *cause = causes->child; cause; cause = cause->next)
		buf_addf(&text, "%s%s: %s", cause == causes->child ? "" : ", ",
			json_string(cause, "field", ""), json_string(cause, "message", ""));
	tree_set(details, "causes", causes);
	fail(call, 422, "Invalid", details, "%s%s%s \"%s\" is invalid: %s%s%s", kind,
		*r->group ? "." : "", r->group, name, many ? "[" : "", text.data, many ? "]" : "");
	buf_free(&text);
	return false;
}

bool
fail_invalid(struct call *call, const char *name, cJSON *causes)
{
	return fail_invalid_kind(call, call->resource->kind, name, causes);
}

bool
fail_forbidden(struct call *call, const char *name, cJSON *causes, const char *why)
{
	cJSON *details = object_details(call, name, call->resource->plural);

	if (causes)
		tree_set(details, "causes", causes);
	return fail(call, 403, "Forbidden", details, "%s \"%s\" is forbidden: %s",
		call_resource_name(call), name, why);
}

void
api_response_free(struct api_response *response)
{
	buf_free(&response->body);
	buf_free(&response->warnings);
}
