/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery leads to one part (listwatch and store) a namespace; a 404 of a list leads back to discovery, with the stores kept until
 * the next list sweeps them. A listwatch is never freed inside its own callback: that waits for a timer.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "workers/mirror_internal.h"

#define NOT_SERVED "the server does not serve %s; its CustomResourceDefinition may be missing"

static const struct backoff_policy discover_policy = {
	.first_ns = 500 * NSEC_PER_MSEC, .max_ns = 15 * NSEC_PER_SEC, .factor = 2, .jitter = 0.2};

static const enum worker_state outcome_states[KUBE_OUTCOME_MAX] = {
	[KUBE_OK] = WORKER_LIVE,
	[KUBE_UNREACHABLE] = WORKER_UNREACHABLE,
	[KUBE_UNAUTHORIZED] = WORKER_UNAUTHORIZED,
	[KUBE_FORBIDDEN] = WORKER_FORBIDDEN,
	[KUBE_NOT_FOUND] = WORKER_CRD_MISSING,
	[KUBE_CONFLICT] = WORKER_UNREACHABLE,
	[KUBE_EXPIRED] = WORKER_LIVE,
	[KUBE_INVALID] = WORKER_CONFIG_INVALID,
	[KUBE_THROTTLED] = WORKER_THROTTLED,
	[KUBE_SERVER_ERROR] = WORKER_UNREACHABLE,
};

static void
resource_text(const struct mirror *mirror, char *out, size_t n)
{
	const struct kube_resource *wanted = &mirror->options.wanted;

	snprintf(out, n, "%s %s (group %s, version %s)",
		*wanted->plural != '\0' ? "resource" : "kind",
		*wanted->plural != '\0' ? wanted->plural : wanted->kind,
		*wanted->group != '\0' ? wanted->group : "\"\"", wanted->version);
}

/* --- discovery --- */

static void start_parts(struct mirror *mirror);

static void
discovery_trouble(
	struct mirror *mirror, enum discovery_answer answer, const struct kube_result *result)
{
	char what[400];

	resource_text(mirror, what, sizeof(what));
	switch (answer) {
	case DISCOVERY_MISSING:
		mirror->trouble = WORKER_CRD_MISSING;
		snprintf(mirror->cause, CAUSE_MAX, NOT_SERVED, what);
		break;
	case DISCOVERY_VERSION_GONE:
		mirror->trouble = WORKER_VERSION_GONE;
		snprintf(mirror->cause, CAUSE_MAX, "%.300s: %.200s", what, result->message);
		break;
	case DISCOVERY_FOUND:
	case DISCOVERY_FAILED:
		mirror->trouble = outcome_states[result->outcome];
		if (mirror->trouble == WORKER_LIVE || mirror->trouble == WORKER_CRD_MISSING)
			mirror->trouble = WORKER_UNREACHABLE;
		snprintf(mirror->cause, CAUSE_MAX, "discovery of %.200s: %.280s", what,
			result->message);
		break;
	}
}

static void
on_discovered(void *data, enum discovery_answer answer, const struct kube_resource *resource,
	const struct kube_result *result)
{
	struct mirror *mirror = data;
	int64_t delay;

	mirror->discovery = NULL;
	if (answer == DISCOVERY_FOUND && resource->can_list && resource->can_watch) {
		backoff_good(&mirror->backoff, &discover_policy, clock_monotonic_ns());
		mirror->trouble = WORKER_LIVE;
		mirror->resource = *resource;
		mirror->found = true;
		mirror->callbacks.found(mirror->callbacks.data, &mirror->resource);
		start_parts(mirror);
	} else {
		if (answer == DISCOVERY_FOUND)
			answer = DISCOVERY_MISSING;
		discovery_trouble(mirror, answer, result);
		delay = backoff_next(
			&mirror->backoff, &discover_policy, clock_monotonic_ns(), clock_random());
		if (result != NULL && result->retry_after_ns > delay)
			delay = result->retry_after_ns;
		loop_timer_set(mirror->discover, delay);
	}
	mirror->callbacks.health(mirror->callbacks.data);
}

static void
stop_parts(struct mirror *mirror)
{
	for (size_t i = 0; i < mirror->n_parts; i++) {
		listwatch_free(mirror->parts[i].listwatch);
		mirror->parts[i].listwatch = NULL;
		mirror->parts[i].was_synced = false;
		mirror->parts[i].trouble = WORKER_LIVE;
	}
}

