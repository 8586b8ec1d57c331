/* SPDX-License-Identifier: Apache-2.0 */
/* The causes of a refusal, as a Status lists them. */
#ifndef DEVSERVER_CAUSES_H
#define DEVSERVER_CAUSES_H

#include <cjson/cJSON.h>

#define CAUSE_INVALID   "FieldValueInvalid"
#define CAUSE_REQUIRED  "FieldValueRequired"
#define CAUSE_TYPE      "FieldValueTypeInvalid"
#define CAUSE_ENUM      "FieldValueNotSupported"
#define CAUSE_FORBIDDEN "FieldValueForbidden"
#define CAUSE_LONG      "FieldValueTooLong"
#define CAUSE_MANY      "FieldValueTooMany"
#define CAUSE_DUPLICATE "FieldValueDuplicate"
#define CAUSE_CONFLICT  "FieldManagerConflict"

/* Appends {reason, message, field} to causes, which is made when NULL; returns it. At most 100 are kept. */
cJSON *causes_add(cJSON *causes, const char *reason, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
