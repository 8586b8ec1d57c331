/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up members by the scanner. Keeps nothing. */
#include "config.h"

#include <string.h>

#include "workers/member.h"

/* The inside of a string value; NULL when there is none. */
static const char *
text_of(const char *bytes, const struct json_range *at, const char *key, size_t *ret_length)
{
	const char *object = bytes + at->start;
	struct json_range range;

	if (at->length == 0 || !jsonscan_member(object, at->length, key, &range) ||
		range.length < 2 || object[range.start] != '"')
		return NULL;
	*ret_length = range.length - 2;
	return object + range.start + 1;
}

bool
member_is(const char *bytes, const struct json_range *at, const char *key, const char *value)
{
	size_t length;
	const char *text = text_of(bytes, at, key, &length);

	return text != NULL && length == strlen(value) && memcmp(text, value, length) == 0;
}

void
member_copy(const char *bytes, const struct json_range *at, const char *key, char out[256])
{
	size_t length;
	const char *text = text_of(bytes, at, key, &length);

	out[0] = '\0';
	if (text == NULL || length > 255)
		return;
	memcpy(out, text, length);
	out[length] = '\0';
}
