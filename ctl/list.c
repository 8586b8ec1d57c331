/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl list RESOURCE: NAMESPACE, NAME and START TIME of each object; with -o wide the columns that the server prints for the
 * resource; -o name and -o json for scripts. Read in pages, so the size of the cluster is no bound.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/jsonscan.h"
#include "ctl/ctl.h"

#define ACCEPT_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

struct listing {
	const struct ctl *ctl;
	struct kube_resource resource;
	struct ctl_table *table; /* NULL for name and json */
	bool first;              /* json: no item printed yet */
};

/* The text of a string member below a value's bytes, "" when it is not there. */
static struct json_range
text_member(const char *bytes, struct json_range in, const char *key)
{
	struct json_range range = {0};

	if (!in.length || !jsonscan_member(bytes + in.start, in.length, key, &range) ||
		range.length < 2 || bytes[in.start + range.start] != '"')
		return (struct json_range){0};
	return (struct json_range){in.start + range.start + 1, range.length - 2};
}

static void
cell(struct ctl_table *table, const char *bytes, struct json_range range)
{
	if (range.length)
		ctl_table_cell(table, bytes + range.start, range.length);
	else
		ctl_table_cell(table, "-", 1);
}

/* A row of the default table. A Pod's start is status.startTime; anything else started when it was created. */
static void
row(struct listing *listing, const char *bytes, const struct json_object_info *info)
{
	struct json_range start = text_member(bytes, info->status, "startTime");

	if (!start.length)
		start = text_member(bytes, info->metadata, "creationTimestamp");
	cell(listing->table, bytes, info->namespace_);
	cell(listing->table, bytes, info->name);
	cell(listing->table, bytes, start);
}

static void
on_item(void *data, const char *bytes, size_t length)
{
	struct listing *listing = data;
	struct json_object_info info;

	if (!jsonscan_object(bytes, length, &info))
		return; /* the list's scanner took it as JSON, but it is no object: nothing to name */
	switch (listing->ctl->output) {
	case CTL_OUTPUT_JSON:
		fputs(listing->first ? "\n" : ",\n", stdout);
		fwrite(bytes, 1, length, stdout);
		break;
	case CTL_OUTPUT_NAME:
		printf("%s%s%s/%.*s\n", listing->resource.plural,
			*listing->resource.group ? "." : "", listing->resource.group,
			(int)info.name.length, bytes + info.name.start);
		break;
	case CTL_OUTPUT_TABLE:
	case CTL_OUTPUT_WIDE:
	case CTL_OUTPUT_MAX:
		row(listing, bytes, &info);
		break;
	}
	listing->first = false;
}

/* Headings of a server's Table: its own columns, with NAMESPACE before them when all namespaces are shown. */
static struct ctl_table *
server_table(const cJSON *answer, bool with_namespace, size_t *ret_columns)
{
	const char *headings[64];
	char names[64][64];
	size_t n = 0;
	const cJSON *column;

	if (with_namespace)
		headings[n++] = "NAMESPACE";
	cJSON_ArrayForEach(column, json_get(answer, "columnDefinitions", NULL))
	{
		if (n == 64)
			break;
		const char *name = json_string(column, "name", "");
		size_t i = 0;
		for (; i < sizeof(names[n]) - 1 && name[i]; i++)
			names[n][i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A')
								       : name[i];
		names[n][i] = '\0';
		headings[n] = names[n];
		n++;
	}
	*ret_columns = n;
	return n ? ctl_table_new(headings, n) : NULL;
}

static void
server_cell(struct ctl_table *table, const cJSON *value)
{
	struct buf text = BUF_INIT;

	if (cJSON_IsString(value))
		buf_adds(&text, value->valuestring);
	else if (value && !cJSON_IsNull(value))
		json_print(&text, value);
	if (!text.length)
		buf_adds(&text, "<none>");
	ctl_table_cell(table, text.data, text.length);
	buf_free(&text);
}

static void
server_rows(struct ctl_table *table, const cJSON *answer, bool with_namespace, size_t n_columns)
{
	const cJSON *row_, *value;

	cJSON_ArrayForEach(row_, json_get(answer, "rows", NULL))
	{
		size_t n = 0;
		if (with_namespace) {
			server_cell(table, json_get(row_, "object", "metadata", "namespace", NULL));
			n++;
		}
		cJSON_ArrayForEach(value, json_get(row_, "cells", NULL))
		{
			if (n++ < n_columns)
				server_cell(table, value);
		}
		for (; n < n_columns; n++)
			server_cell(table, NULL);
	}
}

/* -o wide: the server's own columns, page by page into one table. */
static bool
list_wide(struct listing *listing, struct kube *kube, const char *namespace_)
{
	struct buf path = BUF_INIT, body = BUF_INIT, token = BUF_INIT;
	bool with_namespace = !namespace_ && listing->resource.namespaced;
	size_t n_columns = 0;
	bool good;

	do {
		ctl_list_path(listing->ctl, &listing->resource, namespace_, token.data, &path);
		good = ctl_fetch(kube, &path, ACCEPT_TABLE, &body);
		if (!good)
			break;
		struct error err = {0};
		cJSON *answer = json_parse(body.data, body.length, &err);
		if (!answer || strcmp(json_string(answer, "kind", ""), "Table") != 0) {
			ctl_complain("the server gives no table for %s: try without -o wide",
				listing->resource.plural);
			good = false;
		} else {
			if (!listing->table)
				listing->table = server_table(answer, with_namespace, &n_columns);
			if (listing->table)
				server_rows(listing->table, answer, with_namespace, n_columns);
			buf_reset(&token);
			buf_adds(&token,
				json_string(json_get(answer, "metadata", NULL), "continue", ""));
		}
		cJSON_Delete(answer);
	} while (good && token.length);
	buf_free(&path);
	buf_free(&body);
	buf_free(&token);
	return good;
}

static bool
list_in_form(struct listing *listing, struct kube *kube, const char *namespace_)
{
	static const char *const headings[] = {"NAMESPACE", "NAME", "START TIME"};
	bool good;

	if (listing->ctl->output == CTL_OUTPUT_WIDE)
		return list_wide(listing, kube, namespace_);
	if (listing->ctl->output == CTL_OUTPUT_TABLE)
		listing->table = ctl_table_new(headings, 3);
	if (listing->ctl->output == CTL_OUTPUT_JSON)
		fputs("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[", stdout);
	good = ctl_each_object(
		listing->ctl, kube, &listing->resource, namespace_, on_item, listing);
	if (listing->ctl->output == CTL_OUTPUT_JSON)
		puts("]}");
	return good;
}

int
ctl_list(const struct ctl *ctl, int argc, char **argv)
{
	struct listing listing = {.ctl = ctl, .first = true};
	bool good = false;

	if (argc != 1) {
		ctl_complain("list takes one resource, e.g.: operatorctl list pods -A");
		return CTL_USAGE;
	}
	struct loop *loop = loop_new(true);
	struct kube *kube = ctl_connect(ctl, loop);
	if (kube && ctl_find_resource(kube, argv[0], &listing.resource)) {
		good = list_in_form(&listing, kube, ctl_namespace(ctl, kube, &listing.resource));
		if (good && listing.table)
			ctl_table_print(listing.table);
		ctl_table_free(listing.table);
	}
	kube_free(kube);
	loop_free(loop);
	if (fflush(stdout) != 0) {
		ctl_complain("the output could not be written");
		good = false;
	}
	return good ? CTL_DONE : CTL_FAILED;
}
