/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between a process and its runner: one of fixed size a packet, on a SOCK_SEQPACKET pair. For common/runner alone. */
#ifndef COMMON_RUNNER_PROTOCOL_H
#define COMMON_RUNNER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include "common/runner/runner.h"

#define RUNNER_MESSAGE_VERSION 1
#define RUNNER_FDS_MAX         4

enum runner_message_type {
	RUNNER_START = 1, /* id, command, timeout_ns, values; descriptors of stdin, stdout, stderr and, for RUNNER_ANSWER_FD3, the answer */
	RUNNER_KILL,      /* id: SIGTERM and so on; an id that has ended is no error */
	RUNNER_ENDED      /* runner to process. id, report */
};

/* What failed at the start of a program, with its errno. */
enum runner_stage { RUNNER_STAGE_NONE, RUNNER_STAGE_REQUEST, RUNNER_STAGE_FORK, RUNNER_STAGE_SETUP, RUNNER_STAGE_CHDIR, RUNNER_STAGE_EXEC,
	RUNNER_STAGE_MAX };

enum { RUNNER_REPORT_TIMED_OUT = 1, RUNNER_REPORT_LOST = 2 };

struct runner_report {
	int32_t status; /* wait status of the program */
	int32_t error;  /* errno, 0: it was started */
	uint32_t stage, flags, leftovers, survivors;
	int64_t duration_ns, cpu_ns;
	uint64_t max_rss;
};

struct runner_message {
	uint32_t version, type;
	uint64_t id;
	uint32_t command, n_values;
	int64_t timeout_ns;
	struct runner_report report;
	char values[RUNNER_VALUES_MAX]; /* n_values strings, each with its NUL, then zeroes */
};

/* How many descriptors a start of this command carries: 3 or 4. */
size_t runner_command_fds(const struct runner_command *command);
/* 0 or -errno; -EAGAIN when the socket is full. */
int runner_message_send(int socket, const struct runner_message *message, const int *fds, size_t n_fds);
/*
 * One packet: 1, 0 at the end of the stream, -EAGAIN when there is none, -EBADMSG when it is not of this protocol (its descriptors are
 * closed), other -errno. The descriptors are the caller's, CLOEXEC.
 */
int runner_message_receive(int socket, struct runner_message *ret, int ret_fds[RUNNER_FDS_MAX], size_t *ret_n_fds);
/* The values as strings in place; n is the number expected. 0 or -EBADMSG. */
int runner_message_values(const struct runner_message *message, size_t n, const char **ret);

/* Room for the names of run_env, which the values bound. */
#define RUNNER_RUN_ENV_MAX 32

#endif
