/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes next: one step at a time, a page of a list or a watch, and between two steps a timer. Every end of a step leads to
 * another, so it never gives up and never sits still.
 *
 *   list ok -> watch            watch closed by the server -> watch from the last version
 *   list failed -> list, later  watch cut, silent or refused -> watch from the same version, later if it happens again
 *                               410, or a line that is no event -> list
 *
 * The owner hears of each failure by health() and says the first of one cause as it sees fit; here it is logged when it lasts, at growing distances (the 2nd,
 * 4th, 8th time), so that hours without a CRD are a few lines.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kube/listwatch_internal.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/scoreboard.h"

#define SILENCE_NS   (70 * NSEC_PER_SEC)
#define OBJECT_LIMIT ((size_t)16 << 20)
#define EVENT_FRAME  ((size_t)4 << 10) /* of an event's line around its object */

const struct backoff_policy listwatch_backoff = {
	.first_ns = 800 * NSEC_PER_MSEC,
	.max_ns = 30 * NSEC_PER_SEC,
	.factor = 2,
	.jitter = 0.5,
	.reset_ns = 120 * NSEC_PER_SEC,
};

static char *
copy(const char *text)
{
	return text == NULL ? NULL : xstrdup(text);
}

void
listwatch_name(const struct listwatch *lw, char out[400])
{
	snprintf(out, 400, "%s.%s.%s", lw->options.resource.plural, lw->options.resource.version,
		lw->options.resource.group);
}

void
listwatch_path(const struct listwatch *lw, struct buf *out)
{
	kube_path(out, &lw->options.resource, lw->options.namespace_, NULL, NULL);
	kube_path_query(out, "labelSelector", lw->options.label_selector);
	kube_path_query(out, "fieldSelector", lw->options.field_selector);
}

void
listwatch_count(const struct listwatch *lw, enum metric_id id, const char *label)
{
	if (lw->options.primary)
		metric_add(id, label == NULL ? 0 : metric_label_index(id, 0, label), 1);
}

void
listwatch_result(struct kube_result *ret, enum kube_outcome outcome, const char *format, ...)
{
	va_list args;

	*ret = (struct kube_result){.outcome = outcome, .body = ""};
	va_start(args, format);
	vsnprintf(ret->message, sizeof(ret->message), format, args);
	va_end(args);
}

/* --- Steps ------------------------------------------------------------------ */

static void
step(void *data)
{
	struct listwatch *lw = data;

	listwatch_enter(lw);
	if (lw->next == STEP_LIST)
		listwatch_list_start(lw);
	else
		listwatch_watch_start(lw);
	listwatch_leave(lw);
}

void
listwatch_next(struct listwatch *lw, enum listwatch_step next, int64_t delay_ns)
{
	if (lw->dead)
		return;
	lw->next = next;
	loop_timer_set(lw->timer, delay_ns);
}

/* Logs the 2nd, 4th ... time of one cause, and the first if nobody else hears of it. */
static void
complain(struct listwatch *lw, const struct kube_result *result, int64_t delay_ns, bool told)
{
	int cause = (int)result->outcome * 1000 + result->status + 1;
	char name[400];

	if (cause != lw->cause) {
		lw->cause = cause;
		lw->repeats = 0;
	}
	lw->repeats++;
	if ((lw->repeats & (lw->repeats - 1)) != 0 || (told && lw->repeats == 1))
		return;
	lw->complained = true;
	listwatch_name(lw, name);
	log_warn("%s: %s%s (failure %u of this kind, next try in %.1f s)", name, result->message,
		result->outcome == KUBE_NOT_FOUND ? "; its CustomResourceDefinition may be missing"
						  : "",
		lw->repeats, (double)delay_ns / (double)NSEC_PER_SEC);
}

bool
listwatch_troubled(const struct listwatch *lw)
{
	const struct backoff *b = &lw->backoff;

	return b->failures > 0 &&
	       (b->good_since_ns == 0 ||
		       clock_monotonic_ns() - b->good_since_ns < listwatch_backoff.reset_ns);
}

int64_t
listwatch_failed(struct listwatch *lw, const struct kube_result *result)
{
	int64_t delay = backoff_next(
		&lw->backoff, &listwatch_backoff, clock_monotonic_ns(), clock_random());

	return result->retry_after_ns > delay ? result->retry_after_ns : delay;
}

