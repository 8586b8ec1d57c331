/* SPDX-License-Identifier: Apache-2.0 */
/* Who somebody is on a server whose address and certificate authority come from elsewhere: another user than the kubeconfig's, and whom to impersonate. */
#ifndef COMMON_KUBE_IDENTITY_H
#define COMMON_KUBE_IDENTITY_H

#include <cjson/cJSON.h>
#include "common/error.h"
#include "common/kube/kubeconfig.h"

#define IDENTITY_HEADERS_MAX 256

struct kube_identity {
	const char *token_file;                  /* NULL: none */
	const char *certificate_file, *key_file; /* PEM, both or neither; not beside token_file */
	const char *user, *uid;                  /* to impersonate; user NULL: nobody */
	const cJSON *groups;                     /* array of texts, NULL: none */
	const cJSON *extra;                      /* object of arrays of texts, NULL: none */
};

/*
 * Puts the identity in the place of the target's own: a token or certificate replaces every credential that it had, and whom it impersonated; user replaces
 * whom it impersonated. Without any of them nothing changes. target->source says so, for people. 0, or -errno with the file and the cause.
 */
int identity_apply(const struct kube_identity *identity, struct kube_target *target, struct error *err);

/* For kubeconfig_user.c: one header of the request, as https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation has it.
 * -EINVAL for what no header can carry, -E2BIG. */
int identity_add_header(struct kube_target *target, const char *header, const char *value, struct error *err);
/* "Impersonate-Extra-KEY": free(). NULL: no memory. */
char *identity_extra_header(const char *key);

#endif
