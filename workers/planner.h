/* SPDX-License-Identifier: Apache-2.0 */
/* A controller's expressions, compiled once, and the rendering of one group of them for one object. */
#ifndef WORKERS_PLANNER_H
#define WORKERS_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/buf.h"
#include "common/config/config.h"
#include "common/kube/path.h"
#include "common/template/template.h"

struct planner {
	const struct config_controller *config;
	const struct kube_resource *resource; /* the parent's, discovered */
	struct config_templates *templates;
	struct template_program *program;
	char **status_keys; /* top-level keys of status and statusOnError, n_status_keys */
	size_t n_status_keys;
};
/* config and resource must outlive it. 0 or -errno with the cause. */
int planner_init(struct planner *planner, const struct config_controller *config,
	const struct kube_resource *resource, struct error *err);
void planner_clear(struct planner *planner);
/* True if any expression reads the child; if an expression of this group reads any child. */
bool planner_reads_child(const struct planner *planner, size_t child);
bool planner_group_reads_children(const struct planner *planner, size_t group);

struct plan_live {
	const char *bytes;
	size_t length;
	uint32_t taken; /* bit i: another manager owns the i-th field of createOnly */
};

/* The parent as it is now; strings are the caller's. */
struct plan_object {
	const char *bytes;
	size_t length;
	const char *namespace_, *name, *uid;
	const char *children; /* JSON for $children, NULL: {} */
	size_t children_length;
	const char *item; /* JSON of the item of forEach that is rendered for, NULL: none */
	size_t item_length;
	const char *self; /* the child that readyWhen is about, NULL: none */
	size_t self_length;
	/* The child of this name as it is known, for fields of createOnly; NULL: none is known. */
	bool (*live)(void *data, size_t child, const char *namespace_, const char *name,
		struct plan_live *ret);
	void *live_data;
};

/* One group; error: {"message": ..., "reason": ...} or NULL; uuid: text or NULL. As template_render(). */
int planner_render(const struct planner *planner, size_t group, const struct plan_object *object,
	const char *error, const char *uuid, struct buf *out, struct template_problem *ret_problem);
/* "children[deploy].template.spec: ${.spec.x}: it is null", cut to n. */
void planner_problem_text(const struct template_problem *problem, char *text, size_t n);

#endif
