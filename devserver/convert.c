/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the form that is stored and the form that a version shows.
 *
 * Custom resources convert by apiVersion alone (conversion strategy None). Events have two spellings of the same
 * fields; the core one is stored.
 */
#include "config.h"

#include <string.h>
#include "devserver/server.h"
#include "devserver/tree.h"

/* core v1 -> events.k8s.io/v1 */
static const char *const event_names[][2] = {
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
};

static void
rename_event(cJSON *tree, size_t from, size_t to)
{
	for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++) {
		cJSON *value = tree_take(tree, event_names[i][from]);

		if (value)
			tree_set(tree, event_names[i][to], value);
	}
}

static const char *
stored_api_version(const struct version *version)
{
	return version->resource->flags & KIND_NEW_EVENT
		       ? "v1"
		       : version->resource->versions[0].api_version;
}

bool
convert_same(const struct version *version)
{
	return strcmp(version->api_version, stored_api_version(version)) == 0;
}

void
convert_in(cJSON *tree, const struct version *version)
{
	if (version->resource->flags & KIND_NEW_EVENT)
		rename_event(tree, 1, 0);
	tree_set_string(tree, "apiVersion", stored_api_version(version));
	tree_set_string(tree, "kind", version->resource->kind);
}

void
convert_out(cJSON *tree, const struct version *version)
{
	if (version->resource->flags & KIND_NEW_EVENT)
		rename_event(tree, 0, 1);
	tree_set_string(tree, "apiVersion", version->api_version);
	tree_set_string(tree, "kind", version->resource->kind);
}
