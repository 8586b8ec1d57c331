/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload: auto. Says when the configuration's files differ from those that were loaded last and have been quiet for half a second.
 *
 * Looks at the files (config_state.h) are what decides; inotify(7) only says when to look. A look every 5 s finds what inotify does not see: another mount over
 * the directory, targets of links elsewhere, network file systems, no inotify at all.
 */
#ifndef SUPERVISOR_AUTO_RELOAD_H
#define SUPERVISOR_AUTO_RELOAD_H

#include "common/loop/loop.h"
#include "supervisor/config_state.h"

struct auto_reload;

/* loaded is how the files looked just before they were last read, templates the paths that config_state_add() takes; they and the path must outlive this. changed comes from the loop. */
struct auto_reload *auto_reload_new(struct loop *loop, const char *main_path,
	const struct config_state *loaded, cJSON *const *templates, void (*changed)(void *data), void *data);
void auto_reload_free(struct auto_reload *watch);

#endif
