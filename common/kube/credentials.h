/* SPDX-License-Identifier: Apache-2.0 */
/* What proves who we are, kept fresh: token files and certificate files that others rotate under us. */
#ifndef COMMON_KUBE_CREDENTIALS_H
#define COMMON_KUBE_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>
#include "common/error.h"
#include "common/kube/client.h"
#include "common/kube/kubeconfig.h"

struct credentials {
	struct kube_target *target; /* not owned; its PEM texts are replaced when their files change */
	char *authorization;        /* header value, NULL: none */
	int64_t read_ns;            /* when the token file was read */
	unsigned generation;        /* grows with each change */
	bool token_trouble, files_trouble; /* said once */
};

/* Reads the token file. 0, or -errno with the path. */
int credentials_init(struct credentials *c, struct kube_target *target, struct error *err);
void credentials_clear(struct credentials *c);
/* Reads the token file again when it was read 60 s ago or more; force: at once. On failure the old token stays. */
void credentials_refresh_token(struct credentials *c, bool force);
/* Reads certificate files again; true when any has changed. On failure all stay as they are. */
bool credentials_refresh_files(struct credentials *c);
/* Takes over what a source gave; its certificate replaces the target's. Whether a certificate has changed. */
bool credentials_set(struct credentials *c, const struct kube_credential *given);

#endif
