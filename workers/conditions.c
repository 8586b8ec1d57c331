/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the list of conditions. Owns nothing; the array it returns is the caller's. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "workers/conditions.h"

static const struct {
	const char *name, *ready;
	bool stalled, reconciling;
} verdicts[VERDICT_MAX] = {
	[VERDICT_SUCCEEDED] = {"Succeeded", "True", false, false},
	[VERDICT_WAITING_FOR_CHILD] = {"WaitingForChild", "False", false, true},
	[VERDICT_RENDER_FAILED] = {"RenderFailed", "False", true, false},
	[VERDICT_APPLY_CONFLICT] = {"ApplyConflict", "False", true, false},
	[VERDICT_APPLY_REJECTED] = {"ApplyRejected", "False", true, false},
	[VERDICT_FORBIDDEN] = {"Forbidden", "False", true, false},
	[VERDICT_PAUSED] = {"Paused", "Unknown", false, false},
	[VERDICT_QUARANTINED] = {"Quarantined", "False", true, false},
	[VERDICT_PRUNE_BLOCKED] = {"PruneBlocked", "False", true, false},
	[VERDICT_DELETING] = {"Deleting", "False", false, true},
	[VERDICT_FINALIZER_STUCK] = {"FinalizerStuck", "False", true, false},
	[VERDICT_UNAVAILABLE] = {"Unavailable", "Unknown", false, true},
};

const char *
verdict_name(enum verdict verdict)
{
	return verdicts[verdict].name;
}

bool
verdict_stalled(enum verdict verdict)
{
	return verdicts[verdict].stalled;
}

size_t
conditions_cut(const char *text, size_t max)
{
	size_t n = strnlen(text, max + 1);

	if (n <= max)
		return n;
	/* Byte max is the first that goes: step back while it would be inside a character. */
	for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

static const cJSON *
find(const cJSON *conditions, const char *type)
{
	const cJSON *condition;

	cJSON_ArrayForEach(condition, conditions) if (strcmp(json_string(condition, "type", ""),
							      type) == 0) return condition;
	return NULL;
}

struct wanted {
	enum verdict verdict;
	const char *message;
	int64_t observed_generation;
	const char *now;
};

static cJSON *
make(const cJSON *live, const struct wanted *wanted, const char *type, const char *status)
{
	const cJSON *old = find(live, type);
	const char *since = json_string(old, "lastTransitionTime", "");
	cJSON *condition = cJSON_CreateObject();
	char *message =
		xstrndup(wanted->message, conditions_cut(wanted->message, CONDITION_MESSAGE_MAX));

	if (*since == '\0' || strcmp(json_string(old, "status", ""), status) != 0)
		since = wanted->now;
	cJSON_AddStringToObject(condition, "type", type);
	cJSON_AddStringToObject(condition, "status", status);
	cJSON_AddStringToObject(condition, "reason", verdict_name(wanted->verdict));
	cJSON_AddStringToObject(condition, "message", message);
	cJSON_AddStringToObject(condition, "lastTransitionTime", since);
	if (wanted->observed_generation > 0)
		cJSON_AddNumberToObject(
			condition, "observedGeneration", (double)wanted->observed_generation);
	free(message);
	return condition;
}

/* The status that a condition of ours should have; NULL: it should not be there. */
static const char *
wanted_status(enum verdict verdict, const char *type)
{
	if (strcmp(type, "Ready") == 0)
		return verdicts[verdict].ready;
	if (strcmp(type, "Reconciling") == 0)
		return verdicts[verdict].reconciling ? "True" : NULL;
	return verdicts[verdict].stalled ? "True" : NULL;
}

cJSON *
conditions_merge(const cJSON *live, enum verdict verdict, const char *message,
	int64_t observed_generation, const char *now)
{
	static const char *const ours[] = {"Ready", "Reconciling", "Stalled"};
	const struct wanted wanted = {verdict, message, observed_generation, now};
	cJSON *merged = cJSON_CreateArray();
	bool done[3] = {false, false, false};
	const cJSON *condition;

	/* In the order they have: another writer's order must not lead to a write of ours. */
	cJSON_ArrayForEach(condition, live)
	{
		const char *type = json_string(condition, "type", "");
		int i = 0;

		while (i < 3 && strcmp(type, ours[i]) != 0)
			i++;
		if (i == 3)
			cJSON_AddItemToArray(merged, cJSON_Duplicate(condition, true));
		else if (!done[i] && wanted_status(verdict, type) != NULL)
			cJSON_AddItemToArray(
				merged, make(live, &wanted, type, wanted_status(verdict, type)));
		if (i < 3)
			done[i] = true;
	}
	for (int i = 0; i < 3; i++)
		if (!done[i] && wanted_status(verdict, ours[i]) != NULL)
			cJSON_AddItemToArray(merged,
				make(live, &wanted, ours[i], wanted_status(verdict, ours[i])));
	return merged;
}
