/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's state as a table of rules. Keeps nothing but the state that was told last: starting -> discovering -> listing -> live, and the
 * troubles that the watches name themselves, each retried by whoever has it.
 */
#include "config.h"

#include "workers/controller_internal.h"

static bool
is_draining(const struct controller *c, enum worker_state *state, const char **cause)
{
	(void)state;
	(void)cause;
	return c->draining;
}

static bool
is_removing(const struct controller *c, enum worker_state *state, const char **cause)
{
	(void)state;
	(void)cause;
	return c->engine.removing;
}

static bool
primary_troubled(const struct controller *c, enum worker_state *state, const char **cause)
{
	*state = mirror_trouble(c->engine.primary, cause);
	return *state != WORKER_LIVE;
}

static bool
children_troubled(const struct controller *c, enum worker_state *state, const char **cause)
{
	*state = children_trouble(c->engine.children, cause);
	return *state != WORKER_LIVE;
}

static bool
is_discovering(const struct controller *c, enum worker_state *state, const char **cause)
{
	(void)state;
	(void)cause;
	return mirror_phase(c->engine.primary) == MIRROR_DISCOVERING;
}

static bool
is_listing(const struct controller *c, enum worker_state *state, const char **cause)
{
	(void)state;
	(void)cause;
	return mirror_phase(c->engine.primary) != MIRROR_SYNCED ||
	       !children_synced(c->engine.children);
}

static bool
always(const struct controller *c, enum worker_state *state, const char **cause)
{
	(void)c;
	(void)state;
	(void)cause;
	return true;
}

/* The first that holds is the state; the troubles name their own. */
static const struct {
	bool (*holds)(const struct controller *c, enum worker_state *state, const char **cause);
	enum worker_state state;
} rules[] = {
	{is_draining, WORKER_DRAINING},
	{is_removing, WORKER_REMOVING},
	{primary_troubled, WORKER_STATE_MAX},
	{children_troubled, WORKER_STATE_MAX},
	{is_discovering, WORKER_DISCOVERING},
	{is_listing, WORKER_LISTING},
	{always, WORKER_LIVE},
};

void
controller_set_state(struct controller *c)
{
	enum worker_state state = WORKER_STATE_MAX;
	const char *cause = "";
	size_t i = 0;

	while (!rules[i].holds(c, &state, &cause))
		i++;
	if (rules[i].state != WORKER_STATE_MAX) {
		state = rules[i].state;
		cause = "";
	}
	if (state == c->state)
		return;
	c->state = state;
	c->callbacks.state(c->callbacks.data, state, cause);
}
