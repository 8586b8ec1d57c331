/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's configuration as the supervisor sees it: canonical bytes, of which it reads a few settings, and what it must not forget of those before.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "supervisor/worker_internal.h"

void
worker_forget_children(struct sup_worker *worker)
{
	for (size_t i = 0; i < worker->n_children; i++)
		free(worker->children[i]);
	free(worker->children);
	worker->children = NULL;
	worker->n_children = 0;
}

/* Another number of a child must not give it the count of another: counts go with their ids. No process of the worker runs. */
static void
take_children(struct sup_worker *worker, const struct config_controller *config)
{
	const unsigned first = metric_offset(M_DRIFT_REPAIRS_TOTAL);
	uint64_t counts[CONFIG_CHILDREN_MAX] = {0};

	_Static_assert(CONFIG_CHILDREN_MAX == 64, "as many as the metric has numbers");
	for (size_t i = 0; i < config->n_children; i++)
		for (size_t k = 0; k < worker->n_children; k++)
			if (strcmp(config->children[i].id, worker->children[k]) == 0)
				counts[i] = worker->base[first + k];
	memcpy(&worker->base[first], counts, sizeof(counts));
	worker_forget_children(worker);
	worker->children = xcalloc(config->n_children + 1, sizeof(char *));
	for (size_t i = 0; i < config->n_children; i++)
		worker->children[worker->n_children++] = xstrdup(config->children[i].id);
}

/* Reads from its settings what the supervisor itself needs. */
static void
read_settings(struct sup_worker *worker)
{
	struct config_controller *config =
		config_decode_controller(worker->config, worker->config_length, NULL);

	if (!config)
		return; /* the worker will say it, with exit code 78 */
	worker->required = config->required;
	worker->memory_limit = config->memory_limit > 0 ? (uint64_t)config->memory_limit : 0;
	worker->file_limit = config->file_limit > 0 ? (uint64_t)config->file_limit : 0;
	worker->watch_silence_ns = config->watch_silence_ns;
	worker->removal_keeps = config->on_remove == CONFIG_REMOVE_KEEP;
	worker->removal_deletes = config->on_remove == CONFIG_REMOVE_DELETE;
	worker->remove_timeout_ns = config->remove_timeout_ns;
	for (size_t i = 0; i < config->n_children; i++)
		worker->holds |= config->children[i].owner == CONFIG_OWNER_FINALIZER;
	take_children(worker, config);
	config_controller_free(config);
}

#define FORMER_KINDS_MAX 64

static void
add_former_kind(struct sup_worker *worker, const struct config_child *child)
{
	char *kind = xasprintf("%s %s", child->api_version, child->kind);

	for (size_t i = 0; i < worker->n_former_kinds; i++)
		if (strcmp(worker->former_kinds[i], kind) == 0 ||
			worker->n_former_kinds == FORMER_KINDS_MAX) {
			free(kind);
			return;
		}
	worker->former_kinds = xreallocarray(
		worker->former_kinds, worker->n_former_kinds + 2, sizeof(*worker->former_kinds));
	worker->former_kinds[worker->n_former_kinds++] = kind;
	worker->former_kinds[worker->n_former_kinds] = NULL;
}

/* Before it gets another configuration. */
static void
keep_kinds(struct sup_worker *worker)
{
	struct config_controller *config = worker->config ? config_decode_controller(worker->config,
								    worker->config_length, NULL)
							  : NULL;

	if (!config)
		return;
	for (size_t i = 0; i < config->n_children; i++)
		add_former_kind(worker, &config->children[i]);
	config_controller_free(config);
}

void
worker_take_config(struct sup_worker *worker, const char *config, size_t length)
{
	keep_kinds(worker);
	poison_clear(&worker->poison); /* other templates may do with them */
	free(worker->config);
	worker->config = xstrndup(config, length);
	worker->config_length = length;
	worker->restart.failures = 0;
	read_settings(worker);
}
