/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a file's YAML tree to its settings as JSON, with all problems collected. Only what is written: defaults come later (effective.h).
 * Inside the checker's half of the folder; nobody else needs it.
 */
#ifndef COMMON_CONFIG_VALIDATE_H
#define COMMON_CONFIG_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "common/buf.h"
#include "common/config/problems.h"
#include "common/config/schema.h"
#include "common/yaml.h"

/* Where the walk through the tree is, and what it found wrong. */
struct validator {
	struct problems *problems;
	struct buf path; /* "controllers[nginx].retry" */
};

/*
 * Checks a file's top level (place SCHEMA_MAIN or SCHEMA_FRAGMENT). Always an object: what is wrong is left out of it. "controllers" has an
 * object for each item of the YAML list, in its order. "vars" still has its {fromEnv: NAME}.
 */
cJSON *validate_file(const struct yaml_node *tree, enum schema_place place,
	struct problems *problems);

/* --- for the parts of the walk --- */

/* Steps into a key, an item of a list by number, or by its name; each returns what validator_back() needs. */
size_t validator_key(struct validator *v, const char *key);
size_t validator_index(struct validator *v, size_t index);
size_t validator_item(struct validator *v, const char *name);
void validator_back(struct validator *v, size_t length);
/* A problem with a value, or (complain_key) with a key as such. */
void complain(struct validator *v, const struct yaml_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void complain_key(struct validator *v, const struct yaml_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* special_value.c: keys with a form of their own. NULL after a problem. */
cJSON *special_namespaces(struct validator *v, const struct yaml_node *node);
cJSON *special_vars(struct validator *v, const struct yaml_node *map);
cJSON *special_texts(struct validator *v, const struct yaml_node *node);
cJSON *special_text_lists(struct validator *v, const struct yaml_node *node);
cJSON *special_let(struct validator *v, const struct yaml_node *map);  /* names.c: [{"name": "${...}"}, ...] */
cJSON *special_each(struct validator *v, const struct yaml_node *map); /* {"name": "${...}"} */
/* Names that mean two things. */
void names_check_controller(struct validator *v, const struct yaml_node *controller);
cJSON *special_ids(struct validator *v, const struct yaml_node *list); /* depends.c */
/* dependsOn: ids that are there, no cycles. */
void depends_check_controller(struct validator *v, const struct yaml_node *controller);
cJSON *special_paths(struct validator *v, const struct yaml_node *list); /* child_fields.c */
void child_fields_check(struct validator *v, const struct yaml_node *child);
cJSON *special_condition(struct validator *v, const struct yaml_node *node);

/* free_value.c: a value without a type of its own (vars, templates). NULL if the walk through it found problems. */
cJSON *free_value(struct validator *v, const struct yaml_node *node, bool literal);
/* Values of a map that the API takes only as text (labels, a ConfigMap's data). */
void free_text_values(struct validator *v, const struct yaml_node *map);
/* True if the text holds "${". */
bool free_has_expression(const struct yaml_node *node);

/* child.c: the rules of templates, beyond their keys' types. */
void child_check(struct validator *v, const struct yaml_node *child, bool literal);
/* child_ties.c: owner and deletion, and what they ask of each other; free: the child may be in any namespace. */
bool child_ties_check(struct validator *v, const struct yaml_node *child);
void child_check_status(struct validator *v, const struct yaml_node *status, bool on_error);
/* Duplicate ids, and two children that would be one object. */
void child_check_list(struct validator *v, const struct yaml_node *list);

#endif
