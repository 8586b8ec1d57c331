/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl release RESOURCE [NAME...]: takes operatord's finalizers off objects that no operatord will come back for. Nothing else of an object is
 * touched, and no child is deleted. Only --yes writes; without it, and with --dry-run, it says what it would do.
 *
 * The patch carries the resourceVersion that was read, so that no finalizer of others is lost: after a conflict the object is read again.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonscan.h"
#include "common/kube/names.h"
#include "common/memory.h"
#include "ctl/ctl.h"
#include "workers/finalizer.h"

#define TRIES_MAX 8

struct target {
	char *namespace_, *name;
};

struct releasing {
	const struct ctl *ctl;
	struct kube *kube;
	struct kube_resource resource;
	char *prefix; /* of the finalizers to take off */
	struct target *targets;
	size_t n_targets;
	size_t found, released;
	bool good;
};

static void
add_target(struct releasing *r, const char *namespace_, const char *name)
{
	if ((r->n_targets & (r->n_targets - 1)) == 0)
		r->targets = xreallocarray(
			r->targets, r->n_targets ? 2 * r->n_targets : 1, sizeof(*r->targets));
	r->targets[r->n_targets++] = (struct target){xstrdup(namespace_), xstrdup(name)};
}

static void
on_item(void *data, const char *bytes, size_t length)
{
	struct releasing *r = data;
	struct json_object_info info;
	struct buf patch = BUF_INIT;
	char namespace_[256], name[256];

	if (finalizer_remove_all_patch(&patch, bytes, length, r->prefix, NULL) &&
		jsonscan_object(bytes, length, &info)) {
		snprintf(namespace_, sizeof(namespace_), "%.*s", (int)info.namespace_.length,
			bytes + info.namespace_.start);
		snprintf(
			name, sizeof(name), "%.*s", (int)info.name.length, bytes + info.name.start);
		add_target(r, namespace_, name);
	}
	buf_free(&patch);
}

static void
say(const struct releasing *r, const struct target *target, const char *what, const char *removed)
{
	printf("%s%s%s %s%s%s: %s %s\n", r->resource.plural, *r->resource.group ? "." : "",
		r->resource.group, target->namespace_, *target->namespace_ ? "/" : "", target->name,
		what, removed);
}

/* Reads it and makes the patch: 1, 0 there is nothing to take off, -1 it could not be read (said, but for one that the list had and that is gone). */
static int
read_object(struct releasing *r, const struct target *target, bool named, struct buf *path,
	struct buf *patch, struct buf *removed)
{
	struct kube_call call = {.method = "GET"};
	struct kube_result result;
	struct buf body = BUF_INIT;
	int answer = 0;

	buf_reset(path);
	buf_reset(patch);
	buf_reset(removed);
	kube_path(path, &r->resource, target->namespace_, target->name, NULL);
	call.path = path->data;
	if (kube_call_wait(r->kube, &call, &result, &body) < 0 || result.outcome != KUBE_OK) {
		if (result.outcome != KUBE_NOT_FOUND || named) {
			ctl_complain_answer(r->kube, &result);
			answer = -1;
		}
	} else if (finalizer_remove_all_patch(patch, body.data, body.length, r->prefix, removed)) {
		answer = 1;
	}
	buf_free(&body);
	return answer;
}

static enum kube_outcome
write_object(
	struct releasing *r, struct buf *path, const struct buf *patch, struct kube_result *result)
{
	struct kube_call call = {.method = "PATCH",
		.content_type = "application/merge-patch+json",
		.body = patch->data,
		.body_length = patch->length};
	struct buf body = BUF_INIT;

	kube_path_query(path, "fieldManager", "operatorctl");
	call.path = path->data;
	if (kube_call_wait(r->kube, &call, result, &body) < 0)
		result->outcome = KUBE_UNREACHABLE;
	buf_free(&body);
	return result->outcome;
}

static bool
release(struct releasing *r, const struct target *target, bool named)
{
	struct buf path = BUF_INIT, patch = BUF_INIT, removed = BUF_INIT;
	struct kube_result result = {.outcome = KUBE_CONFLICT};
	bool write = r->ctl->yes && !r->ctl->dry_run;
	int answer = 1;

	for (int i = 0; i < TRIES_MAX && result.outcome == KUBE_CONFLICT; i++) {
		answer = read_object(r, target, named, &path, &patch, &removed);
		if (answer <= 0 || !write)
			break;
		write_object(r, &path, &patch, &result);
	}
	if (answer > 0)
		r->found++;
	if (answer > 0 && !write) {
		say(r, target, "would take off", removed.data);
	} else if (answer > 0 && result.outcome == KUBE_OK) {
		say(r, target, "took off", removed.data);
		r->released++;
	} else if (answer > 0 && result.outcome != KUBE_NOT_FOUND) {
		ctl_complain_answer(r->kube, &result);
		answer = -1;
	}
	buf_free(&path);
	buf_free(&patch);
	buf_free(&removed);
	return answer >= 0;
}

static void
release_all(struct releasing *r, int n_names, char **names)
{
	const char *namespace_ = ctl_namespace(r->ctl, r->kube, &r->resource);

	r->good = true;
	for (int i = 0; i < n_names; i++)
		add_target(r, namespace_ ? namespace_ : "", names[i]);
	if (n_names == 0)
		r->good = ctl_each_object(r->ctl, r->kube, &r->resource, namespace_, on_item, r);
	for (size_t i = 0; i < r->n_targets; i++)
		r->good = release(r, &r->targets[i], n_names > 0) && r->good;
}

static void
clear(struct releasing *r)
{
	for (size_t i = 0; i < r->n_targets; i++) {
		free(r->targets[i].namespace_);
		free(r->targets[i].name);
	}
	free(r->targets);
	free(r->prefix);
}

static int
result_of(const struct releasing *r)
{
	if (!r->good)
		return CTL_FAILED;
	if (r->found == 0)
		printf("no object has a finalizer %s...\n", r->prefix);
	if (r->found == 0 || r->ctl->yes || r->ctl->dry_run)
		return CTL_DONE;
	ctl_complain("nothing was done. Where operatord still runs it must do this itself: an "
		     "object's children are left behind. To go on, add --yes");
	return CTL_USAGE;
}

int
ctl_release(const struct ctl *ctl, int argc, char **argv)
{
	struct releasing r = {.ctl = ctl};
	int code = CTL_FAILED;

	if (argc < 1 || (argc > 1 && ctl->all_namespaces)) {
		ctl_complain(
			argc < 1 ? "release takes a resource, e.g.: operatorctl release -A nginx "
				   "--dry-run"
				 : "names are of one namespace: -n NS instead of -A");
		return CTL_USAGE;
	}
	r.prefix = ctl->instance ? xasprintf(FINALIZER_PREFIX "%s.", ctl->instance)
				 : xstrdup(FINALIZER_PREFIX);
	struct loop *loop = loop_new(true);
	r.kube = ctl_connect(ctl, loop);
	if (r.kube && ctl_find_resource(r.kube, argv[0], &r.resource)) {
		release_all(&r, argc - 1, argv + 1);
		code = result_of(&r);
	}
	kube_free(r.kube);
	loop_free(loop);
	clear(&r);
	if (fflush(stdout) != 0) {
		ctl_complain("the output could not be written");
		code = CTL_FAILED;
	}
	return code;
}
