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
/* Runs it on input (consumed) for the first output. 0 and *ret, which the caller frees; -ETIMEDOUT; -EINVAL with jq's message. */
int machine_run(struct machine *machine, jv input, int64_t timeout_ns, jv *ret, struct error *err);

#endif
