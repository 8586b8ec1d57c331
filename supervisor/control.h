/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket, and the lock that makes this the only operatord on it. Only root and our own uid are served (SO_PEERCRED). Requests
 * and answers are records (common/records.h).
 */
#ifndef SUPERVISOR_CONTROL_H
#define SUPERVISOR_CONTROL_H

#include "common/error.h"

struct supervisor;
struct sup_control;

/*
 * path NULL: the default place (common/control_path.h), where a directory that can't be written costs the socket only (one warning). Returns 0 and *ret
 * (NULL: goes on without); -EBUSY with the other's pid in words; -errno when an explicit path can't be used.
 */
int sup_control_start(
	struct supervisor *sup, const char *path, struct sup_control **ret, struct error *err);
void sup_control_stop(struct sup_control *control);

#endif
