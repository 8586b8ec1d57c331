/* SPDX-License-Identifier: Apache-2.0 */
/* Between worker.c, worker_config.c and worker_process.c. Nobody else includes it. */
#ifndef SUPERVISOR_WORKER_INTERNAL_H
#define SUPERVISOR_WORKER_INTERNAL_H

#include "supervisor/worker.h"

/* worker_config.c: another configuration, copied, for a worker without a process. The count of deaths and the list of poison objects begin anew. */
void worker_forget_children(struct sup_worker *worker);
void worker_take_config(struct sup_worker *worker, const char *config, size_t length);
/* worker_process.c: forks it. LIFE_EVENT_NOT_FORKED follows from inside when that fails; its end is noted in its history, then comes LIFE_EVENT_DIED. */
void worker_spawn(struct sup_worker *worker);
/* Lets go of what belongs to an incarnation; its counters are kept. */
void worker_drop_process(struct sup_worker *worker);
void worker_close_fd(int *fd);

#endif
