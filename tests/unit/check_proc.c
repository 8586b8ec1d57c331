/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children start clean: their own descriptors only, no handler, mask, limit or variable of the parent's (E151, E173, E177),
 * and their ends are told in words. A child looks at itself and leaves with 0, or says on stderr what is wrong.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/proc/proc.h"

#define NEED(condition)                                                                       \
	do                                                                                    \
		if (!(condition)) {                                                           \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                             \
		}                                                                             \
	while (0)

/* The wait status, -1 on failure. No assertion: in a child Check's descriptor is another's. */
static int
run(const struct proc_spawn *spawn)
{
	pid_t pid = proc_spawn(spawn, NULL);
	int status;

	return pid > 1 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* valgrind keeps descriptors of its own, so that it does not let the hard limit fall, and shows a command line of its own. */
static bool
under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static void
assert_child(int (*child_main)(void *data))
{
	const struct proc_spawn spawn = {.child_main = child_main};

	ck_assert_int_eq(run(&spawn), 0);
}

static int
exit_code(void *data)
{
	return *(int *)data;
}

START_TEST(leaves_with_its_value)
{
	static int codes[] = {0, 1, 78, 255};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		const struct proc_spawn spawn = {.child_main = exit_code, .data = &codes[i]};
		int status = run(&spawn);
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), codes[i]);
	}
}
END_TEST

static void
clean_up_of_the_parent(void)
{
	static const char said[] = "the parent's clean-up ran in a child\n";

	(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	_exit(99);
}

static int
return_zero(void *data)
{
	(void)data;
	return 0;
}

static int
run_with_atexit(void *data)
{
	const struct proc_spawn spawn = {.child_main = return_zero};

	(void)data;
	NEED(atexit(clean_up_of_the_parent) == 0);
	NEED(run(&spawn) == 0);
	return 0;
}

START_TEST(never_runs_the_parents_clean_up)
{
	assert_child(run_with_atexit);
}
END_TEST

/* Open descriptors as "0 1 2 3 ", its own for the directory left out. */
static void
list_fds(char *out, size_t size)
{
	DIR *dir = opendir("/proc/self/fd");
	bool open_[64] = {false};
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		long fd = strtol(entry->d_name, NULL, 10);
		if (entry->d_name[0] != '.' && fd < 64 && fd != dirfd(dir))
			open_[fd] = true;
	}
	if (dir)
		(void)closedir(dir);
	for (int fd = 0; fd < 64; fd++)
		if (open_[fd])
			n += (size_t)snprintf(out + n, size - n, "%d ", fd);
}

struct fd_case {
	int sources[3];
	int targets[3];
	size_t n;
	const char *letters, *open_;
};

/* Files with a letter each lie on 3, 4 and 5 of the parent. */
static const struct fd_case fd_cases[] = {
	{{0}, {0}, 0, "", "0 1 2 "},
	{{3}, {3}, 1, "a", "0 1 2 3 "},
	{{5}, {3}, 1, "c", "0 1 2 3 "},
	{{4, 3}, {3, 4}, 2, "ba", "0 1 2 3 4 "},
	{{4, 5, 3}, {3, 4, 5}, 3, "bca", "0 1 2 3 4 5 "},
	{{3, 4, 5}, {5, 3, 4}, 3, "bca", "0 1 2 3 4 5 "},
	{{3, 3, 3}, {3, 4, 5}, 3, "aaa", "0 1 2 3 4 5 "},
};

static int
look_at_fds(void *data)
{
	const struct fd_case *c = data;
	char list[300] = "";

	list_fds(list, sizeof(list));
	NEED(strcmp(list, c->open_) == 0);
	for (size_t i = 0; i < c->n; i++) {
		char letter = 0;
		NEED(pread(3 + (int)i, &letter, 1, 0) == 1);
		NEED(letter == c->letters[i]);
		NEED(fcntl(3 + (int)i, F_GETFD) == 0);
	}
	return 0;
}

