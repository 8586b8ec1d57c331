/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process in the cage tries what it must not, one thing a process, and fails at each; and what it must, and can. Attempts are chosen so that they harm nothing
 * where they are not refused. What a kernel does not have is not asked of it.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/sandbox/layers.h"
#include "common/scoreboard.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In place of arguments that are known at run time. */
enum { SIBLING = 1000000001, PARENT, SELF, TOKEN, THEIRS, BOARD };

#ifdef WITH_SANITIZERS
enum { WITHIN_SANITIZERS = 1 };
#else
enum { WITHIN_SANITIZERS = 0 };
#endif

static struct stage {
	char directory[64], token[96], theirs[96], theirs_directory[80];
	struct sandbox sandbox;
	int board;
	pid_t sibling;
} stage;

/* --- the stage --- */

static void
put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static bool
reads(const char *path)
{
	struct buf bytes = BUF_INIT;
	int r = buf_read_file(&bytes, path, 4096);

	buf_free(&bytes);
	return r == 0;
}

static void
set_stage(void)
{
	const struct scoreboard *map;

	stage = (struct stage){.sandbox = {.network = true}};
	(void)snprintf(stage.directory, sizeof(stage.directory), "/tmp/sandbox-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(stage.directory));
	(void)snprintf(stage.token, sizeof(stage.token), "%s/ours", stage.directory);
	(void)snprintf(stage.theirs_directory, sizeof(stage.theirs_directory), "%s/theirs",
		stage.directory);
	ck_assert_int_eq(mkdir(stage.token, 0700), 0);
	ck_assert_int_eq(mkdir(stage.theirs_directory, 0700), 0);
	(void)snprintf(stage.token, sizeof(stage.token), "%s/ours/token", stage.directory);
	(void)snprintf(stage.theirs, sizeof(stage.theirs), "%s/theirs/token", stage.directory);
	put(stage.token, "ours");
	put(stage.theirs, "theirs");
	stage.sandbox.files[1] = stage.token;
	stage.board = scoreboard_create(1, &map);
	ck_assert_int_ge(stage.board, 0);
	scoreboard_unmap(map);
	stage.sibling = fork();
	if (stage.sibling == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	ck_assert_int_gt(stage.sibling, 0);
}

static void
clear_stage(void)
{
	char command[128];

	/* Whatever was tried, the sibling is there. */
	ck_assert_int_eq(waitpid(stage.sibling, NULL, WNOHANG), 0);
	(void)kill(stage.sibling, SIGKILL);
	(void)waitpid(stage.sibling, NULL, 0);
	(void)close(stage.board);
	(void)snprintf(command, sizeof(command), "rm -rf %s", stage.directory);
	ck_assert_int_eq(system(command), 0);
}

/* The wait status of a process that enters the cage and leaves with what the function returns. */
static int
caged(int (*act)(const void *data), const void *data)
{
	struct error err = {0};
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (sandbox_enter(&stage.sandbox, &err) < 0) {
			(void)fprintf(stderr, "%s\n", err.text);
			_exit(200);
		}
		_exit(act(data));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* --- system calls --- */

struct attempt {
	const char *what;
	long call, arguments[6];
	int expected; /* an errno, or -SIGSYS */
};

static long
argument(long value)
{
	switch (value) {
	case SIBLING:
		return stage.sibling;
	case PARENT:
		return getppid();
	case SELF:
		return getpid();
	case TOKEN:
		return (long)(uintptr_t)stage.token;
	case THEIRS:
		return (long)(uintptr_t)stage.theirs;
	case BOARD:
		return stage.board;
	default:
		return value;
	}
}

static int
attempt(const void *data)
{
	const struct attempt *a = data;
	long v[6];

	for (int i = 0; i < 6; i++)
		v[i] = argument(a->arguments[i]);
	return syscall(a->call, v[0], v[1], v[2], v[3], v[4], v[5]) < 0 ? errno : 0;
}

static const char nothing[] = "";
#define NAME ((long)(uintptr_t)nothing)

/* clang-format off */
static const struct attempt refused[] = {
	{"read a sibling's memory", SYS_process_vm_readv, {SIBLING}, -SIGSYS},
	{"write a sibling's memory", SYS_process_vm_writev, {SIBLING}, -SIGSYS},
	{"execute", SYS_execve, {NAME}, -SIGSYS},
	{"execute at a descriptor", SYS_execveat, {-1, NAME}, -SIGSYS},
	{"load a module", SYS_init_module, {}, -SIGSYS},
	{"load a module from a file", SYS_finit_module, {-1}, -SIGSYS},
	{"unload a module", SYS_delete_module, {NAME}, -SIGSYS},
	{"load a kernel", SYS_kexec_load, {0, -1}, -SIGSYS},
	{"load a BPF program", SYS_bpf, {-1}, -SIGSYS},
	{"reboot", SYS_reboot, {}, -SIGSYS},
	{"mount", SYS_mount, {}, -SIGSYS},
	{"unmount", SYS_umount2, {NAME}, -SIGSYS},
	{"open a mount", SYS_open_tree, {-1, NAME}, -SIGSYS},
	{"change its root", SYS_chroot, {NAME}, -SIGSYS},
	{"unshare", SYS_unshare, {0x7fffffff}, -SIGSYS},
	{"enter a namespace", SYS_setns, {-1}, -SIGSYS},
	{"open by handle", SYS_open_by_handle_at, {-1}, -SIGSYS},

	{"clone3", SYS_clone3, {}, ENOSYS},
	{"openat2", SYS_openat2, {-1}, ENOSYS},
	{"io_uring", SYS_io_uring_setup, {}, ENOSYS},

	{"signal a sibling", SYS_kill, {SIBLING, 0}, EPERM},
	{"signal its parent", SYS_kill, {PARENT, 0}, EPERM},
	{"signal its group", SYS_kill, {0, 0}, EPERM},
	{"signal everybody", SYS_kill, {-1, 0}, EPERM},
	{"signal a thread of a sibling", SYS_tgkill, {SIBLING, SIBLING, 0}, EPERM},
	{"signal a thread", SYS_tkill, {SIBLING, 0}, EPERM},
	{"queue a signal to a sibling", SYS_rt_sigqueueinfo, {SIBLING, 0}, EPERM},
	{"signal by a descriptor", SYS_pidfd_send_signal, {-1}, EPERM},
	{"open a process", SYS_pidfd_open, {SIBLING}, EPERM},
	{"take a descriptor of a sibling", SYS_pidfd_getfd, {-1}, EPERM},
	{"direct signals to a sibling", SYS_fcntl, {0, F_SETOWN, SIBLING}, EPERM},
	{"direct them by ioctl", SYS_ioctl, {0, FIOSETOWN, 0}, EPERM},
	{"the same with more bits", SYS_ioctl, {0, 0x100000000 | FIOSETOWN, 0}, EPERM},
	{"type into the terminal", SYS_ioctl, {0, TIOCSTI, 0}, EPERM},
	{"slow a sibling down", SYS_setpriority, {0, SIBLING, 19}, EPERM},
	{"pin a sibling", SYS_sched_setaffinity, {SIBLING, 0, 0}, EPERM},
	{"limit a sibling", SYS_prlimit64, {SIBLING, 7, 0, 0}, EPERM},
	{"outlive its parent", SYS_prctl, {PR_SET_PDEATHSIG, 0}, EPERM},
	{"share memory by key", SYS_shmget, {1, 4096, 0600}, EPERM},
	{"open a message queue", SYS_mq_open, {NAME}, EPERM},
	{"use keys", SYS_keyctl, {-1}, EPERM},

	{"open to write", SYS_openat, {AT_FDCWD, TOKEN, O_WRONLY}, EPERM},
	{"open to read and write", SYS_openat, {AT_FDCWD, TOKEN, O_RDWR}, EPERM},
	{"create", SYS_openat, {AT_FDCWD, NAME, O_CREAT, 0600}, EPERM},
	{"make an unnamed file", SYS_openat, {AT_FDCWD, TOKEN, O_TMPFILE | O_WRONLY, 0600}, EPERM},
	{"truncate on opening", SYS_openat, {AT_FDCWD, TOKEN, O_TRUNC}, EPERM},
	{"truncate", SYS_truncate, {TOKEN, 1}, EPERM},
	{"truncate the scoreboard", SYS_ftruncate, {BOARD, 0}, EPERM},
	{"let the scoreboard grow", SYS_ftruncate, {BOARD, 1 << 20}, EPERM},
	{"change the scoreboard's seals", SYS_fcntl, {BOARD, F_ADD_SEALS, F_SEAL_WRITE}, EPERM},
	{"punch a hole into the end of it", SYS_fallocate, {BOARD, 0, 0, 1 << 20}, EPERM},
	{"remove a file", SYS_unlinkat, {AT_FDCWD, TOKEN, 0}, EPERM},
	{"rename a file", SYS_renameat2, {AT_FDCWD, TOKEN, AT_FDCWD, THEIRS, 0}, EPERM},
	{"change a mode", SYS_fchmodat, {AT_FDCWD, THEIRS, 0777}, EPERM},
	{"change a mode, newer", 452, {AT_FDCWD, THEIRS, 0777, 0}, EPERM},
	{"change an owner", SYS_fchownat, {AT_FDCWD, THEIRS, 1, 1, 0}, EPERM},
	{"change times", SYS_utimensat, {AT_FDCWD, THEIRS, 0, 0}, EPERM},
	{"set an attribute", SYS_setxattr, {THEIRS}, EPERM},

	{"a Unix socket", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"a packet socket", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
	{"a socket of the crypto API", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}, EAFNOSUPPORT},
	{"a virtual machine's socket", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"the same with more bits", SYS_socket, {0x100000000 | AF_UNIX, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"SCTP", SYS_socket, {AF_INET, SOCK_STREAM, 132}, EPROTONOSUPPORT},
	{"multipath TCP", SYS_socket, {AF_INET, SOCK_STREAM, 262}, EPROTONOSUPPORT},
	{"netlink but for routes", SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, EPROTONOSUPPORT},
	{"connect by sending", SYS_sendto, {-1, 0, 0, MSG_FASTOPEN, 0, 0}, EPERM},
	{"listen", SYS_listen, {-1, 1}, EPERM},

	{"userfaultfd", SYS_userfaultfd, {}, EPERM},
	{"performance counters", SYS_perf_event_open, {}, EPERM},
	{"another personality", SYS_personality, {0xffffffff}, EPERM},
	{"the kernel's log", SYS_syslog, {-1}, EPERM},
};

/* What the search for leaks needs is open in builds with sanitizers. */
static const struct attempt not_traced[] = {
	{"trace a sibling", SYS_ptrace, {PTRACE_ATTACH, SIBLING}, -SIGSYS},
	{"seize a sibling", SYS_ptrace, {PTRACE_SEIZE, SIBLING}, -SIGSYS},
	{"start a process", SYS_clone, {SIGCHLD}, EPERM},
	{"be dumpable", SYS_prctl, {PR_SET_DUMPABLE, 1}, EPERM},
	{"be traced by anybody", SYS_prctl, {PR_SET_PTRACER, -1}, EPERM},
};

/* The same shape, with what Landlock alone knows. */
static const struct attempt not_read[] = {
	{"another one's token", SYS_openat, {AT_FDCWD, THEIRS, O_RDONLY}, EACCES},
	{"by another name", SYS_open, {THEIRS, O_RDONLY}, EACCES},
};

static const struct attempt allowed[] = {
	{"read its token", SYS_openat, {AT_FDCWD, TOKEN, O_RDONLY}, 0},
	{"signal itself", SYS_kill, {SELF, 0}, 0},
	{"signal its thread", SYS_tgkill, {SELF, SELF, 0}, 0},
	{"limit itself", SYS_prlimit64, {0, 7, 0, 0}, 0},
	{"name itself", SYS_prctl, {PR_SET_NAME, NAME}, 0},
	{"stay undumpable", SYS_prctl, {PR_SET_DUMPABLE, 0}, 0},
	{"TCP", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP}, 0},
	{"UDP by IPv6", SYS_socket, {AF_INET6, SOCK_DGRAM, IPPROTO_UDP}, 0},
	{"routes", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, 0},
};
/* clang-format on */

static bool
is_as_expected(int status, int expected)
{
	if (expected < 0)
		return WIFSIGNALED(status) && WTERMSIG(status) == -expected;
	return WIFEXITED(status) && WEXITSTATUS(status) == expected;
}

static void
assert_attempts(const struct attempt *attempts, size_t n)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < n; i++) {
		int status = caged(attempt, &attempts[i]);

		if (is_as_expected(status, attempts[i].expected))
			continue;
		wrong++;
		(void)fprintf(stderr, "%s: wait status %#x instead of %d\n", attempts[i].what,
			(unsigned)status, attempts[i].expected);
	}
	ck_assert_uint_eq(wrong, 0);
}

START_TEST(refuses)
{
	if (!syscalls_filter_exists())
		return;
	assert_attempts(refused, COUNT(refused));
	if (!WITHIN_SANITIZERS)
		assert_attempts(not_traced, COUNT(not_traced));
	ck_assert(reads(stage.token));
}
END_TEST

START_TEST(allows)
{
	assert_attempts(allowed, COUNT(allowed));
}
END_TEST

#ifdef __x86_64__
static int
call_by_int80(const void *data)
{
	long r = 20; /* getpid(2) of i386 */

	(void)data;
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
	return 0;
}

START_TEST(knows_its_architecture_only)
{
	const struct attempt x32 = {"x32", 0x40000000 | SYS_getpid, {}, -SIGSYS};

	if (!syscalls_filter_exists())
		return;
	assert_attempts(&x32, 1);
	ck_assert(is_as_expected(caged(call_by_int80, NULL), -SIGSYS));
}
END_TEST
#endif

/* --- files --- */

static int
read_it(const void *path)
{
	return reads(path) ? 0 : errno == 0 ? 1 : errno;
}

/* 0: none of what is others'. */
static int
read_of_others(const void *data)
{
	static const char *const system[] = {
		"/etc/passwd", "/etc/hosts", "/proc/self/environ", "/proc/1/environ"};
	char path[64];

	(void)data;
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)stage.sibling);
	if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
		return 1;
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
	if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
		return 2;
	if (open(stage.theirs_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0)
		return 3;
	if (!reads(system[1]))
		return 4;
	return reads(system[0]) || reads(system[2]) || reads(system[3]) ? 5 : 0;
}

