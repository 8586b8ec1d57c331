/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field managers: entries of metadata.managedFields, ownership after updates, conflicts and force of applies.
 *
 * The document merge is merge.c's, the sets are fields.c's. An entry is named by manager, operation and subresource,
 * an Update's by its apiVersion too. Entries that own nothing disappear.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "devserver/causes.h"
#include "devserver/fields.h"
#include "devserver/managed.h"
#include "devserver/merge.h"
#include "devserver/tree.h"

static bool
is_entry(const cJSON *entry, const struct manager *manager, const char *operation)
{
	return strcmp(json_string(entry, "manager", ""), manager->name) == 0 &&
	       strcmp(json_string(entry, "operation", ""), operation) == 0 &&
	       strcmp(json_string(entry, "subresource", ""),
		       manager->subresource ? manager->subresource : "") == 0 &&
	       (strcmp(operation, "Apply") == 0 || strcmp(json_string(entry, "apiVersion", ""),
							   manager->version->api_version) == 0);
}

static cJSON *
find_entry(const cJSON *entries, const struct manager *manager, const char *operation)
{
	for (cJSON *entry = entries ? entries->child : NULL; entry; entry = entry->next)
		if (is_entry(entry, manager, operation))
			return entry;
	return NULL;
}

/* Gives the manager this set (taken; NULL removes the entry). The time moves only with the set. */
static void
set_entry(cJSON *entries, const struct manager *manager, const char *operation, cJSON *set)
{
	cJSON *entry = find_entry(entries, manager, operation);

	if (!set) {
		cJSON_Delete(cJSON_DetachItemViaPointer(entries, entry));
		return;
	}
	if (entry && tree_equal(tree_get(entry, "fieldsV1"), set) &&
		strcmp(json_string(entry, "apiVersion", ""), manager->version->api_version) == 0) {
		cJSON_Delete(set);
		return;
	}
	if (!entry) {
		entry = cJSON_CreateObject();
		cJSON_AddItemToArray(entries, entry);
	}
	tree_set_string(entry, "manager", manager->name);
	tree_set_string(entry, "operation", operation);
	tree_set_string(entry, "apiVersion", manager->version->api_version);
	tree_set_string(entry, "time", manager->time);
	tree_set_string(entry, "fieldsType", "FieldsV1");
	tree_set(entry, "fieldsV1", set);
	if (manager->subresource)
		tree_set_string(entry, "subresource", manager->subresource);
}

/* Takes fields away from every entry but self; entries left with nothing go. */
static void
take_from_others(cJSON *entries, const cJSON *self, const cJSON *fields)
{
	if (!fields)
		return;
	tree_each_safe(entry, next, entries)
	{
		cJSON *left;

		if (entry == self)
			continue;
		left = fields_subtract(tree_get(entry, "fieldsV1"), fields);
		if (left)
			tree_set(entry, "fieldsV1", left);
		else
			cJSON_Delete(cJSON_DetachItemViaPointer(entries, entry));
	}
}

static int
compare_entries(const void *left, const void *right)
{
	static const char *const keys[] = {
		"operation", "time", "manager", "apiVersion", "subresource"};
	const cJSON *a = *(cJSON *const *)left, *b = *(cJSON *const *)right;
	int order = 0;

	for (size_t i = 0; !order && i < sizeof(keys) / sizeof(keys[0]); i++)
		order = strcmp(json_string(a, keys[i], ""), json_string(b, keys[i], ""));
	return order;
}

/* Puts the entries, sorted as the real server sorts them, into the object. Takes entries. */
static void
registry_entries(cJSON *object, cJSON *entries)
{
	size_t count = (size_t)cJSON_GetArraySize(entries), i = 0;
	cJSON **list = xcalloc(count + 1, sizeof(*list)), *sorted = cJSON_CreateArray();

	while (entries->child)
		list[i++] = cJSON_DetachItemViaPointer(entries, entries->child);
	qsort(list, count, sizeof(*list), compare_entries);
	for (i = 0; i < count; i++)
		cJSON_AddItemToArray(sorted, list[i]);
	if (count) {
		tree_set(tree_object(object, "metadata"), "managedFields", sorted);
	} else {
		tree_remove(tree_object(object, "metadata"), "managedFields");
		cJSON_Delete(sorted);
	}
	free(list);
	cJSON_Delete(entries);
}

static cJSON *
copy_entries(const cJSON *object)
{
	const cJSON *entries = json_get(object, "metadata", "managedFields", NULL);

	return cJSON_IsArray(entries) ? cJSON_Duplicate(entries, true) : cJSON_CreateArray();
}

static void
changes(const cJSON *before, const cJSON *after, const cJSON *schema, cJSON **ret_changed,
	cJSON **ret_removed)
{
	fields_compare(before, after, schema, ret_changed, ret_removed);
	*ret_changed = fields_strip_server(*ret_changed);
	*ret_removed = fields_strip_server(*ret_removed);
}

/* Without what the endpoint does not write. Takes set. */
static cJSON *
of_endpoint(cJSON *set, const struct manager *manager)
{
	if (!set || manager->subresource || !manager->version->status)
		return set;
	tree_remove(set, "f:status");
	if (set->child)
		return set;
	cJSON_Delete(set);
	return NULL;
}

