/* SPDX-License-Identifier: Apache-2.0 */
/* Resources and paths of any words: four lines, the resource, a namespace, a name and a query's value. No path leads out of its collection. */
#include "config.h"

#include <stdlib.h>

#include "common/kube/path.h"
#include "tests/fuzz/fuzz.h"

static unsigned
count(const char *text, char c)
{
	unsigned n = 0;

	for (; *text != '\0'; text++)
		n += *text == c;
	return n;
}

static void
check(const char *path, unsigned slashes)
{
	for (const char *c = path; *c != '\0'; c++)
		if (*c <= ' ' || (unsigned char)*c >= 0x7f || *c == '#')
			abort();
	if (count(path, '/') != slashes || count(path, '?') > 1 || strstr(path, "/../") != NULL ||
		strstr(path, "/./") != NULL)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *input = malloc(size + 1), *rest = input, *lines[4] = {NULL};
	struct kube_resource resource;
	struct buf path = BUF_INIT;
	char version[320];

	memcpy(input, data, size);
	input[size] = '\0';
	for (size_t i = 0; i < 4; i++)
		lines[i] = strsep(&rest, "\n");
	if (kube_resource_parse(lines[0], &resource) == 0) {
		bool core = resource.group[0] == '\0', in = lines[1] != NULL && *lines[1] != '\0',
		     name = lines[2] != NULL && *lines[2] != '\0';

		kube_api_version(version, &resource);
		kube_path(&path, &resource, lines[1], lines[2], NULL);
		kube_path_query(&path, "labelSelector", lines[3]);
		kube_path_query(&path, "limit", "500");
		check(path.data, (core ? 3u : 4u) + (in ? 2 : 0) + (name ? 1 : 0));
	}
	buf_free(&path);
	free(input);
	return 0;
}