START_TEST(reads_its_own_only)
{
	if (landlock_version() == 0)
		return;
	if (!WITHIN_SANITIZERS)
		ck_assert_int_eq(caged(read_of_others, NULL), 0);
	ck_assert(is_as_expected(caged(read_it, stage.theirs), EACCES));
	assert_attempts(not_read, COUNT(not_read));
}
END_TEST

/* Links are swapped as Kubernetes does it, and files renamed; then both are read by the process that was there before. */
static const char *
path_in(const char *name)
{
	static char paths[4][160];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", stage.directory, name);
	return path;
}

static int
wait_and_read(const void *data)
{
	const int *pipes = data;
	char byte;

	if (write(pipes[1], "", 1) != 1 || read(pipes[2], &byte, 1) != 1)
		return 250;
	if (sandbox_outdated() != NULL)
		return 251;
	return read_it(stage.sandbox.files[0]);
}

/* What a caged process reads after `rotate` was called outside; its wait status. */
static int
rotated(void (*rotate)(void))
{
	int up[2], down[2], pipes[3], status;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(up, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(down, O_CLOEXEC), 0);
	pipes[1] = up[1];
	pipes[2] = down[0];
	pid = fork();
	if (pid == 0)
		_exit(sandbox_enter(&stage.sandbox, NULL) < 0 ? 252 : wait_and_read(pipes));
	ck_assert_int_eq(read(up[0], &byte, 1), 1);
	rotate();
	ck_assert_int_eq(write(down[1], "", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	(void)close(up[0]);
	(void)close(up[1]);
	(void)close(down[0]);
	(void)close(down[1]);
	return status;
}

static void
rename_over(void)
{
	put(path_in("ours/new"), "renamed");
	ck_assert_int_eq(rename(path_in("ours/new"), path_in("ours/token")), 0);
}

START_TEST(follows_a_rename)
{
	stage.sandbox.files[0] = stage.token;
	ck_assert(is_as_expected(rotated(rename_over), 0));
}
END_TEST

static void
make_volume(const char *version)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "volume/%s", version);
	ck_assert_int_eq(mkdir(path_in(name), 0755), 0);
	(void)snprintf(name, sizeof(name), "volume/%s/token", version);
	put(path_in(name), version);
	ck_assert_int_eq(symlink(version, path_in("volume/..new")), 0);
	ck_assert_int_eq(rename(path_in("volume/..new"), path_in("volume/..data")), 0);
}

