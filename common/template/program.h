/* SPDX-License-Identifier: Apache-2.0 */
/* What program.c (compiling) and render.c (running) share. */
#ifndef COMMON_TEMPLATE_PROGRAM_H
#define COMMON_TEMPLATE_PROGRAM_H

#include "common/template/machine.h"
#include "common/template/skeleton.h"

/* The document that was parsed last, so that the groups of one object parse it once. Big ones are not kept: no tree is to live across a wait. */
struct template_cached {
	struct buf bytes;
	bool valid;
	jv value;
};

struct template_program {
	struct skeleton *groups;
	size_t n_groups, n_children;
	struct machine *machine;
	struct template_cached object, children;
	jv mark;    /* what the program gives before each expression's values; known by its identity */
	jv *values; /* room for the values of a group's expressions */
};

void template_input_init(struct template_program *program);
void template_input_clear(struct template_program *program);
/* The program's input for a group. -EINVAL: something in it is not JSON. The caller frees *ret. */
int template_input_make(struct template_program *program, size_t group,
	const struct template_input *input, jv *ret);

#endif
