/* SPDX-License-Identifier: Apache-2.0 */
/* Time and chance, the two things that a simulated run must replace: the simulator links its own. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds: the only clock for delays and deadlines. */
int64_t clock_monotonic_ns(void);
/* CLOCK_REALTIME in nanoseconds since the epoch: for what people read. */
int64_t clock_wall_ns(void);
/* Evenly distributed, not for keys: jitter. */
uint64_t clock_random(void);
/* Unpredictable bytes (getrandom(2)), for UUIDs. Never fails once the system has booted. */
void clock_random_bytes(void *out, size_t n);
/* RFC 3339 with fraction digits (0, 3 or 6) in UTC, as Kubernetes writes it: "2026-11-30T22:05:00Z". out holds 32 bytes. */
void clock_format_rfc3339(char out[32], int64_t wall_ns, int digits);
/* Reads it, with any zone and any digits (those beyond the ninth are dropped), in capitals. 0 or -EINVAL. */
int clock_parse_rfc3339(const char *text, int64_t *ret_wall_ns);

#define NSEC_PER_MSEC 1000000LL
#define NSEC_PER_SEC  1000000000LL

#endif
