/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server serves. Answers are kept by whoever asked; nothing negative is cached here.
 */
#ifndef COMMON_KUBE_DISCOVERY_H
#define COMMON_KUBE_DISCOVERY_H

#include "common/kube/client.h"
#include "common/kube/path.h"

enum discovery_answer {
	DISCOVERY_FOUND,
	DISCOVERY_MISSING,      /* group, or plural/kind within the version, is not served */
	DISCOVERY_VERSION_GONE, /* the group is served, this version is not; result.message lists the versions that are */
	DISCOVERY_FAILED        /* see result */
};

struct discovery;
/* Looks up by plural (kind "") or by kind (plural ""): fills the rest of resource. done is called once, never from inside. */
struct discovery *discovery_start(struct kube *kube, const struct kube_resource *wanted,
	void (*done)(void *data, enum discovery_answer answer, const struct kube_resource *resource, const struct kube_result *result), void *data);
void discovery_cancel(struct discovery *discovery);

/* For people's spellings (operatorctl): "pods", "po", "nginx", "nginx.stable.underneathall.com", "nginx.v1.stable.underneathall.com";
 * blocking; preferred version when none is given. 0, -ENOENT with a suggestion, or -errno. */
int discovery_find(struct kube *kube, const char *word, struct kube_resource *ret, struct error *err);

#endif
