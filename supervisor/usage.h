/* SPDX-License-Identifier: Apache-2.0 */
/* What this process uses, from /proc and getrusage(2). What can't be read is 0. */
#ifndef SUPERVISOR_USAGE_H
#define SUPERVISOR_USAGE_H

double usage_cpu_seconds(void); /* user and system */
double usage_resident_bytes(void);
double usage_virtual_bytes(void);
double usage_open_fds(void);
double usage_max_fds(void); /* the soft limit */

#endif
