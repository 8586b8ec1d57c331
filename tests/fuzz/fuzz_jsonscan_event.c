/* SPDX-License-Identifier: Apache-2.0 */
/* The object of a watch line is an object; what is found in it is a value; strings unescape within their length. */
#include "config.h"

#include "common/jsonscan.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data, *object;
	struct json_range type, range, value;
	struct json_object_info info;
	char *text;

	if (!jsonscan_event(bytes, size, &type, &range))
		return 0;
	object = bytes + range.start;
	if (!jsonscan_object(object, range.length, &info))
		abort();
	text = malloc(type.length);
	if (jsonscan_unescape(bytes + type.start, type.length, text) > type.length)
		abort();
	free(text);
	if (jsonscan_member(object, range.length, "spec", &value) &&
		jsonscan_skip(object + value.start, object + range.length) !=
			object + value.start + value.length)
		abort();
	return 0;
}
