/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conflicts of an apply. The first apply of a child that is new or was changed takes nothing by force: the server's answer says which fields are whose. What another operatord
 * manages is not taken; fields of createOnly are left to whoever has them; the rest is taken, with the policy to do so.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/config/field_path.h"
#include "common/json.h"
#include "common/kube/names.h"
#include "workers/reconcile_internal.h"

struct conflict {
	char manager[160], field[160]; /* of the first cause, or of one that may not be taken */
	bool refused;                  /* it may not be taken */
	bool others;                   /* a field that is not one of createOnly */
	uint32_t given;                /* bit i: the i-th field of createOnly is another's */
};

/* What another installation, or another controller of this one, manages is not ours to take; what a controller left that is configured no more is. */
static bool
may_take_from(const struct reconcile *r, const char *manager)
{
	char own[300];
	int n = snprintf(
		own, sizeof(own), "%s%s/", FIELD_MANAGER_PREFIX, r->engine->config->instance);

	if (strncmp(manager, FIELD_MANAGER_PREFIX, strlen(FIELD_MANAGER_PREFIX)) != 0 ||
		strcmp(manager, r->engine->field_manager) == 0)
		return true;
	if (strncmp(manager, own, (size_t)n) != 0 || r->engine->controllers == NULL)
		return false;
	for (size_t i = 0; r->engine->controllers[i] != NULL; i++)
		if (strcmp(r->engine->controllers[i], manager + n) == 0)
			return false;
	return true;
}

static uint32_t
given_fields(const struct config_child *config, const char *field)
{
	uint32_t given = 0;

	for (size_t i = 0; i < config->n_create_only; i++)
		if (field_path_is(&config->create_only[i], field))
			given |= UINT32_C(1) << i;
	return given;
}

/* The server writes: conflict with "MANAGER" using ... */
static void
read_cause(const struct reconcile *r, const cJSON *cause, struct conflict *conflict)
{
	const struct config_child *config = &r->engine->config->children[reconcile_child(r)];
	const char *start = strchr(json_string(cause, "message", ""), '"');
	const char *field = json_string(cause, "field", "");
	uint32_t given = given_fields(config, field);
	char manager[160];

	if (start == NULL || conflict->refused)
		return;
	snprintf(manager, sizeof(manager), "%.*s", (int)strcspn(start + 1, "\""), start + 1);
	conflict->refused = !may_take_from(r, manager);
	conflict->given |= given;
	conflict->others = conflict->others || given == 0;
	if (conflict->manager[0] == '\0' || conflict->refused) {
		snprintf(conflict->manager, sizeof(conflict->manager), "%s", manager);
		snprintf(conflict->field, sizeof(conflict->field), "%s", field + (*field == '.'));
	}
}

static void
read_conflict(const struct reconcile *r, const struct kube_result *result, struct conflict *ret)
{
	cJSON *status = json_parse(result->body, result->body_length, NULL);
	const cJSON *cause;

	*ret = (struct conflict){0};
	cJSON_ArrayForEach(cause, json_get(status, "details", "causes", NULL))
		read_cause(r, cause, ret);
	cJSON_Delete(status);
}

bool
reconcile_settle_conflict(struct reconcile *r, const struct kube_result *result, const char *what)
{
	const struct config_child *config = &r->engine->config->children[reconcile_child(r)];
	struct plan_child *child = &r->plan.children[r->child];
	struct conflict conflict;

	if (!result->conflict || r->forced)
		return false;
	read_conflict(r, result, &conflict);
	/* Of what can't be read nothing is given. */
	conflict.others = conflict.others || conflict.given == 0;
	if (conflict.refused) {
		reconcile_fail(r, VERDICT_APPLY_CONFLICT,
			"%s is managed by %s and is not taken from it: give one of the two another "
			"name",
			what, conflict.manager);
		return false;
	}
	if (!config->adopt && r->need == CHILD_MISSING) {
		reconcile_fail(r, VERDICT_APPLY_CONFLICT,
			"%s is there already, by %s, and adopt: false leaves it alone", what,
			conflict.manager);
		return false;
	}
	if (conflict.given != 0)
		plan_leave_out(config, child, conflict.given);
	if (child->what != PLAN_APPLY ||
		(conflict.others && config->conflict != CONFIG_CONFLICT_FORCE))
		return false;
	if (conflict.others && r->need == CHILD_DRIFTED)
		snprintf(r->drift, sizeof(r->drift), "%s had been changed by %s", conflict.field,
			conflict.manager);
	r->forced = conflict.others;
	return conflict.others || conflict.given != 0;
}
