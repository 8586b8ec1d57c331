/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that is not simply applied. adopt: false looks whether there is an object of its name before the first apply. update: recreate deletes a child that the server
 * refuses to change because a field is immutable, for that cause only, and with its uid as precondition; what is made anew is the business of the next run, which its end starts.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/kube/names.h"
#include "common/kube/write.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

/* --- adopt: false --- */

/* Made by us for this object: only the watch has not told yet. */
static bool
is_own(const struct reconcile *r, const struct kube_result *result)
{
	cJSON *body = json_parse(result->body, result->body_length, NULL);
	const cJSON *labels = json_get(body, "metadata", "labels", NULL);
	bool own = strcmp(json_string(labels, LABEL_OWNER_UID, ""), r->uid) == 0 &&
		   strcmp(json_string(labels, LABEL_INSTANCE, ""), r->engine->config->instance) ==
			   0 &&
		   strcmp(json_string(labels, LABEL_CONTROLLER, ""), r->engine->config->name) == 0;

	cJSON_Delete(body);
	return own;
}

static void
on_looked(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	char what[400];

	r->request = NULL;
	reconcile_child_text(r, what, sizeof(what));
	if (result->outcome == KUBE_NOT_FOUND ||
		(result->outcome == KUBE_OK && is_own(r, result))) {
		reconcile_with_token(r, reconcile_apply_child);
		return;
	}
	if (result->outcome == KUBE_OK) {
		reconcile_fail(r, VERDICT_APPLY_CONFLICT,
			"%s is there already and is not this object's, and adopt: false leaves it "
			"alone: delete it, or give the child another name",
			what);
	} else if (reconcile_judge(r, result, what)) {
		reconcile_end(r);
		return;
	}
	reconcile_next_child(r);
}

void
reconcile_look_first(struct reconcile *r)
{
	const struct plan_child *child = &r->plan.children[r->child];
	const struct kube_resource *kind = children_kind(r->engine->children, child->child);

	if (kind != NULL)
		r->request = kube_get(r->engine->kube, kind, child->namespace_, child->name, NULL,
			on_looked, r);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the child could not be looked for");
		reconcile_end(r);
	}
}

/* --- update: recreate --- */

/* The words of the API server's validations; there is no reason of their own for them. */
static bool
says_immutable(const char *message)
{
	return strstr(message, "immutable") != NULL ||
	       strstr(message, "may not change once set") != NULL ||
	       (strstr(message, "updates to ") != NULL && strstr(message, "forbidden") != NULL);
}

static bool
is_immutable(const struct kube_result *result)
{
	cJSON *status;
	const cJSON *cause;
	bool all = true;
	int n = 0;

	if (result->status != 422)
		return false;
	status = json_parse(result->body, result->body_length, NULL);
	cJSON_ArrayForEach(cause, json_get(status, "details", "causes", NULL))
	{
		all = all && says_immutable(json_string(cause, "message", ""));
		n++;
	}
	cJSON_Delete(status);
	return n > 0 && all;
}

static void
on_deleted(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	const struct plan_child *child = &r->plan.children[r->child];
	char what[400], note[512];

	r->request = NULL;
	reconcile_child_text(r, what, sizeof(what));
	if (result->outcome == KUBE_OK || result->outcome == KUBE_NOT_FOUND) {
		if (result->outcome == KUBE_OK)
			children_deleting(r->engine->children,
				children_kind(r->engine->children, child->child), child->namespace_,
				child->name);
		snprintf(note, sizeof(note), "Deleted %s, to make it anew: a field is immutable",
			what);
		reconcile_event(r, false, "Recreated", "Delete", note);
		reconcile_forget_applied(r);
		if (r->waits_for[0] == '\0')
			snprintf(r->waits_for, sizeof(r->waits_for),
				"%s is being deleted, to be made anew", what);
	} else if (reconcile_judge(r, result, what)) {
		reconcile_end(r);
		return;
	}
	reconcile_next_child(r);
}

static void
delete_child(struct reconcile *r)
{
	const struct plan_child *child = &r->plan.children[r->child];
	const struct kube_resource *kind = children_kind(r->engine->children, child->child);
	struct store_view view;

	if (kind != NULL && children_view(r->engine->children, child->child, child->namespace_,
				    child->name, &view))
		r->request = kube_delete(r->engine->kube, kind, child->namespace_, child->name,
			view.uid, on_deleted, r);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the delete could not be started");
		reconcile_end(r);
		return;
	}
	r->writes++;
	metric_add(M_CHILD_WRITES_TOTAL, metric_label_index(M_CHILD_WRITES_TOTAL, 0, "delete"), 1);
}

bool
reconcile_recreate(struct reconcile *r, const struct kube_result *result)
{
	const struct config_child *config = &r->engine->config->children[reconcile_child(r)];
	const struct plan_child *child = &r->plan.children[r->child];
	struct store_view view;

	if (!config->recreate || config->retain || !is_immutable(result) ||
		!children_view(r->engine->children, child->child, child->namespace_, child->name,
			&view) ||
		strcmp(view.owner, r->uid) != 0)
		return false;
	reconcile_with_token(r, delete_child);
	return true;
}
