/* SPDX-License-Identifier: Apache-2.0 */
/* A run's result in words. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/runner/runner.h"

static const char *const names[RUNNER_OUTCOME_MAX] = {[RUNNER_EXITED] = "exited",
	[RUNNER_SIGNALED] = "signaled",
	[RUNNER_TIMED_OUT] = "timed_out",
	[RUNNER_OVER_LIMIT] = "over_limit",
	[RUNNER_NOT_STARTED] = "not_started",
	[RUNNER_STOPPED] = "stopped",
	[RUNNER_LOST] = "lost"};

const char *
runner_outcome_name(enum runner_outcome outcome)
{
	return names[outcome];
}

static void
not_started_text(const struct runner_result *result, char *out, size_t size)
{
	const struct runner_command *command = result->command;
	const char *why = strerror(result->error);

	if (strcmp(result->failed, "chdir") == 0)
		(void)snprintf(out, size, "can't start %s in %s: %s", command->argv[0],
			command->directory != NULL ? command->directory : "/", why);
	else if (strcmp(result->failed, "execve") != 0)
		(void)snprintf(
			out, size, "can't start %s: %s: %s", command->argv[0], result->failed, why);
	else
		(void)snprintf(out, size, "can't start %s: %s%s", command->argv[0], why,
			result->error == ENOENT
				? " (the file, or the interpreter in its first line)"
			: result->error == ENOEXEC
				? " (a script must begin with #! and its interpreter)"
				: "");
}

void
runner_result_text(const struct runner_result *result, char *out, size_t size)
{
	const struct runner_command *command = result->command;
	const char *name;

	switch (result->outcome) {
	case RUNNER_EXITED:
		(void)snprintf(out, size, "exited with code %d", result->code);
		break;
	case RUNNER_SIGNALED:
		name = sigabbrev_np(result->code);
		if (name != NULL)
			(void)snprintf(out, size, "killed by SIG%s", name);
		else
			(void)snprintf(out, size, "killed by signal %d", result->code);
		break;
	case RUNNER_TIMED_OUT:
		(void)snprintf(
			out, size, "timed out after %.3g s", (double)result->duration_ns / 1e9);
		break;
	case RUNNER_OVER_LIMIT:
		(void)snprintf(out, size, "answered more than %zu bytes", command->answer_limit);
		break;
	case RUNNER_NOT_STARTED:
		not_started_text(result, out, size);
		break;
	case RUNNER_STOPPED:
		(void)snprintf(out, size, "stopped");
		break;
	case RUNNER_LOST:
		(void)snprintf(
			out, size, "its runner was killed: whether it did its work is unknown");
		break;
	case RUNNER_OUTCOME_MAX:
		(void)snprintf(out, size, "unknown");
		break;
	}
}
