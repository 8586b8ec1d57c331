/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration, read and checked in a short-lived process with limits on its memory and its time. Whatever becomes of that process, the
 * supervisor only ever sees a bounded JSON document or a cause.
 */
#ifndef SUPERVISOR_CHECKER_H
#define SUPERVISOR_CHECKER_H

#include <cjson/cJSON.h>
#include "common/error.h"
#include "common/loop/loop.h"

struct checker;

/*
 * Starts a check of the file. done is called once, never from inside: with the document (config.h; done owns it), or NULL and the cause when the
 * checker crashed, hung or wrote what is no document. NULL when it can't be forked (err). free cancels.
 */
struct checker *checker_start(struct loop *loop, const char *path,
	void (*done)(void *data, cJSON *document, const struct error *err), void *data,
	struct error *err);
void checker_free(struct checker *checker);

#endif
