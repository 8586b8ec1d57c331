/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner's own process: takes starts and kills from its socket, forks a keeper a run, tells of their ends. It waits for nothing but
 * its socket and its signals, holds no data of a run, and bounds by itself how many there are: who asks may be broken.
 *
 * At the end of the socket, its parent's death or SIGTERM it has every run killed, waits for the keepers, and leaves. Descendants of a
 * keeper that was killed by someone are given to this process, which kills them.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "common/runner/process.h"

#define CHILDREN_MAX 256
/* How long keepers may take after RUNNER_SIGNAL_NOW, and between two looks at what is not a keeper's. */
#define END_NS    (KEEPER_KILL_NS + NSEC_PER_SEC)
#define STRAYS_MS 100

struct slot {
	pid_t keeper; /* 0: free */
	uint64_t id;
	bool stopped; /* was asked to stop */
};

struct process {
	const struct runner_options *options;
	struct slot *slots;            /* concurrency of them */
	struct runner_report *reports; /* the same, shared with the keepers */
	int signals;
	bool strays;    /* there may be children that are no keepers */
	int64_t end_ns; /* 0: not ending; else when to leave whatever is left */
};

/* The socket holds more packets than there are runs, each answered once: it is full only when the other side is broken. */
static void
answer(uint64_t id, const struct runner_report *report)
{
	struct runner_message message = {.version = RUNNER_MESSAGE_VERSION,
		.type = RUNNER_ENDED,
		.id = id,
		.report = *report};
	int r = runner_message_send(RUNNER_FD_SOCKET, &message, NULL, 0);

	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		log_warn("can't answer for a program: %s", strerror(-r));
}

static void
refuse(uint64_t id, enum runner_stage stage, int error)
{
	const struct runner_report report = {.stage = stage, .error = error};

	answer(id, &report);
}

/* --- starting and stopping --- */

static struct slot *
find_slot(const struct process *p, bool running, uint64_t id)
{
	for (unsigned i = 0; i < p->options->concurrency; i++) {
		struct slot *slot = &p->slots[i];
		if (running ? slot->keeper != 0 && slot->id == id : slot->keeper == 0)
			return slot;
	}
	return NULL;
}

static size_t
count_values(const struct runner_command *command)
{
	size_t n = 0;

	while (command->run_env != NULL && command->run_env[n] != NULL)
		n++;
	return n;
}

static bool
is_sound(const struct process *p, const struct runner_message *message, size_t n_fds,
	const char **values)
{
	const struct runner_command *command;

	if (message->command >= p->options->n_commands || message->timeout_ns <= 0 ||
		message->timeout_ns > RUNNER_TIMEOUT_MAX)
		return false;
	command = &p->options->commands[message->command];
	return n_fds == runner_command_fds(command) &&
	       runner_message_values(message, count_values(command), values) == 0;
}

static pid_t
fork_keeper(struct process *p, const struct runner_message *message, const char *const *values,
	struct slot *slot, const int *fds, size_t n_fds)
{
	const struct runner_command *command = &p->options->commands[message->command];
	struct keeper_args args = {.command = command,
		.values = values,
		.timeout_ns = message->timeout_ns,
		.report = &p->reports[slot - p->slots]};
	struct proc_fd moves[RUNNER_FDS_MAX];
	char title[96];
	struct proc_spawn spawn = {.title = title,
		.fds = moves,
		.n_fds = n_fds,
		.parent_death_signal = RUNNER_SIGNAL_NOW,
		.new_session = true,
		.child_main = keeper_process,
		.data = &args};

	for (int i = 0; i < (int)n_fds; i++)
		moves[i] = (struct proc_fd){fds[i], 3 + i};
	(void)snprintf(
		title, sizeof(title), "%s: run %s", program_invocation_short_name, command->name);
	return proc_spawn(&spawn, NULL);
}

static void
start(struct process *p, const struct runner_message *message, const int *fds, size_t n_fds)
{
	struct slot *slot = find_slot(p, false, 0);
	const char *values[RUNNER_RUN_ENV_MAX];
	pid_t pid;

	if (!is_sound(p, message, n_fds, values)) {
		refuse(message->id, RUNNER_STAGE_REQUEST, EBADMSG);
		return;
	}
	if (slot == NULL || p->end_ns != 0) {
		refuse(message->id, RUNNER_STAGE_REQUEST, EAGAIN);
		return;
	}
	p->reports[slot - p->slots] = (struct runner_report){.flags = RUNNER_REPORT_LOST};
	pid = fork_keeper(p, message, values, slot, fds, n_fds);
	if (pid < 0)
		refuse(message->id, RUNNER_STAGE_FORK, (int)-pid);
	else
		*slot = (struct slot){.keeper = pid, .id = message->id};
}

