/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child's record holds its owner's uid and its id in the configuration (from our labels), the hash of the fields we hold as the
 * fingerprint, and three notes: that hash in the answer of our last apply, the hash of what was applied, and when and how often it was repaired
 * lately. After a restart the notes are empty: each child is applied once, which changes nothing on the server.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/kube/names.h"
#include "common/memory.h"
#include "workers/children_internal.h"
#include "workers/member.h"

/* A child that is repaired again within this time is repaired with growing delays: someone fights for the field. */
#define FIGHT_NS       (60 * NSEC_PER_SEC)
#define FIGHT_FIRST_NS (50 * NSEC_PER_MSEC)
/* So many repairs, each within that time of the one before, are told as a fight. */
#define FIGHT_TOLD 5

/* --- what the server says --- */

uint64_t
children_fields_hash(
	const struct children *children, const char *bytes, const struct json_object_info *info)
{
	struct json_range range;
	const char *fields = bytes + info->managed_fields.start;

	if (info->managed_fields.length == 0 ||
		!jsonscan_fields_of(fields, info->managed_fields.length,
			children->options.field_manager, &range))
		return 1;
	return XXH3_64bits(fields + range.start, range.length) | 1;
}

static bool
on_entry(void *data, struct store_entry *entry)
{
	struct child_kind *kind = data;
	const struct children *children = kind->children;
	const struct json_object_info *info = entry->info;

	member_copy(entry->bytes, &info->labels, LABEL_OWNER_UID, kind->owner);
	member_copy(entry->bytes, &info->labels, LABEL_CHILD, kind->id);
	entry->owner = kind->owner;
	entry->child = kind->id;
	entry->fingerprint = children_fields_hash(children, entry->bytes, info);
	entry->flags |= children_tie_flags(kind->owner, entry->bytes, info);
	entry->flags |= children_taken(children, kind->id, entry->bytes, info);
	if (info->deletion_timestamp.length > 0)
		entry->flags |= CHILD_FLAG_LEAVING;
	if (*kind->owner != '\0' && *kind->id != '\0' &&
		member_is(entry->bytes, &info->labels, LABEL_MANAGED_BY, LABEL_MANAGED_BY_VALUE) &&
		member_is(entry->bytes, &info->labels, LABEL_INSTANCE,
			children->options.config->instance) &&
		member_is(entry->bytes, &info->labels, LABEL_CONTROLLER,
			children->options.config->name))
		entry->flags |= CHILD_FLAG_OURS;
	return true;
}

/* The delay before this repair, and notes it: count in the upper 16 bits, time in milliseconds below. */
static int64_t
repair_delay(struct child_kind *kind, const struct store_view *view)
{
	uint64_t now = (uint64_t)(clock_monotonic_ns() / NSEC_PER_MSEC) & 0xffffffffffffULL;
	uint64_t last = view->notes[CHILD_NOTE_REPAIRS] & 0xffffffffffffULL,
		 count = view->notes[CHILD_NOTE_REPAIRS] >> 48;
	int64_t delay = 0;

	if (last == 0 || now - last > FIGHT_NS / NSEC_PER_MSEC)
		count = 0;
	if (count > 1)
		delay = FIGHT_FIRST_NS << (count > 11 ? 10 : count - 1);
	if (count < 0xffff)
		count++;
	mirror_set_note(
		kind->mirror, view->namespace_, view->name, CHILD_NOTE_REPAIRS, count << 48 | now);
	return delay > FIGHT_NS ? FIGHT_NS : delay;
}

bool
children_fought(const struct children *children, size_t child, const char *namespace_,
	const char *name, int64_t *ret_calm_ns)
{
	uint64_t now = (uint64_t)(clock_monotonic_ns() / NSEC_PER_MSEC) & 0xffffffffffffULL;
	struct store_view view;
	uint64_t since;

	if (!children_view(children, child, namespace_, name, &view) ||
		view.notes[CHILD_NOTE_REPAIRS] >> 48 < FIGHT_TOLD)
		return false;
	since = now - (view.notes[CHILD_NOTE_REPAIRS] & 0xffffffffffffULL);
	if (since > FIGHT_NS / NSEC_PER_MSEC)
		return false;
	*ret_calm_ns = FIGHT_NS - (int64_t)since * NSEC_PER_MSEC + NSEC_PER_SEC;
	return true;
}

