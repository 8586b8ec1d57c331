/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server for health and metrics: GET and HEAD of /livez, /healthz[/NAME], /readyz[/NAME] and /metrics. */
#ifndef SUPERVISOR_HTTP_H
#define SUPERVISOR_HTTP_H

#include "common/error.h"

struct supervisor;
struct sup_http;

/* listen as http.listen says; NULL with the cause (the address, and why). "off": NULL with err->code 0. */
struct sup_http *sup_http_start(struct supervisor *sup, const char *listen, struct error *err);
/* Under 1 ms; ends connections. */
void sup_http_stop(struct sup_http *http);

#endif
