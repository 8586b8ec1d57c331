/* SPDX-License-Identifier: Apache-2.0 */
/* A look at certificates and keys before they are used, for errors that say which of them is wrong. */
#ifndef COMMON_KUBE_HTTP_TLS_H
#define COMMON_KUBE_HTTP_TLS_H

#include "common/error.h"
#include "common/kube/kubeconfig.h"

/* 0, or -EINVAL: no certificate in the CA, a certificate or key that can't be read, an encrypted key, a pair that does not match. */
int http_tls_check(const struct kube_target *target, struct error *err);

#endif
