/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables.
 *
 * Columns are Name, the version's printer columns, and Age unless a custom resource brings its own columns. A path is
 * the simple form of JSONPath that CRDs use (.a.b, .a['b'], .a[0], .a[?(@.type=="Ready")].status). Built-in columns may
 * also count (#.data) or join pieces: {.status.readyReplicas:0}/{.spec.replicas}, with what to show for an absent
 * field behind the colon.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/clock.h"
#include "common/memory.h"
#include "devserver/table.h"
#include "devserver/tree.h"

#define NAME_DESCRIPTION "The name, unique within a namespace."

/* .items[?(@.key=="value")] at p, which points behind "[?(@."; moves on behind "]". */
static const cJSON *
filter(const cJSON *at, const char **p)
{
	size_t key = strcspn(*p, "=!<> ");
	char *name = xstrndup(*p, key), *value;
	const char *quote = strpbrk(*p, "\"'"), *end;
	const cJSON *item = cJSON_IsArray(at) ? at->child : NULL;

	end = quote ? strchr(quote + 1, *quote) : NULL;
	value = end ? xstrndup(quote + 1, (size_t)(end - quote - 1)) : NULL;
	while (item && !(value && strcmp(json_string(item, name, ""), value) == 0))
		item = item->next;
	end = end ? strchr(end, ']') : strchr(*p, ']');
	*p = end ? end + 1 : *p + strlen(*p);
	free(name);
	free(value);
	return item;
}

/* [0], ['name'], ["name"], [?(@.a=="b")] */
static const cJSON *
bracket(const cJSON *at, const char **p)
{
	const char *end = strchr(*p, ']'), *inside = *p + 1;
	char *key;

	if (strncmp(inside, "?(@.", 4) == 0) {
		*p = inside + 4;
		return filter(at, p);
	}
	if (!end) {
		*p += strlen(*p);
		return NULL;
	}
	*p = end + 1;
	if (*inside == '\'' || *inside == '"') {
		key = xstrndup(inside + 1, end > inside + 1 ? (size_t)(end - inside - 2) : 0);
		at = tree_get(at, key);
		free(key);
		return at;
	}
	return *inside == '*'      ? (at ? at->child : NULL)
	       : cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(inside))
				   : NULL;
}

static const cJSON *
evaluate(const cJSON *at, const char *path)
{
	const char *p = path;

	while (at && *p) {
		if (*p == '[') {
			at = bracket(at, &p);
		} else {
			char key[256];
			size_t length = 0;

			p += *p == '.';
			/* \. is a dot of the name */
			for (; *p && *p != '.' && *p != '[' && length < sizeof(key) - 1; p++) {
				if (*p == '\\' && p[1])
					p++;
				key[length++] = *p;
			}
			key[length] = '\0';
			at = length ? tree_get(at, key) : at;
		}
	}
	return at;
}

/* As the real server shows an age: 45s, 5m30s, 3h, 2d. */
static void
add_age(struct buf *out, const char *rfc3339)
{
	struct tm tm = {0};
	long long seconds;

	if (!strptime(rfc3339, "%Y-%m-%dT%H:%M:%S", &tm)) {
		buf_adds(out, "<invalid>");
		return;
	}
	seconds = clock_wall_ns() / NSEC_PER_SEC - (long long)timegm(&tm);
	if (seconds < 0)
		seconds = 0;
	if (seconds < 120)
		buf_addf(out, "%llds", seconds);
	else if (seconds < 600)
		buf_addf(out, seconds % 60 ? "%lldm%llds" : "%lldm", seconds / 60, seconds % 60);
	else if (seconds < 3 * 3600)
		buf_addf(out, "%lldm", seconds / 60);
	else if (seconds < 8 * 3600)
		buf_addf(out, seconds / 60 % 60 ? "%lldh%lldm" : "%lldh", seconds / 3600,
			seconds / 60 % 60);
	else if (seconds < 48 * 3600)
		buf_addf(out, "%lldh", seconds / 3600);
	else if (seconds < 8 * 86400)
		buf_addf(out, seconds / 3600 % 24 ? "%lldd%lldh" : "%lldd", seconds / 86400,
			seconds / 3600 % 24);
	else
		buf_addf(out, "%lldd", seconds / 86400);
}

