/* SPDX-License-Identifier: Apache-2.0 */
/* Few objects, if any: the list is searched from end to end. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/scoreboard.h"
#include "workers/conditions.h"
#include "workers/quarantine.h"

struct held {
	struct worker_suspect suspect;
	uint64_t version; /* of the object when it was first left alone, 0: not yet */
};

struct quarantine {
	struct held *list;
	size_t n;
};

struct quarantine *
quarantine_new(const struct worker_suspect *suspects, size_t n)
{
	struct quarantine *quarantine = xcalloc(1, sizeof(*quarantine));

	quarantine->list = xcalloc(n + 1, sizeof(*quarantine->list));
	quarantine->n = n;
	for (size_t i = 0; i < n; i++)
		quarantine->list[i].suspect = suspects[i];
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

static struct held *
find(const struct quarantine *quarantine, const char *namespace_, const char *name)
{
	char key[SCOREBOARD_KEY_MAX];

	if (quarantine->n == 0)
		return NULL;
	scoreboard_key(namespace_, name, key);
	for (size_t i = 0; i < quarantine->n; i++)
		if (strcmp(quarantine->list[i].suspect.key, key) == 0)
			return &quarantine->list[i];
	return NULL;
}

/* An earlier life wrote the condition for another generation: people changed the object since. */
static bool
changed_since(const struct store_view *view)
{
	cJSON *object = json_parse(view->bytes, view->length, NULL);
	const cJSON *condition, *conditions = json_get(object, "status", "conditions", NULL);
	bool changed = false;

	cJSON_ArrayForEach(condition, conditions)
	{
		if (strcmp(json_string(condition, "type", ""), "Ready") == 0 &&
			strcmp(json_string(condition, "reason", ""),
				verdict_name(VERDICT_QUARANTINED)) == 0)
			changed = json_int(condition, "observedGeneration", view->generation) !=
				  view->generation;
	}
	cJSON_Delete(object);
	return changed;
}

bool
quarantine_holds(struct quarantine *quarantine, const struct store_view *view, char *text,
	size_t size, int64_t *ret_left_ns)
{
	struct held *held = find(quarantine, view->namespace_, view->name);
	int64_t left_ns;

	if (held == NULL || held->suspect.until_ns == 0)
		return false;
	left_ns = held->suspect.until_ns - clock_monotonic_ns();
	if (left_ns > 0 && held->version == 0 && !changed_since(view))
		held->version = view->fingerprint;
	if (left_ns <= 0 || held->version != view->fingerprint) {
		held->suspect.until_ns = 0;
		return false;
	}
	snprintf(text, size,
		"its worker ended %u times at work on it, the last time: %s; it is left alone "
		"until it is changed, or tried "
		"again after a while",
		held->suspect.deaths, held->suspect.cause);
	*ret_left_ns = left_ns;
	return true;
}

bool
quarantine_leave(struct quarantine *quarantine, const char *namespace_, const char *name)
{
	struct held *held = find(quarantine, namespace_, name);

	if (held == NULL)
		return false;
	*held = quarantine->list[--quarantine->n];
	return true;
}
