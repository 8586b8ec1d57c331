/* SPDX-License-Identifier: Apache-2.0 */
/* Walks two trees side by side. Results are new trees of the caller; the inputs stay as they are. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "workers/status.h"

#define PATHS_MAX       256
#define STATUS_PATH_MAX 512

struct status_paths {
	char *paths[PATHS_MAX];
	size_t n;
};

struct learn {
	struct status_paths *ignored;
	void (*dropped)(void *data, const char *path);
	void *data;
};

struct status_paths *
status_paths_new(void)
{
	return xcalloc(1, sizeof(struct status_paths));
}

void
status_paths_clear(struct status_paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->paths[i]);
	paths->n = 0;
}

void
status_paths_free(struct status_paths *paths)
{
	if (paths == NULL)
		return;
	status_paths_clear(paths);
	free(paths);
}

bool
status_paths_has(const struct status_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (strcmp(paths->paths[i], path) == 0)
			return true;
	return false;
}

bool
status_paths_add(struct status_paths *paths, const char *path)
{
	if (paths->n == PATHS_MAX || status_paths_has(paths, path))
		return false;
	paths->paths[paths->n++] = xstrdup(path);
	return true;
}

/* PATH.KEY; a path that is too long is cut, and then matches nothing. */
static void
join(char out[STATUS_PATH_MAX], const char *path, const char *key)
{
	int n = snprintf(out, STATUS_PATH_MAX, "%s%s%s", path, *path == '\0' ? "" : ".", key);

	if (n < 0 || n >= STATUS_PATH_MAX)
		snprintf(out, STATUS_PATH_MAX, "?");
}

static const cJSON *
member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static bool equal(
	const cJSON *a, const cJSON *b, const char *path, const struct status_paths *ignored);

/* Each member of a, but the ignored ones, is in b and equal. */
static bool
covers(const cJSON *a, const cJSON *b, const char *path, const struct status_paths *ignored)
{
	const cJSON *item;
	char below[STATUS_PATH_MAX];

	cJSON_ArrayForEach(item, a)
	{
		const cJSON *other;

		join(below, path, item->string);
		if (status_paths_has(ignored, below))
			continue;
		other = member(b, item->string);
		if (other == NULL || !equal(item, other, below, ignored))
			return false;
	}
	return true;
}

static bool
equal_lists(const cJSON *a, const cJSON *b, const char *path, const struct status_paths *ignored)
{
	const cJSON *x = a->child, *y = b->child;
	char below[STATUS_PATH_MAX];

	join(below, path, "*");
	for (; x != NULL && y != NULL; x = x->next, y = y->next)
		if (!equal(x, y, below, ignored))
			return false;
	return x == NULL && y == NULL;
}

static bool
equal(const cJSON *a, const cJSON *b, const char *path, const struct status_paths *ignored)
{
	if ((a->type & 0xff) != (b->type & 0xff))
		return false;
	if (cJSON_IsObject(a))
		return covers(a, b, path, ignored) && covers(b, a, path, ignored);
	if (cJSON_IsArray(a))
		return equal_lists(a, b, path, ignored);
	if (cJSON_IsString(a))
		return strcmp(a->valuestring, b->valuestring) == 0;
	if (cJSON_IsNumber(a))
		return a->valuedouble >= b->valuedouble && a->valuedouble <= b->valuedouble;
	return true;
}

static bool
is_owned(const char *key, const char *const *owned, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(key, owned[i]) == 0)
			return true;
	return false;
}

static cJSON *diff(const cJSON *live, const cJSON *wanted, const char *path,
	const struct status_paths *ignored);

static void
diff_member(cJSON *patch, const cJSON *live, const cJSON *item, const char *path,
	const struct status_paths *ignored)
{
	const cJSON *old = member(live, item->string);
	cJSON *sub;

	if (old != NULL && cJSON_IsObject(old) && cJSON_IsObject(item)) {
		sub = diff(old, item, path, ignored);
		if (sub != NULL)
			cJSON_AddItemToObject(patch, item->string, sub);
	} else if (old == NULL || !equal(old, item, path, ignored)) {
		cJSON_AddItemToObject(patch, item->string, cJSON_Duplicate(item, true));
	}
}

static void
diff_wanted(cJSON *patch, const cJSON *live, const cJSON *wanted, const char *path,
	const struct status_paths *ignored)
{
	const cJSON *item;
	char below[STATUS_PATH_MAX];

	cJSON_ArrayForEach(item, wanted)
	{
		join(below, path, item->string);
		if (!status_paths_has(ignored, below))
			diff_member(patch, live, item, below, ignored);
	}
}

