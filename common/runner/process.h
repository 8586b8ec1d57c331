/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a runner, from its own down to the program. For common/runner alone. */
#ifndef COMMON_RUNNER_PROCESS_H
#define COMMON_RUNNER_PROCESS_H

#include "common/runner/protocol.h"

enum { RUNNER_FD_SOCKET = 3 };

/* Signals to a keeper. RUNNER_SIGNAL_STOP: end the run by SIGTERM, the grace, SIGKILL. RUNNER_SIGNAL_NOW: by SIGKILL at once. */
#define RUNNER_SIGNAL_STOP SIGTERM
#define RUNNER_SIGNAL_NOW  SIGQUIT

/* The longest that a keeper goes on after SIGKILL, and that it waits for what the program left behind. */
#define KEEPER_KILL_NS   (2 * NSEC_PER_SEC)
#define KEEPER_LINGER_NS (250 * NSEC_PER_MSEC)

/* The runner's main function for proc_spawn(); data: struct runner_options. */
int runner_process(void *data);

/* One run, in a process of its own between the runner and the program. */
struct keeper_args {
	const struct runner_command *command;
	const char *const *values;
	int64_t timeout_ns;
	struct runner_report *report; /* in memory shared with the runner; written at the end */
};
/* The keeper's main function for proc_spawn(), with the program's descriptors from 3 on; 0: the report is there. */
int keeper_process(void *data);

/* Starts the program as a child, with the descriptors that stand from 3 on. The pid, or -errno. *ret_fd tells of its start. */
pid_t program_start(const struct runner_command *command, const char *const *values, int *ret_fd);
/* Reads *ret_fd once the program has ended with that wait status, and closes it: what failed before there was a program, RUNNER_STAGE_NONE:
 * nothing. */
enum runner_stage program_failure(int fd, int status, int *ret_error);

#endif