void
managed_update(const cJSON *before, cJSON *after, const struct manager *manager)
{
	const cJSON *given = json_get(after, "metadata", "managedFields", NULL);
	/* An empty list, or one of an empty entry, is how clients ask to forget all managers. */
	bool reset = before && cJSON_IsArray(given) && (!given->child || tree_empty(given->child));
	cJSON *entries = reset ? cJSON_CreateArray() : copy_entries(before), *changed, *removed,
	      *mine, *own;

	changes(before, after, manager->version->schema, &changed, &removed);
	changed = of_endpoint(changed, manager);
	own = find_entry(entries, manager, "Update");
	take_from_others(entries, own, changed);
	take_from_others(entries, own, removed);
	own = find_entry(entries, manager, "Update");
	if (changed || own) {
		cJSON *kept = fields_subtract(tree_get(own, "fieldsV1"), removed);

		mine = fields_union(kept, changed);
		cJSON_Delete(kept);
		if (mine || own)
			set_entry(entries, manager, "Update", mine);
	}
	cJSON_Delete(changed);
	cJSON_Delete(removed);
	registry_entries(after, entries);
}

struct conflicts {
	cJSON *causes;
	const char *who;
};

static void
add_conflict(void *data, const char *path)
{
	struct conflicts *conflicts = data;

	conflicts->causes = causes_add(
		conflicts->causes, CAUSE_CONFLICT, path, "conflict with %s", conflicts->who);
}

static char *
entry_title(const cJSON *entry)
{
	const char *subresource = json_string(entry, "subresource", ""),
		   *manager = json_string(entry, "manager", "");
	bool update = strcmp(json_string(entry, "operation", ""), "Update") == 0;
	struct buf text = BUF_INIT;
	char *title;

	buf_addf(&text, "\"%s\"", manager);
	if (*subresource)
		buf_addf(&text, " with subresource \"%s\"", subresource);
	if (update)
		buf_addf(&text, " using %s", json_string(entry, "apiVersion", ""));
	title = xstrdup(text.data);
	buf_free(&text);
	return title;
}

static cJSON *
find_conflicts(const cJSON *entries, const cJSON *self, const cJSON *changed)
{
	struct conflicts conflicts = {NULL, NULL};

	for (const cJSON *entry = entries->child; entry && changed; entry = entry->next) {
		cJSON *both = entry == self
				      ? NULL
				      : fields_intersect(tree_get(entry, "fieldsV1"), changed);
		char *who = both ? entry_title(entry) : NULL;

		conflicts.who = who;
		fields_each(both, add_conflict, &conflicts);
		free(who);
		cJSON_Delete(both);
	}
	return conflicts.causes;
}

static char *
conflict_message(const cJSON *causes)
{
	int count = cJSON_GetArraySize(causes);
	const char *last = "";
	struct buf text = BUF_INIT;
	char *message;

	if (count == 1)
		buf_addf(&text, "Apply failed with 1 conflict: %s: %s",
			json_string(causes->child, "message", ""),
			json_string(causes->child, "field", ""));
	else
		buf_addf(&text, "Apply failed with %d conflicts: ", count);
	for (const cJSON *cause = count > 1 ? causes->child : NULL; cause; cause = cause->next) {
		const char *who = json_string(cause, "message", "") + strlen("conflict with ");

		if (strcmp(who, last) != 0)
			buf_addf(&text, "%sconflicts with %s:", cause == causes->child ? "" : "\n",
				who);
		buf_addf(&text, "\n- %s", json_string(cause, "field", ""));
		last = who;
	}
	message = xstrdup(text.data);
	buf_free(&text);
	return message;
}

/* Everything that anyone owns. */
static cJSON *
owned(const cJSON *entries)
{
	cJSON *all = NULL;

	for (const cJSON *entry = entries->child; entry; entry = entry->next) {
		cJSON *more = fields_union(all, tree_get(entry, "fieldsV1"));

		cJSON_Delete(all);
		all = more;
	}
	return all;
}

cJSON *
managed_apply(const cJSON *before, const cJSON *config, const struct manager *manager, bool force,
	cJSON **ret_causes, char **ret_message)
{
	const cJSON *schema = manager->version->schema;
	cJSON *entries = copy_entries(before), *last, *all, *self, *changed, *removed, *causes;
	cJSON *after = before ? cJSON_Duplicate(before, true) : cJSON_CreateObject();

	merge_apply(after, config, schema);
	last = cJSON_Duplicate(tree_get(find_entry(entries, manager, "Apply"), "fieldsV1"), true);
	self = fields_strip_server(fields_of(config, schema));
	if (self || last)
		set_entry(entries, manager, "Apply", self);
	all = owned(entries);
	merge_remove(after, last, all, schema);
	changes(before, after, schema, &changed, &removed);
	causes = force ? NULL
		       : find_conflicts(entries, find_entry(entries, manager, "Apply"), changed);
	if (causes) {
		*ret_causes = causes;
		*ret_message = conflict_message(causes);
		cJSON_Delete(entries);
		cJSON_Delete(after);
		after = NULL;
	} else {
		take_from_others(entries, find_entry(entries, manager, "Apply"), changed);
		take_from_others(entries, find_entry(entries, manager, "Apply"), removed);
		registry_entries(after, entries);
	}
	cJSON_Delete(last);
	cJSON_Delete(all);
	cJSON_Delete(changed);
	cJSON_Delete(removed);
	return after;
}
