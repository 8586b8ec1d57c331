/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an object is ready, by its kind: as `kubectl rollout status` sees Deployments, StatefulSets and DaemonSets, and kstatus
 * (sigs.k8s.io/cli-utils/pkg/kstatus) the others. Pure. A Job is ready when it is complete; kinds that are not known here by observedGeneration and the conditions Ready, Reconciling and
 * Stalled, and ready where they have none.
 */
#ifndef WORKERS_READINESS_H
#define WORKERS_READINESS_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>

/* False: text (capacity n) says what is missing, as in "1 of 3 replicas are available". group: "apps", "" for the core's. */
bool readiness_of(const char *group, const char *kind, const cJSON *body, char *text, size_t n);

#endif
