/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an object and what is known of its children to the writes that should be done. Pure: no I/O, no state but the compiled
 * expressions.
 */
#ifndef WORKERS_PLAN_H
#define WORKERS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "workers/conditions.h"
#include "workers/planner.h"

enum plan_what {
	PLAN_APPLY,  /* body is to be applied */
	PLAN_ABSENT, /* `when` is false: it should not be there */
	PLAN_FAILED  /* not known what it should be: what exists stays; verdict and text say why */
};

struct plan_child {
	size_t child; /* of the configuration */
	enum plan_what what;
	enum verdict verdict;
	char *text;
	char *namespace_, *name; /* PLAN_APPLY; namespace_ "" for a cluster-scoped kind */
	char *item;              /* JSON of the item of forEach, where readyWhen needs it */
	char *body;
	size_t length;
	uint64_t hash; /* of body */
};

struct plan {
	struct plan_child *children; /* in the order of dependsOn, else of the configuration; of forEach in that of its list */
	size_t n;
	bool complete; /* nothing is PLAN_FAILED */
};

/* for_each.c: the list of a child's forEach, a JSON array for the caller; NULL with verdict and text of failed filled. */
cJSON *plan_items(const struct planner *planner, size_t child, const struct plan_object *object,
	struct plan_child *failed);
/* for_each.c: of children that are one object all but the first become PLAN_FAILED. */
void plan_check_names(const struct planner *planner, struct plan *plan);
__attribute__((format(printf, 3, 4))) void plan_fail(
	struct plan_child *child, enum verdict verdict, const char *format, ...);
void plan_fail_render(const struct planner *planner, size_t group, struct plan_child *child,
	const struct template_problem *problem);

/* plan_fields.c: leaves out ignoreFields, and createOnly as far as it is another's. */
void plan_fields(const struct planner *planner, const struct plan_object *object,
	const struct plan_child *child, cJSON *body);
/* Of an object that is there already, and is not known: leaves out the fields of createOnly in given (bit i: the i-th); body and hash are new. */
void plan_leave_out(const struct config_child *config, struct plan_child *child, uint32_t given);
void plan_print_body(struct plan_child *child, const cJSON *body);

/* kinds[i]: what child i is on the server, NULL while that is not known (then it is PLAN_FAILED, WaitingForChild). */
void plan_children(const struct planner *planner, const struct plan_object *object,
	const struct kube_resource *const *kinds, struct plan *ret);
void plan_clear(struct plan *plan);

/*
 * The status of a success: 0 and *ret, a new object without conditions (NULL when the configuration has no status). A once field keeps the
 * value that live has; one that is absent, null, empty, or equal to what statusOnError gives for that key counts as not
 * set, and is rendered with a new UUID at hand. -errno with verdict and text (capacity n) filled otherwise: RenderFailed, or WaitingForChild where the
 * expressions read children.
 */
int plan_status(const struct planner *planner, const struct plan_object *object, const cJSON *live,
	cJSON **ret, enum verdict *ret_verdict, char *text, size_t n);
/*
 * The status of a failure, from statusOnError: NULL when there is none or it can't be rendered. A once field that was
 * set by a success keeps its value.
 */
cJSON *plan_status_on_error(const struct planner *planner, const struct plan_object *object,
	const cJSON *live, const char *reason, const char *message);

#endif
