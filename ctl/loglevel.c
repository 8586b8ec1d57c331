/* SPDX-License-Identifier: Apache-2.0 */
/* operatorctl loglevel: the level at which the running operatord and its workers log, until another is asked for or it is restarted. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "ctl/ctl.h"

int
ctl_loglevel(const struct ctl *ctl, int argc, char **argv)
{
	struct buf answer = BUF_INIT;
	bool configured = argc == 1 && strcmp(argv[0], "config") == 0;
	int level = argc == 1 && !configured ? log_level_parse(argv[0]) : -1;

	if (level < 0 && !configured) {
		ctl_complain("loglevel takes one of error, warn, info, debug, or config for that "
			     "of the configuration");
		return CTL_USAGE;
	}
	int code = ctl_ask(ctl, RECORD_LOG_LEVEL, level, &answer);
	fwrite(answer.data, 1, answer.length, code == CTL_DONE ? stdout : stderr);
	buf_free(&answer);
	return code;
}
