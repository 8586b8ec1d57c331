/* SPDX-License-Identifier: Apache-2.0 */
/* Where the control socket is. Only names: making the directory and the socket is the supervisor's work. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/control_path.h"

int
control_path(char out[CONTROL_PATH_MAX], const char *explicit_path)
{
	const char *runtime = getenv("RUNTIME_DIRECTORY"), *user = getenv("XDG_RUNTIME_DIR");
	int n;

	if (explicit_path)
		n = snprintf(out, CONTROL_PATH_MAX, "%s", explicit_path);
	else if (runtime && *runtime == '/')
		n = snprintf(out, CONTROL_PATH_MAX, "%s/control.sock", runtime);
	else if (geteuid() == 0)
		n = snprintf(out, CONTROL_PATH_MAX, RUNSTATEDIR "/operatord/control.sock");
	else if (user && *user == '/')
		n = snprintf(out, CONTROL_PATH_MAX, "%s/operatord/control.sock", user);
	else
		return -ENOENT;
	return n < CONTROL_PATH_MAX ? 0 : -ENAMETOOLONG;
}
