/* SPDX-License-Identifier: Apache-2.0 */
/* When a source of credentials is asked, for common/kube/client.c alone. Without a source all of it does nothing. */
#ifndef COMMON_KUBE_RENEWAL_H
#define COMMON_KUBE_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>
#include "common/backoff.h"
#include "common/kube/client.h"

struct renewal {
	struct kube_source source; /* ask NULL: none */
	bool asking;
	bool have;                /* a credential was given, which may have expired */
	int64_t expires_wall_ns;  /* 0: never */
	int64_t not_before_ns;    /* of the next question */
	struct backoff backoff;
	char trouble[512]; /* of the last answer, "": it was good */
};

/* What a request has to do: nothing, ask and wait, wait for an answer that is on its way, fail with renewal_trouble(). */
enum renewal_need { RENEWAL_NONE, RENEWAL_ASK, RENEWAL_WAIT, RENEWAL_TROUBLE };

void renewal_init(struct renewal *renewal, const struct kube_source *source);
void renewal_free(struct renewal *renewal);
/* refused: the server has refused what there is. */
enum renewal_need renewal_look(const struct renewal *renewal, bool refused);
void renewal_ask(struct renewal *renewal, void (*answer)(void *owner, const struct kube_credential *credential, const char *why), void *owner);
void renewal_answered(struct renewal *renewal, const struct kube_credential *credential, const char *why);
const char *renewal_trouble(const struct renewal *renewal);

#endif