/* In a process of its own, since the numbers from 3 on are needed. */
static int
spawn_with_fds(void *data)
{
	struct fd_case *c = data;
	struct proc_fd fds[3];
	struct proc_spawn spawn = {.fds = fds, .n_fds = c->n, .child_main = look_at_fds, .data = c};

	for (int i = 0; i < 3; i++) {
		int fd = memfd_create("letter", MFD_CLOEXEC);
		NEED(fd == 3 + i);
		NEED(pwrite(fd, &"abc"[i], 1, 0) == 1);
	}
	NEED(dup2(3, 40) == 40);
	for (size_t i = 0; i < c->n; i++)
		fds[i] = (struct proc_fd){.fd = c->sources[i], .target = c->targets[i]};
	NEED(run(&spawn) == 0);
	return 0;
}

START_TEST(has_its_own_descriptors_only)
{
	struct fd_case c = fd_cases[_i];
	const struct proc_spawn spawn = {.child_main = spawn_with_fds, .data = &c};

	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

START_TEST(refuses_gaps_in_the_numbers)
{
	static const struct proc_fd bad[][2] = {{{1, 3}, {1, 5}}, {{1, 4}, {1, 5}},
		{{1, 3}, {1, 3}}, {{1, 2}, {1, 3}}, {{-1, 3}, {1, 4}}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct proc_spawn spawn = {
			.fds = bad[i], .n_fds = 2, .child_main = return_zero};
		struct error err = {0};
		ck_assert_int_eq(proc_spawn(&spawn, &err), -EINVAL);
		ck_assert_uint_gt(strlen(err.text), 0);
	}
}
END_TEST

START_TEST(a_closed_descriptor_is_a_failed_start)
{
	const struct proc_fd fds[] = {{63, 3}};
	const struct proc_spawn spawn = {.fds = fds, .n_fds = 1, .child_main = return_zero};
	char text[96];
	int status = run(&spawn);

	proc_status_text(status, text);
	ck_assert_str_eq(
		text, "exited with code 71 (the system refused something it needs to start)");
}
END_TEST

static void
ignore(int signo)
{
	(void)signo;
}

static int
look_at_signals(void *data)
{
	struct sigaction action;
	sigset_t mask;

	(void)data;
	NEED(sigprocmask(SIG_SETMASK, NULL, &mask) == 0);
	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		if (sigaction(signo, NULL, &action) < 0)
			continue;
		NEED(sigismember(&mask, signo) == 0);
#ifdef WITH_SANITIZERS
		if (signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL ||
			signo == SIGABRT)
			continue;
#endif
		NEED(action.sa_handler ==
			(signo == SIGPIPE || signo == SIGXFSZ ? SIG_IGN : SIG_DFL));
	}
	return 0;
}

START_TEST(has_no_handler_and_no_mask)
{
	void (*usr1)(int) = signal(SIGUSR1, ignore), (*hup)(int) = signal(SIGHUP, SIG_IGN);
	sigset_t term, before, after;

	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &term, &before);
	assert_child(look_at_signals);
	(void)sigprocmask(SIG_SETMASK, &before, &after);
	/* The parent's own are as before. */
	ck_assert_int_eq(sigismember(&after, SIGTERM), 1);
	ck_assert_int_eq(sigismember(&after, SIGINT), 0);
	ck_assert(signal(SIGUSR1, usr1) == ignore);
	ck_assert(signal(SIGHUP, hup) == SIG_IGN);
}
END_TEST

