/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of a new process, for common/proc alone. */
#ifndef COMMON_PROC_FDS_H
#define COMMON_PROC_FDS_H

#include <stddef.h>
#include "common/proc/proc.h"

/* Moves the descriptors to their targets, which may be others' sources, and closes all above. 0 or -errno. */
int fds_move(const struct proc_fd *fds, size_t n_fds);
/* Closes every descriptor from `first` up. */
void fds_close_from(int first);

#endif
