/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world's Greetings: objects with a finalizer and children in another namespace (greeting.yaml). What people do to them, and what must hold: a
 * child never is without its owner and the owner's finalizer, nothing of a live owner is deleted unless it is not wanted, and no finalizer is left.
 */
#ifndef TESTS_SIM_FINALIZED_H
#define TESTS_SIM_FINALIZED_H

struct world;

/* The namespace of the children, and an eye on the deletes. */
void finalized_open(struct world *world);
/* One thing that people do. */
void finalized_act(struct world *world);
/* Nobody holds a child back any more. */
void finalized_calm(struct world *world);
/* At every step; after the calm. */
void finalized_step(struct world *world);
void finalized_converged(struct world *world);

#endif
