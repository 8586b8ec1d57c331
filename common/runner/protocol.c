/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets with descriptors. Both sides check what they get: the runner, because the process that asks parses the network; that
 * process, because a program of the same user may have got at the runner. A packet of another size, version or type is dropped with
 * its descriptors.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/runner/protocol.h"

union control {
	char bytes[CMSG_SPACE(RUNNER_FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

size_t
runner_command_fds(const struct runner_command *command)
{
	return command->answer == RUNNER_ANSWER_FD3 ? 4 : 3;
}

int
runner_message_send(int socket, const struct runner_message *message, const int *fds, size_t n_fds)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = sizeof(*message)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {.bytes = ""};
	ssize_t n;

	if (n_fds > 0) {
		struct cmsghdr *c = &control.align;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(*fds));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(*fds));
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(n_fds * sizeof(*fds));
	}
	do
		n = sendmsg(socket, &header, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static size_t
take_fds(struct msghdr *header, int fds[RUNNER_FDS_MAX])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		/* The room given to the kernel holds RUNNER_FDS_MAX of them in all. */
		size_t here = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds + n, CMSG_DATA(c), here * sizeof(int));
		n += here;
	}
	return n;
}

static int
check(const struct runner_message *message, ssize_t length, int flags)
{
	if (length != (ssize_t)sizeof(*message) || flags & (MSG_TRUNC | MSG_CTRUNC))
		return -EBADMSG;
	if (message->version != RUNNER_MESSAGE_VERSION || message->type < RUNNER_START ||
		message->type > RUNNER_ENDED || message->report.stage >= RUNNER_STAGE_MAX ||
		message->report.error < 0)
		return -EBADMSG;
	return 0;
}

int
runner_message_receive(
	int socket, struct runner_message *ret, int ret_fds[RUNNER_FDS_MAX], size_t *ret_n_fds)
{
	struct iovec part = {.iov_base = ret, .iov_len = sizeof(*ret)};
	union control control = {.bytes = ""};
	struct msghdr header = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t n;
	int r;

	do
		n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*ret_n_fds = take_fds(&header, ret_fds);
	/* An empty packet looks like the end; none of ours is empty, and whoever sends one may as well be gone. */
	r = n == 0 ? 0 : check(ret, n, header.msg_flags);
	if (n > 0 && r == 0)
		return 1;
	for (size_t i = 0; i < *ret_n_fds; i++)
		(void)close(ret_fds[i]);
	*ret_n_fds = 0;
	return r;
}

int
runner_message_values(const struct runner_message *message, size_t n, const char **ret)
{
	const char *at = message->values, *end = at + sizeof(message->values);

	if (message->n_values != n)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		size_t length = strnlen(at, (size_t)(end - at));
		if (length == (size_t)(end - at))
			return -EBADMSG;
		ret[i] = at;
		at += length + 1;
	}
	return 0;
}
