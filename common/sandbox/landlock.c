/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock by system call (landlock(7), linux/landlock.h): every access that this kernel's version knows is handled, and given back are reading beneath the places
 * of places.c and connecting to the ports named. Handled and never given: writing, creating, removing, executing (mapping a library is no execution), ioctl(2) on
 * devices opened later, binding TCP ports, abstract Unix sockets of others.
 *
 * Not used: the scope of signals (version 6). It holds back the parent death signal of a runner too when its worker dies, and signals to others are
 * refused by the filter of system calls.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox/layers.h"

#define PORT_OF_DNS 53

/* The numbers of the kernel's interface, which never change; Debian 12's header has the first two versions only. */
enum { CREATE_VERSION = 1, RULE_PATH = 1, RULE_PORT = 2 };
enum { FS_READ_FILE = 1 << 2, FS_READ_DIR = 1 << 3 };
enum { NET_BIND_TCP = 1 << 0, NET_CONNECT_TCP = 1 << 1, SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0 };

struct ruleset_attr {
	uint64_t fs, net, scoped;
};
struct path_attr {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));
struct port_attr {
	uint64_t allowed, port;
};

/* What each version handles; a kernel takes the zeroes of what it does not know. */
static const struct ruleset_attr versions[] = {
	{.fs = 0x1fff},
	{.fs = 0x3fff}, /* links and renames to other directories */
	{.fs = 0x7fff}, /* truncation */
	{.fs = 0x7fff, .net = NET_BIND_TCP | NET_CONNECT_TCP},
	{.fs = 0xffff, .net = NET_BIND_TCP | NET_CONNECT_TCP}, /* ioctl(2) */
	{.fs = 0xffff, .net = NET_BIND_TCP | NET_CONNECT_TCP, .scoped = SCOPE_ABSTRACT_UNIX_SOCKET},
};

int
landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return version > 0 ? (int)version : 0;
}

/* A place that is not there, or not ours to read, needs no rule. */
static void
allow_place(void *data, const char *path)
{
	const int *ruleset = data;
	struct path_attr attr = {.allowed = FS_READ_FILE, .fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat st;

	if (attr.fd < 0)
		return;
	if (fstat(attr.fd, &st) == 0 && S_ISDIR(st.st_mode))
		attr.allowed |= FS_READ_DIR;
	if (syscall(SYS_landlock_add_rule, *ruleset, RULE_PATH, &attr, 0) < 0)
		log_warn("%s stays closed to this process: Landlock: %s", path, strerror(errno));
	(void)close(attr.fd);
}

static int
allow_port(int ruleset, uint16_t port)
{
	const struct port_attr attr = {.allowed = NET_CONNECT_TCP, .port = port};

	return syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &attr, 0) < 0 ? -errno : 0;
}

static int
allow_ports(int ruleset, const struct sandbox *sandbox)
{
	int r = sandbox->network ? allow_port(ruleset, PORT_OF_DNS) : 0;

	for (size_t i = 0; r == 0 && i < SANDBOX_PORTS_MAX; i++)
		if (sandbox->ports[i] != 0)
			r = allow_port(ruleset, sandbox->ports[i]);
	return r;
}

int
landlock_enter(const struct sandbox *sandbox, struct error *err)
{
	size_t version = (size_t)landlock_version(), last = sizeof(versions) / sizeof(versions[0]);
	const struct ruleset_attr *attr = &versions[(version < last ? version : last) - 1];
	int ruleset, r = 0;

	ruleset = (int)syscall(SYS_landlock_create_ruleset, attr, sizeof(*attr), 0);
	if (ruleset < 0)
		return error_set(err, -errno, "no Landlock ruleset: %s", strerror(errno));
	places_each(sandbox, allow_place, &ruleset);
	if (attr->net != 0)
		r = allow_ports(ruleset, sandbox);
	if (r == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		r = -errno;
	(void)close(ruleset);
	return r < 0 ? error_set(err, r, "Landlock: %s", strerror(-r)) : 0;
}
