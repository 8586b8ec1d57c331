/* SPDX-License-Identifier: Apache-2.0 */
/* The scale subresource. */
#ifndef DEVSERVER_SCALE_H
#define DEVSERVER_SCALE_H

#include "devserver/server.h"

void scale_handle(struct call *call);

#endif
