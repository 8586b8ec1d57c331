/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as an answer shows them.
 *
 * Stored bytes go out as they are wherever the form allows it; only conversion, metadata and Tables parse. As the real
 * server does it, items of built-in lists carry no kind and apiVersion.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include "devserver/render.h"
#include "devserver/table.h"
#include "devserver/tree.h"

static cJSON *
shown_tree(const struct call *call, const struct object *object)
{
	cJSON *tree = registry_parse(object);

	convert_out(tree, call->version);
	return tree;
}

static void
render_partial(struct buf *out, const cJSON *tree)
{
	buf_adds(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/"
		      "v1\",\"metadata\":");
	json_print(out, tree_get(tree, "metadata"));
	buf_addc(out, '}');
}

static void
render_whole(struct buf *out, const struct call *call, const struct object *object, bool item)
{
	size_t skip = item && call->resource->builtin ? object->head : 0;
	cJSON *tree;

	if (convert_same(call->version)) {
		if (skip)
			buf_addc(out, '{');
		buf_add(out, object->json + skip, object->length - skip);
		return;
	}
	tree = shown_tree(call, object);
	if (skip) {
		tree_remove(tree, "kind");
		tree_remove(tree, "apiVersion");
	}
	json_print(out, tree);
	cJSON_Delete(tree);
}

/* Lists of custom resources always have a continue member. */
static void
render_meta(struct buf *out, const struct call *call, const struct list_meta *meta)
{
	buf_addf(out, "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", meta->revision);
	if (meta->continue_) {
		buf_adds(out, ",\"continue\":");
		json_put_string(out, meta->continue_, strlen(meta->continue_));
		if (meta->remaining)
			buf_addf(out, ",\"remainingItemCount\":%" PRId64, meta->remaining);
	} else if (!call->resource->builtin && call->form == FORM_OBJECT) {
		buf_adds(out, ",\"continue\":\"\"");
	}
	buf_addc(out, '}');
}

static void
render_row(struct buf *out, const struct call *call, const struct object *object)
{
	cJSON *tree = shown_tree(call, object);

	table_row(out, call, tree);
	cJSON_Delete(tree);
}

static void
table_head(struct buf *out, const struct call *call, const struct list_meta *meta, bool columns)
{
	buf_adds(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",");
	render_meta(out, call, meta);
	buf_adds(out, ",\"columnDefinitions\":");
	if (columns)
		table_columns(out, call);
	else
		buf_adds(out, "null");
	buf_adds(out, ",\"rows\":[");
}

void
render_object(struct buf *out, const struct call *call, const struct object *object, bool first)
{
	struct list_meta meta = {.revision = object->revision};
	cJSON *tree;

	switch (call->form) {
	case FORM_OBJECT:
		render_whole(out, call, object, false);
		break;
	case FORM_PARTIAL:
		tree = registry_parse(object);
		render_partial(out, tree);
		cJSON_Delete(tree);
		break;
	case FORM_TABLE:
		table_head(out, call, &meta, first);
		render_row(out, call, object);
		buf_adds(out, "]}");
		break;
	}
}

void
render_reply(struct call *call, int status, const struct object *object)
{
	struct api_response *response = call->response;

	buf_reset(&response->body);
	response->status = status;
	response->content_type = "application/json";
	render_object(&response->body, call, object, true);
	buf_addc(&response->body, '\n');
}

static void
render_item(struct buf *out, const struct call *call, const struct object *object)
{
	switch (call->form) {
	case FORM_OBJECT:
		render_whole(out, call, object, true);
		break;
	case FORM_PARTIAL:
		render_object(out, call, object, false);
		break;
	case FORM_TABLE:
		render_row(out, call, object);
		break;
	}
}

static void
list_head(struct buf *out, const struct call *call, const struct list_meta *meta)
{
	if (call->form == FORM_TABLE) {
		table_head(out, call, meta, true);
		return;
	}
	if (call->form == FORM_PARTIAL)
		buf_adds(out, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s."
			      "io/v1\",");
	else
		buf_addf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", call->resource->list_kind,
			call->version->api_version);
	render_meta(out, call, meta);
	buf_adds(out, ",\"items\":[");
}

void
render_page(
	struct call *call, struct object *const *items, size_t count, const struct list_meta *meta)
{
	struct buf *out = &call->response->body;

	buf_reset(out);
	call->response->status = 200;
	call->response->content_type = "application/json";
	list_head(out, call, meta);
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_addc(out, ',');
		render_item(out, call, items[i]);
	}
	buf_adds(out, "]}\n");
}

void
render_list(struct call *call, struct object *const *items, size_t count)
{
	render_page(call, items, count,
		&(struct list_meta){.revision = registry_revision(call->api->store)});
}
