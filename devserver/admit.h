/* SPDX-License-Identifier: Apache-2.0 */
/* What a document passes before it is written. Each function answers the call when it returns false. */
#ifndef DEVSERVER_ADMIT_H
#define DEVSERVER_ADMIT_H

#include "devserver/server.h"

/* Prunes, defaults and checks the whole object that is to be stored; before: as it is, NULL for a create. */
bool admit(struct call *call, cJSON *tree, const cJSON *before);
/* Leaves in an applied document only what this endpoint takes. */
void admit_apply(struct call *call, cJSON *config);
/* Whether an applied document is one of this kind at all. */
bool admit_typed(struct call *call, const cJSON *config);
/* Reads the body as a patch of this content type and patches tree. */
bool admit_patch(struct call *call, const char *type, cJSON *tree);

#endif
