/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled jq program with a bound on its run time. Values are libjq's jv: whoever holds one frees it with jv_free(). */
#ifndef COMMON_TEMPLATE_MACHINE_H
#define COMMON_TEMPLATE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <jq.h>
#include "common/error.h"

struct machine;

/* Compiles; vars becomes $vars (consumed). NULL with jq's own words, made readable. */
struct machine *machine_new(const char *program, jv vars, struct error *err);
void machine_free(struct machine *machine);

/*
 * A run: start, next until it gives no more or the caller has seen enough, end. Consumes input; the timeout is CPU time for the whole run. 0, or -errno when
 * there is no timer to be had (then there is nothing to end).
 */
int machine_start(struct machine *machine, jv input, int64_t timeout_ns, struct error *err);
/* 1: *ret is the next output; 0: there are no more; -EINVAL: *ret is the message of the error that ended it, any value; -ETIMEDOUT. */
int machine_next(struct machine *machine, jv *ret);
/* Lets go of everything that the run held. */
void machine_end(struct machine *machine);

#endif
