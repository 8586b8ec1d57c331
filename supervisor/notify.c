/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams to the service manager. It does not know what they say (service.c does). The socket stays open, so that a ping needs no descriptor when there are none
 * left; nothing here blocks, and a failure to send is ignored: there is nobody else to tell, and the service goes on.
 */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "supervisor/notify.h"

#define PING_LEAST_NS NSEC_PER_MSEC /* whatever is asked for, the loop has other work */
#define USEC_MOST     (INT64_MAX / 1000)

struct notify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un address;
	socklen_t address_length;
	int64_t ping_ns;
	struct loop_timer *timer;
};

/* "/path", or "@name" for the abstract namespace; other kinds (vsock:) are not ours. */
static int
parse_address(struct notify *notify, const char *text)
{
	size_t length = strlen(text);

	if ((text[0] != '/' && text[0] != '@') || length < 2)
		return -EAFNOSUPPORT;
	if (length >= sizeof(notify->address.sun_path))
		return -ENAMETOOLONG;
	notify->address.sun_family = AF_UNIX;
	memcpy(notify->address.sun_path, text, length);
	if (text[0] == '@')
		notify->address.sun_path[0] = '\0';
	/* A name in the abstract namespace ends with its length, a path with its NUL. */
	notify->address_length =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (text[0] == '/'));
	return 0;
}

static void
open_socket(struct notify *notify, const char *text)
{
	int code = parse_address(notify, text);

	if (code == 0) {
		notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		code = notify->fd < 0 ? -errno : 0;
	}
	if (code < 0)
		log_warn("the service manager can't be told anything: NOTIFY_SOCKET=%s: %s", text,
			strerror(-code));
}

/* A positive decimal number up to most, else 0. */
static int64_t
parse_number(const char *text, int64_t most)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	return errno || *end || number > most ? 0 : number;
}

/* Half the time after which the service manager takes us for hung; 0: there is no watchdog, or it watches another process. */
static int64_t
ping_time(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	int64_t limit_usec = usec ? parse_number(usec, USEC_MOST) : 0;

	if (limit_usec == 0 || (pid && parse_number(pid, INT32_MAX) != getpid()))
		return 0;
	int64_t ping_ns = limit_usec * 1000 / 2;
	return ping_ns > PING_LEAST_NS ? ping_ns : PING_LEAST_NS;
}

static void
on_ping(void *data)
{
	struct notify *notify = data;

	(void)notify_send(notify, "WATCHDOG=1"); /* the next one follows in time */
	loop_timer_set(notify->timer, notify->ping_ns);
}

struct notify *
notify_new(struct loop *loop)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
	struct notify *notify = xcalloc(1, sizeof(*notify));
	const char *address = getenv("NOTIFY_SOCKET");

	notify->fd = -1;
	if (address && *address)
		open_socket(notify, address);
	notify->timer = loop_timer_new(loop, on_ping, notify);
	if (notify->fd >= 0)
		notify->ping_ns = ping_time();
	if (notify->ping_ns > 0)
		on_ping(notify);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		(void)unsetenv(names[i]);
	return notify;
}

void
notify_free(struct notify *notify)
{
	if (!notify)
		return;
	loop_timer_free(notify->timer);
	if (notify->fd >= 0)
		close(notify->fd);
	free(notify);
}

bool
notify_send(const struct notify *notify, const char *lines)
{
	/* Each time by address: a service manager that starts anew has a new socket there. */
	return notify->fd < 0 ||
	       sendto(notify->fd, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT,
		       (const struct sockaddr *)&notify->address, notify->address_length) >= 0;
}

int64_t
notify_ping_ns(const struct notify *notify)
{
	return notify->ping_ns;
}
