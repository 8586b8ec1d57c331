/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubeconfig that the development server writes.
 *
 * Written to a new file beside the target and renamed, so that a reader sees the old one or the whole new one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/buf.h"
#include "common/memory.h"
#include "common/base64.h"
#include "devserver/kubeconfig_file.h"

static void
add_text(struct buf *out, const char *server, const char *ca_pem, const char *token)
{
	buf_addf(out,
		"apiVersion: v1\n"
		"kind: Config\n"
		"current-context: devserver\n"
		"clusters:\n"
		"- name: devserver\n"
		"  cluster:\n"
		"    server: %s\n"
		"    certificate-authority-data: ",
		server);
	base64_encode(out, ca_pem, strlen(ca_pem));
	buf_addf(out,
		"\n"
		"users:\n"
		"- name: admin\n"
		"  user:\n"
		"    token: %s\n"
		"contexts:\n"
		"- name: devserver\n"
		"  context:\n"
		"    cluster: devserver\n"
		"    user: admin\n"
		"    namespace: default\n",
		token);
}

static int
write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

int
kubeconfig_file_write(const char *path, const char *server, const char *ca_pem, const char *token,
	struct error *err)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	struct buf text = BUF_INIT;
	int fd = mkostemp(temporary, O_CLOEXEC), result; /* mode 0600 */

	if (fd < 0) {
		result = error_set(err, -errno, "%s: can't create a file beside it: %s", path,
			strerror(errno));
		goto out;
	}
	add_text(&text, server, ca_pem, token);
	result = text.failed ? -ENOMEM : write_all(fd, text.data, text.length);
	if (close(fd) < 0 && !result)
		result = -errno;
	if (!result && rename(temporary, path) < 0)
		result = -errno;
	if (result) {
		error_set(err, result, "%s: can't write: %s", path, strerror(-result));
		unlink(temporary);
	}
out:
	buf_free(&text);
	free(temporary);
	return result;
}
