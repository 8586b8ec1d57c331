/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/clock.h"
#include "common/kube/http_header.h"

bool
http_header_is(const char *line, size_t n, const char *name, char *out, size_t size)
{
	size_t length = strlen(name);

	if (n <= length || line[length] != ':' || strncasecmp(line, name, length) != 0)
		return false;
	line += length + 1;
	n -= length + 1;
	while (n > 0 && (*line == ' ' || *line == '\t'))
		line++, n--;
	while (n > 0 && strchr(" \t\r\n", line[n - 1]) != NULL)
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(out, line, n);
	out[n] = '\0';
	return true;
}

int64_t
http_header_retry_after(const char *value, int64_t wall_ns)
{
	int64_t seconds = 0;

	if (*value >= '0' && *value <= '9') {
		for (; *value >= '0' && *value <= '9' && seconds < 1000; value++)
			seconds = seconds * 10 + (*value - '0');
		if (*value != '\0' && seconds < 1000)
			return 0;
	} else {
		struct tm tm = {0};
		const char *end = strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &tm);

		if (end == NULL || *end != '\0')
			return 0;
		seconds = (int64_t)timegm(&tm) - wall_ns / NSEC_PER_SEC;
	}
	if (seconds <= 0)
		return 0;
	return seconds >= HTTP_RETRY_AFTER_MAX_NS / NSEC_PER_SEC ? HTTP_RETRY_AFTER_MAX_NS
								 : seconds * NSEC_PER_SEC;
}

bool
http_header_warning(const char *value, char *out, size_t size)
{
	size_t n = 0;
	const char *p;

	if (strncmp(value, "299 ", 4) != 0 || (p = strchr(value + 4, '"')) == NULL)
		return false;
	for (p++; *p != '\0' && *p != '"' && n + 1 < size; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		out[n++] = *p;
	}
	out[n] = '\0';
	return n > 0;
}
