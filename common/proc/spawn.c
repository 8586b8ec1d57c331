/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks a child that starts clean without exec: no handler, no descriptor, no loop and no limit of the parent is left
 * by accident. What the child can't be given makes it leave with EX_OSERR after one log line; the parent sees that as any
 * other end. The child never returns and runs no clean-up of the parent's.
 *
 * Always part of it: no core file, no new privileges, and no tracing by others of the same user (PR_SET_DUMPABLE), since
 * children hold credentials. Variables that are for the service's main process alone are removed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "common/log.h"
#include "common/proc/fds.h"
#include "common/proc/proc.h"

static void __attribute__((noreturn)) refuse(const char *what, int error)
{
	log_error("can't set up a process: %s: %s", what, strerror(error));
	_exit(EX_OSERR);
}

/* Sets both limits, within what the parent may have; above is what the hard limit leaves for a handler. */
static void
set_limit(const char *name, __rlimit_resource_t resource, rlim_t value, rlim_t above)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		refuse(name, errno);
	if (value + above < limit.rlim_max)
		limit.rlim_max = value + above;
	limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
	if (setrlimit(resource, &limit) < 0)
		refuse(name, errno);
}

static void
set_limits(const struct proc_spawn *spawn)
{
	set_limit("RLIMIT_CORE", RLIMIT_CORE, 0, 0);
#ifndef WITH_SANITIZERS
	/* Sanitizers map terabytes of shadow memory. */
	if (spawn->memory_limit)
		set_limit("RLIMIT_DATA", RLIMIT_DATA, spawn->memory_limit,
			spawn->memory_limit_soft ? RLIM_INFINITY - spawn->memory_limit : 0);
#endif
	if (spawn->file_limit)
		set_limit("RLIMIT_NOFILE", RLIMIT_NOFILE, spawn->file_limit, 0);
	/* SIGXCPU at the limit, SIGKILL 5 s later. */
	if (spawn->cpu_limit_seconds)
		set_limit("RLIMIT_CPU", RLIMIT_CPU, spawn->cpu_limit_seconds, 5);
}

void
proc_fix_memory_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) == 0) {
		limit.rlim_max = limit.rlim_cur;
		(void)setrlimit(RLIMIT_DATA, &limit);
	}
}

void
proc_lift_memory_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_DATA, &limit);
	}
}

/* Not being able to is no reason to stop: it only decides whom the kernel kills first. */
static void
raise_oom_score(int add)
{
	static const char path[] = "/proc/self/oom_score_adj";
	char text[16] = "";
	long score;
	int fd, n;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		goto out;
	score = strtol(text, NULL, 10) + add;
	n = snprintf(text, sizeof(text), "%ld", score > 1000 ? 1000 : score);
	if (pwrite(fd, text, (size_t)n, 0) != n)
		log_debug("can't write %s: %s", path, strerror(errno));
out:
	if (fd >= 0)
		(void)close(fd);
}

static bool
keeps_handler(int signo)
{
#ifdef WITH_SANITIZERS
	/* Their reports come from these handlers. */
	return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL ||
	       signo == SIGABRT;
#else
	(void)signo;
	return false;
#endif
}

/*
 * What a terminal sends to its foreground group may have come between the fork and setsid(): it was not meant for who has left that group. It is pending, all
 * being blocked, and ignoring it drops it. SIGTERM stays: that is meant for whoever gets it.
 */
static void
drop_terminal_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)sigaction(signals[i], &ignore, NULL);
}

static void
reset_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		if (keeps_handler(signo))
			continue;
		/* A reader that went and a file that may not grow are errors of write(2), no reason to die. */
		action.sa_handler = signo == SIGPIPE || signo == SIGXFSZ ? SIG_IGN : SIG_DFL;
		/* Refused for SIGKILL, SIGSTOP and those of the C library, which have no handler. */
		(void)sigaction(signo, &action, NULL);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Those of the service manager: a child must not speak for the service. sd_notify(3), sd_listen_fds(3). */
static void
clean_environment(void)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
		"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		(void)unsetenv(names[i]);
}

static void __attribute__((noreturn)) run_child(const struct proc_spawn *spawn, pid_t parent)
{
	int r;

	if (spawn->loop)
		loop_abandon(spawn->loop);
	if (spawn->parent_death_signal &&
		prctl(PR_SET_PDEATHSIG, spawn->parent_death_signal, 0, 0, 0) < 0)
		refuse("PR_SET_PDEATHSIG", errno);
	/* The parent may have died before the death signal was set. Not "is it 1": in a container 1 is the parent. */
	if (spawn->parent_death_signal && getppid() != parent)
		_exit(EX_OSERR);
	if (spawn->new_session && setsid() < 0)
		refuse("setsid", errno);
	r = fds_move(spawn->fds, spawn->n_fds);
	if (r < 0)
		refuse("descriptors", -r);
	set_limits(spawn);
	if (spawn->oom_score_add)
		raise_oom_score(spawn->oom_score_add);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		refuse("PR_SET_NO_NEW_PRIVS", errno);
	/* Last: from here on files of /proc/self belong to root. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		refuse("PR_SET_DUMPABLE", errno);
	clean_environment();
	if (spawn->new_session)
		drop_terminal_signals();
	reset_signals();
	if (spawn->title)
		proc_title_set(spawn->title);
	_exit(spawn->child_main(spawn->data));
}

static bool
targets_are_sound(const struct proc_spawn *spawn)
{
	for (size_t i = 0; i < spawn->n_fds; i++) {
		bool found = false;
		for (size_t j = 0; j < spawn->n_fds; j++)
			found = found || spawn->fds[j].target == 3 + (int)i;
		if (!found || spawn->fds[i].fd < 0)
			return false;
	}
	return true;
}

pid_t
proc_spawn(const struct proc_spawn *spawn, struct error *err)
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;
	int r;

	if (!targets_are_sound(spawn))
		return error_set(err, -EINVAL,
			"descriptors of a new process must be numbered from 3 without gaps");
	/* What is free in the heap would be copied page by page as soon as the child allocates. */
	(void)malloc_trim(0);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		run_child(spawn, parent);
	r = -errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return error_set(err, r, "can't start a process: %s", strerror(-r));
	return pid;
}
