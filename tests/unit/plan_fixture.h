/* SPDX-License-Identifier: Apache-2.0 */
/* A controller's configuration from text, by the real checker, for tests of plans. */
#ifndef TESTS_UNIT_PLAN_FIXTURE_H
#define TESTS_UNIT_PLAN_FIXTURE_H

#include "common/config/config.h"

/* The controller of that name; fails the test when the text has problems. config_controller_free() */
struct config_controller *plan_fixture_config(const char *yaml, const char *name);

#endif