void
listwatch_trouble(struct listwatch *lw, enum listwatch_step next, const struct kube_result *result)
{
	int64_t delay = listwatch_failed(lw, result);

	complain(lw, result, delay, true);
	listwatch_next(lw, next, delay);
	lw->callbacks.health(lw->callbacks.data, false, result, delay);
}

static void
forget_list(struct listwatch *lw)
{
	lw->synced = false;
	lw->error_events = 0;
	free(lw->continue_);
	lw->continue_ = NULL;
}

void
listwatch_relist(struct listwatch *lw, const struct kube_result *result)
{
	forget_list(lw);
	if (listwatch_troubled(lw)) {
		listwatch_trouble(lw, STEP_LIST, result);
		return;
	}
	(void)listwatch_failed(lw, result);
	complain(lw, result, 0, false);
	listwatch_next(lw, STEP_LIST, 0);
}

void
listwatch_expired(struct listwatch *lw, const struct kube_result *result)
{
	char name[400];

	listwatch_count(lw, M_WATCH_RESTARTS_TOTAL, "expired");
	snprintf(lw->refused, sizeof(lw->refused), "%s", lw->version);
	lw->version[0] = '\0';
	if (listwatch_troubled(lw)) {
		listwatch_relist(lw, result);
		return;
	}
	/* This happens to every watch that was away for long: no trouble. */
	listwatch_name(lw, name);
	log_info("%s: version %s is too old for the server, listing anew", name, lw->refused);
	forget_list(lw);
	(void)listwatch_failed(lw, result);
	listwatch_next(lw, STEP_LIST, 0);
}

/* --- Life ----------------------------------------------------------------------- */

static void
destroy(struct listwatch *lw)
{
	listwatch_list_clear(lw);
	watch_lines_free(&lw->lines);
	loop_timer_free(lw->timer);
	loop_timer_free(lw->silence);
	free(lw->continue_);
	free((char *)lw->options.namespace_);
	free((char *)lw->options.label_selector);
	free((char *)lw->options.field_selector);
	free(lw);
}

void
listwatch_enter(struct listwatch *lw)
{
	lw->busy++;
}

void
listwatch_leave(struct listwatch *lw)
{
	if (--lw->busy == 0 && lw->dead)
		destroy(lw);
}

/* Not a byte for too long: the connection may be dead without anybody saying so. Nothing is lost by a new one. */
static void
on_silence(void *data)
{
	struct listwatch *lw = data;

	listwatch_count(lw, M_WATCH_RESTARTS_TOTAL, "silent");
	kube_cancel(lw->request);
	lw->request = NULL;
	lw->open = false;
	kube_fresh_connections(lw->kube);
	listwatch_next(lw, STEP_WATCH, 0);
}

struct listwatch *
listwatch_new(struct loop *loop, struct kube *kube, const struct listwatch_options *options,
	const struct listwatch_callbacks *callbacks)
{
	struct listwatch *lw = xcalloc(1, sizeof(*lw));

	lw->loop = loop;
	lw->kube = kube;
	lw->options = *options;
	lw->options.namespace_ = copy(options->namespace_);
	lw->options.label_selector = copy(options->label_selector);
	lw->options.field_selector = copy(options->field_selector);
	if (lw->options.silence_ns == 0)
		lw->options.silence_ns = SILENCE_NS;
	if (lw->options.object_limit == 0)
		lw->options.object_limit = OBJECT_LIMIT;
	lw->callbacks = *callbacks;
	watch_lines_init(&lw->lines, lw->options.object_limit + EVENT_FRAME);
	lw->timer = loop_timer_new(loop, step, lw);
	lw->silence = loop_timer_new(loop, on_silence, lw);
	listwatch_next(lw, STEP_LIST, 0);
	return lw;
}

void
listwatch_free(struct listwatch *lw)
{
	if (lw == NULL || lw->dead)
		return;
	lw->dead = true;
	kube_cancel(lw->request);
	lw->request = NULL;
	loop_timer_clear(lw->timer);
	loop_timer_clear(lw->silence);
	if (lw->busy == 0)
		destroy(lw);
}

void
listwatch_resync(struct listwatch *lw)
{
	if (lw->dead || !lw->synced)
		return;
	kube_cancel(lw->request);
	lw->request = NULL;
	lw->open = false;
	loop_timer_clear(lw->silence);
	forget_list(lw);
	listwatch_next(lw, STEP_LIST, 0);
}

bool
listwatch_synced(const struct listwatch *lw)
{
	return lw->synced;
}

bool
listwatch_live(const struct listwatch *lw)
{
	return lw->synced && lw->open;
}
