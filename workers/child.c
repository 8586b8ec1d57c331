/* SPDX-License-Identifier: Apache-2.0 */
/* One child: what it needs, what an apply made of it, who may be pruned, and what expressions see of it. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/scoreboard.h"
#include "workers/children_internal.h"

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
		metric_add(M_DRIFT_REPAIRS_TOTAL, 0, 1);
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

struct body_of {
	const char *id;
	struct buf *out;
	bool found;
};

static void
body_of(void *data, const struct store_view *view)
{
	struct body_of *body = data;

	if (body->found || strcmp(view->child, body->id) != 0 || view->length == 0)
		return;
	buf_add(body->out, view->bytes, view->length);
	body->found = true;
}

void
children_value(const struct children *children, const char *owner_uid, struct buf *out)
{
	const struct config_controller *config = children->options.config;

	buf_addc(out, '{');
	for (size_t i = 0; i < config->n_children; i++) {
		struct body_of body = {.id = config->children[i].id, .out = out};

		if (i > 0)
			buf_addc(out, ',');
		json_put_string(out, body.id, strlen(body.id));
		buf_addc(out, ':');
		if (children->options.reads(children->options.data, i))
			mirror_each_of(children_mirror(children, i), owner_uid, body_of, &body);
		if (!body.found)
			buf_adds(out, "null");
	}
	buf_addc(out, '}');
}