static void
swap_volume(void)
{
	make_volume("..2");
	ck_assert_int_eq(unlink(path_in("volume/..1/token")), 0);
	ck_assert_int_eq(rmdir(path_in("volume/..1")), 0);
}

START_TEST(follows_a_volume_of_kubernetes)
{
	static char path[160];

	ck_assert_int_eq(mkdir(path_in("volume"), 0755), 0);
	make_volume("..1");
	ck_assert_int_eq(symlink("..data/token", path_in("volume/token")), 0);
	(void)snprintf(path, sizeof(path), "%s", path_in("volume/token"));
	stage.sandbox.files[0] = path;
	ck_assert(is_as_expected(rotated(swap_volume), 0));
}
END_TEST

static void
link_elsewhere(void)
{
	ck_assert_int_eq(symlink(stage.theirs, path_in("links/new")), 0);
	ck_assert_int_eq(rename(path_in("links/new"), path_in("links/token")), 0);
}

/* A link out of its directory: what it leads to is open, and what it leads to later is known not to be. */
START_TEST(knows_when_it_is_outdated)
{
	static char path[160];

	if (landlock_version() == 0)
		return;
	ck_assert_int_eq(mkdir(path_in("links"), 0755), 0);
	ck_assert_int_eq(symlink(stage.token, path_in("links/token")), 0);
	(void)snprintf(path, sizeof(path), "%s", path_in("links/token"));
	stage.sandbox.files[0] = path;
	stage.sandbox.files[1] = NULL;
	ck_assert(is_as_expected(rotated(rename_over), 0));
	ck_assert(is_as_expected(rotated(link_elsewhere), 251));
}
END_TEST

