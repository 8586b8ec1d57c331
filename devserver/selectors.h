/* SPDX-License-Identifier: Apache-2.0 */
/* Label and field selectors of lists and watches. */
#ifndef DEVSERVER_SELECTORS_H
#define DEVSERVER_SELECTORS_H

#include <stdbool.h>
#include "common/error.h"
#include "devserver/kinds.h"

struct selectors;

/* From the two query parameters (NULL: everything). NULL with the error's text when one can't be read or is not supported. */
struct selectors *selectors_new(
	const char *labels, const char *fields, const struct version *version, struct error *err);
void selectors_free(struct selectors *selectors);
bool selectors_match(const struct selectors *selectors, const struct object *object);
bool selectors_none(const struct selectors *selectors); /* selects everything */

#endif
