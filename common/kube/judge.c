/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/kube/http_header.h"
#include "common/kube/judge.h"
#include "common/log.h"

/* A Status is small; what is larger is something else, and not worth a tree. */
#define STATUS_SIZE_MAX ((size_t)256 << 10)

static const struct {
	int status;
	enum kube_outcome outcome;
	const char *phrase;
} statuses[] = {
	{301, KUBE_SERVER_ERROR, "Moved Permanently"},
	{302, KUBE_SERVER_ERROR, "Found"},
	{307, KUBE_SERVER_ERROR, "Temporary Redirect"},
	{308, KUBE_SERVER_ERROR, "Permanent Redirect"},
	{400, KUBE_INVALID, "Bad Request"},
	{401, KUBE_UNAUTHORIZED, "Unauthorized"},
	{403, KUBE_FORBIDDEN, "Forbidden"},
	{404, KUBE_NOT_FOUND, "Not Found"},
	{405, KUBE_INVALID, "Method Not Allowed"},
	{406, KUBE_INVALID, "Not Acceptable"},
	{408, KUBE_SERVER_ERROR, "Request Timeout"},
	{409, KUBE_CONFLICT, "Conflict"},
	{410, KUBE_EXPIRED, "Gone"},
	{413, KUBE_INVALID, "Content Too Large"},
	{415, KUBE_INVALID, "Unsupported Media Type"},
	{422, KUBE_INVALID, "Unprocessable Content"},
	{429, KUBE_THROTTLED, "Too Many Requests"},
	{500, KUBE_SERVER_ERROR, "Internal Server Error"},
	{502, KUBE_SERVER_ERROR, "Bad Gateway"},
	{503, KUBE_SERVER_ERROR, "Service Unavailable"},
	{504, KUBE_SERVER_ERROR, "Gateway Timeout"},
};

/* What to do, where that is not in the server's words. */
static const char *const advice[KUBE_OUTCOME_MAX] = {
	[KUBE_UNAUTHORIZED] = "the server does not accept the credentials",
	[KUBE_FORBIDDEN] = "grant the permission by RBAC",
};

enum kube_outcome
kube_judge_status(int status)
{
	if (status >= 200 && status < 300)
		return KUBE_OK;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == status)
			return statuses[i].outcome;
	}
	return status >= 400 && status < 500 ? KUBE_INVALID
	       : status > 0                  ? KUBE_SERVER_ERROR
					     : KUBE_UNREACHABLE;
}

const char *
kube_status_phrase(int status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (statuses[i].status == status)
			return statuses[i].phrase;
	}
	return "";
}

/* Copies text with cutting at a character, by the rules of error texts. */
static void
put_text(char *out, size_t size, const char *text)
{
	struct error e = {0};
	size_t n;

	error_set(&e, -1, "%s", text);
	n = strnlen(e.text, size - 1);
	while (n > 0 && n == size - 1 && ((unsigned char)e.text[n] & 0xc0) == 0x80)
		n--;
	memcpy(out, e.text, n);
	out[n] = '\0';
}

static void
first_line(struct kube_result *result, const char *body, size_t length)
{
	char line[160];
	size_t n = 0;

	while (n < length && n < sizeof(line) - 1 && body[n] != '\n' && body[n] != '\r' &&
		body[n] != '\0')
		n++;
	memcpy(line, body, n);
	line[n] = '\0';
	put_text(result->message, sizeof(result->message), line);
}

static void
read_causes(struct kube_result *result, const cJSON *details)
{
	const cJSON *cause, *causes = json_get(details, "causes", NULL);

	cJSON_ArrayForEach(cause, causes)
	{
		const char *reason = json_string(cause, "reason", "");

		if (strcmp(reason, "FieldManagerConflict") == 0)
			result->conflict = true;
		if (strcmp(reason, "NamespaceTerminating") == 0)
			result->namespace_terminating = true;
		if (result->cause_field[0] == '\0')
			put_text(result->cause_field, sizeof(result->cause_field),
				json_string(cause, "field", ""));
	}
}

static void
read_retry_after(struct kube_result *result, const cJSON *details)
{
	int64_t seconds = json_int(details, "retryAfterSeconds", 0);

	if (result->retry_after_ns != 0 || seconds <= 0)
		return;
	result->retry_after_ns = seconds >= HTTP_RETRY_AFTER_MAX_NS / NSEC_PER_SEC
					 ? HTTP_RETRY_AFTER_MAX_NS
					 : seconds * NSEC_PER_SEC;
}

bool
kube_judge_body(struct kube_result *result, const char *body, size_t length)
{
	cJSON *status =
		length == 0 || length > STATUS_SIZE_MAX ? NULL : json_parse(body, length, NULL);
	const cJSON *details;

	if (status == NULL || strcmp(json_string(status, "kind", ""), "Status") != 0) {
		cJSON_Delete(status);
		first_line(result, body, length);
		return false;
	}
	if (result->status == 0) {
		int64_t code = json_int(status, "code", 0);

		result->status = code > 0 && code < 1000 ? (int)code : 0;
		result->outcome =
			result->status == 0 ? KUBE_SERVER_ERROR : kube_judge_status(result->status);
	}
	put_text(result->reason, sizeof(result->reason), json_string(status, "reason", ""));
	put_text(result->message, sizeof(result->message), json_string(status, "message", ""));
	details = json_get(status, "details", NULL);
	if (details != NULL) {
		read_causes(result, details);
		read_retry_after(result, details);
	}
	/* A faulty object, which the server reports as its own fault. */
	if (result->status == 500 &&
		strstr(result->message, "field not declared in schema") != NULL)
		result->outcome = KUBE_INVALID;
	cJSON_Delete(status);
	return true;
}

void
kube_judge_explain(struct kube_result *result, const char *method, const char *path)
{
	struct error e = {0};
	const char *what = advice[result->outcome];
	int shown = (int)strcspn(path, "?");

	error_set(&e, -1, "%s %.*s: %d %s%s%s%s%s", method, shown > 200 ? 200 : shown, path,
		result->status, kube_status_phrase(result->status),
		result->message[0] != '\0' ? ": " : "", result->message, what != NULL ? "; " : "",
		what != NULL ? what : "");
	log_apply_mask(e.text);
	log_apply_mask(result->reason);
	memcpy(result->message, e.text, sizeof(e.text));
}