static int
look_at_limits(void *data)
{
	struct rlimit limit;

	(void)data;
	NEED(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 && limit.rlim_max == 0);
	NEED(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	NEED(under_valgrind() || (limit.rlim_cur == 50 && limit.rlim_max == 50));
	NEED(getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur == 30 && limit.rlim_max == 35);
#ifndef WITH_SANITIZERS
	NEED(getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur == 512 << 20 &&
		limit.rlim_max == 512 << 20);
#endif
	NEED(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	NEED(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

START_TEST(has_its_limits)
{
	const struct proc_spawn spawn = {.memory_limit = 512 << 20,
		.file_limit = under_valgrind() ? 0 : 50,
		.cpu_limit_seconds = 30,
		.child_main = look_at_limits};

	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

/* A limit above what the parent may have is the parent's. */
static int
look_at_clamped_limit(void *data)
{
	struct rlimit limit;

	NEED(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == *(rlim_t *)data);
	return 0;
}

/* A limit that programs of the child need not keep, until the child gives up that choice. */
static int
look_at_memory_limit(void *data)
{
	struct rlimit parents = *(struct rlimit *)data, limit;

#ifdef WITH_SANITIZERS
	(void)parents;
	(void)limit;
#else
	NEED(getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur == 512 << 20 &&
		limit.rlim_max == parents.rlim_max);
	proc_lift_memory_limit();
	NEED(getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur == parents.rlim_max);
	limit.rlim_cur = 256 << 20;
	NEED(setrlimit(RLIMIT_DATA, &limit) == 0);
	proc_fix_memory_limit();
	proc_lift_memory_limit();
	NEED(getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur == 256 << 20 &&
		limit.rlim_max == 256 << 20);
#endif
	return 0;
}

START_TEST(fixes_its_memory_limit_itself)
{
	struct rlimit parents;
	const struct proc_spawn spawn = {.memory_limit = 512 << 20,
		.memory_limit_soft = true,
		.child_main = look_at_memory_limit,
		.data = &parents};

	ck_assert_int_eq(getrlimit(RLIMIT_DATA, &parents), 0);
	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

START_TEST(limits_beyond_the_parents)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	const struct proc_spawn spawn = {.file_limit = 1ULL << 40,
		.child_main = look_at_clamped_limit,
		.data = &limit.rlim_max};
	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

static long
read_oom_score(void)
{
	struct buf text = BUF_INIT;
	long value = -9999;

	if (buf_read_file(&text, "/proc/self/oom_score_adj", 100) == 0)
		value = strtol(text.data, NULL, 10);
	buf_free(&text);
	return value;
}

static int
look_at_oom_score(void *data)
{
	NEED(read_oom_score() == *(long *)data);
	return 0;
}

START_TEST(is_killed_before_its_parent)
{
	static const int adds[] = {300, 1000, 5000};

	for (size_t i = 0; i < sizeof(adds) / sizeof(*adds); i++) {
		long want = read_oom_score() + adds[i] > 1000 ? 1000 : read_oom_score() + adds[i];
		const struct proc_spawn spawn = {
			.oom_score_add = adds[i], .child_main = look_at_oom_score, .data = &want};
		ck_assert_int_eq(run(&spawn), 0);
	}
}
END_TEST

static int
look_at_environment(void *data)
{
	(void)data;
	NEED(!getenv("NOTIFY_SOCKET") && !getenv("WATCHDOG_USEC") && !getenv("WATCHDOG_PID"));
	NEED(!getenv("LISTEN_FDS") && !getenv("LISTEN_PID") && !getenv("LISTEN_FDNAMES"));
	NEED(getenv("CHECK_PROC") && strcmp(getenv("CHECK_PROC"), "stays") == 0);
	return 0;
}

START_TEST(does_not_speak_for_the_service)
{
	(void)setenv("NOTIFY_SOCKET", "/run/x", 1);
	(void)setenv("WATCHDOG_USEC", "1", 1);
	(void)setenv("LISTEN_FDS", "1", 1);
	(void)setenv("CHECK_PROC", "stays", 1);
	assert_child(look_at_environment);
	ck_assert_str_eq(getenv("NOTIFY_SOCKET"), "/run/x");
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("LISTEN_FDS");
}
END_TEST

static const struct title_case {
	const char *title, *comm;
} titles[] = {
	{"operatord: worker nginx", "operatord: nginx"},
	{"operatord: checker", "operatord: checker"},
	{"plain", "plain"},
	{"a title that is long", "a title that is"},
	{"a prefix beyond sixteen bytes: x", "a prefix beyond "},
};

static int
look_at_title(void *data)
{
	const struct title_case *c = data;
	struct buf text = BUF_INIT;
	char comm[16];
	size_t n;

	NEED(prctl(PR_GET_NAME, comm, 0, 0, 0) == 0);
	NEED(strncmp(comm, c->comm, 15) == 0 &&
		strlen(comm) == (strlen(c->comm) < 15 ? strlen(c->comm) : 15));
	NEED(buf_read_file(&text, "/proc/self/cmdline", 1 << 16) == 0);
	NEED(under_valgrind() || strcmp(text.data, c->title) == 0);
	for (n = strlen(text.data); !under_valgrind() && n < text.length; n++)
		NEED(text.data[n] == '\0');
	/* What was in argv's memory is elsewhere, and whole. */
	NEED(strstr(program_invocation_name, "check_proc") != NULL);
	NEED(getenv("PATH") && *getenv("PATH") == '/');
	buf_free(&text);
	return 0;
}

START_TEST(shows_its_title)
{
	struct title_case c = titles[_i];
	const struct proc_spawn spawn = {.title = c.title, .child_main = look_at_title, .data = &c};

	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

static int
look_at_long_title(void *data)
{
	struct buf text = BUF_INIT;

	NEED(buf_read_file(&text, "/proc/self/cmdline", 1 << 20) == 0);
	NEED(under_valgrind() || strncmp(text.data, data, 20) == 0);
	NEED(strlen(text.data) <= strlen(data));
	buf_free(&text);
	return 0;
}

START_TEST(cuts_a_title_to_its_memory)
{
	static char title[200000];
	const struct proc_spawn spawn = {
		.title = title, .child_main = look_at_long_title, .data = title};

	memset(title, 't', sizeof(title) - 1);
	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

static int
look_at_session(void *data)
{
	NEED((getsid(0) == getpid()) == (data != NULL));
	return 0;
}

START_TEST(has_a_session_of_its_own)
{
	static int yes;
	struct proc_spawn spawn = {.child_main = look_at_session};

	ck_assert_int_eq(run(&spawn), 0);
	spawn.new_session = true;
	spawn.data = &yes;
	ck_assert_int_eq(run(&spawn), 0);
}
END_TEST

static int
leave_well(void *data)
{
	(void)data;
	return 0;
}

/* Signals its group without a pause, until its parent is gone. */
static pid_t
start_hammer(int signo)
{
	pid_t parent = getpid(), pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	while (getppid() == parent)
		(void)kill(0, signo);
	_exit(0);
}

static const int terminal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP};

/* E175: the terminal ends while they are being forked; its signals are for the group that they leave. */
START_TEST(outlives_its_parents_terminal)
{
	const struct proc_spawn spawn = {.new_session = true, .child_main = leave_well};
	int signo = terminal_signals[_i];

	ck_assert_int_eq(setpgid(0, 0), 0);
	(void)signal(signo, SIG_IGN);
	pid_t hammer = start_hammer(signo);
	for (int i = 0; i < 200; i++)
		ck_assert_int_eq(run(&spawn), 0);
	(void)kill(hammer, SIGKILL);
	ck_assert_int_eq(waitpid(hammer, NULL, 0), hammer);
	(void)signal(signo, SIG_DFL);
}
END_TEST

static int
wait_for_signal(void *data)
{
	if (data)
		(void)raise(SIGSTOP);
	while (pause() < 0)
		;
	return 0;
}

/* Forks one that would live for ever, and leaves. 3 is a pipe that stays open as long as that one lives. */
static int
die_before_the_child(void *data)
{
	const struct proc_fd fds[] = {{3, 3}};
	const struct proc_spawn spawn = {.fds = fds,
		.n_fds = 1,
		.parent_death_signal = SIGTERM,
		.child_main = wait_for_signal};

	NEED(proc_spawn(&spawn, NULL) > 1);
	return *(int *)data;
}

START_TEST(ends_with_its_parent)
{
	int pipe_fds[2], zero = 0;
	char byte;

	ck_assert_int_eq(proc_pipe(pipe_fds), 0);
	const struct proc_fd fds[] = {{pipe_fds[1], 3}};
	const struct proc_spawn spawn = {
		.fds = fds, .n_fds = 1, .child_main = die_before_the_child, .data = &zero};
	ck_assert_int_eq(run(&spawn), 0);
	(void)close(pipe_fds[1]);
	ck_assert_int_eq(read(pipe_fds[0], &byte, 1), 0);
	(void)close(pipe_fds[0]);
}
END_TEST

/* A stopped process handles SIGTERM only when it goes on. */
START_TEST(ends_a_stopped_child)
{
	static int stop;
	const struct proc_spawn spawn = {
		.child_main = wait_for_signal, .data = &stop, .new_session = true};

	for (int i = 0; i < 2; i++) {
		pid_t pid = proc_spawn(&spawn, NULL);
		int status;

		ck_assert_int_gt(pid, 1);
		ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
		ck_assert(WIFSTOPPED(status));
		ck_assert_int_eq((i ? proc_kill_group : proc_kill)(pid, SIGTERM), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
		ck_assert_int_eq(proc_kill(pid, SIGTERM), -ESRCH);
	}
}
END_TEST

START_TEST(signals_nobody_else)
{
	static const pid_t pids[] = {1, 0, -1, -5};

	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		ck_assert_int_eq(proc_kill(pids[i], 0), -EINVAL);
		ck_assert_int_eq(proc_kill_group(pids[i], 0), -EINVAL);
	}
}
END_TEST

static struct loop *loop;
static int ends;
static pid_t last_started;

static void start_next(void);

static void
on_end(void *data, pid_t pid, int status)
{
	(void)data;
	ck_assert_int_eq(pid, last_started);
	ck_assert_int_eq(status, 0);
	if (++ends == 300)
		loop_stop(loop);
	else
		start_next();
}

static void
start_next(void)
{
	const struct proc_spawn spawn = {.loop = loop, .child_main = return_zero};

	last_started = proc_spawn(&spawn, NULL);
	ck_assert_int_gt(last_started, 1);
}

/* E173: children that end at once, started from the callback of the one before. */
START_TEST(quick_ends_are_all_seen)
{
	struct loop_child *any;

	loop = loop_new(true);
	any = loop_child_new(loop, 0, on_end, NULL);
	start_next();
	loop_run(loop);
	ck_assert_int_eq(ends, 300);
	loop_child_free(any);
	loop_free(loop);
}
END_TEST

static const struct {
	int status;
	const char *text;
} ends_in_words[] = {
	{W_EXITCODE(0, 0), "exited with code 0"},
	{W_EXITCODE(1, 0), "exited with code 1"},
	{W_EXITCODE(77, 0), "exited with code 77 (no permission)"},
	{W_EXITCODE(78, 0), "exited with code 78 (bad configuration)"},
	{W_EXITCODE(0, SIGSEGV), "killed by SIGSEGV"},
	{W_EXITCODE(0, SIGSEGV) | WCOREFLAG, "killed by SIGSEGV (core dumped)"},
	{W_EXITCODE(0, SIGKILL), "killed by SIGKILL"},
	{W_EXITCODE(0, SIGSYS), "killed by SIGSYS (a forbidden system call)"},
	{W_EXITCODE(0, 40), "killed by signal 40"},
	{W_STOPCODE(SIGSTOP), "ended with wait status 0x137f"},
};

START_TEST(tells_ends_in_words)
{
	char text[96];

	proc_status_text(ends_in_words[_i].status, text);
	ck_assert_str_eq(text, ends_in_words[_i].text);
}
END_TEST

static int
sanitize(void *data)
{
	const char *passed = data;
	char list[300] = "", pid[16];
	struct stat null, st;

	for (int fd = 3; fd < 8; fd++)
		NEED(dup2(2, fd) == fd);
	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	(void)setenv("LISTEN_FDS", passed, 1);
	(void)setenv("LISTEN_PID", pid, 1);
	(void)close(0);
	(void)close(1);
	proc_sanitize_fds();
	list_fds(list, sizeof(list));
	NEED(strcmp(list, strcmp(passed, "2") == 0 ? "0 1 2 3 4 " : "0 1 2 ") == 0);
	NEED(stat("/dev/null", &null) == 0);
	for (int fd = 0; fd < 2; fd++)
		NEED(fstat(fd, &st) == 0 && st.st_rdev == null.st_rdev);
	if (strcmp(passed, "2") == 0)
		NEED(fcntl(3, F_GETFD) == FD_CLOEXEC && fcntl(4, F_GETFD) == FD_CLOEXEC);
	return 0;
}

START_TEST(sanitizes_descriptors)
{
	static char counts[][8] = {"2", "0", "-1", "9999999", "x"};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const struct proc_spawn spawn = {.child_main = sanitize, .data = counts[i]};
		ck_assert_int_eq(run(&spawn), 0);
	}
}
END_TEST

START_TEST(pipes_close_on_exec)
{
	int fds[2];

	ck_assert_int_eq(proc_pipe(fds), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		(void)close(fds[i]);
	}
}
END_TEST

/* More of them than one read of the file holds, in the order of their birth; dead ones count until they are reaped. */
START_TEST(lists_its_children)
{
	static pid_t pids[1200], found[1300];
	int pipe_ends[2], n = 1200;
	char byte;

	ck_assert_int_eq(proc_pipe(pipe_ends), 0);
	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] == 0) {
			(void)close(pipe_ends[1]);
			_exit(i % 2 == 0 || read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);
		}
	}
	ck_assert_int_eq(proc_children(found, 1300), n);
	ck_assert_mem_eq(found, pids, sizeof(pids));
	ck_assert_int_eq(proc_children(found, 7), 7);
	(void)close(pipe_ends[0]);
	(void)close(pipe_ends[1]);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	ck_assert_int_eq(proc_children(found, 1300), 0);
}
END_TEST

START_TEST(counts_what_is_open)
{
	unsigned few_open = proc_open_fds(), many_open;
	struct rlimit old, few;
	int fds[200];

	ck_assert_uint_ge(few_open, 3);
	for (int i = 0; i < 200; i++)
		fds[i] = fcntl(2, F_DUPFD_CLOEXEC, 0);
	ck_assert_int_ge(fds[199], 200);
	many_open = proc_open_fds();
	ck_assert_uint_ge(
		many_open, few_open + 200); /* and those far up that whoever started us left open */
	(void)close(fds[0]);
	ck_assert_uint_eq(proc_open_fds(), many_open - 1);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){.rlim_cur = 50, .rlim_max = old.rlim_max};
	if (!under_valgrind() && setrlimit(RLIMIT_NOFILE, &few) == 0)
		ck_assert_uint_eq(proc_open_fds(), 49);
	(void)setrlimit(RLIMIT_NOFILE, &old);
	for (int i = 1; i < 200; i++)
		(void)close(fds[i]);
	ck_assert_uint_eq(proc_open_fds(), few_open);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("proc");
	TCase *tcase = tcase_create("proc");
	SRunner *runner;
	int failed;

	proc_title_init(argc, argv);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, leaves_with_its_value);
	tcase_add_test(tcase, never_runs_the_parents_clean_up);
	tcase_add_loop_test(
		tcase, has_its_own_descriptors_only, 0, sizeof(fd_cases) / sizeof(*fd_cases));
	tcase_add_test(tcase, refuses_gaps_in_the_numbers);
	tcase_add_test(tcase, a_closed_descriptor_is_a_failed_start);
	tcase_add_test(tcase, has_no_handler_and_no_mask);
	tcase_add_test(tcase, has_its_limits);
	tcase_add_test(tcase, fixes_its_memory_limit_itself);
	tcase_add_test(tcase, limits_beyond_the_parents);
	tcase_add_test(tcase, is_killed_before_its_parent);
	tcase_add_test(tcase, does_not_speak_for_the_service);
	tcase_add_loop_test(tcase, shows_its_title, 0, sizeof(titles) / sizeof(*titles));
	tcase_add_test(tcase, cuts_a_title_to_its_memory);
	tcase_add_test(tcase, has_a_session_of_its_own);
	tcase_add_loop_test(tcase, outlives_its_parents_terminal, 0,
		sizeof(terminal_signals) / sizeof(*terminal_signals));
	tcase_add_test(tcase, ends_with_its_parent);
	tcase_add_test(tcase, ends_a_stopped_child);
	tcase_add_test(tcase, signals_nobody_else);
	tcase_add_test(tcase, quick_ends_are_all_seen);
	tcase_add_loop_test(
		tcase, tells_ends_in_words, 0, sizeof(ends_in_words) / sizeof(*ends_in_words));
	tcase_add_test(tcase, sanitizes_descriptors);
	tcase_add_test(tcase, pipes_close_on_exec);
	tcase_add_test(tcase, counts_what_is_open);
	tcase_add_test(tcase, lists_its_children);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