static void
on_discover(void *data)
{
	struct mirror *mirror = data;

	mirror->found = false;
	stop_parts(mirror);
	mirror->discovery =
		discovery_start(mirror->kube, &mirror->options.wanted, on_discovered, mirror);
	if (mirror->discovery == NULL)
		loop_timer_set(mirror->discover, NSEC_PER_SEC);
}

/* --- lists and watches --- */

static void
on_begin(void *data)
{
	struct mirror_part *part = data;

	part->left_out = false;
	store_begin(part->store);
}

static void
on_object(void *data, enum listwatch_event event, const char *bytes, size_t length,
	const struct json_object_info *info)
{
	struct mirror_part *part = data;
	char namespace_[256], name[256], uid[256];

	mirror_names_of(bytes, info, namespace_, name);
	if (event == LISTWATCH_DELETED) {
		snprintf(uid, sizeof(uid), "%.*s", (int)info->uid.length, bytes + info->uid.start);
		mirror_part_take_away(part, namespace_, name, uid);
	} else {
		(void)mirror_part_put(part, event, bytes, length, info, STORE_FROM_SERVER);
	}
}

static void
on_gone(void *data, const struct store_view *view)
{
	struct mirror_part *part = data;

	part->mirror->callbacks.gone(part->mirror->callbacks.data, view);
}

static void
on_synced(void *data)
{
	struct mirror_part *part = data;
	struct mirror *mirror = part->mirror;

	store_sweep(part->store, on_gone, part);
	part->was_synced = true;
	part->trouble = WORKER_LIVE;
	if (mirror_phase(mirror) == MIRROR_SYNCED)
		mirror->callbacks.synced(mirror->callbacks.data);
	mirror->callbacks.health(mirror->callbacks.data);
}

/* One watch of all namespaces is not allowed: begins anew with one each. */
static void
divide(struct mirror *mirror, const char *why)
{
	log_info("%zu watches of %s, one a namespace: one of all is not allowed (%s)",
		mirror->options.n_namespaces, mirror->resource.plural, why);
	mirror->wide_refused = true;
	loop_timer_set(mirror->discover, 0);
}

static void
on_health(void *data, bool healthy, const struct kube_result *result, int64_t delay_ns)
{
	struct mirror_part *part = data;
	struct mirror *mirror = part->mirror;
	char what[400];
	enum worker_state trouble =
		healthy || result == NULL ? WORKER_LIVE : outcome_states[result->outcome];

	if (trouble == WORKER_FORBIDDEN && mirror->wide) {
		divide(mirror, result->message);
		return;
	}
	part->trouble = trouble;
	if (trouble == WORKER_CRD_MISSING) {
		resource_text(mirror, what, sizeof(what));
		snprintf(part->cause, CAUSE_MAX, NOT_SERVED, what);
	} else if (trouble != WORKER_LIVE) {
		snprintf(part->cause, CAUSE_MAX, "%s%s%s: %.400s", mirror->resource.plural,
			*mirror->resource.group == '\0' ? "" : ".", mirror->resource.group,
			result->message);
	}
	if (trouble == WORKER_CRD_MISSING)
		loop_timer_set(mirror->discover, delay_ns);
	mirror->callbacks.health(mirror->callbacks.data);
}

static void
start_part(struct mirror *mirror, struct mirror_part *part)
{
	const struct listwatch_options options = {
		.resource = mirror->resource,
		.namespace_ = part->namespace_,
		.label_selector = mirror->options.label_selector,
		.field_selector = mirror->options.field_selector,
		.metadata_only = !mirror->options.keep_body,
		.silence_ns = mirror->options.silence_ns,
		.request_timeout_ns = mirror->options.request_timeout_ns,
		.primary = mirror->options.primary,
	};
	const struct listwatch_callbacks callbacks = {.begin = on_begin,
		.object = on_object,
		.synced = on_synced,
		.health = on_health,
		.data = part};

	part->listwatch = listwatch_new(mirror->loop, mirror->kube, &options, &callbacks);
}

