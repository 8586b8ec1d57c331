/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a reconcile share: tokens for writes, verdicts, Events, the object as expressions see it. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "workers/reconcile_internal.h"

/* A server error (a webhook that fails, say) is retried this often before the object says so. */
#define SERVER_ERRORS_QUIET 3

static void
on_token(void *data)
{
	struct reconcile *r = data;

	r->then(r);
}

bool
reconcile_take_token(struct reconcile *r, void (*then)(struct reconcile *r))
{
	r->then = then;
	r->waiter.go = on_token;
	r->waiter.data = r;
	return throttle_take(r->engine->throttle, &r->waiter);
}

void
reconcile_with_token(struct reconcile *r, void (*then)(struct reconcile *r))
{
	if (reconcile_take_token(r, then))
		then(r);
}

void
reconcile_fail(struct reconcile *r, enum verdict verdict, const char *format, ...)
{
	va_list args;

	if (r->verdict != VERDICT_SUCCEEDED && verdict != VERDICT_UNAVAILABLE)
		return;
	r->verdict = verdict;
	va_start(args, format);
	vsnprintf(r->text, sizeof(r->text), format, args);
	va_end(args);
	log_apply_mask(r->text);
}

static const struct {
	enum verdict verdict;
	bool ends;
} judgements[KUBE_OUTCOME_MAX] = {
	[KUBE_OK] = {VERDICT_SUCCEEDED, false},
	[KUBE_UNREACHABLE] = {VERDICT_UNAVAILABLE, true},
	[KUBE_UNAUTHORIZED] = {VERDICT_UNAVAILABLE, true},
	[KUBE_FORBIDDEN] = {VERDICT_FORBIDDEN, false},
	[KUBE_NOT_FOUND] = {VERDICT_APPLY_REJECTED, false},
	[KUBE_CONFLICT] = {VERDICT_UNAVAILABLE, true},
	[KUBE_EXPIRED] = {VERDICT_UNAVAILABLE, true},
	[KUBE_INVALID] = {VERDICT_APPLY_REJECTED, false},
	[KUBE_THROTTLED] = {VERDICT_UNAVAILABLE, true},
	[KUBE_SERVER_ERROR] = {VERDICT_UNAVAILABLE, true},
};

bool
reconcile_judge(struct reconcile *r, const struct kube_result *result, const char *what)
{
	enum verdict verdict = judgements[result->outcome].verdict;

	if (result->retry_after_ns > r->retry_after_ns)
		r->retry_after_ns = result->retry_after_ns;
	if (result->namespace_terminating) {
		r->quiet = true;
		reconcile_fail(r, VERDICT_UNAVAILABLE, "%s: %s", what, result->message);
		return true;
	}
	if (result->conflict) {
		reconcile_fail(r, VERDICT_APPLY_CONFLICT, "%s: another manager owns %s: %s", what,
			*result->cause_field == '\0' ? "a field" : result->cause_field,
			result->message);
		return false;
	}
	if (result->outcome == KUBE_SERVER_ERROR &&
		queue_item_failures(r->item) >= SERVER_ERRORS_QUIET) {
		reconcile_fail(r, VERDICT_APPLY_REJECTED, "%s: %s", what, result->message);
		return false;
	}
	reconcile_fail(r, verdict, "%s: %s", what, result->message);
	return judgements[result->outcome].ends;
}

void
reconcile_event(
	struct reconcile *r, bool warning, const char *reason, const char *action, const char *note)
{
	const struct event event = {
		.warning = warning,
		.resource = &r->engine->resource,
		.namespace_ = r->namespace_,
		.name = r->name,
		.uid = r->uid,
		.reason = reason,
		.action = action,
		.note = note,
		.reconcile_id = r->id,
	};

	events_post(r->engine->events, &event);
}

bool
reconcile_is_alive(const struct reconcile *r)
{
	struct store_view view;

	return mirror_get(r->engine->primary, r->namespace_, r->name, &view) &&
	       strcmp(view.uid, r->uid) == 0 && (view.flags & OBJECT_DELETING) == 0;
}

void
reconcile_object(const struct reconcile *r, const struct store_view *view, struct buf *children,
	struct plan_object *ret)
{
	*ret = (struct plan_object){.bytes = view->bytes,
		.length = view->length,
		.namespace_ = view->namespace_,
		.name = view->name,
		.uid = view->uid};
	children_value(r->engine->children, view->uid, children);
	if (children->failed)
		return;
	ret->children = children->data;
	ret->children_length = children->length;
}
