/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of fields in an object, as in createOnly and ignoreFields: spec.replicas, metadata.annotations["example.com/a"]. Maps only; what is in a list has no path of its own. */
#ifndef COMMON_CONFIG_FIELD_PATH_H
#define COMMON_CONFIG_FIELD_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>

#define FIELD_PATH_MAX   512
#define FIELD_STEPS_MAX  16

struct field_path {
	char text[FIELD_PATH_MAX]; /* cut into the steps */
	const char *steps[FIELD_STEPS_MAX];
	size_t n;
};

/* False: it is no such path. */
bool field_path_parse(const char *text, struct field_path *ret);
/* NULL: it is not there. */
const cJSON *field_path_get(const cJSON *object, const struct field_path *path);
/* Takes it out; maps around it that are empty then go too. */
void field_path_remove(cJSON *object, const struct field_path *path);
/* Puts a copy there, with the maps around it. */
void field_path_set(cJSON *object, const struct field_path *path, const cJSON *value);
/* As a Status names a field: ".spec.replicas". */
bool field_path_is(const struct field_path *path, const char *field);
/* The field, or something in it or around it, stands in a fieldsV1 map. */
bool field_path_held(const struct field_path *path, const cJSON *fields);

#endif
