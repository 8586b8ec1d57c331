/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status half of plan.h: what a success and a failure say about the object, once fields included.
 *
 * Whether a once field was set by a success must be seen from the status alone, since some schemas keep nothing else (the Uuid CRD keeps
 * state, uuid and message). The rule: a value is set unless it is absent, null, empty, or equal to what statusOnError
 * renders for that key. So "NA" written by a failure is replaced by the next success, and a real value survives
 * every failure. The value is written with the object's resourceVersion as precondition: two writers can't both set it.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "workers/plan.h"

#define STATUS_MAX (1u << 20)

/* RFC 9562, version 4. out holds 37 bytes. */
static void
make_uuid(char out[37])
{
	unsigned char b[16];
	char *p = out;

	clock_random_bytes(b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		p += snprintf(p, 3, "%02x", b[i]);
	}
}

/* Renders a group to a tree. 0 with *ret (NULL when the value is null); -errno with problem filled. */
static int
render_tree(const struct planner *planner, size_t group, const struct plan_object *object,
	const char *error, const char *uuid, cJSON **ret, struct template_problem *problem)
{
	struct buf out = BUF_INIT_LIMIT(STATUS_MAX);
	int r = planner_render(planner, group, object, error, uuid, &out, problem);

	*ret = NULL;
	if (r == 0 && out.length > 0)
		*ret = json_parse(out.data, out.length, NULL);
	buf_free(&out);
	return r;
}

static char *
error_value(const char *reason, const char *message)
{
	struct buf out = BUF_INIT;

	buf_adds(&out, "{\"message\":");
	json_put_string(&out, message, strlen(message));
	buf_adds(&out, ",\"reason\":");
	json_put_string(&out, reason, strlen(reason));
	buf_addc(&out, '}');
	return buf_detach(&out, NULL);
}

/* statusOnError rendered; NULL when there is none or it fails. */
static cJSON *
on_error(const struct planner *planner, const struct plan_object *object, const char *reason,
	const char *message)
{
	struct template_problem problem;
	cJSON *status = NULL;
	char *error;

	if (planner->config->status_on_error == NULL)
		return NULL;
	error = error_value(reason, message);
	if (render_tree(planner, config_group_on_error(planner->config), object, error, NULL,
		    &status, &problem) < 0)
		status = NULL;
	free(error);
	if (status != NULL && !cJSON_IsObject(status)) {
		cJSON_Delete(status);
		status = NULL;
	}
	return status;
}

/* failed: statusOnError as rendered, NULL: none. */
static bool
once_is_set(const cJSON *live, const cJSON *failed, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(live, key);
	const cJSON *placeholder = cJSON_GetObjectItemCaseSensitive(failed, key);

	if (value == NULL || cJSON_IsNull(value) ||
		(cJSON_IsString(value) && *value->valuestring == '\0'))
		return false;
	return placeholder == NULL || !cJSON_Compare(value, placeholder, true);
}

static void
set_item(cJSON *status, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(status, key);
	if (value != NULL)
		cJSON_AddItemToObject(status, key, value);
}

/* Fills the once fields of a success. */
static int
add_once(const struct planner *planner, const struct plan_object *object, const cJSON *live,
	cJSON *status, struct template_problem *problem)
{
	size_t n = config_n_once(planner->templates);
	cJSON *failed = n == 0 ? NULL : on_error(planner, object, "", "");
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const char *key = config_once_key(planner->templates, i);
		cJSON *value = NULL;
		char uuid[37];

		if (once_is_set(live, failed, key)) {
			value = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(live, key), true);
		} else {
			make_uuid(uuid);
			r = render_tree(planner, config_group_once(planner->config, i), object,
				NULL, uuid, &value, problem);
		}
		if (r == 0)
			set_item(status, key, value);
	}
	cJSON_Delete(failed);
	return r;
}

int
plan_status(const struct planner *planner, const struct plan_object *object, const cJSON *live,
	cJSON **ret, enum verdict *ret_verdict, char *text, size_t n)
{
	struct template_problem problem = {.text = "it does not give a map"};
	cJSON *status = NULL;
	int r;

	*ret = NULL;
	if (planner->config->status == NULL)
		return 0;
	r = render_tree(planner, config_group_status(planner->config), object, NULL, NULL, &status,
		&problem);
	if (r == 0 && status == NULL)
		status = cJSON_CreateObject();
	if (r == 0)
		r = cJSON_IsObject(status) ? add_once(planner, object, live, status, &problem)
					   : -EINVAL;
	if (r == 0) {
		*ret = status;
		return 0;
	}
	cJSON_Delete(status);
	*ret_verdict = planner_group_reads_children(planner, config_group_status(planner->config))
			       ? VERDICT_WAITING_FOR_CHILD
			       : VERDICT_RENDER_FAILED;
	if (problem.path[0] == '\0')
		snprintf(problem.path, sizeof(problem.path), "status");
	planner_problem_text(&problem, text, n);
	return r;
}

cJSON *
plan_status_on_error(const struct planner *planner, const struct plan_object *object,
	const cJSON *live, const char *reason, const char *message)
{
	cJSON *status = on_error(planner, object, reason, message);
	cJSON *dummy;

	if (status == NULL || config_n_once(planner->templates) == 0)
		return status;
	dummy = on_error(planner, object, "", "");
	for (size_t i = 0; i < config_n_once(planner->templates); i++) {
		const char *key = config_once_key(planner->templates, i);

		if (once_is_set(live, dummy, key))
			set_item(status, key,
				cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(live, key), true));
	}
	cJSON_Delete(dummy);
	return status;
}
