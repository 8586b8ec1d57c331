/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults planted in the engine itself, one at a time, to show that the invariants see their kind. They stand before the engine's functions by the
 * linker's --wrap, so that the engine knows nothing of them. Those in what the server says are in sim_http.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/backoff.h"
#include "common/clock.h"
#include "tests/sim/sim.h"
#include "workers/mirror.h"
#include "workers/queue.h"
#include "workers/status.h"

#define RUNNING_MAX 64
#define STORM_NS    (20 * NSEC_PER_MSEC)

static enum sim_plant plant;
static char running[RUNNING_MAX][64]; /* keys that are being reconciled, of all controllers */

void
sim_plant_fault(enum sim_plant which)
{
	plant = which;
	memset(running, 0, sizeof(running));
}

/* --- a delay that does not grow, or is none --- */

int64_t __real_backoff_next(
	struct backoff *b, const struct backoff_policy *policy, int64_t now_ns, uint64_t random_);
int64_t __wrap_backoff_next(
	struct backoff *b, const struct backoff_policy *policy, int64_t now_ns, uint64_t random_);

int64_t
__wrap_backoff_next(
	struct backoff *b, const struct backoff_policy *policy, int64_t now_ns, uint64_t random_)
{
	int64_t delay_ns = __real_backoff_next(b, policy, now_ns, random_);

	if (plant == PLANT_RETRY_STORM && delay_ns > STORM_NS)
		return STORM_NS;
	return plant == PLANT_RESET_BACKOFF && policy->first_ns < delay_ns ? policy->first_ns
									   : delay_ns;
}

/* --- a status that is as wanted, overwritten --- */

cJSON *__real_status_diff(const cJSON *live, const cJSON *wanted, const char *const *owned,
	size_t n_owned, const struct status_paths *ignored);
cJSON *__wrap_status_diff(const cJSON *live, const cJSON *wanted, const char *const *owned,
	size_t n_owned, const struct status_paths *ignored);

cJSON *
__wrap_status_diff(const cJSON *live, const cJSON *wanted, const char *const *owned, size_t n_owned,
	const struct status_paths *ignored)
{
	cJSON *patch = __real_status_diff(live, wanted, owned, n_owned, ignored);

	if (plant == PLANT_WRONG_STATUS && patch == NULL && owned != NULL) {
		patch = cJSON_CreateObject();
		cJSON_AddArrayToObject(patch, "conditions");
	}
	return patch;
}

/* --- deletion on a doubt --- */

bool __real_mirror_trusted(const struct mirror *mirror);
bool __wrap_mirror_trusted(const struct mirror *mirror);

bool
__wrap_mirror_trusted(const struct mirror *mirror)
{
	return plant == PLANT_PRUNE_ON_DOUBT || __real_mirror_trusted(mirror);
}

/* --- a change that comes while its object is being reconciled, forgotten --- */

static char *
find_running(const char *key)
{
	for (int i = 0; i < RUNNING_MAX; i++)
		if (strcmp(running[i], key) == 0)
			return running[i];
	return NULL;
}

static void
key_of(const struct queue_item *item, char key[64])
{
	(void)snprintf(key, 64, "%s/%s", queue_item_namespace(item), queue_item_name(item));
}

static void
ends(const struct queue_item *item)
{
	char key[64], *at;

	key_of(item, key);
	at = find_running(key);
	if (at)
		*at = '\0';
}

struct queue *__real_queue_new(struct loop *loop, const struct queue_options *options,
	void (*run)(void *data, struct queue_item *item), void *data);
struct queue *__wrap_queue_new(struct loop *loop, const struct queue_options *options,
	void (*run)(void *data, struct queue_item *item), void *data);
void __real_queue_add(struct queue *queue, const char *namespace_, const char *name,
	enum queue_reason reason, uint64_t version);
void __wrap_queue_add(struct queue *queue, const char *namespace_, const char *name,
	enum queue_reason reason, uint64_t version);
void __real_queue_done(struct queue *queue, struct queue_item *item);
void __wrap_queue_done(struct queue *queue, struct queue_item *item);
int64_t __real_queue_retry(
	struct queue *queue, struct queue_item *item, uint64_t version, int64_t min_ns);
int64_t __wrap_queue_retry(
	struct queue *queue, struct queue_item *item, uint64_t version, int64_t min_ns);

/* One queue a controller, two controllers. */
static struct {
	void (*run)(void *data, struct queue_item *item);
	void *data;
} runs[256];
static unsigned n_runs;

static void
begin(void *data, struct queue_item *item)
{
	unsigned i = (unsigned)(uintptr_t)data;
	char key[64], *at = find_running("");

	key_of(item, key);
	if (at)
		(void)snprintf(at, 64, "%s", key);
	runs[i].run(runs[i].data, item);
}

struct queue *
__wrap_queue_new(struct loop *loop, const struct queue_options *options,
	void (*run)(void *data, struct queue_item *item), void *data)
{
	unsigned i = n_runs++ % 256;

	runs[i].run = run;
	runs[i].data = data;
	return __real_queue_new(loop, options, begin, (void *)(uintptr_t)i);
}

void
__wrap_queue_add(struct queue *queue, const char *namespace_, const char *name,
	enum queue_reason reason, uint64_t version)
{
	char key[64];

	(void)snprintf(key, sizeof(key), "%s/%s", namespace_, name);
	if (plant == PLANT_LOST_EVENT && find_running(key))
		return;
	__real_queue_add(queue, namespace_, name, reason, version);
}

void
__wrap_queue_done(struct queue *queue, struct queue_item *item)
{
	ends(item);
	__real_queue_done(queue, item);
}

int64_t
__wrap_queue_retry(struct queue *queue, struct queue_item *item, uint64_t version, int64_t min_ns)
{
	ends(item);
	return __real_queue_retry(queue, item, version, min_ns);
}
