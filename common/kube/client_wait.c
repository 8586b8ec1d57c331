/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait for a credential: parked in the client's list, without an HTTP request, until the source has answered. Then they are sent, or fail with
 * the source's words. When to ask is renewal.c's.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/kube/client_internal.h"
#include "common/log.h"

static struct kube_request *
find_parked(struct kube *kube)
{
	struct kube_request *r;

	LIST_FOREACH(r, &kube->requests, link)
	if (r->parked && r->batch != kube->batch)
		break;
	return r;
}

static void
fail_parked(struct kube_request *r)
{
	struct kube_result result = {.outcome = KUBE_UNAUTHORIZED,
		.body = "",
		.duration_ns = clock_monotonic_ns() - r->started_ns};
	const char *trouble = renewal_trouble(&r->kube->renewal);

	(void)snprintf(result.message, sizeof(result.message), "%s",
		*trouble != '\0' ? trouble : "out of memory");
	log_apply_mask(result.message);
	LIST_REMOVE(r, link);
	r->done(r->callbacks.data, &result);
	kube_request_free(r);
}

/* Those that are parked by now, and not what their owners start meanwhile. */
static void
release_parked(struct kube *kube, bool send)
{
	struct kube_request *r;

	kube->batch++;
	kube->releasing = true;
	/* Freed, it has no requests. */
	while ((r = find_parked(kube)) != NULL) {
		r->parked = false;
		if (!send || kube_request_send(r) < 0)
			fail_parked(r);
	}
	kube->releasing = false;
	if (kube->dead)
		free(kube);
}

static void
on_credential(void *data, const struct kube_credential *credential, const char *why)
{
	struct kube *kube = data;

	renewal_answered(&kube->renewal, credential, why);
	if (credential != NULL && credentials_set(&kube->credentials, credential))
		kube_renew_identity(kube, "client certificates");
	release_parked(kube, credential != NULL);
}

static void
on_trouble(void *data)
{
	struct kube *kube = data;

	if (!kube->renewal.asking)
		release_parked(kube, false);
}

bool
kube_await_credential(struct kube_request *r, bool refused)
{
	struct kube *kube = r->kube;

	switch (renewal_look(&kube->renewal, refused)) {
	case RENEWAL_NONE:
		return false;
	case RENEWAL_ASK:
		renewal_ask(&kube->renewal, on_credential, kube);
		break;
	case RENEWAL_TROUBLE:
		loop_timer_set(kube->trouble, 0);
		break;
	case RENEWAL_WAIT:
		break;
	}
	r->parked = true;
	r->batch = kube->batch;
	return true;
}

void
kube_use_source(struct kube *kube, const struct kube_source *source)
{
	renewal_init(&kube->renewal, source);
	kube->trouble = loop_timer_new(kube->loop, on_trouble, kube);
}
