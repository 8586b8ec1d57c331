/* SPDX-License-Identifier: Apache-2.0 */
/* Tables (meta.k8s.io/v1): what kubectl get shows, from a version's printer columns. */
#ifndef DEVSERVER_TABLE_H
#define DEVSERVER_TABLE_H

#include "common/buf.h"
#include "devserver/server.h"

void table_columns(struct buf *out, const struct call *call);
/* tree: the object in the form of the call's version. */
void table_row(struct buf *out, const struct call *call, const cJSON *tree);

#endif
