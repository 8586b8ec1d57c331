/* SPDX-License-Identifier: Apache-2.0 */
/* The list is short and looked at when a worker dies: it is searched from end to end. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "supervisor/poison.h"

static struct worker_suspect *
find(const struct poison *poison, const char *key)
{
	for (size_t i = 0; i < poison->n; i++)
		if (strcmp(poison->suspects[i].key, key) == 0)
			return &poison->suspects[i];
	return NULL;
}

static struct worker_suspect *
add(struct poison *poison, const char *key)
{
	struct worker_suspect *suspect;

	if (poison->n < POISON_MAX) {
		poison->suspects =
			xreallocarray(poison->suspects, poison->n + 1, sizeof(*poison->suspects));
		suspect = &poison->suspects[poison->n++];
	} else {
		suspect = &poison->suspects[0];
		for (size_t i = 1; i < poison->n; i++)
			if (poison->suspects[i].last_ns < suspect->last_ns)
				suspect = &poison->suspects[i];
	}
	*suspect = (struct worker_suspect){0};
	snprintf(suspect->key, sizeof(suspect->key), "%s", key);
	return suspect;
}

static int64_t
pause_of(unsigned deaths)
{
	int64_t pause_ns = POISON_FIRST_NS;

	for (unsigned i = POISON_DEATHS; i < deaths && pause_ns < POISON_LONGEST_NS; i++)
		pause_ns *= 2;
	return pause_ns < POISON_LONGEST_NS ? pause_ns : POISON_LONGEST_NS;
}

unsigned
poison_note(
	struct poison *poison, const char *key, uint64_t version, const char *cause, int64_t now_ns)
{
	struct worker_suspect *suspect = find(poison, key);

	if (!suspect)
		suspect = add(poison, key);
	if (suspect->version != version)
		suspect->deaths = 0;
	suspect->version = version;
	suspect->deaths++;
	suspect->last_ns = now_ns;
	snprintf(suspect->cause, sizeof(suspect->cause), "%s", cause);
	suspect->until_ns =
		suspect->deaths >= POISON_DEATHS ? now_ns + pause_of(suspect->deaths) : 0;
	return suspect->deaths;
}

void
poison_cure(struct poison *poison, const char *key)
{
	struct worker_suspect *suspect = find(poison, key);

	if (suspect)
		*suspect = poison->suspects[--poison->n];
}

size_t
poison_held(const struct poison *poison)
{
	size_t held = 0;

	for (size_t i = 0; i < poison->n; i++)
		held += poison->suspects[i].deaths >= POISON_DEATHS;
	return held;
}

void
poison_clear(struct poison *poison)
{
	free(poison->suspects);
	*poison = (struct poison){0};
}
