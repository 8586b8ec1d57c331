/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource kept in view: list, then watch, for ever, by the rules of a watch that never silently stops.
 *
 * The first list is consistent (no resourceVersion), in pages of 500 whose items are cut out as the bytes arrive; the watch goes on from
 * the list's version with bookmarks and a random timeoutSeconds of 300-600. A clean end resumes from the last version seen. 410 in each of its shapes leads to one
 * new list, and that version is never asked for again. After `silence_ns` without a byte the watch is opened anew from the last version
 * on a fresh connection. Errors back off 0.8 s x2 to 30 s (half of it jitter), Retry-After is honoured, and the backoff clears after 2 minutes without trouble.
 * A line that is not a watch event is dropped, counted and leads to a new list. It never gives up.
 *
 * Deletions missed while away: the consumer marks at `begin` and sweeps at `synced` (mark and sweep), so this module keeps no objects.
 */
#ifndef COMMON_KUBE_LISTWATCH_H
#define COMMON_KUBE_LISTWATCH_H

#include "common/jsonscan.h"
#include "common/kube/client.h"
#include "common/kube/path.h"

enum listwatch_event { LISTWATCH_LISTED, LISTWATCH_ADDED, LISTWATCH_MODIFIED, LISTWATCH_DELETED };

struct listwatch_callbacks {
	/* A list begins (each relist too): what is not seen until `synced` is gone. */
	void (*begin)(void *data);
	/* One object, bytes and info valid during the call; validated. */
	void (*object)(void *data, enum listwatch_event event, const char *bytes, size_t length, const struct json_object_info *info);
	/* The list is complete; the watch follows. */
	void (*synced)(void *data);
	/* The watch is open and fresh (healthy true, result NULL), or list or watch failed: result says why; it is retried after delay_ns. */
	void (*health)(void *data, bool healthy, const struct kube_result *result, int64_t delay_ns);
	/* Any byte or (re)opening: for the watch's age. May be NULL. */
	void (*seen)(void *data);
	void *data;
};

struct listwatch_options {
	struct kube_resource resource;
	const char *namespace_;      /* NULL: all */
	const char *label_selector, *field_selector; /* NULL: none */
	bool metadata_only;          /* PartialObjectMetadata */
	int64_t silence_ns;          /* 0: 70 s */
	int64_t request_timeout_ns;  /* a page of the list; 0: 30 s */
	size_t object_limit;         /* 0: 16 MiB; a larger object counts as malformed */
	bool primary;                /* counts in the watch metrics and the scoreboard's watch_seen_ns */
};

struct listwatch;
/* Starts at once (never calls back from inside). Options are copied. */
struct listwatch *listwatch_new(struct loop *loop, struct kube *kube, const struct listwatch_options *options, const struct listwatch_callbacks *callbacks);
void listwatch_free(struct listwatch *lw);
/* Lists anew, to compare with what is known; does nothing while a list is under way. Not from inside a callback. */
void listwatch_resync(struct listwatch *lw);
bool listwatch_synced(const struct listwatch *lw); /* a list was completed since the start, and no newer one is under way */
bool listwatch_live(const struct listwatch *lw);   /* synced, and the watch is open */

#endif
