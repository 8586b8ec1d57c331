/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list: page by page, each item handed out as its bytes arrive. A page that fails is asked for again with its token, and its
 * items then come again; a token that expired begins the whole list anew, for what the server offers instead (a token for the rest
 * as it is now) would mix two states.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kube/listwatch_internal.h"
#include "common/memory.h"

#define PAGE_SIZE       "500"
#define ACCEPT_METADATA "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

static void
on_item(void *data, const char *bytes, size_t length)
{
	struct listwatch *lw = data;
	struct json_object_info info;

	if (lw->dead || lw->list_error != 0)
		return;
	if (!jsonscan_object(bytes, length, &info)) {
		lw->list_error = -EBADMSG;
		return;
	}
	lw->callbacks.object(lw->callbacks.data, LISTWATCH_LISTED, bytes, length, &info);
}

static void
on_opened(void *data)
{
	struct listwatch *lw = data;

	listwatch_enter(lw);
	if (lw->continue_ == NULL)
		lw->callbacks.begin(lw->callbacks.data);
	listwatch_leave(lw);
}

static int
on_body(void *data, const char *bytes, size_t length)
{
	struct listwatch *lw = data;
	int r;

	listwatch_enter(lw);
	r = jsonscan_list_feed(lw->list, bytes, length);
	if (r < 0 && lw->list_error == 0)
		lw->list_error = r;
	r = lw->dead || lw->list_error != 0 ? -1 : 0;
	listwatch_leave(lw);
	return r;
}

/* The bytes of the page were no list. */
static void
unreadable(struct listwatch *lw)
{
	struct kube_result result;

	if (lw->list_error == -EFBIG)
		listwatch_result(&result, KUBE_INVALID, "list: an object is larger than %zu bytes",
			lw->options.object_limit);
	else if (lw->list_error == -ENOMEM)
		listwatch_result(&result, KUBE_SERVER_ERROR, "list: out of memory");
	else
		listwatch_result(&result, KUBE_SERVER_ERROR,
			"list: the server at %s does not answer with a list in JSON",
			kube_host(lw->kube));
	listwatch_trouble(lw, STEP_LIST, &result);
}

static void
complete(struct listwatch *lw)
{
	struct kube_result result;

	/* To watch from a version that was refused would end in the same refusal. */
	if (lw->version[0] == '\0' || strcmp(lw->version, lw->refused) == 0) {
		listwatch_result(&result, KUBE_SERVER_ERROR,
			"list: the server gives %s as its version",
			lw->version[0] == '\0' ? "none" : "one that it refused before");
		listwatch_trouble(lw, STEP_LIST, &result);
		return;
	}
	lw->refused[0] = '\0';
	lw->synced = true;
	listwatch_count(lw, M_LISTS_TOTAL, NULL);
	listwatch_next(lw, STEP_WATCH, 0);
	lw->callbacks.synced(lw->callbacks.data);
}

/* The page is whole: the next, or the end. */
static void
turn_page(struct listwatch *lw)
{
	const char *token = jsonscan_list_continue(lw->list);
	struct kube_result result;

	snprintf(lw->version, sizeof(lw->version), "%s", jsonscan_list_resource_version(lw->list));
	if (*token == '\0') {
		free(lw->continue_);
		lw->continue_ = NULL;
		listwatch_list_clear(lw);
		complete(lw);
		return;
	}
	if (lw->continue_ != NULL && strcmp(token, lw->continue_) == 0) {
		free(lw->continue_);
		lw->continue_ = NULL;
		listwatch_result(&result, KUBE_SERVER_ERROR,
			"list: the server names the same page again and again");
		listwatch_trouble(lw, STEP_LIST, &result);
		return;
	}
	free(lw->continue_);
	lw->continue_ = xstrdup(token);
	listwatch_next(lw, STEP_LIST, 0);
}

/* With the same token the answer would be the same for ever: it expired, or the server (another one than before, or one with data from a backup) can't read it. */
static bool
token_is_bad(const struct kube_result *result)
{
	return result->outcome == KUBE_EXPIRED || result->outcome == KUBE_INVALID ||
	       result->outcome == KUBE_NOT_FOUND || result->status == 500;
}

static void
on_done(void *data, const struct kube_result *result)
{
	struct listwatch *lw = data;

	listwatch_enter(lw);
	lw->request = NULL;
	if (lw->list_error != 0)
		unreadable(lw);
	else if (lw->continue_ != NULL && token_is_bad(result))
		listwatch_relist(lw, result);
	else if (result->outcome != KUBE_OK)
		listwatch_trouble(lw, STEP_LIST, result);
	else if (jsonscan_list_done(lw->list))
		turn_page(lw);
	else {
		lw->list_error = -EBADMSG;
		unreadable(lw);
	}
	listwatch_list_clear(lw);
	listwatch_leave(lw);
}

void
listwatch_list_clear(struct listwatch *lw)
{
	jsonscan_list_free(lw->list);
	lw->list = NULL;
}

void
listwatch_list_start(struct listwatch *lw)
{
	const struct jsonscan_list_callbacks items = {.item = on_item, .data = lw};
	const struct kube_stream_callbacks callbacks = {
		.opened = on_opened, .body = on_body, .done = on_done, .data = lw};
	struct kube_call call = {.method = "GET", .timeout_ns = lw->options.request_timeout_ns};
	struct kube_result result;
	struct buf path = BUF_INIT;

	listwatch_list_clear(lw);
	lw->list_error = 0;
	listwatch_path(lw, &path);
	kube_path_query(&path, "limit", PAGE_SIZE);
	kube_path_query(&path, "continue", lw->continue_);
	call.path = path.data;
	call.accept = lw->options.metadata_only ? ACCEPT_METADATA : NULL;
	lw->list = jsonscan_list_new(&items, lw->options.object_limit);
	if (lw->list != NULL && !path.failed)
		lw->request = kube_stream(lw->kube, &call, false, &callbacks);
	buf_free(&path);
	if (lw->request == NULL) {
		listwatch_result(&result, KUBE_SERVER_ERROR, "list: out of memory");
		listwatch_trouble(lw, STEP_LIST, &result);
	}
}
