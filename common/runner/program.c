/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a fork to the program: descriptors, directory, environment, execve(2). proc_spawn() has seen to session, limits, signals and
 * privileges before. What fails on the way is told through a pipe that closes by itself when the program starts, so that a program that
 * can't be started is never taken for one that left with 127. Nothing is searched: the path is the configured one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "common/proc/proc.h"
#include "common/runner/process.h"

/* What goes through the pipe: one with RUNNER_STAGE_NONE when our part begins, another when it fails. */
struct word {
	int32_t stage, error;
};

struct program {
	const struct runner_command *command;
	const char *const *values;
};

static void
tell(int fd, enum runner_stage stage, int error)
{
	const struct word word = {(int32_t)stage, error};
	ssize_t n;

	do
		n = write(fd, &word, sizeof(word));
	while (n < 0 && errno == EINTR);
}

/* The numbers from 3 on go down by three: 3 to 5 become 0 to 2, and 6, the answer, becomes 3. */
static int
place_fds(size_t n_fds, int status_fd)
{
	for (int fd = 0; fd < (int)n_fds; fd++)
		if (dup2(fd + 3, fd) < 0)
			return -errno;
	for (int fd = (int)n_fds; fd < (int)n_fds + 3; fd++)
		(void)close(fd);
	return fcntl(status_fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static int
set_environment(const struct program *program)
{
	const struct runner_command *command = program->command;

	if (!command->inherit_env && (clearenv() != 0 || setenv("PATH", _PATH_STDPATH, 1) < 0))
		return -ENOMEM;
	for (const char *const *entry = command->env; entry != NULL && *entry != NULL; entry++)
		/* putenv(3) keeps the string: it lives until execve(2). */
		if (putenv((char *)(uintptr_t)*entry) != 0)
			return -errno;
	for (size_t i = 0; command->run_env != NULL && command->run_env[i] != NULL; i++)
		if (setenv(command->run_env[i], program->values[i], 1) < 0)
			return -errno;
	return 0;
}

static int
run_program(void *data)
{
	const struct program *program = data;
	const struct runner_command *command = program->command;
	size_t n_fds = runner_command_fds(command);
	int status_fd = 3 + (int)n_fds, r;

	tell(status_fd, RUNNER_STAGE_NONE, 0);
	r = place_fds(n_fds, status_fd);
	if (r == 0)
		r = set_environment(program);
	if (r < 0) {
		tell(status_fd, RUNNER_STAGE_SETUP, -r);
		return EX_OSERR;
	}
	if (chdir(command->directory != NULL ? command->directory : "/") < 0) {
		tell(status_fd, RUNNER_STAGE_CHDIR, errno);
		return EX_OSERR;
	}
	/* The only ones that proc_spawn() leaves ignored, which execve(2) would keep. */
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)execve(command->argv[0], (char *const *)(uintptr_t)command->argv, environ);
	tell(status_fd, RUNNER_STAGE_EXEC, errno);
	return EX_OSERR;
}

pid_t
program_start(const struct runner_command *command, const char *const *values, int *ret_fd)
{
	struct program program = {command, values};
	struct proc_fd fds[RUNNER_FDS_MAX + 1];
	size_t n_fds = runner_command_fds(command);
	struct proc_spawn spawn = {.title = command->name,
		.fds = fds,
		.n_fds = n_fds + 1,
		.parent_death_signal = SIGKILL,
		.new_session = true,
		.memory_limit = command->memory_limit,
		.file_limit = command->file_limit,
		.cpu_limit_seconds = command->cpu_limit_seconds,
		.child_main = run_program,
		.data = &program};
	int status[2], r;
	pid_t pid;

	r = proc_pipe(status);
	if (r < 0)
		return r;
	for (int i = 0; i < (int)n_fds; i++)
		fds[i] = (struct proc_fd){3 + i, 3 + i};
	fds[n_fds] = (struct proc_fd){status[1], 3 + (int)n_fds};
	pid = proc_spawn(&spawn, NULL);
	(void)close(status[1]);
	if (pid < 0)
		(void)close(status[0]);
	else
		*ret_fd = status[0];
	return pid;
}

enum runner_stage
program_failure(int fd, int status, int *ret_error)
{
	struct word words[2];
	bool told, killed = WIFSIGNALED(status);
	ssize_t n;

	/* Both are there or will never be: the writer has ended. One write each, of far less than PIPE_BUF. */
	do
		n = read(fd, words, sizeof(words));
	while (n < 0 && errno == EINTR);
	(void)close(fd);
	if (n == (ssize_t)sizeof(words)) {
		*ret_error = words[1].error;
		return (enum runner_stage)words[1].stage;
	}
	/* One that left by itself without a word could not be set up; one that was killed before it came to that was not to be. */
	told = n == (ssize_t)sizeof(*words) || killed;
	*ret_error = told ? 0 : EIO;
	return told ? RUNNER_STAGE_NONE : RUNNER_STAGE_SETUP;
}
