/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of system calls: a list of what is not allowed, since libraries of the next release may need calls that nobody lists today, and a
 * worker that can't run is worse than one that could call something harmless.
 *
 * Three answers. "Ends the process" (SIGSYS, seen by the supervisor and the kernel's audit): calls that no library of ours makes and that have no use here but an
 * attack. "Not there" (ENOSYS): calls that libraries try first and do without. "Not permitted" (EPERM): all others.
 *
 * Arguments are compared in 64 bits where that can only refuse more, else in the 32 that the kernel looks at. What the kernel would read from memory can't be
 * judged here: clone3 and openat2 are "not there", and the C library falls back to clone and openat.
 *
 * In builds with sanitizers the leak checker may work: at an exit it starts a process that traces this one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sandbox/layers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COMPARE(argument, how, value) \
	((struct scmp_arg_cmp){.arg = (argument), .op = SCMP_CMP_##how, .datum_a = (value)})
#define MASKED(argument, mask, value)             \
	((struct scmp_arg_cmp){.arg = (argument), \
		.op = SCMP_CMP_MASKED_EQ,         \
		.datum_a = (mask),                \
		.datum_b = (value)})
/* The kernel takes an int: what is above is not looked at. */
#define INT_IS(argument, value) MASKED(argument, 0xffffffffu, (uint32_t)(value))
#define HAS_BIT(argument, bit)  MASKED(argument, bit, bit)

#ifdef WITH_SANITIZERS
enum { LEAKS_ARE_CHECKED = 1 };
#else
enum { LEAKS_ARE_CHECKED = 0 };
#endif

/* clang-format off */
static const int deadly[] = {
	/* other processes, other programs */
	SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(execve),
	SCMP_SYS(execveat),
	/* the kernel itself */
	SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(bpf), SCMP_SYS(reboot),
	/* other views of the file system and the machine */
	SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
	SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr), SCMP_SYS(unshare),
	SCMP_SYS(setns), SCMP_SYS(open_by_handle_at),
};

static const int not_there[] = {
	SCMP_SYS(clone3), SCMP_SYS(openat2), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
};

static const int not_permitted[] = {
	/* other processes: new ones, their signals, descriptors, priority, memory */
	SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp), SCMP_SYS(process_madvise),
	SCMP_SYS(process_mrelease), SCMP_SYS(migrate_pages), SCMP_SYS(move_pages),
	SCMP_SYS(setpriority), SCMP_SYS(ioprio_set), SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam), SCMP_SYS(sched_setattr),
	/* what processes share by name */
	SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(semget), SCMP_SYS(semop),
	SCMP_SYS(semtimedop), SCMP_SYS(semctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd),
	SCMP_SYS(msgrcv), SCMP_SYS(msgctl), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
	SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
	/* changes to files, for kernels without Landlock, and those that it does not know: mode, owner, times, attributes */
	SCMP_SYS(creat), SCMP_SYS(truncate), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename),
	SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(mkdir), SCMP_SYS(mkdirat),
	SCMP_SYS(rmdir), SCMP_SYS(mknod), SCMP_SYS(mknodat), SCMP_SYS(link), SCMP_SYS(linkat),
	SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(chmod), SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(lchown), SCMP_SYS(fchownat),
	SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr),
	SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), SCMP_SYS(utime), SCMP_SYS(utimes),
	SCMP_SYS(utimensat), SCMP_SYS(futimesat),
	/* no server */
	SCMP_SYS(listen),
	/* corners of the kernel that nothing here needs */
	SCMP_SYS(userfaultfd), SCMP_SYS(perf_event_open), SCMP_SYS(personality),
	SCMP_SYS(name_to_handle_at), SCMP_SYS(fanotify_init), SCMP_SYS(acct), SCMP_SYS(quotactl),
	SCMP_SYS(quotactl_fd), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(syslog),
	SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime), SCMP_SYS(adjtimex), SCMP_SYS(clock_adjtime), SCMP_SYS(iopl),
	SCMP_SYS(ioperm), SCMP_SYS(modify_ldt), SCMP_SYS(vhangup), SCMP_SYS(lookup_dcookie),
	SCMP_SYS(uselib), SCMP_SYS(ustat), SCMP_SYS(sysfs), SCMP_SYS(nfsservctl),
	SCMP_SYS(memfd_secret), SCMP_SYS(vmsplice),
	/* newer than the library, with one number for all machines: fchmodat2, setxattrat, removexattrat, open_tree_attr, file_setattr */
	452, 463, 466, 467, 469,
};

