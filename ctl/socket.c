/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket from operatorctl's side: one request record, lines of the answer, an end record. Blocking, with a deadline: a reload may
 * take as long as the checker may (30 s).
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/control_path.h"
#include "ctl/ctl.h"

#define ANSWER_DEADLINE_NS (60 * NSEC_PER_SEC)
#define ANSWER_MAX         (16u << 20)

static int
complain_connect(const char *path, int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		ctl_complain("%s: permission denied: only root and the user that runs operatord "
			     "may ask it",
			path);
		return CTL_NO_PERMISSION;
	case ENOENT:
	case ECONNREFUSED:
		ctl_complain(
			"%s: no operatord is running there (another place? give --control PATH)",
			path);
		return CTL_FAILED;
	default:
		ctl_complain("%s: %s", path, strerror(error));
		return CTL_FAILED;
	}
}

static int
open_socket(const char *path, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return complain_connect(path, errno);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno;
		close(fd);
		return complain_connect(path, error);
	}
	*ret_fd = fd;
	return CTL_DONE;
}

/* Waits until there is something to read; false when the deadline is over. */
static bool
readable(int fd, int64_t deadline_ns)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	for (;;) {
		int64_t left = deadline_ns - clock_monotonic_ns();
		if (left <= 0)
			return false;
		int n = poll(&pollfd, 1, (int)(left / NSEC_PER_MSEC) + 1);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

static int
read_answer(int fd, struct buf *out)
{
	struct record_reader reader = {0};
	struct record record;
	int64_t deadline_ns = clock_monotonic_ns() + ANSWER_DEADLINE_NS;

	while (readable(fd, deadline_ns)) {
		int n = record_read(&reader, fd, &record);
		if (n == 0 || n == -EAGAIN)
			continue;
		if (n < 0) {
			ctl_complain(n == -EBADMSG ? "the answer makes no sense: is operatord of "
						     "the same version?"
						   : "operatord closed the connection before its "
						     "answer was whole");
			return CTL_FAILED;
		}
		if (record.type == RECORD_END)
			return record.value;
		if (record.type == RECORD_LINE)
			buf_add(out, record.text, record.length);
		if (out->failed) {
			ctl_complain("the answer is larger than %u bytes", ANSWER_MAX);
			return CTL_FAILED;
		}
	}
	ctl_complain(
		"no answer from operatord within %d s", (int)(ANSWER_DEADLINE_NS / NSEC_PER_SEC));
	return CTL_FAILED;
}

int
ctl_ask(const struct ctl *ctl, enum record_type type, int32_t value, struct buf *out)
{
	char path[CONTROL_PATH_MAX];
	struct record record;
	int fd = -1, code;

	if (control_path(path, ctl->control) < 0) {
		ctl_complain("where is the control socket? There is neither RUNTIME_DIRECTORY nor "
			     "XDG_RUNTIME_DIR: give the --control PATH that operatord was given");
		return CTL_USAGE;
	}
	code = open_socket(path, &fd);
	if (code != CTL_DONE)
		return code;
	out->limit = ANSWER_MAX;
	record_set(&record, type, 0, value, NULL);
	code = record_write(fd, &record);
	if (code < 0) {
		ctl_complain("%s: %s", path, strerror(-code));
		code = CTL_FAILED;
	} else {
		code = read_answer(fd, out);
	}
	close(fd);
	return code;
}
