/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as written -> settings as they take effect: the controller's own, else defaults', else the table's. */
#ifndef COMMON_CONFIG_EFFECTIVE_H
#define COMMON_CONFIG_EFFECTIVE_H

#include <cjson/cJSON.h>
#include "common/config/problems.h"
#include "common/yaml.h"

/* The supervisor's part of the document: the main file's settings with defaults, without controllers and defaults, vars as written. */
cJSON *effective_supervisor(const cJSON *main_settings, const char *directory);
/*
 * One controller of the document. supervisor as above, vars resolved, defaults may be NULL. Keys that contradict each other become problems at
 * node, the controller in its file; path names it ("controllers[nginx]").
 */
cJSON *effective_controller(const cJSON *written, const cJSON *defaults, const cJSON *supervisor,
	const cJSON *vars, const struct yaml_node *node, const char *path, struct problems *problems);
/* Makes the paths of a controller's credentials absolute; directory is that of the file it is written in. */
void effective_anchor(cJSON *controller, const char *directory);
/* Replaces {fromEnv: NAME} by the variable's text (which validate.h saw to be set). A copy, never NULL. */
cJSON *effective_vars(const cJSON *vars);

#endif
