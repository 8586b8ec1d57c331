/* SPDX-License-Identifier: Apache-2.0 */
/* An array, looked through by the hash of the uid. Bounded by the store: each was in it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/memory.h"
#include "workers/leaving.h"

static int64_t
seconds_of(const char *bytes, size_t length)
{
	struct json_object_info info;
	char text[40];
	int64_t wall_ns;

	if (!jsonscan_object(bytes, length, &info))
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)info.deletion_timestamp.length,
		bytes + info.deletion_timestamp.start);
	return clock_parse_rfc3339(text, &wall_ns) < 0 ? 0 : wall_ns / NSEC_PER_SEC;
}

struct leaving_object *
leaving_find(struct leaving *leaving, const char *uid)
{
	uint64_t hash = XXH3_64bits(uid, strlen(uid));

	for (size_t i = 0; i < leaving->n; i++)
		if (leaving->objects[i].uid == hash)
			return &leaving->objects[i];
	return NULL;
}

bool
leaving_add(struct leaving *leaving, const char *uid, const char *bytes, size_t length)
{
	if (leaving_find(leaving, uid) != NULL)
		return false;
	if (leaving->n == leaving->size) {
		leaving->size = leaving->size == 0 ? 8 : leaving->size * 2;
		leaving->objects = xreallocarray(
			leaving->objects, leaving->size, sizeof(struct leaving_object));
	}
	leaving->objects[leaving->n++] =
		(struct leaving_object){.uid = XXH3_64bits(uid, strlen(uid)),
			.since_ns = clock_monotonic_ns(),
			.deletion_s = seconds_of(bytes, length)};
	return true;
}

void
leaving_remove(struct leaving *leaving, const char *uid)
{
	struct leaving_object *object = leaving_find(leaving, uid);

	if (object != NULL)
		*object = leaving->objects[--leaving->n];
	if (leaving->n == 0)
		leaving_clear(leaving);
}

int64_t
leaving_oldest(const struct leaving *leaving)
{
	int64_t oldest = 0;

	for (size_t i = 0; i < leaving->n; i++)
		if (leaving->objects[i].deletion_s > 0 &&
			(oldest == 0 || leaving->objects[i].deletion_s < oldest))
			oldest = leaving->objects[i].deletion_s;
	return oldest;
}

void
leaving_clear(struct leaving *leaving)
{
	free(leaving->objects);
	*leaving = (struct leaving){0};
}
