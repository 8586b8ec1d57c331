/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions and rendering, and the only user of libjq.
 *
 * A controller's templates (children, status, statusOnError) are JSON in which strings may hold ${ expressions } in jq 1.6. They are compiled to
 * one jq program, whose input is {object, children, vars, error, uuid, item, self}; it yields the values of one group's expressions, and the printer
 * puts them into the group's skeleton: a string that is one expression keeps the value's type, text around an
 * expression makes a string and null or a list or map there is an error, ${spread(list)} in a list puts in its items, $${ is a literal ${. Keys hold none.
 * Each expression must give exactly one value. null drops its key (in a list: the item), also deep within a value, so that none is ever printed.
 *
 * In metadata.labels, metadata.annotations (at any depth) and matchLabels, where Kubernetes takes only strings, numbers and booleans from
 * expressions become strings. Nowhere else.
 *
 * Numbers keep every digit while they are only passed on; arithmetic on one that a double can't hold is an error. tostring and text around keep the digits too.
 *
 * Pure and bounded: template_init() clears the environment; words that reach outside are refused by name; a render ends after its timeout of CPU time (halt flag, set by a
 * one-shot timer signal, SIGVTALRM); results are bounded to 1 MiB a group. Not bounded: a single call of a jq builtin, as .[1000000000] = 1, which ends the process for lack of
 * memory. Not thread-safe: one thread renders; one process has one program or a few.
 */
#ifndef COMMON_TEMPLATE_TEMPLATE_H
#define COMMON_TEMPLATE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/error.h"

/* Where an expression stands: the path of keys below the controller ("children[deploy].template.spec.replicas"). */
#define TEMPLATE_PATH_MAX 256

struct template_problem {
	char path[TEMPLATE_PATH_MAX]; /* of the value that holds it */
	char expression[128];         /* cut to fit, "" when it is not about one */
	unsigned offset;              /* of the trouble within the string, in bytes */
	char text[384];
};

/*
 * The source of a program: groups in the order in which they will be asked for by index. A group is any JSON value; `only_bool` groups (when) are one
 * expression that must yield true or false. Names (children ids) that expressions may use as $children.ID; anything else there is an error.
 */
/*
 * A name that a group's expressions may use as $NAME: the value of another group, which is one expression (let), evaluated where it is used, or what the render brings
 * along. A name's group may use those names that stand before it in the list, which are the first of its own.
 */
#define TEMPLATE_ITEM ((size_t)-1) /* in place of a group: the item of a render (forEach) */
struct template_name {
	const char *name;
	size_t group;
};
struct template_group {
	const char *path; /* "children[deploy].template" */
	const cJSON *value;
	bool boolean;        /* one expression that yields a boolean */
	bool allow_children; /* $children may be used */
	bool allow_error;    /* $error may be used (statusOnError) */
	bool allow_uuid;     /* $uuid may be used (a once field) */
	bool allow_self;     /* $self may be used (readyWhen) */
	bool literal;        /* no expressions: ${ is text */
	const struct template_name *names; /* n_names */
	size_t n_names;
};
struct template_source {
	const struct template_group *groups;
	size_t n_groups;
	const char *const *children_ids; /* n_children */
	size_t n_children;
	const cJSON *vars; /* the value of $vars, an object or NULL */
};

/* Once a process, before any other call: clears the environment that libjq would read, ignores ~/.jq. */
void template_init(void);

/*
 * Checks every expression alone (words, variables, syntax by compiling it), calling report for each problem, then the whole program. Returns the number of problems.
 */
unsigned template_check(const struct template_source *source,
	void (*report)(void *data, const struct template_problem *problem), void *data);

struct template_program;
/* Compiles; the source may go afterwards. NULL with the cause (a checked source does not fail). */
struct template_program *template_compile(const struct template_source *source, struct error *err);
void template_free(struct template_program *program);
/* True if any expression of the group reads $children.ID: `id` by index of children_ids. */
bool template_uses_child(const struct template_program *program, size_t group, size_t child);

/* The changing values of a render, as JSON bytes. */
struct template_input {
	const char *object; /* the parent */
	size_t object_length;
	const char *children; /* {"deploy": {...} or null, ...}, NULL: {} */
	size_t children_length;
	const char *error; /* {"message": "...", "reason": "..."}, NULL: null */
	size_t error_length;
	const char *uuid;   /* text, NULL: null */
	const char *item;   /* JSON, NULL: null */
	size_t item_length;
	const char *self; /* the child that readyWhen is about, NULL: null */
	size_t self_length;
	int64_t timeout_ns; /* 0: 100 ms */
};
/* Renders one group: appends JSON to out (nothing when the whole value is null). 0; -EINVAL with problem filled (path, expression, text); -ETIMEDOUT; -EFBIG. */
int template_render(struct template_program *program, size_t group,
	const struct template_input *input, struct buf *out, struct template_problem *ret_problem);

#endif
