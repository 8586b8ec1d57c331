/* SPDX-License-Identifier: Apache-2.0 */
/* A server's URL that is taken is taken again as it is written of its parts, and what becomes part of a request is plain. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/kube/url.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_url url, again;
	struct error err = {0};
	char authority[272], text[1024], *input = malloc(size + 1);

	memcpy(input, data, size);
	input[size] = '\0';
	if (kube_url_parse(input, &url, &err) == 0) {
		kube_url_authority(&url, authority);
		snprintf(text, sizeof(text), "%s://%s%s", url.tls ? "https" : "http", authority,
			url.prefix);
		if (strpbrk(text, " \r\n\t\"\\?#") != NULL || strchr(authority, '@') != NULL ||
			kube_url_parse(text, &again, NULL) < 0 || again.tls != url.tls ||
			again.port != url.port || strcmp(again.host, url.host) != 0 ||
			strcmp(again.prefix, url.prefix) != 0)
			abort();
	} else if (err.text[0] == '\0') {
		abort();
	}
	free(input);
	return 0;
}
