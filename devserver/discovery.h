/* SPDX-License-Identifier: Apache-2.0 */
/* What is served: /api, /apis, /version and the OpenAPI documents. */
#ifndef DEVSERVER_DISCOVERY_H
#define DEVSERVER_DISCOVERY_H

#include "devserver/server.h"

/* Answers a path that names no resource; false: not one of these. */
bool discovery_handle(struct call *call);
void openapi_handle(struct call *call); /* /openapi/... */

#endif
