/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request on its way through the server: taken apart by call_parse(), answered by exactly one of the functions
 * that fill its response. The fail_* functions answer with a Status in the real server's words and return false, so
 * that a step can end with `return fail_...(call)`.
 */
#ifndef DEVSERVER_CALL_H
#define DEVSERVER_CALL_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "devserver/api.h"
#include "devserver/kinds.h"

#define CALL_SEGMENTS 16
#define CALL_QUERY    32

enum form { FORM_OBJECT, FORM_PARTIAL, FORM_TABLE };

struct call {
	struct api *api;
	const struct api_request *request;
	struct api_response *response;
	char *path; /* unescaped, cut at its slashes */
	char *segment[CALL_SEGMENTS + 1];
	size_t segments;
	char *query;
	struct {
		const char *key, *value;
	} parameter[CALL_QUERY];
	size_t parameters;
	/* Set by call_resolve(); NULL where the path has none. */
	struct resource *resource;
	struct version *version;
	const char *namespace_; /* "" for cluster scope or all namespaces */
	const char *name, *subresource;
	enum form form;
	bool unacceptable;          /* Accept names nothing that is served */
	const char *include_object; /* of a Table: "Metadata" (default), "Object", "None" */
};

/* Takes the path and query apart; false: answered with 400. call_free() in any case. */
bool call_parse(struct call *call, struct api *api, const struct api_request *request,
	struct api_response *response);
/* Finds what a path under /api or /apis names; false: answered with 404. */
bool call_resolve(struct call *call, const struct kinds *kinds);
/* Whether the path is that of a whole resource, by its shape alone. */
bool call_is_list(const struct call *call);
/* Chooses among what Accept allows. */
void call_negotiate(struct call *call);
void call_free(struct call *call);
const char *call_parameter(const struct call *call, const char *key); /* NULL when absent */
bool call_flag(const struct call *call, const char *key);             /* "true" or "1" */
bool call_is(const struct call *call, const char *method);
/* The field manager of this write, borrowed until call_free(). */
const char *call_manager(struct call *call);

void call_reply(struct call *call, int status, const cJSON *tree);
void call_reply_text(struct call *call, int status, const char *text);
void call_warn(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A Status of a failure; details may be NULL, taken. */
bool fail(struct call *call, int code, const char *reason, cJSON *details, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
bool fail_bad_request(struct call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool fail_not_found(struct call *call); /* the object */
bool fail_no_path(struct call *call);   /* the resource or subresource */
bool fail_method(struct call *call);
bool fail_exists(struct call *call, const char *name);
bool fail_conflict(
	struct call *call, const char *name, const char *why); /* why NULL: modified meanwhile */
bool fail_invalid(
	struct call *call, const char *name, cJSON *causes); /* 422; takes causes, not NULL */
/* The same naming another kind, or the plural, where the real server does. */
bool fail_invalid_kind(struct call *call, const char *kind, const char *name, cJSON *causes);
bool fail_forbidden(struct call *call, const char *name, cJSON *causes, const char *why);
bool fail_internal(struct call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "deployments.apps", "pods": for messages; static until the next call. */
const char *call_resource_name(const struct call *call);
/* The tree of a Status, for ERROR events. */
cJSON *status_tree(int code, const char *reason, const char *message, cJSON *details);

#endif