static cJSON *
finish(cJSON *patch)
{
	if (patch->child != NULL)
		return patch;
	cJSON_Delete(patch);
	return NULL;
}

/* Below a key that is ours everything is ours: what is not wanted goes. */
static cJSON *
diff(const cJSON *live, const cJSON *wanted, const char *path, const struct status_paths *ignored)
{
	cJSON *patch = cJSON_CreateObject();
	const cJSON *item;
	char below[STATUS_PATH_MAX];

	diff_wanted(patch, live, wanted, path, ignored);
	cJSON_ArrayForEach(item, live)
	{
		join(below, path, item->string);
		if (member(wanted, item->string) == NULL && !status_paths_has(ignored, below))
			cJSON_AddNullToObject(patch, item->string);
	}
	return finish(patch);
}

cJSON *
status_diff(const cJSON *live, const cJSON *wanted, const char *const *owned, size_t n_owned,
	const struct status_paths *ignored)
{
	cJSON *patch = cJSON_CreateObject();
	const cJSON *item;

	diff_wanted(patch, live, wanted, "", ignored);
	cJSON_ArrayForEach(item, live) if (member(wanted, item->string) == NULL &&
					   is_owned(item->string, owned, n_owned) &&
					   !status_paths_has(ignored, item->string))
		cJSON_AddNullToObject(patch, item->string);
	return finish(patch);
}

static void learn(const struct learn *l, const cJSON *sent, const cJSON *answer, const char *path);

static void
learn_list(const struct learn *l, const cJSON *sent, const cJSON *answer, const char *path)
{
	const cJSON *x = sent->child, *y = answer->child;
	char below[STATUS_PATH_MAX];

	join(below, path, "*");
	for (; x != NULL && y != NULL; x = x->next, y = y->next)
		learn(l, x, y, below);
}

/* Members that came back although they were not sent: defaults of the schema. Only for values that were sent whole (in lists), since a patch of an
 * object leaves out what is equal. */
static void
learn_added(const struct learn *l, const cJSON *sent, const cJSON *answer, const char *path)
{
	const cJSON *item;
	char below[STATUS_PATH_MAX];

	cJSON_ArrayForEach(item, answer)
	{
		join(below, path, item->string);
		if (member(sent, item->string) == NULL && strchr(path, '*') != NULL)
			status_paths_add(l->ignored, below);
	}
}

static void
learn_member(const struct learn *l, const cJSON *item, const cJSON *answer, const char *path)
{
	const cJSON *got = member(answer, item->string);

	if (cJSON_IsNull(item)) {
		/* Deleted, and it is there again: a default. */
		if (got != NULL)
			status_paths_add(l->ignored, path);
	} else if (got == NULL) {
		if (status_paths_add(l->ignored, path) && l->dropped != NULL)
			l->dropped(l->data, path);
	} else {
		learn(l, item, got, path);
	}
}

static void
learn(const struct learn *l, const cJSON *sent, const cJSON *answer, const char *path)
{
	const cJSON *item;
	char below[STATUS_PATH_MAX];

	if (cJSON_IsArray(sent) && cJSON_IsArray(answer)) {
		learn_list(l, sent, answer, path);
		return;
	}
	if (!cJSON_IsObject(sent) || !cJSON_IsObject(answer))
		return;
	cJSON_ArrayForEach(item, sent)
	{
		join(below, path, item->string);
		learn_member(l, item, answer, below);
	}
	learn_added(l, sent, answer, path);
}

void
status_learn(struct status_paths *ignored, const cJSON *sent, const cJSON *answer,
	void (*dropped)(void *data, const char *path), void *data)
{
	static const cJSON nothing = {.type = cJSON_Object};
	const struct learn l = {ignored, dropped, data};

	learn(&l, sent, answer == NULL ? &nothing : answer, "");
}

static bool
only_adds(const cJSON *live, const cJSON *patch)
{
	const cJSON *x, *y;

	if (cJSON_IsArray(live) && cJSON_IsArray(patch)) {
		for (x = live->child, y = patch->child; x != NULL && y != NULL;
			x = x->next, y = y->next)
			if (!only_adds(x, y))
				return false;
		return x == NULL && y == NULL;
	}
	if (cJSON_IsObject(live) && cJSON_IsObject(patch))
		return status_only_adds(live, patch);
	return cJSON_Compare(live, patch, true);
}

bool
status_only_adds(const cJSON *live, const cJSON *patch)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, patch)
	{
		const cJSON *old = member(live, item->string);

		if (cJSON_IsNull(item) || (old != NULL && !only_adds(old, item)))
			return false;
	}
	return true;
}
