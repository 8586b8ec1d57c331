/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about an expression that jq does not compile. */
#ifndef COMMON_TEMPLATE_HINT_H
#define COMMON_TEMPLATE_HINT_H

#include "common/error.h"

/* err holds what jq says of the expression: its text gets what there is instead, where that is known. */
void hint_add(struct error *err, const char *expression);

#endif
