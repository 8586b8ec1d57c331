/* SPDX-License-Identifier: Apache-2.0 */
/* A count and a decision, which is made once. */
#include "config.h"

#include "workers/prune.h"

static bool
decide(struct prune_gate *gate)
{
	if (gate->decided || !gate->listed || gate->left > 0)
		return false;
	gate->decided = true;
	return true;
}

void
prune_gate_expect(struct prune_gate *gate)
{
	if (!gate->decided)
		gate->left++;
}

bool
prune_gate_listed(struct prune_gate *gate)
{
	gate->listed = true;
	return decide(gate);
}

bool
prune_gate_seen(struct prune_gate *gate)
{
	if (gate->left > 0)
		gate->left--;
	return decide(gate);
}

enum prune_answer
prune_gate_ask(struct prune_gate *gate, bool initial, bool held, size_t n)
{
	if (!initial && !held)
		return PRUNE_GO;
	if (!gate->decided) {
		if (!held)
			gate->counted += n;
		return PRUNE_HOLD;
	}
	return gate->counted > gate->max ? PRUNE_BLOCKED : PRUNE_GO;
}
