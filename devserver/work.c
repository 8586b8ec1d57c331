/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of the server's own work.
 *
 * Nothing is written while a change is being told to its listeners: controllers queue here and run from api_tick().
 * Both queues are first in, first out; the delay is one for all, so the later queue is sorted by itself.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/clock.h"
#include "common/memory.h"
#include "devserver/server.h"
#include "devserver/write.h"

struct work {
	int64_t due; /* monotonic ns */
	work_fn *run;
	struct collection *collection;
	struct object *object; /* referenced */
	struct work *next;
};

static void
append(struct work ***last, work_fn *run, struct collection *collection, struct object *object,
	int64_t due)
{
	struct work *work = xcalloc(1, sizeof(*work));

	*work = (struct work){due, run, collection, registry_ref(object), NULL};
	**last = work;
	*last = &work->next;
}

void
work_now(struct api *api, work_fn *run, struct collection *collection, struct object *object)
{
	append(&api->now_last, run, collection, object, 0);
}

void
work_later(struct api *api, work_fn *run, struct collection *collection, struct object *object)
{
	append(&api->later_last, run, collection, object,
		clock_monotonic_ns() + api->options.ready_delay_ns);
}

static void
take_first(struct api *api, struct work **first, struct work ***last, bool run)
{
	struct work *work = *first;

	*first = work->next;
	if (!*first)
		*last = first;
	if (run)
		work->run(api, work->collection, work->object);
	registry_unref(work->object);
	free(work);
}

int64_t
work_run(struct api *api)
{
	int64_t now = clock_monotonic_ns();

	for (;;) {
		if (api->now)
			take_first(api, &api->now, &api->now_last, true);
		else if (api->later && api->later->due <= now)
			take_first(api, &api->later, &api->later_last, true);
		else
			return api->later ? api->later->due - now : -1;
	}
}

void
work_free(struct api *api)
{
	while (api->now)
		take_first(api, &api->now, &api->now_last, false);
	while (api->later)
		take_first(api, &api->later, &api->later_last, false);
}

struct object *
work_current(const struct collection *collection, const struct object *object)
{
	struct object *current = registry_find(collection, object->namespace_, object->name);

	return current && strcmp(current->uid, object->uid) == 0 ? current : NULL;
}

bool
server_is(const struct collection *collection, const char *group, const char *plural)
{
	return strcmp(collection->group, group) == 0 && strcmp(collection->plural, plural) == 0;
}

void
server_time(char out[32], int digits)
{
	clock_format_rfc3339(out, clock_wall_ns(), digits);
}

void
server_uuid(char out[37])
{
	unsigned char b[16];
	char *p = out;

	clock_random_bytes(b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(b); i++)
		p += snprintf(p, (size_t)(out + 37 - p),
			i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
}

struct resource *
server_resource(const struct api *api, const struct collection *collection)
{
	return kinds_find(&api->kinds, collection->group, collection->plural);
}

void
server_put(struct api *api, struct collection *collection, cJSON *tree)
{
	struct object *object = registry_put(api->store, collection, tree);

	if (object)
		delete_if_done(api, collection, object);
}
