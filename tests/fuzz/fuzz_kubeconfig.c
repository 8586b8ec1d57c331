/* SPDX-License-Identifier: Apache-2.0 */
/* What comes of a kubeconfig can be used as it is: a server that parses, headers of one line, both halves of a certificate, no secret without TLS. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.h"
#include "common/kube/kubeconfig.h"
#include "common/kube/url.h"
#include "tests/fuzz/fuzz.h"

static void
check_line(const char *text)
{
	for (const char *c = text; c != NULL && *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			abort();
}

static void
check(const struct kube_target *t)
{
	struct kube_url url;

	if (kube_url_parse(t->server, &url, NULL) < 0 || t->source == NULL)
		abort();
	if ((t->cert_pem == NULL) != (t->key_pem == NULL) || (t->insecure && t->ca_pem != NULL))
		abort();
	if (!url.tls && (t->token != NULL || t->token_file != NULL || t->basic != NULL ||
				t->cert_pem != NULL || t->exec != NULL))
		abort();
	if (t->exec != NULL && (t->token != NULL || t->basic != NULL || t->cert_pem != NULL ||
				       t->exec->argv[0] == NULL || t->exec->env[0] == NULL))
		abort();
	check_line(t->token);
	check_line(t->basic);
	for (size_t i = 0; i < t->n_headers; i++)
		check_line(t->headers[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("kubeconfig", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int named = 0; named < 2; named++) {
		struct kubeconfig_options options = {.path = path, .context = named ? "x" : NULL};
		struct kube_target *target = NULL;
		struct error err = {0};

		if (kubeconfig_load(&options, &target, &err) == 0)
			check(target);
		else if (target != NULL || err.text[0] == '\0')
			abort();
		kube_target_free(target);
	}
	close(fd);
	return 0;
}