static void
stop(struct process *p, const struct runner_message *message)
{
	struct slot *slot = find_slot(p, true, message->id);

	if (slot == NULL)
		return;
	slot->stopped = true;
	(void)proc_kill(slot->keeper, RUNNER_SIGNAL_STOP);
}

static void
end(struct process *p)
{
	if (p->end_ns != 0)
		return;
	p->end_ns = clock_monotonic_ns() + END_NS;
	for (unsigned i = 0; i < p->options->concurrency; i++)
		if (p->slots[i].keeper != 0)
			(void)proc_kill(p->slots[i].keeper, RUNNER_SIGNAL_NOW);
}

/* --- what the two descriptors say --- */

static void
on_socket(struct process *p)
{
	struct runner_message message;
	int fds[RUNNER_FDS_MAX], r;
	size_t n_fds;

	while ((r = runner_message_receive(RUNNER_FD_SOCKET, &message, fds, &n_fds)) == 1) {
		if (message.type == RUNNER_START)
			start(p, &message, fds, n_fds);
		else if (message.type == RUNNER_KILL)
			stop(p, &message);
		for (size_t i = 0; i < n_fds; i++)
			(void)close(fds[i]);
	}
	if (r == -EBADMSG)
		log_warn("a message to the runner that is none was dropped");
	else if (r != -EAGAIN)
		end(p);
}

static void
on_keeper_end(struct process *p, struct slot *slot, int status)
{
	const struct runner_report *report = &p->reports[slot - p->slots];
	char text[96];

	if (report->survivors > 0 || report->flags & RUNNER_REPORT_LOST)
		p->strays = true;
	/* A keeper that was stopped before it could see to that itself had no program yet. */
	if (report->flags & RUNNER_REPORT_LOST && !slot->stopped && p->end_ns == 0) {
		proc_status_text(status, text);
		log_warn("the keeper of a program %s", text);
	}
	answer(slot->id, report);
	slot->keeper = 0;
}

static void
reap(struct process *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned i = 0; i < p->options->concurrency; i++)
			if (p->slots[i].keeper == pid)
				on_keeper_end(p, &p->slots[i], status);
}

static void
on_signals(struct process *p)
{
	struct signalfd_siginfo info;

	while (read(p->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			end(p);
	reap(p);
}

static bool
is_keeper(const struct process *p, pid_t pid)
{
	for (unsigned i = 0; i < p->options->concurrency; i++)
		if (p->slots[i].keeper == pid)
			return true;
	return false;
}

/* Children that are no keepers are what keepers left: they are killed until there are none. */
static void
kill_strays(struct process *p)
{
	pid_t children[CHILDREN_MAX];
	int n = proc_children(children, CHILDREN_MAX);

	p->strays = false;
	for (int i = 0; i < n; i++) {
		if (is_keeper(p, children[i]))
			continue;
		(void)proc_kill(children[i], SIGKILL);
		p->strays = true;
	}
}

/* --- the process --- */

static bool
any_running(const struct process *p)
{
	for (unsigned i = 0; i < p->options->concurrency; i++)
		if (p->slots[i].keeper != 0)
			return true;
	return false;
}

static void
turn(struct process *p)
{
	/* At the end the socket is always readable. */
	struct pollfd fds[2] = {{.fd = p->signals, .events = POLLIN},
		{.fd = p->end_ns == 0 ? RUNNER_FD_SOCKET : -1, .events = POLLIN}};

	if (poll(fds, 2, p->strays || p->end_ns != 0 ? STRAYS_MS : -1) < 0)
		return;
	if (fds[0].revents != 0)
		on_signals(p);
	if (fds[1].revents != 0)
		on_socket(p);
	if (p->strays)
		kill_strays(p);
}

static int
begin(struct process *p)
{
	unsigned n = p->options->concurrency;
	sigset_t mask;
	int flags = fcntl(RUNNER_FD_SOCKET, F_GETFL);

	if (flags < 0 || fcntl(RUNNER_FD_SOCKET, F_SETFL, flags | O_NONBLOCK) < 0 ||
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGCHLD);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGQUIT);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	/* The parent's bound is not its programs': they have their own, or the service's. */
	proc_lift_memory_limit();
	/* Of a terminal that ends; the parent decides. */
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	p->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	p->reports = mmap(NULL, n * sizeof(*p->reports), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->signals < 0 || p->reports == MAP_FAILED)
		return -errno;
	p->slots = xcalloc(n, sizeof(*p->slots));
	return 0;
}

int
runner_process(void *data)
{
	struct process p = {.options = data};
	int r = begin(&p);

	if (r < 0) {
		log_error("can't set up the runner: %s", strerror(-r));
		return EX_OSERR;
	}
	while (p.end_ns == 0 || ((any_running(&p) || p.strays) && clock_monotonic_ns() < p.end_ns))
		turn(&p);
	free(p.slots);
	return 0;
}