static void
on_changed(void *data, enum listwatch_event event, enum store_result result,
	const struct store_view *view)
{
	struct child_kind *kind = data;
	const struct children_options *options = &kind->children->options;
	bool applied = view->notes[CHILD_NOTE_FIELDS] != 0;
	bool reads = false;
	char owner[256];

	(void)result;
	snprintf(owner, sizeof(owner), "%s", view->owner);
	if (*owner == '\0')
		return;
	for (size_t i = 0; i < options->config->n_children; i++)
		if (strcmp(options->config->children[i].id, view->child) == 0)
			reads = reads || options->reads(options->data, i);
	if (kind->former) {
		options->changed(options->data, owner, REASON_CHILD, 0);
		return;
	}
	if (applied && view->fingerprint != view->notes[CHILD_NOTE_FIELDS])
		options->changed(
			options->data, owner, REASON_CHILD_DRIFT, repair_delay(kind, view));
	else if (reads && (event != LISTWATCH_LISTED || applied))
		options->changed(options->data, owner, REASON_CHILD, 0);
}

static void
on_gone(void *data, const struct store_view *view)
{
	struct child_kind *kind = data;
	const struct children_options *options = &kind->children->options;

	if (*view->owner != '\0')
		options->changed(options->data, view->owner,
			kind->former ? REASON_CHILD : REASON_CHILD_DRIFT, 0);
}

static void
on_found(void *data, const struct kube_resource *resource)
{
	(void)data;
	(void)resource;
}

static bool
kind_usable(const struct child_kind *kind)
{
	const char *cause;

	return mirror_phase(kind->mirror) == MIRROR_SYNCED &&
	       mirror_trouble(kind->mirror, &cause) != WORKER_FORBIDDEN;
}

static void
on_health(void *data)
{
	struct child_kind *kind = data;
	const struct children_options *options = &kind->children->options;
	bool usable = kind_usable(kind);

	if (usable && !kind->usable)
		options->usable(options->data);
	kind->usable = usable;
	options->health(options->data);
}

static void
on_synced(void *data)
{
	(void)data;
}

/* --- kinds --- */

static size_t
kind_index(struct children *children, const struct config_child *child)
{
	size_t i;

	for (i = 0; i < children->n_kinds; i++)
		if (strcmp(children->kinds[i].api_version, child->api_version) == 0 &&
			strcmp(children->kinds[i].name, child->kind) == 0)
			return i;
	children->kinds[children->n_kinds++] = (struct child_kind){
		.children = children, .api_version = child->api_version, .name = child->kind};
	return i;
}

/* In whatever version: the same objects are seen through each. */
static bool
has_kind(const struct children *children, const struct child_kind *kind)
{
	struct kube_resource wanted, known;

	kube_resource_of_kind(kind->api_version, kind->name, &wanted);
	for (size_t i = 0; i < children->n_kinds; i++) {
		kube_resource_of_kind(children->kinds[i].api_version, children->kinds[i].name, &known);
		if (strcmp(wanted.group, known.group) == 0 && strcmp(wanted.kind, known.kind) == 0)
			return true;
	}
	return false;
}

static void
add_former(struct children *children, const char *const *kinds)
{
	for (; *kinds != NULL; kinds++) {
		const char *space = strchr(*kinds, ' ');
		struct child_kind kind = {.children = children, .former = true};

		if (space == NULL)
			continue;
		kind.api_version = kind.former_version = xstrndup(*kinds, (size_t)(space - *kinds));
		kind.name = space + 1;
		if (has_kind(children, &kind)) {
			free(kind.former_version);
			continue;
		}
		children->kinds = xreallocarray(
			children->kinds, children->n_kinds + 1, sizeof(*children->kinds));
		children->kinds[children->n_kinds++] = kind;
	}
}

static bool
kind_reads(const struct children *children, size_t kind)
{
	const struct children_options *options = &children->options;

	for (size_t i = 0; i < options->config->n_children; i++)
		if (children->kind_of[i] == kind && options->reads(options->data, i))
			return true;
	return false;
}

