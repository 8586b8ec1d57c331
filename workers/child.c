/* SPDX-License-Identifier: Apache-2.0 */
/* One child: what it needs, what an apply made of it, who may be pruned, and what expressions see of it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/children_internal.h"

bool
children_view(const struct children *children, size_t child, const char *namespace_,
	const char *name, struct store_view *ret)
{
	return mirror_get(children_mirror(children, child), namespace_, name, ret);
}

enum child_need
children_need(const struct children *children, size_t child, const char *namespace_,
	const char *name, uint64_t hash)
{
	struct store_view view;

	if (!mirror_get(children_mirror(children, child), namespace_, name, &view))
		return CHILD_MISSING;
	if ((view.flags & CHILD_FLAG_LEAVING) != 0)
		return CHILD_LEAVING;
	if (view.notes[CHILD_NOTE_HASH] == 0 || view.notes[CHILD_NOTE_HASH] != hash)
		return CHILD_OUTDATED;
	return view.fingerprint == view.notes[CHILD_NOTE_FIELDS] ? CHILD_CURRENT : CHILD_DRIFTED;
}

void
children_applied(struct children *children, size_t child, const char *body, size_t length,
	uint64_t hash, bool drift)
{
	struct mirror *mirror = children_mirror(children, child);
	struct json_object_info info;
	char namespace_[256], name[256];

	if (drift)
		metric_add(M_DRIFT_REPAIRS_TOTAL, (unsigned)child, 1);
	if (!jsonscan_object(body, length, &info))
		return;
	mirror_put(mirror, body, length, STORE_FROM_WRITE);
	snprintf(namespace_, sizeof(namespace_), "%.*s", (int)info.namespace_.length,
		body + info.namespace_.start);
	snprintf(name, sizeof(name), "%.*s", (int)info.name.length, body + info.name.start);
	mirror_set_note(mirror, namespace_, name, CHILD_NOTE_FIELDS,
		children_fields_hash(children, body, &info));
	mirror_set_note(mirror, namespace_, name, CHILD_NOTE_HASH, hash);
}

struct each_owned {
	const struct child_kind *kind;
	void (*each)(void *data, const struct child_ref *ref);
	void *data;
};

static void
each_owned(void *data, const struct store_view *view)
{
	const struct each_owned *each = data;
	const struct child_ref ref = {mirror_resource(each->kind->mirror), view->namespace_,
		view->name, view->uid, view->child, children_retained(each->kind, view), false};

	if ((view->flags & CHILD_FLAG_OURS) != 0 && (view->flags & CHILD_FLAG_LEAVING) == 0 &&
		ref.kind != NULL)
		each->each(each->data, &ref);
}

void
children_each_owned(const struct children *children, const char *owner_uid,
	void (*each)(void *data, const struct child_ref *ref), void *data)
{
	for (size_t i = 0; i < children->n_kinds; i++) {
		struct each_owned one = {&children->kinds[i], each, data};

		mirror_each_of(children->kinds[i].mirror, owner_uid, each_owned, &one);
	}
}

void
children_deleting(struct children *children, const struct kube_resource *kind,
	const char *namespace_, const char *name)
{
	for (size_t i = 0; i < children->n_kinds; i++)
		if (mirror_resource(children->kinds[i].mirror) == kind)
			mirror_set_flags(
				children->kinds[i].mirror, namespace_, name, 0, CHILD_FLAG_LEAVING);
}

/* --- $children --- */

struct bodies {
	const char *id;
	struct store_view *list; /* the store stands still meanwhile */
	size_t n;
};

static void
collect(void *data, const struct store_view *view)
{
	struct bodies *bodies = data;

	if (strcmp(view->child, bodies->id) != 0 || view->length == 0)
		return;
	bodies->list = xreallocarray(bodies->list, bodies->n + 1, sizeof(*bodies->list));
	bodies->list[bodies->n++] = *view;
}

static int
by_name(const void *left, const void *right)
{
	const struct store_view *a = left, *b = right;
	int order = strcmp(a->namespace_, b->namespace_);

	return order != 0 ? order : strcmp(a->name, b->name);
}

/* One body or null; with forEach all, by name. */
static void
put_bodies(struct buf *out, const struct bodies *bodies, bool list)
{
	if (list)
		buf_addc(out, '[');
	for (size_t i = 0; i < bodies->n && (list || i == 0); i++) {
		if (i > 0)
			buf_addc(out, ',');
		buf_add(out, bodies->list[i].bytes, bodies->list[i].length);
	}
	if (list)
		buf_addc(out, ']');
	else if (bodies->n == 0)
		buf_adds(out, "null");
}

void
children_value(const struct children *children, const char *owner_uid, struct buf *out)
{
	const struct config_controller *config = children->options.config;

	buf_addc(out, '{');
	for (size_t i = 0; i < config->n_children; i++) {
		struct bodies bodies = {.id = config->children[i].id};

		if (i > 0)
			buf_addc(out, ',');
		json_put_string(out, bodies.id, strlen(bodies.id));
		buf_addc(out, ':');
		if (children->options.reads(children->options.data, i))
			mirror_each_of(children_mirror(children, i), owner_uid, collect, &bodies);
		if (bodies.n > 1)
			qsort(bodies.list, bodies.n, sizeof(*bodies.list), by_name);
		put_bodies(out, &bodies, config->children[i].for_each != NULL);
		free(bodies.list);
	}
	buf_addc(out, '}');
}