/* A token in /tmp does not open all of /tmp. */
START_TEST(opens_a_file_alone_where_others_live)
{
	static char path[] = "/tmp/sandbox-token-XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	stage.sandbox.files[0] = path;
	ck_assert(is_as_expected(caged(read_it, path), 0));
	if (landlock_version() > 0)
		ck_assert(is_as_expected(caged(read_it, stage.theirs), EACCES));
	(void)unlink(path);
}
END_TEST

/* Landlock alone keeps it from tracing whom it did not start. */
static int
trace_sibling(const void *data)
{
	(void)data;
	return ptrace(PTRACE_SEIZE, stage.sibling, NULL, NULL) < 0 ? errno : 0;
}

START_TEST(traces_nobody_outside)
{
	if (WITHIN_SANITIZERS && landlock_version() > 0)
		ck_assert(is_as_expected(caged(trace_sibling, NULL), EPERM));
}
END_TEST

START_TEST(reads_everything_and_speaks_to_nobody)
{
	const struct attempt sockets[] = {{"TCP", SYS_socket, {AF_INET, SOCK_STREAM, 0}, EPERM},
		{"UDP", SYS_socket, {AF_INET, SOCK_DGRAM, 0}, EPERM},
		{"execute", SYS_execve, {NAME}, -SIGSYS},
		{"write", SYS_openat, {AT_FDCWD, TOKEN, O_WRONLY}, EPERM}};

	stage.sandbox = (struct sandbox){.all_files = true};
	ck_assert(is_as_expected(caged(read_it, stage.theirs), 0));
	ck_assert(is_as_expected(caged(read_it, "/etc/passwd"), 0));
	if (syscalls_filter_exists())
		assert_attempts(sockets, COUNT(sockets));
}
END_TEST

