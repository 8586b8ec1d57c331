/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operatorctl watch RESOURCE: a line for each event as it comes (No., TYPE, RECEIVE TIME, NAME), the objects that are there first, until
 * interrupted. It stands on the same listwatch as the workers, so it survives what they survive; troubles are said on stderr. Objects found gone by
 * a new list show as DELETED.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/kube/listwatch.h"
#include "common/memory.h"
#include "ctl/ctl.h"

/* What was shown of an object: its version, so that a new list repeats nothing, and whether the running list has it. */
struct shown {
	char *key, *version;
	bool listed;
	struct shown *next;
};

#define SHOWN_BUCKETS 4096

struct watching {
	struct loop *loop;
	unsigned long number;
	bool all_namespaces;
	int64_t trouble_delay_ns; /* of the trouble that was said last, 0: none */
	struct shown *shown[SHOWN_BUCKETS];
};

static unsigned
bucket_of(const char *key)
{
	unsigned hash = 5381;

	for (; *key; key++)
		hash = hash * 33 + (unsigned char)*key;
	return hash % SHOWN_BUCKETS;
}

static struct shown **
find(struct watching *watching, const char *key)
{
	struct shown **at = &watching->shown[bucket_of(key)];

	while (*at && strcmp((*at)->key, key) != 0)
		at = &(*at)->next;
	return at;
}

static void
forget(struct shown **at)
{
	struct shown *gone = *at;

	*at = gone->next;
	free(gone->key);
	free(gone->version);
	free(gone);
}

static void
line(struct watching *watching, const char *type, const char *key)
{
	char when[32];
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	printf("%-5lu%-10s%-21s%s\n", ++watching->number, type, when, key);
	if (fflush(stdout) != 0) { /* the reader has gone */
		loop_stop(watching->loop);
	}
}

static void
on_begin(void *data)
{
	struct watching *watching = data;

	for (unsigned i = 0; i < SHOWN_BUCKETS; i++) {
		for (struct shown *entry = watching->shown[i]; entry; entry = entry->next)
			entry->listed = false;
	}
}

/* Notes an object; false when this very version was shown before. */
static bool
note(struct watching *watching, const char *key, const char *version, bool *ret_new)
{
	struct shown **at = find(watching, key);

	*ret_new = !*at;
	if (!*at) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->key = xstrdup(key);
	}
	(*at)->listed = true;
	if ((*at)->version && strcmp((*at)->version, version) == 0)
		return false;
	free((*at)->version);
	(*at)->version = xstrdup(version);
	return true;
}

static void
on_object(void *data, enum listwatch_event event, const char *bytes, size_t length,
	const struct json_object_info *info)
{
	struct watching *watching = data;
	char *name = xstrndup(bytes + info->name.start, info->name.length);
	char *version =
		xstrndup(bytes + info->resource_version.start, info->resource_version.length);
	char *key = watching->all_namespaces && info->namespace_.length
			    ? xasprintf("%.*s/%s", (int)info->namespace_.length,
				      bytes + info->namespace_.start, name)
			    : xstrdup(name);
	bool new_;

	(void)length;
	if (event == LISTWATCH_DELETED) {
		struct shown **at = find(watching, key);
		if (*at)
			forget(at);
		line(watching, "DELETED", key);
	} else if (note(watching, key, version, &new_)) {
		line(watching, new_ ? "ADDED" : "MODIFIED", key);
	}
	free(key);
	free(version);
	free(name);
}

static void
on_synced(void *data)
{
	struct watching *watching = data;

	for (unsigned i = 0; i < SHOWN_BUCKETS; i++) {
		for (struct shown **at = &watching->shown[i]; *at;) {
			if ((*at)->listed) {
				at = &(*at)->next;
				continue;
			}
			line(watching, "DELETED", (*at)->key);
			forget(at);
		}
	}
}

static void
on_health(void *data, bool healthy, const struct kube_result *result, int64_t delay_ns)
{
	struct watching *watching = data;

	if (healthy) {
		if (watching->trouble_delay_ns)
			fputs("operatorctl: connected again\n", stderr);
		watching->trouble_delay_ns = 0;
		return;
	}
	if (!watching->trouble_delay_ns)
		ctl_complain("%s; trying again", result ? result->message : "no connection");
	watching->trouble_delay_ns = delay_ns ? delay_ns : 1;
}

static void
on_signal(void *data)
{
	loop_stop(data);
}

static int
watch(const struct ctl *ctl, struct loop *loop, struct kube *kube, const char *word)
{
	struct watching watching = {.loop = loop};
	struct listwatch_options options = {0};
	struct listwatch_callbacks callbacks = {.begin = on_begin,
		.object = on_object,
		.synced = on_synced,
		.health = on_health,
		.data = &watching};

	if (!ctl_find_resource(kube, word, &options.resource))
		return CTL_FAILED;
	options.namespace_ = ctl_namespace(ctl, kube, &options.resource);
	options.label_selector = ctl->selector;
	options.metadata_only = true;
	watching.all_namespaces = !options.namespace_;
	printf("%-5s%-10s%-21s%s\n", "No.", "TYPE", "RECEIVE TIME", "NAME");
	fflush(stdout);
	struct loop_signal *interrupted = loop_signal_new(loop, SIGINT, on_signal, loop);
	struct loop_signal *terminated = loop_signal_new(loop, SIGTERM, on_signal, loop);
	struct listwatch *lw = listwatch_new(loop, kube, &options, &callbacks);
	loop_run(loop);
	listwatch_free(lw);
	loop_signal_free(interrupted);
	loop_signal_free(terminated);
	for (unsigned i = 0; i < SHOWN_BUCKETS; i++) {
		while (watching.shown[i])
			forget(&watching.shown[i]);
	}
	return CTL_DONE;
}

int
ctl_watch(const struct ctl *ctl, int argc, char **argv)
{
	if (argc != 1) {
		ctl_complain("watch takes one resource, e.g.: operatorctl watch nginx");
		return CTL_USAGE;
	}
	struct loop *loop = loop_new(true);
	struct kube *kube = ctl_connect(ctl, loop);
	int code = kube ? watch(ctl, loop, kube, argv[0]) : CTL_FAILED;
	kube_free(kube);
	loop_free(loop);
	return code;
}
