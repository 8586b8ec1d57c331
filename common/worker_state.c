/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the workers' states, from the one list. */
#include "config.h"

#include "common/worker_state.h"

static const struct {
	const char *name, *meaning;
} states[WORKER_STATE_MAX] = {
#define X(name, word, meaning) [WORKER_##name] = {word, meaning},
	WORKER_STATES(X)
#undef X
};

const char *
worker_state_name(enum worker_state state)
{
	return (unsigned)state < WORKER_STATE_MAX ? states[state].name : "unknown";
}

const char *
worker_state_meaning(enum worker_state state)
{
	return (unsigned)state < WORKER_STATE_MAX ? states[state].meaning : "";
}
