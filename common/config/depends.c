/* SPDX-License-Identifier: Apache-2.0 */
/* dependsOn: which children wait for which. Checked in the tree, where an error has its place; resolved to numbers and an order when a document is decoded. */
#include <config.h> /* of the build, not the one beside this file */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/config/validate.h"
#include "common/memory.h"

cJSON *
special_ids(struct validator *v, const struct yaml_node *list)
{
	cJSON *array;

	if (list->type != YAML_LIST || !list->children) {
		complain(v, list, "expected a list of children's ids, such as [deploy]");
		return NULL;
	}
	array = cJSON_CreateArray();
	for (const struct yaml_node *item = list->children; item; item = item->next) {
		const struct yaml_node *twin = list->children;

		if (!item->text || !syntax_is_label(item->text, item->length)) {
			complain(v, item, "expected the id of a child");
			continue;
		}
		while (twin != item && !(twin->text && !strcmp(twin->text, item->text)))
			twin = twin->next;
		if (twin != item)
			complain(v, item, "%.63s is named twice", item->text);
		else
			cJSON_AddItemToArray(array, cJSON_CreateString(item->text));
	}
	return array;
}

/* --- in the tree --- */

static const struct yaml_node *
child_of(const struct yaml_node *list, const char *id)
{
	for (const struct yaml_node *child = list->children; child; child = child->next) {
		const struct yaml_node *own = child->type == YAML_MAP ? yaml_get(child, "id") : NULL;

		if (own && own->text && !strcmp(own->text, id))
			return child;
	}
	return NULL;
}

static const struct yaml_node *
depends_of(const struct yaml_node *child)
{
	const struct yaml_node *list = yaml_get(child, "dependsOn");

	return list && list->type == YAML_LIST ? list->children : NULL;
}

/* A way from one child to another along dependsOn, its ids appended; a way visits no more children than there are. */
static bool
leads_to(const struct yaml_node *list, const struct yaml_node *from, const struct yaml_node *to,
	unsigned steps, struct buf *way)
{
	size_t length = way->length;

	for (const struct yaml_node *item = depends_of(from); item && steps; item = item->next) {
		const struct yaml_node *next = item->text ? child_of(list, item->text) : NULL;

		if (!next)
			continue;
		buf_addf(way, " -> %.63s", item->text);
		if (next == to || leads_to(list, next, to, steps - 1, way))
			return true;
		way->length = length;
	}
	return false;
}

/* Each child that has been found to lead nowhere is not looked at again. */
static void
check_child(struct validator *v, const struct yaml_node *list, const struct yaml_node *child)
{
	size_t back = validator_key(v, "dependsOn");

	for (const struct yaml_node *item = depends_of(child); item; item = item->next) {
		const struct yaml_node *other = item->text ? child_of(list, item->text) : NULL;

		if (!item->text)
			continue;
		if (!other)
			complain(v, item, "no child has the id %.63s", item->text);
		else if (other == child)
			complain(v, item, "a child can't wait for itself");
	}
	validator_back(v, back);
}

/* By taking away, again and again, what waits for nothing that is left: what remains waits for itself. */
static void
check_cycles(struct validator *v, const struct yaml_node *list, const struct yaml_node **left,
	size_t n)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (size_t i = 0; i < n; i++) {
			bool waits = false;

			for (const struct yaml_node *item = depends_of(left[i]); item;
				item = item->next) {
				const struct yaml_node *other =
					item->text ? child_of(list, item->text) : NULL;

				for (size_t k = 0; k < n && !waits; k++)
					waits = left[k] == other;
			}
			if (waits)
				continue;
			left[i--] = left[--n];
			moved = true;
		}
	}
	if (n > 0) {
		/* From anywhere in what is left, n steps end in a cycle; the way is shown from there. */
		const struct yaml_node *at = left[0];
		struct buf way = BUF_INIT_LIMIT(8192);

		for (size_t i = 0; i < n; i++)
			for (const struct yaml_node *item = depends_of(at); item; item = item->next) {
				const struct yaml_node *other = child_of(list, item->text);
				size_t k = 0;

				while (k < n && left[k] != other)
					k++;
				if (k < n) {
					at = other;
					break;
				}
			}
		buf_adds(&way, yaml_get(at, "id")->text);
		if (n <= 8 && leads_to(list, at, at, (unsigned)n, &way))
			complain(v, yaml_get(at, "dependsOn"), "waits for itself: %s", way.data);
		else
			complain(v, yaml_get(at, "dependsOn"), "waits for itself, by others");
		buf_free(&way);
	}
}

void
depends_check_controller(struct validator *v, const struct yaml_node *controller)
{
	const struct yaml_node *list = yaml_get(controller, "children");
	const struct yaml_node *left[CONFIG_CHILDREN_MAX];
	size_t n = 0, back;

	if (!list || list->type != YAML_LIST)
		return;
	for (const struct yaml_node *child = list->children; child && n < CONFIG_CHILDREN_MAX;
		child = child->next) {
		const struct yaml_node *id =
			child->type == YAML_MAP ? yaml_get(child, "id") : NULL;

		if (!id || !id->text)
			continue;
		back = validator_key(v, "children");
		validator_item(v, id->text);
		check_child(v, list, child);
		validator_back(v, back);
		if (child == child_of(list, id->text))
			left[n++] = child;
	}
	/* One that waits for itself alone was told already. */
	for (size_t i = 0; i < n; i++)
		for (const struct yaml_node *item = depends_of(left[i]); item; item = item->next)
			if (item->text && child_of(list, item->text) == left[i])
				return;
	back = validator_key(v, "children");
	check_cycles(v, list, left, n);
	validator_back(v, back);
}

/* --- in the structs --- */

static int
resolve(struct config_controller *controller, struct config_child *child)
{
	const cJSON *id;

	child->depends = xcalloc((size_t)cJSON_GetArraySize(child->depends_on) + 1,
		sizeof *child->depends);
	cJSON_ArrayForEach(id, child->depends_on)
	{
		size_t i = 0;

		while (i < controller->n_children &&
			!(cJSON_IsString(id) &&
				!strcmp(controller->children[i].id, id->valuestring)))
			i++;
		if (i == controller->n_children)
			return -EBADMSG;
		controller->children[i].awaited = true;
		child->depends[child->n_depends++] = i;
	}
	return 0;
}

static bool
may_follow(const struct config_child *child, const bool *done)
{
	for (size_t k = 0; k < child->n_depends; k++)
		if (!done[child->depends[k]])
			return false;
	return true;
}

int
config_decode_depends(struct config_controller *controller)
{
	bool done[CONFIG_CHILDREN_MAX] = {false};
	size_t n = 0, before;

	for (size_t i = 0; i < controller->n_children; i++) {
		struct config_child *child = &controller->children[i];

		child->awaited = child->awaited || child->ready_when;
		if (resolve(controller, child) < 0)
			return -EBADMSG;
	}
	controller->order = xcalloc(controller->n_children + 1, sizeof *controller->order);
	do {
		before = n;
		for (size_t i = 0; i < controller->n_children; i++) {
			if (done[i] || !may_follow(&controller->children[i], done))
				continue;
			done[i] = true;
			controller->order[n++] = i;
		}
	} while (n > before);
	return n == controller->n_children ? 0 : -EBADMSG;
}
