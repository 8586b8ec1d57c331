/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the server for one resource: the list of its group and version, and on 404 the group itself, to tell a missing CRD from a
 * version that is no longer served. Nothing is kept: a caller that got a negative answer asks again when it likes.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/kube/discovery.h"
#include "common/kube/discovery_list.h"
#include "common/memory.h"

struct discovery {
	struct kube *kube;
	struct kube_request *request;
	struct kube_resource resource;
	void (*done)(void *data, enum discovery_answer answer, const struct kube_resource *resource,
		const struct kube_result *result);
	void *data;
};

static void
finish(struct discovery *d, enum discovery_answer answer, const struct kube_result *result)
{
	d->done(d->data, answer, &d->resource, result);
	free(d);
}

static const char *
wanted_name(const struct discovery *d)
{
	return d->resource.plural[0] != '\0' ? d->resource.plural : d->resource.kind;
}

static void
put_message(struct kube_result *result, const struct error *err)
{
	snprintf(result->message, sizeof(result->message), "%s", err->text);
}

static void
finish_unreadable(struct discovery *d, const struct kube_result *result, const char *why)
{
	struct kube_result r = *result;
	struct error e = {0};

	r.outcome = KUBE_SERVER_ERROR;
	error_set(&e, -1, "discovery of %s/%s: %s", d->resource.group, d->resource.version, why);
	put_message(&r, &e);
	finish(d, DISCOVERY_FAILED, &r);
}

static void
finish_missing(struct discovery *d, const struct kube_result *result)
{
	struct kube_result r = *result;
	struct error e = {0};

	r.outcome = KUBE_NOT_FOUND;
	error_set(&e, -1,
		"the server does not serve %s of group \"%s\", version %s; its "
		"CustomResourceDefinition may "
		"be missing, or not be established yet",
		wanted_name(d), d->resource.group, d->resource.version);
	put_message(&r, &e);
	finish(d, DISCOVERY_MISSING, &r);
}

static bool
lists_version(const cJSON *group, const char *version)
{
	const cJSON *v, *versions = json_get(group, "versions", NULL);

	cJSON_ArrayForEach(v, versions)
	{
		const char *text =
			cJSON_IsString(v) ? v->valuestring : json_string(v, "version", "");

		if (strcmp(text, version) == 0)
			return true;
	}
	return false;
}

static void
finish_version_gone(struct discovery *d, const struct kube_result *result, const cJSON *group)
{
	struct kube_result r = *result;
	struct buf versions = BUF_INIT_LIMIT(200);
	struct error e = {0};

	discovery_versions(group, &versions);
	r.outcome = KUBE_NOT_FOUND;
	error_set(&e, -1,
		"the server serves group \"%s\" (for %s), but not its version %s; it serves: %s; "
		"name one of them",
		d->resource.group, wanted_name(d), d->resource.version,
		versions.length > 0 ? versions.data : "none");
	put_message(&r, &e);
	buf_free(&versions);
	finish(d, DISCOVERY_VERSION_GONE, &r);
}

/* Any other document is some other server's: what it does not list is not missing for that. */
static bool
has_list(const cJSON *document, const char *key, struct error *err)
{
	if (cJSON_IsArray(json_get(document, key, NULL)))
		return true;
	error_set(err, -EPROTO, "the answer has no list of %s: is this a Kubernetes API server?",
		key);
	return false;
}

static void
on_group(void *data, const struct kube_result *result)
{
	struct discovery *d = data;
	struct error err = {0};
	cJSON *group;

	d->request = NULL;
	if (result->outcome == KUBE_NOT_FOUND) {
		finish_missing(d, result);
		return;
	}
	if (result->outcome != KUBE_OK) {
		finish(d, DISCOVERY_FAILED, result);
		return;
	}
	group = json_parse(result->body, result->body_length, &err);
	if (group == NULL || !has_list(group, "versions", &err))
		finish_unreadable(d, result, err.text);
	else if (lists_version(
			 group, d->resource.version)) /* just being set up: as good as not there */
		finish_missing(d, result);
	else
		finish_version_gone(d, result, group);
	cJSON_Delete(group);
}

static void on_list(void *data, const struct kube_result *result);

static int
ask(struct discovery *d, const char *version, void (*done)(void *, const struct kube_result *))
{
	struct buf path = BUF_INIT;

	discovery_path(&path, d->resource.group, version);
	if (!path.failed)
		d->request = kube_start(
			d->kube, &(struct kube_call){.method = "GET", .path = path.data}, done, d);
	buf_free(&path);
	return d->request == NULL ? -ENOMEM : 0;
}

static void
on_list(void *data, const struct kube_result *result)
{
	struct discovery *d = data;
	struct error err = {0};
	cJSON *list;

	d->request = NULL;
	if (result->outcome == KUBE_NOT_FOUND) {
		if (ask(d, NULL, on_group) < 0)
			finish_unreadable(d, result, "out of memory");
		return;
	}
	if (result->outcome != KUBE_OK) {
		finish(d, DISCOVERY_FAILED, result);
		return;
	}
	list = json_parse(result->body, result->body_length, &err);
	if (list == NULL || !has_list(list, "resources", &err))
		finish_unreadable(d, result, err.text);
	else if (discovery_list_find(list, &d->resource))
		finish(d, DISCOVERY_FOUND, result);
	else
		finish_missing(d, result);
	cJSON_Delete(list);
}

struct discovery *
discovery_start(struct kube *kube, const struct kube_resource *wanted,
	void (*done)(void *data, enum discovery_answer answer, const struct kube_resource *resource,
		const struct kube_result *result),
	void *data)
{
	struct discovery *d = xcalloc(1, sizeof(*d));

	d->kube = kube;
	d->resource = *wanted;
	d->done = done;
	d->data = data;
	if (ask(d, wanted->version, on_list) < 0) {
		free(d);
		return NULL;
	}
	return d;
}

void
discovery_cancel(struct discovery *d)
{
	if (d == NULL)
		return;
	kube_cancel(d->request);
	free(d);
}
