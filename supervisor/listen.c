/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets from their text in the configuration. Addresses are numeric: nothing is resolved, so nothing blocks. */
#include "config.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/listen.h"

#define BACKLOG 64

static int
bind_unix(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* Whoever may enter the directory may ask, as for a TCP port. */
	if (fd >= 0 && bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 &&
		chmod(address->sun_path, 0666) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	int code = -errno;
	if (fd >= 0)
		close(fd);
	return code;
}

/* What a killed predecessor left; never anything but a socket, and not one that somebody listens on. */
static bool
remove_leftover(const struct sockaddr_un *address)
{
	struct stat st;
	bool dead;

	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	dead = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return dead && unlink(address->sun_path) == 0;
}

static int
listen_unix(const char *path, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(
			err, -ENAMETOOLONG, "http.listen: unix:%s: the path is too long", path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	int fd = bind_unix(&address);
	if (fd == -EADDRINUSE && remove_leftover(&address))
		fd = bind_unix(&address);
	if (fd < 0)
		return error_set(err, fd, "http.listen: unix:%s: %s", path, strerror(-fd));
	return fd;
}

static int
listen_address(const struct addrinfo *info)
{
	int on = 1, off = 0,
	    fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    info->ai_protocol);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* [::] takes IPv4 too, whatever net.ipv6.bindv6only says. */
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		int code = -errno;
		close(fd);
		return code;
	}
	return fd;
}

/* IPv6 first: for ":PORT" that is every address of both, where a kernel without it leaves the other. */
static int
listen_any(const struct addrinfo *found)
{
	static const int families[] = {AF_INET6, AF_INET};
	int fd = -EADDRNOTAVAIL;

	for (int i = 0; i < 2 && fd < 0 && fd != -EADDRINUSE; i++)
		for (const struct addrinfo *info = found; info && fd < 0; info = info->ai_next)
			if (info->ai_family == families[i])
				fd = listen_address(info);
	return fd;
}

/* "ADDRESS:PORT", ":PORT" (every address), "[::1]:PORT". */
static int
listen_tcp(const char *listen_, struct error *err)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST,
				.ai_socktype = SOCK_STREAM},
			*found;
	char host[256];
	const char *colon = strrchr(listen_, ':');

	if (!colon || (size_t)(colon - listen_) >= sizeof(host))
		return error_set(err, -EINVAL,
			"http.listen: %s: HOST:PORT, :PORT, unix:PATH, auto or off is needed",
			listen_);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - listen_), listen_);
	char *name = host;
	size_t n = strlen(host);
	if (n > 1 && host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		name = host + 1;
	}
	int code = getaddrinfo(*name ? name : NULL, colon + 1, &hints, &found);
	if (code != 0)
		return error_set(err, -EINVAL, "http.listen: %s: %s", listen_, gai_strerror(code));
	int fd = listen_any(found);
	freeaddrinfo(found);
	if (fd < 0)
		error_set(err, fd, "http.listen: %s: %s", listen_, strerror(-fd));
	return fd;
}

const char *
listen_path(const char *listen_)
{
	return strncmp(listen_, "unix:", 5) == 0 ? listen_ + 5 : NULL;
}

const char *
listen_resolve(const char *listen_)
{
	if (strcmp(listen_, "auto") != 0)
		return listen_;
	return getenv("KUBERNETES_SERVICE_HOST") ? ":8080" : "127.0.0.1:8080";
}

int
listen_open(const char *listen_, struct error *err)
{
	const char *path = listen_path(listen_);

	return path ? listen_unix(path, err) : listen_tcp(listen_, err);
}
