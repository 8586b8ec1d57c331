/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs get and list. */
#ifndef DEVSERVER_READ_H
#define DEVSERVER_READ_H

#include "devserver/server.h"

void read_get(struct call *call);
void read_list(struct call *call);
/* A resourceVersion parameter. false: answered, it is no number. Absent and "" give 0. */
bool read_version(struct call *call, uint64_t *ret);

#endif
