/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to processes, and their ends in words. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/memory.h"
#include "common/proc/proc.h"

/* kill(2) takes 0, 1 and -1 for more than a process of ours. */
static int
send_signal(pid_t pid, pid_t to, int signo)
{
	if (pid <= 1)
		return -EINVAL;
	if (kill(to, signo) < 0)
		return -errno;
	if (signo == SIGTERM)
		(void)kill(to, SIGCONT);
	return 0;
}

int
proc_kill(pid_t pid, int signo)
{
	return send_signal(pid, pid, signo);
}

int
proc_kill_group(pid_t pid, int signo)
{
	return send_signal(pid, -pid, signo);
}

/* The codes that programs of ours leave with, after sysexits.h. */
static const char *
code_meaning(int code)
{
	switch (code) {
	case MEMORY_EXIT:
		return " (out of memory)";
	case 71:
		return " (the system refused something it needs to start)";
	case 77:
		return " (no permission)";
	case 78:
		return " (bad configuration)";
	default:
		return "";
	}
}

void
proc_status_text(int status, char out[96])
{
	if (WIFEXITED(status)) {
		(void)snprintf(out, 96, "exited with code %d%s", WEXITSTATUS(status),
			code_meaning(WEXITSTATUS(status)));
	} else if (WIFSIGNALED(status)) {
		const char *name = sigabbrev_np(WTERMSIG(status));
		const char *core = WCOREDUMP(status)            ? " (core dumped)"
				   : WTERMSIG(status) == SIGSYS ? " (a forbidden system call)"
								: "";
		if (name)
			(void)snprintf(out, 96, "killed by SIG%s%s", name, core);
		else
			(void)snprintf(out, 96, "killed by signal %d%s", WTERMSIG(status), core);
	} else {
		(void)snprintf(out, 96, "ended with wait status %#x", (unsigned)status);
	}
}