/* {path:fallback}... */
static void
add_pieces(struct buf *out, const cJSON *tree, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "}"), path = strcspn(text, ":}");
		char *piece;
		const cJSON *value;

		if (*text != '{') {
			buf_addc(out, *text++);
			continue;
		}
		piece = xstrndup(text + 1, path - 1);
		value = evaluate(tree, piece);
		if (cJSON_IsString(value))
			buf_adds(out, value->valuestring);
		else if (value)
			json_print(out, value);
		else if (path < length)
			buf_add(out, text + path + 1, length - path - 1);
		free(piece);
		text += length + (text[length] == '}');
	}
}

static void
add_cell(struct buf *out, const cJSON *tree, const cJSON *column)
{
	const char *path = json_string(column, "jsonPath", ""),
		   *type = json_string(column, "type", "");
	struct buf text = BUF_INIT;
	const cJSON *value;

	if (*path == '{') {
		add_pieces(&text, tree, path);
		if (strcmp(type, "integer") == 0)
			buf_adds(out, *text.data ? text.data : "null");
		else
			json_put_string(out, text.data, text.length);
		buf_free(&text);
		return;
	}
	value = evaluate(tree, *path == '#' ? path + 1 : path);
	if (*path == '#')
		buf_addf(out, "%d", value ? cJSON_GetArraySize(value) : 0);
	else if (!value || cJSON_IsNull(value))
		buf_adds(out, "null");
	else if (strcmp(type, "date") == 0 && cJSON_IsString(value))
		add_age(&text, value->valuestring);
	else if (strcmp(type, "string") == 0 && !cJSON_IsString(value))
		json_print(&text, value);
	else
		json_print(out, value);
	if (text.length)
		json_put_string(out, text.data, text.length);
	buf_free(&text);
}

/* A custom resource with columns of its own gets no Age. */
static bool
own_columns(const struct call *call)
{
	return !call->resource->builtin && !tree_empty(call->version->columns);
}

static void
add_definition(struct buf *out, const char *name, const char *type, const char *format,
	const char *description, int64_t priority)
{
	buf_adds(out, "{\"name\":");
	json_put_string(out, name, strlen(name));
	buf_adds(out, ",\"type\":");
	json_put_string(out, type, strlen(type));
	buf_adds(out, ",\"format\":");
	json_put_string(out, format, strlen(format));
	buf_adds(out, ",\"description\":");
	json_put_string(out, description, strlen(description));
	buf_addf(out, ",\"priority\":%lld}", (long long)priority);
}

void
table_columns(struct buf *out, const struct call *call)
{
	const cJSON *columns = call->version->columns;

	buf_addc(out, '[');
	add_definition(out, "Name", "string", "name", NAME_DESCRIPTION, 0);
	for (const cJSON *c = columns ? columns->child : NULL; c; c = c->next) {
		buf_addc(out, ',');
		add_definition(out, json_string(c, "name", ""), json_string(c, "type", "string"),
			json_string(c, "format", ""), json_string(c, "description", ""),
			json_int(c, "priority", 0));
	}
	if (!own_columns(call)) {
		buf_addc(out, ',');
		add_definition(out, "Age", "date", "", "The time since the object was created.", 0);
	}
	buf_addc(out, ']');
}

static void
add_row_object(struct buf *out, const struct call *call, const cJSON *tree)
{
	if (call->include_object && strcmp(call->include_object, "None") == 0) {
		buf_adds(out, "null");
	} else if (call->include_object && strcmp(call->include_object, "Object") == 0) {
		json_print(out, tree);
	} else {
		buf_adds(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/"
			      "v1\",\"metadata\":");
		json_print(out, tree_get(tree, "metadata"));
		buf_addc(out, '}');
	}
}

void
table_row(struct buf *out, const struct call *call, const cJSON *tree)
{
	const cJSON *columns = call->version->columns, *metadata = tree_get(tree, "metadata");
	const char *name = json_string(metadata, "name", "");
	struct buf age = BUF_INIT;

	buf_adds(out, "{\"cells\":[");
	json_put_string(out, name, strlen(name));
	for (const cJSON *c = columns ? columns->child : NULL; c; c = c->next) {
		buf_addc(out, ',');
		add_cell(out, tree, c);
	}
	if (!own_columns(call)) {
		add_age(&age, json_string(metadata, "creationTimestamp", ""));
		buf_addc(out, ',');
		json_put_string(out, age.data, age.length);
		buf_free(&age);
	}
	buf_adds(out, "],\"object\":");
	add_row_object(out, call, tree);
	buf_addc(out, '}');
}
