/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVSERVER_KUBECONFIG_FILE_H
#define DEVSERVER_KUBECONFIG_FILE_H

#include "common/error.h"

/* Writes a kubeconfig for this server, mode 0600, in one step (a file of that name is replaced). 0 or -errno. */
int kubeconfig_file_write(const char *path, const char *server, const char *ca_pem,
	const char *token, struct error *err);

#endif
