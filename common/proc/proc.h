/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes: forking a child in a clean state, signalling it, its end in words. The simulator links its own.
 */
#ifndef COMMON_PROC_PROC_H
#define COMMON_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/error.h"
#include "common/loop/loop.h"

/* What a child keeps: fd is moved to the number `target`; everything else from 3 up is closed. */
struct proc_fd {
	int fd, target;
};

struct proc_spawn {
	struct loop *loop;          /* the parent's loop, abandoned in the child; NULL: none */
	const char *title;          /* process title and comm of the child, e.g. "operatord: worker nginx" */
	const struct proc_fd *fds;  /* n_fds entries; targets are 3, 4, ... without gaps */
	size_t n_fds;
	int parent_death_signal;    /* PR_SET_PDEATHSIG, 0: none; checked against the parent's pid at the fork */
	bool new_session;           /* setsid(): a group of its own, which proc_kill_group() reaches; what the old terminal sent meanwhile is dropped */
	uint64_t memory_limit;      /* RLIMIT_DATA in bytes, 0: as the parent; not set in sanitizer builds */
	bool memory_limit_soft;     /* leaves the hard limit, for programs that the child starts: proc_fix_memory_limit() then ends that */
	uint64_t file_limit;        /* RLIMIT_NOFILE, 0: as the parent */
	uint64_t cpu_limit_seconds; /* RLIMIT_CPU, 0: as the parent */
	int oom_score_add;          /* added to oom_score_adj, at most 1000 in all */
	int (*child_main)(void *data); /* its value is the exit code, by _exit(2); atexit handlers never run */
	void *data;
};

/*
 * Forks. In the child, in this order, with all signals blocked since before the fork: abandon the loop, death
 * signal and parent check, session, fds, close_range, rlimits, default handlers with SIGPIPE and SIGXFSZ ignored, empty mask,
 * title, child_main. Returns the pid or -errno. The caller watches its end in the same callback (loop_child_new).
 */
pid_t proc_spawn(const struct proc_spawn *spawn, struct error *err);
/* Makes the soft limit of memory the hard one too, which can't be undone. */
void proc_fix_memory_limit(void);
/* Raises the soft limit of memory to the hard one: for what must not count as its parent's. */
void proc_lift_memory_limit(void);
/* kill(2) of a pid > 1 that was not reaped. SIGCONT follows SIGTERM, for a stopped process can't handle it. */
int proc_kill(pid_t pid, int signo);
int proc_kill_group(pid_t pid, int signo);
/* The first `max` direct children of this single-threaded process, dead ones included: how many, or -errno (no /proc). */
int proc_children(pid_t *ret, size_t max);
/* "exited with code 78 (bad configuration)", "killed by SIGSEGV (core dumped)": out holds 96 bytes. */
void proc_status_text(int status, char out[96]);
/* Process title for ps(1), set from argv's memory: call proc_title_init() first thing in main(). */
void proc_title_init(int argc, char **argv);
void proc_title_set(const char *title);
/* Opens 0, 1 and 2 on /dev/null where they are closed, and closes the inherited rest but those systemd passes. */
void proc_sanitize_fds(void);
/* How many descriptors this process has open, of the first 4096, up to the first 64 that are all free; needs no /proc and few system calls. */
unsigned proc_open_fds(void);
/* Sets O_CLOEXEC pairs; -errno on failure. */
int proc_pipe(int ret_fds[2]);

#endif
