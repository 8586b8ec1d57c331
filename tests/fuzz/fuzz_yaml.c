/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML text is refused with a place and a cause, or makes a tree that is valid JSON. */
#include "config.h"

#include "common/json.h"
#include "common/yaml.h"
#include "tests/fuzz/fuzz.h"

static void
check_json(const struct yaml_node *node)
{
	cJSON *value = yaml_to_json(node), *again;
	struct buf once = BUF_INIT, twice = BUF_INIT;

	json_print(&once, value);
	again = json_parse(once.data, once.length, NULL);
	if (!again)
		abort();
	json_print(&twice, again);
	fuzz_same(once.data, once.length, twice.data, twice.length);
	cJSON_Delete(value);
	cJSON_Delete(again);
	buf_free(&once);
	buf_free(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_place_error err;
	struct yaml_node *node = yaml_parse((const char *)data, size, &err);

	if (node)
		check_json(node);
	else if (err.line < 1 || err.column < 1 || !err.text[0])
		abort();
	yaml_free(node);
	return 0;
}
