/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a resource by what people type. Blocking, for programs. Walks the core group and then the server's groups in its order,
 * each in its preferred version, as kubectl does; a word with a group or version asks only for that.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/kube/discovery.h"
#include "common/kube/discovery_list.h"
#include "common/spelling.h"

struct search {
	struct kube *kube;
	char name[64], version[64], group[254];
	bool any_group;
	char suggestion[320];
	unsigned distance; /* of the suggestion */
};

/* GET and parse: 0, -ENOENT for 404, other -errno. */
static int
get(struct kube *kube, const char *path, cJSON **ret, struct error *err)
{
	struct buf body = BUF_INIT;
	struct kube_result result = {0};
	int r = kube_call_wait(
		kube, &(struct kube_call){.method = "GET", .path = path}, &result, &body);

	if (r < 0)
		error_set(err, r, "out of memory");
	else if (result.outcome != KUBE_OK)
		r = error_set(err,
			result.outcome == KUBE_NOT_FOUND     ? -ENOENT
			: result.outcome == KUBE_UNREACHABLE ? -EHOSTUNREACH
							     : -EACCES,
			"%s", result.message);
	else if ((*ret = json_parse(body.data, body.length, err)) == NULL)
		r = error_prefix(err, "%s", path);
	buf_free(&body);
	return r;
}

static void
suggest(struct search *s, const cJSON *list, const char *group)
{
	const cJSON *item, *items = json_get(list, "resources", NULL);

	cJSON_ArrayForEach(item, items)
	{
		const char *plural = json_string(item, "name", "/"),
			   *singular = json_string(item, "singularName", "");
		unsigned d = spelling_distance(s->name, plural),
			 d2 = spelling_distance(s->name, singular);

		if (d2 < d)
			d = d2;
		if (strchr(plural, '/') != NULL || d >= s->distance || d > 2 ||
			2 * d >= strlen(s->name))
			continue;
		s->distance = d;
		snprintf(s->suggestion, sizeof(s->suggestion), "%s%s%s", plural,
			*group != '\0' ? "." : "", group);
	}
}

/* Looks in one group and version: 1 found, 0 not there, or -errno. */
static int
look(struct search *s, const char *group, const char *version, struct kube_resource *ret,
	struct error *err)
{
	struct kube_resource resource = {0};
	struct buf path = BUF_INIT;
	cJSON *list = NULL;
	int r;

	snprintf(resource.group, sizeof(resource.group), "%s", group);
	snprintf(resource.version, sizeof(resource.version), "%s", version);
	discovery_path(&path, group, version);
	r = get(s->kube, path.data, &list, err);
	buf_free(&path);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (discovery_list_find_word(list, s->name, &resource)) {
		*ret = resource;
		r = 1;
	} else {
		suggest(s, list, group);
	}
	cJSON_Delete(list);
	return r;
}

static bool
same_group(const struct search *s, const char *group)
{
	return s->any_group || strcmp(s->group, group) == 0;
}

static int
look_in_groups(struct search *s, struct kube_resource *ret, struct error *err)
{
	const cJSON *group, *all;
	cJSON *groups = NULL;
	int r = get(s->kube, "/apis", &groups, err);

	if (r < 0)
		return r;
	all = json_get(groups, "groups", NULL);
	cJSON_ArrayForEach(group, all)
	{
		const char *name = json_string(group, "name", "");
		const cJSON *preferred = json_get(group, "preferredVersion", NULL);
		const char *version = s->version[0] != '\0' ? s->version
				      : preferred != NULL   ? json_string(preferred, "version", "")
							    : "";

		if (*name == '\0' || *version == '\0' || !same_group(s, name))
			continue;
		r = look(s, name, version, ret, err);
		/* An aggregated API that is down must not hide the others. */
		if (r != 0 && !(r < 0 && s->any_group))
			break;
		r = 0;
	}
	cJSON_Delete(groups);
	return r;
}

static int
look_everywhere(struct search *s, struct kube_resource *ret, struct error *err)
{
	int r = 0;

	if (same_group(s, ""))
		r = look(s, "", s->version[0] != '\0' ? s->version : "v1", ret, err);
	if (r == 0 && (s->any_group || s->group[0] != '\0'))
		r = look_in_groups(s, ret, err);
	return r;
}

/* "v1", "v1beta2" */
static bool
is_version(const char *text, size_t n)
{
	if (n < 2 || text[0] != 'v' || !isdigit((unsigned char)text[1]))
		return false;
	for (size_t i = 2; i < n; i++) {
		if (!isalnum((unsigned char)text[i]))
			return false;
	}
	return true;
}

/* Splits NAME, NAME.GROUP and NAME.VERSION.GROUP (GROUP may be empty then). */
static int
split(const char *word, struct search *s)
{
	const char *dot = strchr(word, '.'), *rest = dot == NULL ? "" : dot + 1;
	size_t n = dot == NULL ? strlen(word) : (size_t)(dot - word), version = strcspn(rest, ".");

	if (n == 0 || n >= sizeof(s->name) || strlen(rest) >= sizeof(s->group) ||
		strchr(word, '/') != NULL)
		return -EINVAL;
	memcpy(s->name, word, n);
	s->any_group = dot == NULL;
	if (is_version(rest, version) && version < sizeof(s->version)) {
		memcpy(s->version, rest, version);
		rest += version + (rest[version] == '.');
	}
	memcpy(s->group, rest, strlen(rest));
	return 0;
}

/* What is no NAME.GROUP, NAME.stable.example.com, may be one of that version: any label is a version to Kubernetes. */
static int
look_as_version(const struct search *s, struct kube_resource *ret, struct error *err)
{
	const char *dot = strchr(s->group, '.');
	struct search other = {.kube = s->kube, .distance = SPELLING_FAR};

	if (s->version[0] != '\0' || dot == NULL ||
		(size_t)(dot - s->group) >= sizeof(other.version))
		return 0;
	memcpy(other.name, s->name, sizeof(other.name));
	memcpy(other.version, s->group, (size_t)(dot - s->group));
	memcpy(other.group, dot + 1, strlen(dot + 1));
	return look_in_groups(&other, ret, err);
}

int
discovery_find(struct kube *kube, const char *word, struct kube_resource *ret, struct error *err)
{
	struct search s = {.kube = kube, .distance = SPELLING_FAR};
	int r = split(word, &s);

	if (r < 0)
		return error_set(err, r,
			"\"%.80s\" is no resource; write a plural, PLURAL.GROUP or "
			"PLURAL.VERSION.GROUP",
			word);
	for (char *c = s.name; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	r = look_everywhere(&s, ret, err);
	if (r == 0)
		r = look_as_version(&s, ret, err);
	if (r != 0)
		return r < 0 ? r : 0;
	if (s.suggestion[0] != '\0')
		return error_set(err, -ENOENT,
			"the server has no resource \"%s\"; did you mean \"%s\"?", word,
			s.suggestion);
	return error_set(err, -ENOENT,
		"the server has no resource \"%s\"; its CustomResourceDefinition may be missing",
		word);
}
