/* SPDX-License-Identifier: Apache-2.0 */
/* Templates on any object: what is rendered is JSON that parses, without nulls in its maps; what is not says which expression it was. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/json.h"
#include "common/jsonscan.h"
#include "common/template/template.h"
#include "tests/fuzz/fuzz.h"

static const char *const template_text =
	"{\"name\": \"${.metadata.name}\", \"whole\": \"${.spec}\", \"text\": \"a ${.spec.text} "
	"b\","
	" \"default\": \"${get(.spec.size; 3)}\", \"list\": [\"${spread(.spec.list)}\", 1],"
	" \"sum\": \"${[.spec.list[]? | numbers] | add}\", \"keys\": \"${.metadata.labels | keys? "
	"// []}\","
	" \"labels\": {\"n\": \"${.spec.number | tostring}\"}}";

static struct template_program *program;

/* libjq keeps its stack by a pointer to the end: a leak to who looks for pointers to the beginning. */
static void
free_program(void)
{
	template_free(program);
}

static void
compile(void)
{
	cJSON *value = json_parse(template_text, strlen(template_text), NULL);
	const struct template_group group = {.path = "template", .value = value};
	const struct template_source source = {.groups = &group, .n_groups = 1};
	struct error err = {0};

	template_init();
	program = template_compile(&source, &err);
	if (program == NULL)
		abort();
	cJSON_Delete(value);
	if (atexit(free_program) != 0)
		abort();
}

static void
check_no_null(const cJSON *map)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, map)
	{
		if (cJSON_IsNull(item) && cJSON_IsObject(map))
			abort();
		check_no_null(item);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object_info info;
	struct template_problem problem = {0};
	const struct template_input input = {
		.object = (const char *)data, .object_length = size, .timeout_ns = 2000000000};
	struct buf out = BUF_INIT;
	int r;

	/* What comes here was an object of a list or a watch. */
	if (!jsonscan_object((const char *)data, size, &info))
		return 0;
	if (program == NULL)
		compile();
	r = template_render(program, 0, &input, &out, &problem);
	if (r == 0 && out.length > 0) {
		cJSON *json = json_parse(out.data, out.length, NULL);

		if (json == NULL)
			abort();
		check_no_null(json);
		cJSON_Delete(json);
	} else if (r < 0 && problem.text[0] == '\0') {
		abort();
	}
	buf_free(&out);
	return 0;
}