/* With one look at an argument. */
static const struct {
	int call;
	struct scmp_arg_cmp when;
} conditional[] = {
	/* signals by the back door: the kernel sends one when a descriptor is ready */
	{SCMP_SYS(fcntl), INT_IS(1, F_SETOWN)},
	{SCMP_SYS(fcntl), INT_IS(1, F_SETOWN_EX)},
	{SCMP_SYS(fcntl), INT_IS(1, F_SETSIG)},
	{SCMP_SYS(ioctl), INT_IS(1, FIOSETOWN)},
	{SCMP_SYS(ioctl), INT_IS(1, SIOCSPGRP)},
	/* keystrokes into the terminal that stderr may be */
	{SCMP_SYS(ioctl), INT_IS(1, TIOCSTI)},
	{SCMP_SYS(ioctl), INT_IS(1, TIOCLINUX)},
	/* files are read, whatever Landlock says */
	{SCMP_SYS(open), MASKED(1, O_ACCMODE, O_WRONLY)},
	{SCMP_SYS(open), MASKED(1, O_ACCMODE, O_RDWR)},
	{SCMP_SYS(open), HAS_BIT(1, O_CREAT)},
	{SCMP_SYS(open), HAS_BIT(1, O_TRUNC)},
	{SCMP_SYS(openat), MASKED(2, O_ACCMODE, O_WRONLY)},
	{SCMP_SYS(openat), MASKED(2, O_ACCMODE, O_RDWR)},
	{SCMP_SYS(openat), HAS_BIT(2, O_CREAT)},
	{SCMP_SYS(openat), HAS_BIT(2, O_TRUNC)},
	/* its parent's death ends it, whatever it thinks of that */
	{SCMP_SYS(prctl), INT_IS(0, PR_SET_PDEATHSIG)},
	{SCMP_SYS(prctl), INT_IS(0, PR_SET_MM)},
	{SCMP_SYS(prlimit64), COMPARE(0, NE, 0)},
	/* connects past Landlock */
	{SCMP_SYS(sendto), HAS_BIT(3, MSG_FASTOPEN)},
	{SCMP_SYS(sendmsg), HAS_BIT(2, MSG_FASTOPEN)},
	{SCMP_SYS(sendmmsg), HAS_BIT(3, MSG_FASTOPEN)},
};

/* Signals: to itself, for abort(3) and timers. */
static const int to_a_process[] = {
	SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo),
};
/* clang-format on */

/* A filter under construction; the first failure stays. */
struct filter {
	scmp_filter_ctx context;
	int r;
};

static void
add(struct filter *filter, uint32_t action, int call, unsigned n, const struct scmp_arg_cmp *when)
{
	if (filter->r == 0)
		filter->r = seccomp_rule_add_array(filter->context, action, call, n, when);
}

static void
add_all(struct filter *filter, uint32_t action, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(filter, action, calls[i], 0, NULL);
}

/*
 * AF_INET and AF_INET6 with TCP or UDP, AF_NETLINK for routes (getaddrinfo(3) asks which address families there are). Not AF_UNIX: behind those stand the control
 * socket, container runtimes and buses, which trust our uid; names are resolved without.
 */
static void
add_sockets(struct filter *filter)
{
	const struct scmp_arg_cmp beyond[] = {COMPARE(0, GT, AF_NETLINK)};
	const struct scmp_arg_cmp protocol[] = {COMPARE(2, GT, IPPROTO_UDP)};
	const struct scmp_arg_cmp netlink[] = {INT_IS(0, AF_NETLINK), COMPARE(2, NE, 0)};

	add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, beyond);
	for (int family = 0; family < AF_NETLINK; family++) {
		const struct scmp_arg_cmp is[] = {INT_IS(0, family)};
		if (family != AF_INET && family != AF_INET6)
			add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, is);
	}
	add(filter, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 1, protocol);
	add(filter, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2, netlink);
}

/* Threads, but no processes; and nobody traces anybody. */
static void
add_tracing(struct filter *filter)
{
	const struct scmp_arg_cmp no_thread[] = {MASKED(0, CLONE_THREAD, 0)};
	const struct scmp_arg_cmp tracer[] = {INT_IS(0, PR_SET_PTRACER)};
	const struct scmp_arg_cmp dumpable[] = {INT_IS(0, PR_SET_DUMPABLE), COMPARE(1, NE, 0)};

	if (LEAKS_ARE_CHECKED)
		return;
	add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(ptrace), 0, NULL);
	add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, no_thread);
	add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1, tracer);
	add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 2, dumpable);
}

static void
add_conditional(struct filter *filter)
{
	const struct scmp_arg_cmp others[] = {COMPARE(0, NE, (scmp_datum_t)getpid())};

	for (size_t i = 0; i < COUNT(conditional); i++)
		add(filter, SCMP_ACT_ERRNO(EPERM), conditional[i].call, 1, &conditional[i].when);
	for (size_t i = 0; i < COUNT(to_a_process); i++)
		add(filter, SCMP_ACT_ERRNO(EPERM), to_a_process[i], 1, others);
}

bool
syscalls_filter_exists(void)
{
	return seccomp_api_get() >= 3; /* SECCOMP_RET_KILL_PROCESS: Linux 4.14 */
}

int
syscalls_enter(bool network, struct error *err)
{
	struct filter filter = {.context = seccomp_init(SCMP_ACT_ALLOW)};

	if (filter.context == NULL)
		return error_set(err, -ENOMEM, "no filter of system calls: out of memory");
	/* Calls of another architecture, or of x32, have other numbers. */
	filter.r = seccomp_attr_set(filter.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A tree of numbers in place of a list: half the time of a call that is looked at. */
	if (filter.r == 0)
		filter.r = seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	add_all(&filter, SCMP_ACT_KILL_PROCESS, deadly, COUNT(deadly));
	add_all(&filter, SCMP_ACT_ERRNO(ENOSYS), not_there, COUNT(not_there));
	add_all(&filter, SCMP_ACT_ERRNO(EPERM), not_permitted, COUNT(not_permitted));
	add_tracing(&filter);
	add_conditional(&filter);
	if (network)
		add_sockets(&filter);
	else
		add(&filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 0, NULL);
	if (filter.r == 0)
		filter.r = seccomp_load(filter.context);
	seccomp_release(filter.context);
	if (filter.r < 0)
		error_set(err, filter.r, "no filter of system calls: %s", strerror(-filter.r));
	return filter.r;
}
