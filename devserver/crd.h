/* SPDX-License-Identifier: Apache-2.0 */
/* CustomResourceDefinitions: their defaults and checks, and the resources they make the server serve. */
#ifndef DEVSERVER_CRD_H
#define DEVSERVER_CRD_H

#include "devserver/server.h"

/* For the table of built-in kinds. */
void default_crd(cJSON *object, const cJSON *old);
void prepare_crd(cJSON *object, const cJSON *old);
cJSON *check_crd(const cJSON *object, const cJSON *old);
/* Tells the client what of an accepted CRD is not enforced. */
void crd_warn(struct call *call, const cJSON *object);

/* A change was made: queues what follows from it. */
void crd_changed(struct api *api, const struct event *event);

#endif
