/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get and list.
 *
 * A continue token is base64 of REVISION:KEY: the next page begins behind the key, in the state of that revision, which
 * the store rebuilds from its history; when that is forgotten the answer is 410 with a token that goes on in the
 * present.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "common/base64.h"
#include "devserver/causes.h"
#include "devserver/options.h"
#include "devserver/read.h"
#include "devserver/render.h"
#include "devserver/selectors.h"
#include "devserver/tree.h"

void
read_get(struct call *call)
{
	const struct object *object =
		registry_find(call->resource->collection, call->namespace_, call->name);

	if (object)
		render_reply(call, 200, object);
	else
		fail_not_found(call);
}

static bool
parse_number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

bool
read_version(struct call *call, uint64_t *ret)
{
	const char *text = call_parameter(call, "resourceVersion");
	bool watch = call_flag(call, "watch");

	*ret = 0;
	if (!text || !*text || parse_number(text, ret))
		return true;
	return fail(call, watch ? 500 : 400, watch ? "" : "BadRequest", NULL,
		"%sresourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": "
		"invalid syntax",
		watch ? "" : "invalid resource version: ", text, text);
}

struct page {
	uint64_t revision;
	char *after; /* the key before the page, NULL: from the start */
	uint64_t limit;
};

static char *
make_token(uint64_t revision, const char *key)
{
	struct buf plain = BUF_INIT, token = BUF_INIT;
	char *text;

	buf_addf(&plain, "%" PRIu64 ":%s", revision, key);
	base64_encode(&token, plain.data, plain.length);
	text = xstrdup(token.data);
	buf_free(&plain);
	buf_free(&token);
	return text;
}

static bool
read_token(struct call *call, const char *token, struct page *page)
{
	char *plain = NULL, *colon = NULL;
	size_t length;
	bool good = base64_decode(token, strlen(token), &plain, &length) == 0 &&
		    (colon = strchr(plain, ':'));

	if (good) {
		*colon = '\0';
		good = parse_number(plain, &page->revision);
		page->after = xstrdup(colon + 1);
	}
	free(plain);
	return good || fail_bad_request(call, "invalid continue token: continue key is not valid");
}

static bool
fail_expired_token(struct call *call, const struct page *page)
{
	char *token = make_token(registry_revision(call->api->store), page->after ? page->after : "");
	cJSON *status = status_tree(410, "Expired",
		"The provided continue parameter is too old to display a consistent list result. "
		"You can start a new list without the "
		"continue parameter, or use the continue token in this response to retrieve the "
		"remainder of the results. Continuing "
		"with the provided token results in an inconsistent list - objects that were "
		"created, modified, or deleted between "
		"the time the first chunk was returned and now may show up in the list.",
		NULL);

	tree_set_string(tree_object(status, "metadata"), "continue", token);
	call_reply(call, 410, status);
	cJSON_Delete(status);
	free(token);
	return false;
}

static bool
fail_too_large(struct call *call, uint64_t asked)
{
	cJSON *details = cJSON_CreateObject();

	tree_set(details, "causes",
		tree_literal("[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large "
			     "resource version\"}]"));
	tree_set_int(details, "retryAfterSeconds", 1);
	return fail(call, 504, "Timeout", details,
		"Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, asked,
		registry_revision(call->api->store));
}

/* Which page, of which revision. */
static bool
read_page(struct call *call, struct page *page)
{
	const char *token = call_parameter(call, "continue"),
		   *limit = call_parameter(call, "limit");
	const char *match = call_parameter(call, "resourceVersionMatch");
	uint64_t asked, current = registry_revision(call->api->store);

	*page = (struct page){.revision = current};
	/* A negative limit is none. */
	if (limit && *limit && *limit != '-' && !parse_number(limit, &page->limit))
		return fail_bad_request(
			call, "strconv.ParseInt: parsing \"%s\": invalid syntax", limit);
	if (!options_check_list(call))
		return false;
	if (!read_version(call, &asked))
		return false;
	if (token && *token) {
		if (asked)
			return fail_bad_request(call,
				"specifying resource version is not allowed when using continue");
		return read_token(call, token, page);
	}
	if (asked > current)
		return fail_too_large(call, asked);
	if (match && strcmp(match, "Exact") == 0)
		page->revision = asked;
	return true;
}

static bool
open_page(struct call *call, const struct page *page, struct object ***ret_items, size_t *ret_count)
{
	if (registry_snapshot(call->api->store, call->resource->collection, page->revision, ret_items,
		    ret_count))
		return true;
	if (page->after)
		return fail_expired_token(call, page);
	return fail(call, 410, "Expired", NULL,
		"The resourceVersion for the provided list is too old.");
}

static bool
in_namespace(const struct call *call, const struct object *object)
{
	return !*call->namespace_ || strcmp(object->namespace_, call->namespace_) == 0;
}

/* Moves what the page shows to the front of items; the last one shown and how many follow. */
static size_t
choose(const struct call *call, const struct page *page, const struct selectors *selectors,
	struct object **items, size_t count, size_t *ret_left)
{
	size_t shown = 0;

	*ret_left = 0;
	for (size_t i = 0; i < count; i++) {
		struct object *object = items[i];

		if ((page->after && strcmp(object->key, page->after) <= 0) ||
			!in_namespace(call, object) || !selectors_match(selectors, object))
			continue;
		if (page->limit && shown == page->limit) {
			++*ret_left;
			continue;
		}
		items[i] = items[shown];
		items[shown++] = object;
	}
	return shown;
}

static void
reply_page(struct call *call, const struct page *page, const struct selectors *selectors)
{
	struct list_meta meta = {.revision = page->revision};
	struct object **items;
	size_t count, shown, left;
	char *token = NULL;

	if (!open_page(call, page, &items, &count))
		return;
	shown = choose(call, page, selectors, items, count, &left);
	if (left) {
		meta.continue_ = token = make_token(page->revision, items[shown - 1]->key);
		meta.remaining = selectors_none(selectors) ? (int64_t)left : 0;
	}
	render_page(call, items, shown, &meta);
	registry_snapshot_free(items, count);
	free(token);
}

void
read_list(struct call *call)
{
	struct error err = {0};
	struct selectors *selectors = selectors_new(call_parameter(call, "labelSelector"),
		call_parameter(call, "fieldSelector"), call->version, &err);
	struct page page;

	if (!selectors) {
		fail_bad_request(call, "%s", err.text);
		return;
	}
	if (read_page(call, &page))
		reply_page(call, &page, selectors);
	free(page.after);
	selectors_free(selectors);
}
