/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: a process between the runner and the program that does nothing but wait, with a deadline, and end what must end.
 *
 * Being the subreaper of this run alone, it is given every descendant whose parent dies, whatever session or group that moved to. So
 * "all that descends from the program" is "all children of this process, until there are none", and no run can be taken for another.
 * The group is signalled only while the program is not reaped, and other groups only through a child that is not reaped: neither
 * number can belong to a stranger.
 *
 * When the runner dies, RUNNER_SIGNAL_NOW comes as the parent's death signal; when this process dies, the program gets SIGKILL the
 * same way, and the runner ends the rest.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc/proc.h"
#include "common/runner/process.h"

/* Between two sweeps for descendants that are given to us as their parents die. */
#define SWEEP_NS     (10 * NSEC_PER_MSEC)
#define CHILDREN_MAX 256

enum phase {
	RUNNING,   /* until the timeout */
	STOPPING,  /* SIGTERM was sent; until the grace is over */
	LINGERING, /* the program has ended, others have not */
	KILLING    /* SIGKILL to all, again and again; until KEEPER_KILL_NS are over */
};

struct keeper {
	const struct keeper_args *args;
	struct runner_report *report;
	pid_t program; /* 0: reaped */
	int status_fd; /* tells of its start, until it ends */
	enum phase phase;
	int64_t start_ns, deadline_ns;
	sigset_t signals;
};

static void
enter(struct keeper *k, enum phase phase, int64_t for_ns)
{
	k->phase = phase;
	k->deadline_ns = clock_monotonic_ns() + for_ns;
}

/* SIGKILL to the program's group and to each child with its group. How many children there are. */
static unsigned
sweep(const struct keeper *k)
{
	pid_t children[CHILDREN_MAX];
	int n = proc_children(children, CHILDREN_MAX);

	if (k->program != 0)
		(void)proc_kill_group(k->program, SIGKILL);
	for (int i = 0; i < n; i++) {
		pid_t group = getpgid(children[i]);
		if (group > 1 && group != getpgrp())
			(void)proc_kill_group(group, SIGKILL);
		(void)proc_kill(children[i], SIGKILL);
	}
	return n > 0 ? (unsigned)n : 0;
}

static void
start_killing(struct keeper *k)
{
	if (k->phase == KILLING)
		return;
	enter(k, KILLING, KEEPER_KILL_NS);
	(void)sweep(k);
}

static void
start_stopping(struct keeper *k)
{
	if (k->phase != RUNNING)
		return;
	enter(k, STOPPING, k->args->command->kill_grace_ns);
	(void)proc_kill_group(k->program, SIGTERM);
}

static void
on_program_end(struct keeper *k, int status)
{
	int error;

	k->program = 0;
	k->report->status = status;
	k->report->duration_ns = clock_monotonic_ns() - k->start_ns;
	k->report->stage = program_failure(k->status_fd, status, &error);
	k->report->error = error;
	if (k->phase != KILLING)
		enter(k, LINGERING, KEEPER_LINGER_NS);
}

/* Whether any child is left. */
static bool
reap(struct keeper *k)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == k->program)
			on_program_end(k, status);
		else if (k->phase == KILLING)
			k->report->leftovers++;
	}
	return pid == 0;
}

/* What comes next: a signal, or 0 at the deadline (in KILLING: at the next sweep). */
static int
wait_signal(const struct keeper *k)
{
	int64_t left = k->deadline_ns - clock_monotonic_ns();
	struct timespec timeout;
	int signo;

	if (k->phase == KILLING && left > SWEEP_NS)
		left = SWEEP_NS;
	if (left < 0)
		left = 0;
	timeout = (struct timespec){left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	signo = sigtimedwait(&k->signals, NULL, &timeout);
	return signo < 0 ? 0 : signo;
}

/* Whether to go on waiting. */
static bool
on_deadline(struct keeper *k)
{
	switch (k->phase) {
	case RUNNING:
		k->report->flags |= RUNNER_REPORT_TIMED_OUT;
		start_stopping(k);
		return true;
	case STOPPING:
	case LINGERING:
		start_killing(k);
		return true;
	case KILLING:
		/* One at least: on kernels that don't list children this is the only word of them. */
		k->report->survivors = sweep(k);
		if (k->report->survivors == 0)
			k->report->survivors = 1;
		return false;
	}
	return false;
}

static void
keep(struct keeper *k)
{
	bool more = true;

	while (more && reap(k)) {
		int signo = wait_signal(k);
		if (signo == RUNNER_SIGNAL_NOW)
			start_killing(k);
		else if (signo == RUNNER_SIGNAL_STOP)
			start_stopping(k);
		/* Whatever came: signals without end must not put off a deadline. */
		if (clock_monotonic_ns() >= k->deadline_ns)
			more = on_deadline(k);
		else if (k->phase == KILLING)
			(void)sweep(k);
	}
}

static void
measure(struct runner_report *report)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return;
	report->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
			 (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	report->max_rss = (uint64_t)usage.ru_maxrss << 10;
}

static int
begin(struct keeper *k)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	(void)sigemptyset(&k->signals);
	(void)sigaddset(&k->signals, SIGCHLD);
	(void)sigaddset(&k->signals, RUNNER_SIGNAL_STOP);
	(void)sigaddset(&k->signals, RUNNER_SIGNAL_NOW);
	(void)sigprocmask(SIG_BLOCK, &k->signals, NULL);
	k->start_ns = clock_monotonic_ns();
	k->program = program_start(k->args->command, k->args->values, &k->status_fd);
	return k->program < 0 ? (int)k->program : 0;
}

int
keeper_process(void *data)
{
	const struct keeper_args *args = data;
	/* On this process's own memory until all is over: what dies half-way leaves no half a report. */
	struct runner_report report = {0};
	struct keeper k = {.args = args, .report = &report};
	int r = begin(&k);

	/* Ours too would keep the readers of its pipes waiting. */
	for (int fd = 3; fd < 3 + (int)runner_command_fds(args->command); fd++)
		(void)close(fd);
	if (r < 0) {
		report.stage = RUNNER_STAGE_FORK;
		report.error = -r;
	} else {
		enter(&k, RUNNING, args->timeout_ns);
		keep(&k);
		measure(&report);
	}
	/* Not even SIGKILL has ended the program: it is a survivor, with nothing known of its end. */
	if (k.program > 0) {
		report.status = SIGKILL;
		report.duration_ns = clock_monotonic_ns() - k.start_ns;
		(void)close(k.status_fd);
	}
	*args->report = report;
	return 0;
}
