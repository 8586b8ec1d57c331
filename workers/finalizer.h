/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our finalizer in an object's metadata: its name, whether it is there, and the merge patch that adds or removes it. Pure. Finalizers of
 * others are kept as they are, in their order; the patch carries the resourceVersion it was made from, so that none is lost.
 *
 * A finalizer's name is a qualified name: a prefix of at most 253 bytes, a slash, at most 63 bytes. The configuration's check sees to it that
 * INSTANCE.CONTROLLER is not longer.
 */
#ifndef WORKERS_FINALIZER_H
#define WORKERS_FINALIZER_H

#include <stdbool.h>
#include <stddef.h>
#include "common/buf.h"
#include "common/jsonscan.h"

/* operatord.io/INSTANCE.CONTROLLER, for the caller to free. */
char *finalizer_name(const char *instance, const char *controller);
/* It is among the finalizers of this object; info as jsonscan_object() gave it for bytes. */
bool finalizer_held(const char *bytes, const struct json_object_info *info, const char *name);
/* Appends the merge patch that adds it, or takes it away; false: nothing is to be done, or the object is under deletion and takes none. */
bool finalizer_add_patch(struct buf *out, const char *bytes, size_t length, const char *name);
bool finalizer_remove_patch(struct buf *out, const char *bytes, size_t length, const char *name);
/* The same, for all of operatord's finalizers that begin with this prefix; ret_removed, when not NULL, gets their names, comma-separated. */
bool finalizer_remove_all_patch(struct buf *out, const char *bytes, size_t length,
	const char *prefix, struct buf *ret_removed);

#endif
