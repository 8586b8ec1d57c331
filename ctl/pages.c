/* SPDX-License-Identifier: Apache-2.0 */
/* Lists read page by page, so that the size of the cluster is no bound. */
#include "config.h"

#include "common/jsonscan.h"
#include "ctl/ctl.h"

#define PAGE_SIZE  "500"
#define OBJECT_MAX (16u << 20) /* bytes of one object */

void
ctl_list_path(const struct ctl *ctl, const struct kube_resource *resource, const char *namespace_,
	const char *token, struct buf *path)
{
	buf_reset(path);
	kube_path(path, resource, namespace_, NULL, NULL);
	kube_path_query(path, "limit", PAGE_SIZE);
	kube_path_query(path, "labelSelector", ctl->selector);
	kube_path_query(path, "continue", token && *token ? token : NULL);
}

bool
ctl_fetch(struct kube *kube, const struct buf *path, const char *accept, struct buf *body)
{
	struct kube_call call = {.method = "GET", .path = path->data, .accept = accept};
	struct kube_result result;

	buf_reset(body);
	if (kube_call_wait(kube, &call, &result, body) == 0 && result.outcome == KUBE_OK)
		return true;
	ctl_complain_answer(kube, &result);
	return false;
}

/* Cuts a page into its items; the continue token replaces what is in token. */
static bool
read_page(
	const struct jsonscan_list_callbacks *callbacks, const struct buf *body, struct buf *token)
{
	struct jsonscan_list *list = jsonscan_list_new(callbacks, OBJECT_MAX);
	bool good =
		jsonscan_list_feed(list, body->data, body->length) == 0 && jsonscan_list_done(list);

	buf_reset(token);
	if (good)
		buf_adds(token, jsonscan_list_continue(list));
	else
		ctl_complain("the server's answer is not a list");
	jsonscan_list_free(list);
	return good;
}

bool
ctl_each_object(const struct ctl *ctl, struct kube *kube, const struct kube_resource *resource,
	const char *namespace_, void (*item)(void *data, const char *bytes, size_t length),
	void *data)
{
	const struct jsonscan_list_callbacks callbacks = {.item = item, .data = data};
	struct buf path = BUF_INIT, body = BUF_INIT, token = BUF_INIT;
	bool good;

	do {
		ctl_list_path(ctl, resource, namespace_, token.data, &path);
		good = ctl_fetch(kube, &path, NULL, &body) && read_page(&callbacks, &body, &token);
	} while (good && token.length);
	buf_free(&path);
	buf_free(&body);
	buf_free(&token);
	return good;
}
