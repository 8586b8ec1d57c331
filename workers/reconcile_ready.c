/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that others wait for (dependsOn), or whose readiness is asked (readyWhen). What is looked at is the store: an answer to an apply enters it at once, a change on the
 * server comes by the watch and runs the object again, so nothing is asked twice and nothing is timed.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "workers/readiness.h"
#include "workers/reconcile_internal.h"

static bool
lacks(char *text, size_t n, const char *what)
{
	snprintf(text, n, "%s", what);
	return false;
}

static bool
by_expression(const struct reconcile *r, const struct plan_child *child,
	const struct store_view *self, char *text, size_t n)
{
	struct buf children = BUF_INIT_LIMIT(64u << 20), out = BUF_INIT_LIMIT(64);
	struct template_problem problem;
	struct plan_object object;
	struct store_view parent;
	bool ready = false;

	if (!mirror_get(r->engine->primary, r->namespace_, r->name, &parent))
		return lacks(text, n, "its parent is gone");
	reconcile_object(r, &parent, &children, &object);
	object.self = self->bytes;
	object.self_length = self->length;
	object.item = child->item;
	object.item_length = child->item == NULL ? 0 : strlen(child->item);
	if (planner_render(&r->engine->planner,
		    config_group_ready(r->engine->config, child->child), &object, NULL, NULL, &out,
		    &problem) < 0)
		planner_problem_text(&problem, text, n);
	else if (strcmp(out.data, "true") != 0)
		snprintf(text, n, "readyWhen is false");
	else
		ready = true;
	buf_free(&out);
	buf_free(&children);
	return ready;
}

static bool
by_kind(const struct kube_resource *kind, const struct store_view *self, char *text, size_t n)
{
	cJSON *body = json_parse(self->bytes, self->length, NULL);
	bool ready = readiness_of(kind->group, kind->kind, body, text, n);

	cJSON_Delete(body);
	return ready;
}

static bool
is_ready(const struct reconcile *r, const struct plan_child *child, char *text, size_t n)
{
	const struct children *children = r->engine->children;
	const struct kube_resource *kind = children_kind(children, child->child);
	struct store_view self;

	switch (child->what) {
	case PLAN_ABSENT:
		return true;
	case PLAN_FAILED:
		return lacks(text, n, "it is not known what it should be");
	case PLAN_APPLY:
		break;
	}
	if (kind == NULL || !children_view(children, child->child, child->namespace_, child->name,
				    &self))
		return lacks(text, n, "it is not there yet");
	switch (children_need(
		children, child->child, child->namespace_, child->name, child->hash)) {
	case CHILD_CURRENT:
		break;
	case CHILD_MISSING:
	case CHILD_DRIFTED:
	case CHILD_OUTDATED:
		return lacks(text, n, "it is not applied as it should be");
	case CHILD_LEAVING:
		return lacks(text, n, "it is being deleted");
	}
	if (r->engine->config->children[child->child].ready_when != NULL)
		return by_expression(r, child, &self, text, n);
	return by_kind(kind, &self, text, n);
}

/* Of one id: all children of it. The first that is not ready, into text. */
static bool
are_ready(const struct reconcile *r, size_t child, char *text, size_t n)
{
	const char *kind = r->engine->config->children[child].kind;
	char why[CONDITION_MESSAGE_MAX];

	for (size_t i = 0; i < r->plan.n; i++) {
		const struct plan_child *one = &r->plan.children[i];

		if (one->child != child || is_ready(r, one, why, sizeof(why)))
			continue;
		snprintf(text, n, "%s %s%s%s", kind, one->name == NULL ? "" : one->name,
			one->name == NULL ? "" : ": ", why);
		return false;
	}
	return true;
}

bool
reconcile_may_apply(struct reconcile *r)
{
	const struct plan_child *child = &r->plan.children[r->child];
	const struct config_child *config = &r->engine->config->children[child->child];
	char why[CONDITION_MESSAGE_MAX];

	for (size_t i = 0; i < config->n_depends; i++) {
		if (are_ready(r, config->depends[i], why, sizeof(why)))
			continue;
		if (r->waits_for[0] == '\0')
			snprintf(r->waits_for, sizeof(r->waits_for),
				"children[%s] waits for children[%s]: %s", config->id,
				r->engine->config->children[config->depends[i]].id, why);
		return false;
	}
	return true;
}

void
reconcile_await(struct reconcile *r)
{
	const struct config_controller *config = r->engine->config;
	char why[CONDITION_MESSAGE_MAX];

	if (r->verdict != VERDICT_SUCCEEDED || r->leaving)
		return;
	for (size_t i = 0; i < config->n_children && r->waits_for[0] == '\0'; i++)
		if (config->children[i].awaited && !are_ready(r, i, why, sizeof(why)))
			snprintf(r->waits_for, sizeof(r->waits_for),
				"children[%s] is not ready: %s", config->children[i].id, why);
	if (r->waits_for[0] == '\0')
		return;
	reconcile_fail(r, VERDICT_WAITING_FOR_CHILD, "%s", r->waits_for);
	r->waits = true;
	r->waits_for[0] = '\0';
}
