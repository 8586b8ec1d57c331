/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges lie within the bytes, and a stripped object is an object that says the same about itself. */
#include "config.h"

#include "common/jsonscan.h"
#include "tests/fuzz/fuzz.h"

static void
same_range(const char *a, struct json_range x, const char *b, struct json_range y)
{
	fuzz_same(a + x.start, x.length, b + y.start, y.length);
}

static void
check_strip(const char *bytes, size_t length, const struct json_object_info *info)
{
	char *out = malloc(length);
	size_t n = jsonscan_strip(bytes, length, info, out);
	struct json_object_info after;

	if (n > length || !jsonscan_object(out, n, &after))
		abort();
	same_range(bytes, info->name, out, after.name);
	same_range(bytes, info->uid, out, after.uid);
	same_range(bytes, info->labels, out, after.labels);
	same_range(bytes, info->owner_references, out, after.owner_references);
	same_range(bytes, info->spec, out, after.spec);
	same_range(bytes, info->status, out, after.status);
	if (info->generation != after.generation)
		abort();
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct json_object_info info;
	struct json_range fields;

	if (!jsonscan_object(bytes, size, &info))
		return 0;
	if (info.metadata.start + info.metadata.length > size)
		abort();
	check_strip(bytes, size, &info);
	if (info.managed_fields.length &&
		jsonscan_fields_of(bytes + info.managed_fields.start, info.managed_fields.length,
			"me", &fields) &&
		!jsonscan_skip(bytes + info.managed_fields.start + fields.start,
			bytes + info.managed_fields.start + fields.start + fields.length))
		abort();
	return 0;
}