/* --- kernels that have less --- */

/* This process, and whom it forks, gets ENOSYS for the call. */
static void
lack(unsigned call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {COUNT(code), code};

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int
enter_without_landlock(const struct attempt *attempts)
{
	if (!syscalls_filter_exists())
		return 0;
	lack(SYS_landlock_create_ruleset);
	if (sandbox_missing() == NULL || strcmp(sandbox_missing(), "Landlock") != 0)
		return 1;
	if (sandbox_enter(&stage.sandbox, NULL) < 0 || sandbox_outdated() != NULL)
		return 2;
	if (!reads(stage.theirs))
		return 3;
	return attempt(&attempts[0]) == attempts[0].expected &&
			       attempt(&attempts[1]) == attempts[1].expected
		       ? 0
		       : 4;
}

static int
enter_without_a_filter(const struct attempt *attempts)
{
	lack(SYS_seccomp); /* before anything asked: libseccomp remembers */
	if (sandbox_missing() == NULL || strcmp(sandbox_missing(), "seccomp") != 0)
		return 1;
	if (sandbox_enter(&stage.sandbox, NULL) < 0)
		return 2;
	return reads(stage.theirs) || attempt(&attempts[0]) != EACCES ? 3 : 0;
}

/* What is missing has a name, and what is left works. */
START_TEST(goes_on_with_what_there_is)
{
	static const struct attempt attempts[] = {
		{"open to write", SYS_openat, {AT_FDCWD, TOKEN, O_WRONLY}, EPERM},
		{"signal", SYS_kill, {SIBLING, 0}, EPERM}};
	int (*const ways[])(const struct attempt *) = {
		enter_without_landlock, enter_without_a_filter};

	if (landlock_version() == 0)
		return;
	for (size_t i = 0; i < COUNT(ways); i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(ways[i](attempts));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

/* --- the network --- */

static int
make_listener(uint16_t *ret_port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int
connect_to(const void *data)
{
	const uint16_t *port = data;
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(*port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
}

static int
bind_any(const void *data)
{
	const struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)data;
	return bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
}

START_TEST(connects_to_its_server_only)
{
	uint16_t ours, theirs;
	int fds[] = {make_listener(&ours), make_listener(&theirs)};

	stage.sandbox.ports[3] = ours;
	ck_assert(is_as_expected(caged(connect_to, &ours), 0));
	if (landlock_version() >= 4) {
		ck_assert(is_as_expected(caged(connect_to, &theirs), EACCES));
		ck_assert(is_as_expected(caged(bind_any, NULL), EACCES));
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

/* --- what it lives on --- */

static volatile sig_atomic_t rung;

static void
on_ring(int signo)
{
	(void)signo;
	rung = 1;
}

static void *
in_a_thread(void *data)
{
	struct addrinfo *list = NULL;
	int *ret = data;

	*ret = getaddrinfo("localhost", "443", NULL, &list);
	if (*ret == 0)
		freeaddrinfo(list);
	return NULL;
}

static int
ring(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
	const struct itimerspec spec = {.it_value = {.tv_nsec = 1000000}};
	timer_t timer;

	event._sigev_un._tid = gettid();
	(void)signal(SIGVTALRM, on_ring);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) < 0 ||
		timer_settime(timer, 0, &spec, NULL) < 0)
		return 1;
	for (long i = 0; !rung && i < 10000000000; i++)
		;
	return rung ? 0 : 2;
}

/* A sealed file through a socket, as a runner is given its requests. */
static int
hand_over(const int pair[2])
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fd = memfd_create("request", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, "x", 1) != 1 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -1;
	*header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(fd))};
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(pair[0], &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int
live(const void *data)
{
	struct scoreboard *board = scoreboard_attach(stage.board);
	int found = -1, pair[2], pipes[2];
	pthread_t thread;
	iconv_t conversion;

	(void)data;
	if (board == NULL)
		return 1;
	scoreboard_use(board);
	scoreboard_set_state(WORKER_LIVE, "");
	if (pthread_create(&thread, NULL, in_a_thread, &found) != 0 ||
		pthread_join(thread, NULL) != 0)
		return 2;
	if (found != 0)
		return 3;
	if (ring() != 0)
		return 4;
	conversion = iconv_open("ISO-8859-15", "UTF-8"); /* loads a module */
	if (conversion == (iconv_t)-1)
		return 5;
	(void)iconv_close(conversion);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
		pipe2(pipes, O_CLOEXEC) < 0)
		return 6;
	if (epoll_create1(EPOLL_CLOEXEC) < 0 || eventfd(0, EFD_CLOEXEC) < 0 ||
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) < 0)
		return 7;
	if (hand_over(pair) != 0)
		return 8;
	return dprintf(STDERR_FILENO, "%s", "") < 0 ? 9 : 0;
}

START_TEST(lives)
{
	ck_assert_int_eq(caged(live, NULL), 0);
}
END_TEST

static int
end_itself(const void *data)
{
	(void)data;
	(void)signal(SIGABRT, SIG_DFL);
	abort();
}

START_TEST(aborts)
{
	ck_assert(is_as_expected(caged(end_itself, NULL), -SIGABRT));
}
END_TEST

/* Capabilities, and what stands in /proc/PID/status for everybody to see. */
static int
look_at_itself(const void *data)
{
	(void)data;
	for (int capability = 0; capability < 40; capability++)
		if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 && geteuid() == 0)
			return 1;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 2;
	return syscalls_filter_exists() && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2 ? 3 : 0;
}

START_TEST(has_no_privileges)
{
	ck_assert_int_eq(caged(look_at_itself, NULL), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sandbox");
	TCase *tests = tcase_create("cage");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tests, set_stage, clear_stage);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, goes_on_with_what_there_is);
	tcase_add_test(tests, refuses);
	tcase_add_test(tests, allows);
#ifdef __x86_64__
	tcase_add_test(tests, knows_its_architecture_only);
#endif
	tcase_add_test(tests, reads_its_own_only);
	tcase_add_test(tests, traces_nobody_outside);
	tcase_add_test(tests, follows_a_rename);
	tcase_add_test(tests, follows_a_volume_of_kubernetes);
	tcase_add_test(tests, knows_when_it_is_outdated);
	tcase_add_test(tests, opens_a_file_alone_where_others_live);
	tcase_add_test(tests, reads_everything_and_speaks_to_nobody);
	tcase_add_test(tests, connects_to_its_server_only);
	tcase_add_test(tests, lives);
	tcase_add_test(tests, aborts);
	tcase_add_test(tests, has_no_privileges);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
