/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping the whole. The graces are the workers' own timers (worker.c); there is no wait here, only the last end. */
#include "config.h"

#include "common/log.h"
#include "supervisor/core.h"
#include "supervisor/service.h"

static void
end_when_empty(struct supervisor *sup)
{
	if (sup->stopping && !sup->workers)
		loop_stop(sup->loop);
}

void
stop_on_stopped(void *data, struct sup_worker *worker)
{
	struct supervisor *sup = data;
	struct sup_worker **at = &sup->workers;

	if (!worker->removed)
		return;
	while (*at && *at != worker)
		at = &(*at)->next;
	if (*at)
		*at = worker->next;
	sup_worker_free(worker);
	end_when_empty(sup);
}

void
stop_request(struct supervisor *sup)
{
	struct sup_worker *next;

	if (sup->stopping) {
		log_warn("asked to stop again: workers that still run get SIGTERM now");
	} else {
		log_info("stopping");
		sup->shared.had_to_kill = false; /* what reloads did before is not about the stop */
	}
	bool first = !sup->stopping;
	sup->stopping = true;
	if (first)
		service_stopping(sup->service);
	reload_cancel(sup);
	for (struct sup_worker *worker = sup->workers; worker; worker = next) {
		next = worker->next; /* stopping may free it */
		worker->removed = true;
		sup_worker_event(worker, LIFE_EVENT_STOP);
	}
	end_when_empty(sup);
}
