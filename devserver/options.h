/* SPDX-License-Identifier: Apache-2.0 */
/* The query parameters that every verb of a kind takes: checked before anything is done. */
#ifndef DEVSERVER_OPTIONS_H
#define DEVSERVER_OPTIONS_H

#include <cjson/cJSON.h>
#include "devserver/call.h"

/* For a write; apply: the patch is a server-side apply. false: answered with 422. */
bool options_check_write(struct call *call, bool apply);
bool options_check_list(struct call *call);
bool options_check_watch(struct call *call);
/* 422 of a *Options kind ("DeleteOptions"); takes causes. */
bool options_fail(struct call *call, const char *kind, cJSON *causes);

#endif
