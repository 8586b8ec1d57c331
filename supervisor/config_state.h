/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration's files look like from outside, in one number: which there are, and of each its inode, size and times. Two looks that
 * differ mean that something was changed; their contents are the checker's business.
 */
#ifndef SUPERVISOR_CONFIG_STATE_H
#define SUPERVISOR_CONFIG_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <cjson/cJSON.h>

struct config_state {
	uint64_t hash;
	/* The newest change is so close to the look that another one within the same tick of the file system's clock would look alike. */
	bool racy;
	int64_t at_ns; /* when it was begun */
};

/* Looks at the main file, at conf.d beside it and at the files in it, links followed. What can't be looked at counts as that. */
void config_state_take(const char *main_path, struct config_state *ret);
/*
 * Adds the files that children name as templates, a JSON array of paths: they are known only after the files were read. What changed after the look began is as good as
 * a change that was not seen.
 */
void config_state_add(struct config_state *state, const cJSON *paths);
/* Certainly nothing changed since the look before. */
bool config_state_same(const struct config_state *before, const struct config_state *now);
/* "DIR" of the main path and "DIR/conf.d"; free(). */
char *config_state_directory(const char *main_path, bool dropped);

#endif
