/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as an answer shows them: whole, metadata only, or as a Table. */
#ifndef DEVSERVER_RENDER_H
#define DEVSERVER_RENDER_H

#include "common/buf.h"
#include "devserver/server.h"

struct list_meta {
	uint64_t revision;
	const char *continue_; /* NULL: the last page */
	int64_t remaining;     /* 0: not said */
};

/* One object, as the form of the call asks; first: a Table with its column definitions. */
void render_object(
	struct buf *out, const struct call *call, const struct object *object, bool first);
void render_reply(struct call *call, int status, const struct object *object);
/* Answers with these items. */
void render_page(
	struct call *call, struct object *const *items, size_t count, const struct list_meta *meta);
void render_list(struct call *call, struct object *const *items, size_t count);

#endif
