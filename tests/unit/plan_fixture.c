/* SPDX-License-Identifier: Apache-2.0 */
/* Text to a file, to the checker's document, to a controller. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/config/check.h"
#include "common/json.h"
#include "tests/unit/plan_fixture.h"

struct config_controller *
plan_fixture_config(const char *yaml, const char *name)
{
	char directory[] = "/tmp/check_plan.XXXXXX", path[64];
	struct buf document = BUF_INIT, controller = BUF_INIT;
	struct config_controller *config;
	struct error err = {0};
	cJSON *tree;
	FILE *file;

	/* A directory of its own: one that others may write to is refused. */
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/operatord.yaml", directory);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(yaml, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_msg(config_check(path, true, &document), "%s", document.data);
	unlink(path);
	rmdir(directory);
	tree = json_parse(document.data, document.length, NULL);
	json_print_canonical(&controller, json_get(tree, "controllers", name, NULL));
	config = config_decode_controller(controller.data, controller.length, &err);
	ck_assert_msg(config != NULL, "%s\n%s", err.text, document.data);
	cJSON_Delete(tree);
	buf_free(&document);
	buf_free(&controller);
	return config;
}
