/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that the supervisor answers with. Pure: they read the supervisor and append to a buffer. */
#ifndef SUPERVISOR_PAGES_H
#define SUPERVISOR_PAGES_H

#include <stdbool.h>
#include "common/buf.h"

struct supervisor;

enum health_page { HEALTH_LIVE, HEALTH_HEALTHY, HEALTH_READY };

/*
 * health.c. The HTTP status (200 or 503) and the body: "ok", or the names of what is not well with the reason. verbose: a line a worker; json: the
 * same as an object. name: only this worker (404 when there is none), NULL: all.
 */
unsigned health_page(const struct supervisor *sup, enum health_page page, const char *name,
	bool verbose, bool json, struct buf *out);
/* metrics_page.c: everything, in the text exposition format 0.0.4. */
void metrics_page(struct supervisor *sup, struct buf *out);
/* The same families as a table in Markdown: docs/metrics.md holds it. */
void metrics_describe(struct buf *out);
/* status.c: the document that operatorctl status shows. */
void status_document(struct supervisor *sup, struct buf *out);

#endif
