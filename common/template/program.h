/* SPDX-License-Identifier: Apache-2.0 */
/* What program.c (compiling) and render.c (running) share. */
#ifndef COMMON_TEMPLATE_PROGRAM_H
#define COMMON_TEMPLATE_PROGRAM_H

#include "common/template/machine.h"
#include "common/template/skeleton.h"

/* A document that was parsed last, so that the groups of one object parse it once. */
struct template_cached {
	uint64_t hash;
	size_t length;
	bool valid;
	jv value;
};

struct template_program {
	struct skeleton *groups;
	size_t n_groups, n_children;
	struct machine *machine;
	struct template_cached object, children;
};

void template_cache_clear(struct template_program *program);

#endif