/* How many there are to be. What is known under another division is forgotten without a word: nothing acts on it before all is listed. */
static size_t
divide_parts(struct mirror *mirror)
{
	bool listed = mirror->resource.namespaced && mirror->options.n_namespaces > 0,
	     wide = listed && mirror->options.n_namespaces > MIRROR_WATCHES_MAX &&
		    !mirror->wide_refused;
	size_t n = listed && !wide ? mirror->options.n_namespaces : 1,
	       keep = wide == mirror->wide ? n : 0;

	for (size_t i = keep; i < mirror->n_parts; i++)
		store_free(mirror->parts[i].store);
	if (keep < mirror->n_parts)
		mirror->n_parts = keep;
	mirror->wide = wide;
	return n;
}

static void
start_parts(struct mirror *mirror)
{
	size_t n = divide_parts(mirror);
	bool each =
		mirror->resource.namespaced && mirror->options.n_namespaces > 0 && !mirror->wide;

	mirror->parts = xreallocarray(mirror->parts, n, sizeof(struct mirror_part));
	for (size_t i = mirror->n_parts; i < n; i++)
		mirror->parts[i] = (struct mirror_part){.store = store_new(mirror->options.budget)};
	mirror->n_parts = n;
	for (size_t i = 0; i < n; i++) {
		mirror->parts[i].mirror = mirror;
		mirror->parts[i].trouble = WORKER_LIVE;
		mirror->parts[i].namespace_ = each ? mirror->options.namespaces[i] : NULL;
		start_part(mirror, &mirror->parts[i]);
	}
}

/* --- life and state --- */

static void
on_relist(void *data)
{
	mirror_relist(data);
}

struct mirror *
mirror_new(struct loop *loop, struct kube *kube, const struct mirror_options *options,
	const struct mirror_callbacks *callbacks)
{
	struct mirror *mirror = xcalloc(1, sizeof(*mirror));

	mirror->loop = loop;
	mirror->kube = kube;
	mirror->options = *options;
	mirror->callbacks = *callbacks;
	mirror->trouble = WORKER_LIVE;
	mirror->discover = loop_timer_new(loop, on_discover, mirror);
	mirror->relist = loop_timer_new(loop, on_relist, mirror);
	loop_timer_set(mirror->discover, 0);
	return mirror;
}

void
mirror_free(struct mirror *mirror)
{
	if (mirror == NULL)
		return;
	if (mirror->discovery != NULL)
		discovery_cancel(mirror->discovery);
	loop_timer_free(mirror->discover);
	loop_timer_free(mirror->relist);
	for (size_t i = 0; i < mirror->n_parts; i++) {
		listwatch_free(mirror->parts[i].listwatch);
		store_free(mirror->parts[i].store);
	}
	free(mirror->parts);
	free(mirror);
}

const struct kube_resource *
mirror_resource(const struct mirror *mirror)
{
	return mirror->found ? &mirror->resource : NULL;
}

enum mirror_phase
mirror_phase(const struct mirror *mirror)
{
	if (!mirror->found)
		return MIRROR_DISCOVERING;
	for (size_t i = 0; i < mirror->n_parts; i++)
		if (!mirror->parts[i].was_synced)
			return MIRROR_LISTING;
	return MIRROR_SYNCED;
}

bool
mirror_trusted(const struct mirror *mirror)
{
	if (mirror_phase(mirror) != MIRROR_SYNCED)
		return false;
	for (size_t i = 0; i < mirror->n_parts; i++)
		if (mirror->parts[i].left_out || mirror->parts[i].trouble != WORKER_LIVE ||
			!listwatch_live(mirror->parts[i].listwatch))
			return false;
	return true;
}

enum worker_state
mirror_trouble(const struct mirror *mirror, const char **ret_cause)
{
	if (mirror->trouble != WORKER_LIVE) {
		*ret_cause = mirror->cause;
		return mirror->trouble;
	}
	for (size_t i = 0; i < mirror->n_parts; i++) {
		if (mirror->parts[i].trouble != WORKER_LIVE) {
			*ret_cause = mirror->parts[i].cause;
			return mirror->parts[i].trouble;
		}
		if (mirror->parts[i].left_out) {
			*ret_cause = "limits.memory is reached: some objects are left out; raise "
				     "it, or select fewer objects";
			return WORKER_OVER_LIMIT;
		}
	}
	*ret_cause = "";
	return WORKER_LIVE;
}

void
mirror_relist(struct mirror *mirror)
{
	for (size_t i = 0; i < mirror->n_parts; i++)
		if (mirror->parts[i].listwatch != NULL)
			listwatch_resync(mirror->parts[i].listwatch);
}
