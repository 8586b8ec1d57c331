/* SPDX-License-Identifier: Apache-2.0 */
/* operatorctl reload: has the running operatord read its configuration anew, waits for the result and prints it. */
#include "config.h"

#include <stdio.h>

#include "ctl/ctl.h"

int
ctl_reload(const struct ctl *ctl, int argc, char **argv)
{
	struct buf answer = BUF_INIT;

	(void)argv;
	if (argc != 0) {
		ctl_complain("reload takes no arguments: operatord reads the configuration that it "
			     "was started with");
		return CTL_USAGE;
	}
	int code = ctl_ask(ctl, RECORD_RELOAD, 0, &answer);
	fwrite(answer.data, 1, answer.length, code == CTL_DONE ? stdout : stderr);
	buf_free(&answer);
	return code;
}