static void
start_kind(struct children *children, size_t i, struct loop *loop, struct kube *kube)
{
	const struct config_controller *config = children->options.config;
	struct child_kind *kind = &children->kinds[i];
	const struct mirror_callbacks callbacks = {
		on_found, on_entry, on_changed, on_gone, on_synced, on_health, kind};
	struct mirror_options options = {
		.namespaces = (const char *const *)config->namespaces,
		.n_namespaces = config->n_namespaces,
		.label_selector = children->selector,
		.keep_body = kind_reads(children, i),
		.silence_ns = config->watch_silence_ns,
		.request_timeout_ns = config->request_timeout_ns,
		.budget = children->options.budget,
	};

	if (children_kind_anywhere(children, i))
		options.n_namespaces = 0;
	kube_resource_of_kind(kind->api_version, kind->name, &options.wanted);
	kind->mirror = mirror_new(loop, kube, &options, &callbacks);
}

struct children *
children_new(struct loop *loop, struct kube *kube, const struct children_options *options)
{
	struct children *children = xcalloc(1, sizeof(*children));
	size_t n = options->config->n_children;

	children->options = *options;
	children->selector = xasprintf("%s=%s,%s=%s", LABEL_INSTANCE, options->config->instance,
		LABEL_CONTROLLER, options->config->name);
	children->kinds = xcalloc(n + 1, sizeof(struct child_kind));
	children->kind_of = xcalloc(n + 1, sizeof(size_t));
	for (size_t i = 0; i < n; i++)
		children->kind_of[i] = kind_index(children, &options->config->children[i]);
	if (options->former_kinds != NULL)
		add_former(children, options->former_kinds);
	for (size_t i = 0; i < children->n_kinds; i++)
		start_kind(children, i, loop, kube);
	return children;
}

void
children_free(struct children *children)
{
	if (children == NULL)
		return;
	for (size_t i = 0; i < children->n_kinds; i++) {
		mirror_free(children->kinds[i].mirror);
		free(children->kinds[i].former_version);
	}
	free(children->kinds);
	free(children->kind_of);
	free(children->selector);
	free(children);
}

/* --- state --- */

bool
children_settled(const struct children *children)
{
	const char *cause;

	for (size_t i = 0; i < children->n_kinds; i++)
		if (!children->kinds[i].former &&
			mirror_phase(children->kinds[i].mirror) != MIRROR_SYNCED &&
			mirror_trouble(children->kinds[i].mirror, &cause) == WORKER_LIVE)
			return false;
	return true;
}

bool
children_synced(const struct children *children)
{
	for (size_t i = 0; i < children->n_kinds; i++)
		if (!children->kinds[i].former &&
			mirror_phase(children->kinds[i].mirror) != MIRROR_SYNCED)
			return false;
	return true;
}

bool
children_trusted(const struct children *children)
{
	for (size_t i = 0; i < children->n_kinds; i++)
		if (!children->kinds[i].former && !mirror_trusted(children->kinds[i].mirror))
			return false;
	return true;
}

enum worker_state
children_trouble(const struct children *children, const char **ret_cause)
{
	for (size_t i = 0; i < children->n_kinds; i++) {
		enum worker_state trouble = mirror_trouble(children->kinds[i].mirror, ret_cause);

		if (trouble != WORKER_LIVE && !children->kinds[i].former)
			return trouble;
	}
	*ret_cause = "";
	return WORKER_LIVE;
}

struct mirror *
children_mirror(const struct children *children, size_t child)
{
	return children->kinds[children->kind_of[child]].mirror;
}

const struct kube_resource *
children_kind(const struct children *children, size_t child)
{
	return mirror_resource(children_mirror(children, child));
}

bool
children_usable(const struct children *children, size_t child, enum verdict *ret_verdict,
	const char **ret_text)
{
	const struct child_kind *kind = &children->kinds[children->kind_of[child]];
	const char *cause;
	enum worker_state trouble = mirror_trouble(kind->mirror, &cause);

	if (kind_usable(kind))
		return true;
	*ret_verdict = trouble == WORKER_FORBIDDEN ? VERDICT_FORBIDDEN : VERDICT_WAITING_FOR_CHILD;
	*ret_text = trouble == WORKER_LIVE ? "its kind is still being listed" : cause;
	return false;
}

void
children_relist(struct children *children)
{
	for (size_t i = 0; i < children->n_kinds; i++)
		mirror_relist(children->kinds[i].mirror);
}

size_t
children_count(const struct children *children)
{
	size_t n = 0;

	for (size_t i = 0; i < children->n_kinds; i++)
		n += mirror_count(children->kinds[i].mirror);
	return n;
}
