/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks as little as it can: a credential is used until it expires or is refused (E23), a source in trouble is given time, and one that gives what is
 * expired or refused already is not asked for every request.
 */
#include "config.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/kube/renewal.h"

/* After an answer that was good, as far as the source could tell. */
#define REST_NS (5 * NSEC_PER_SEC)

static const struct backoff_policy policy = {
	.first_ns = NSEC_PER_SEC, .max_ns = 30 * NSEC_PER_SEC, .factor = 2, .jitter = 0.1};

void
renewal_init(struct renewal *renewal, const struct kube_source *source)
{
	*renewal = (struct renewal){.source = *source};
}

void
renewal_free(struct renewal *renewal)
{
	if (renewal->source.free != NULL)
		renewal->source.free(renewal->source.data);
	renewal->source = (struct kube_source){0};
}

enum renewal_need
renewal_look(const struct renewal *renewal, bool refused)
{
	bool good = renewal->have &&
		    (renewal->expires_wall_ns == 0 || clock_wall_ns() < renewal->expires_wall_ns);

	if (renewal->source.ask == NULL || (good && !refused))
		return RENEWAL_NONE;
	if (renewal->asking)
		return RENEWAL_WAIT;
	if (clock_monotonic_ns() >= renewal->not_before_ns)
		return RENEWAL_ASK;
	/* Nothing better is to be had now: the server may say what it thinks of it. */
	return renewal->trouble[0] == '\0' || (good && refused) ? RENEWAL_NONE : RENEWAL_TROUBLE;
}

void
renewal_ask(struct renewal *renewal,
	void (*answer)(void *owner, const struct kube_credential *credential, const char *why),
	void *owner)
{
	renewal->asking = true;
	renewal->source.ask(renewal->source.data, answer, owner);
}

void
renewal_answered(struct renewal *renewal, const struct kube_credential *credential, const char *why)
{
	int64_t now_ns = clock_monotonic_ns();

	renewal->asking = false;
	if (credential == NULL) {
		(void)snprintf(renewal->trouble, sizeof(renewal->trouble), "%s", why);
		renewal->not_before_ns =
			now_ns + backoff_next(&renewal->backoff, &policy, now_ns, clock_random());
		return;
	}
	renewal->have = true;
	renewal->expires_wall_ns = credential->expires_wall_ns;
	renewal->trouble[0] = '\0';
	renewal->not_before_ns = now_ns + REST_NS;
	backoff_good(&renewal->backoff, &policy, now_ns);
}

const char *
renewal_trouble(const struct renewal *renewal)
{
	return renewal->trouble;
}
