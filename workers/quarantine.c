/* SPDX-License-Identifier: Apache-2.0 */
/* Few objects, if any: the list is searched from end to end. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/quarantine.h"

struct quarantine {
	struct worker_suspect *list;
	size_t n;
};

struct quarantine *
quarantine_new(const struct worker_suspect *suspects, size_t n)
{
	struct quarantine *quarantine = xcalloc(1, sizeof(*quarantine));

	quarantine->list = xcalloc(n + 1, sizeof(*quarantine->list));
	quarantine->n = n;
	for (size_t i = 0; i < n; i++)
		quarantine->list[i] = suspects[i];
	return quarantine;
}

void
quarantine_free(struct quarantine *quarantine)
{
	if (quarantine == NULL)
		return;
	free(quarantine->list);
	free(quarantine);
}

static struct worker_suspect *
find(const struct quarantine *quarantine, const char *namespace_, const char *name)
{
	char key[SCOREBOARD_KEY_MAX];

	if (quarantine->n == 0)
		return NULL;
	scoreboard_key(namespace_, name, key);
	for (size_t i = 0; i < quarantine->n; i++)
		if (strcmp(quarantine->list[i].key, key) == 0)
			return &quarantine->list[i];
	return NULL;
}

bool
quarantine_holds(const struct quarantine *quarantine, const struct store_view *view, char *text,
	size_t size, int64_t *ret_left_ns)
{
	const struct worker_suspect *suspect = find(quarantine, view->namespace_, view->name);
	int64_t left_ns;

	if (suspect == NULL || suspect->version != view->fingerprint)
		return false;
	left_ns = suspect->until_ns - clock_monotonic_ns();
	if (left_ns <= 0)
		return false;
	snprintf(text, size,
		"its worker ended %u times at work on it, the last time: %s; it is left alone "
		"until it is changed, or tried "
		"again after a while",
		suspect->deaths, suspect->cause);
	*ret_left_ns = left_ns;
	return true;
}

bool
quarantine_leave(struct quarantine *quarantine, const char *namespace_, const char *name)
{
	struct worker_suspect *suspect = find(quarantine, namespace_, name);

	if (suspect == NULL)
		return false;
	*suspect = quarantine->list[--quarantine->n];
	return true;
}
