/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket. A client sends one record and reads lines until the end record; what it does not read in time is dropped with it. The lock is beside the socket,
 * PATH.lock, held by flock(2) for our life, so that a leftover of a killed predecessor is told from a living one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/control_path.h"
#include "common/log.h"
#include "common/memory.h"
#include "supervisor/acceptor.h"
#include "supervisor/control.h"
#include "supervisor/core.h"
#include "supervisor/pages.h"

#define CLIENTS_MAX  32
#define CLIENTS_KEPT 24 /* above it each new one costs the one that has been idle longest */
#define CLIENT_LIMIT_NS (60 * NSEC_PER_SEC) /* a connection's life; a reload has to fit */

struct client {
	struct sup_control *control;
	struct client *next;
	int fd;
	bool asked;  /* its request is in; the answer may still come */
	bool closed; /* it has gone while a reload for it is under way: freed when that ends */
	bool waiting;
	struct record_reader reader;
	struct buf out;
	size_t sent;
	struct loop_io *io;
	struct loop_timer *limit;
};

struct sup_control {
	struct supervisor *sup;
	char path[CONTROL_PATH_MAX];
	int fd, fd_lock;
	struct acceptor *acceptor; /* owns fd */
	struct client *clients;
	unsigned n_clients;
};

static void
client_free(struct client *client)
{
	struct client **at = &client->control->clients;

	while (*at && *at != client)
		at = &(*at)->next;
	if (*at)
		*at = client->next;
	client->control->n_clients--;
	loop_io_free(client->io);
	loop_timer_free(client->limit);
	if (client->fd >= 0)
		close(client->fd);
	buf_free(&client->out);
	free(client);
}

/* Ends the connection; while a reload for it is under way only the socket goes. */
static void
client_close(struct client *client)
{
	if (!client->waiting) {
		client_free(client);
		return;
	}
	client->closed = true;
	loop_io_set(client->io, client->fd, 0);
	close(client->fd);
	client->fd = -1;
}

static void
flush(struct client *client)
{
	while (client->sent < client->out.length) {
		ssize_t n = send(client->fd, client->out.data + client->sent,
			client->out.length - client->sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			loop_io_set(client->io, client->fd, LOOP_WRITE);
			return;
		}
		if (n < 0) {
			client_close(client);
			return;
		}
		client->sent += (size_t)n;
	}
	client_close(client);
}

/* Queues the text as line records and the end, and sends. */
static void
client_answer(struct client *client, int code, const char *text, size_t length)
{
	struct record record;
	char piece[RECORD_TEXT_MAX];

	while (length > 0) {
		size_t n = length < sizeof(piece) - 1 ? length : sizeof(piece) - 1;
		while (n < length && n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--; /* cut between characters */
		memcpy(piece, text, n);
		piece[n] = '\0';
		record_set(&record, RECORD_LINE, 0, 0, piece);
		buf_add(&client->out, &record, sizeof(record));
		text += n;
		length -= n;
	}
	record_set(&record, RECORD_END, 0, code, NULL);
	buf_add(&client->out, &record, sizeof(record));
	flush(client);
}

static void
on_reloaded(void *data, int code, const char *text)
{
	struct client *client = data;

	client->waiting = false;
	if (client->closed)
		client_free(client);
	else
		client_answer(client, code, text, strlen(text));
}

static void
serve_log_level(struct client *client, int32_t value)
{
	struct supervisor *sup = client->control->sup;
	struct buf out = BUF_INIT;
	int code = value >= -1 && value < LOG_LEVEL_MAX && sup->configured ? EXIT_STOPPED
									   : EXIT_TROUBLE;

	if (code == EXIT_STOPPED) {
		supervisor_ask_log_level(sup, value);
		buf_addf(&out, "%s\n", log_level_name(supervisor_log_level(sup)));
	} else {
		buf_adds(&out, sup->configured ? "operatord does not know this level\n"
					       : "operatord is still starting\n");
	}
	client_answer(client, code, out.data, out.length);
	buf_free(&out);
}

static void
serve(struct client *client, const struct record *record)
{
	struct buf out = BUF_INIT;

	client->asked = true;
	if (record->type == RECORD_RELOAD) {
		client->waiting = true;
		reload_start(client->control->sup, on_reloaded, client);
	} else if (record->type == RECORD_STATUS) {
		status_document(client->control->sup, &out);
		client_answer(client, 0, out.data, out.length);
		buf_free(&out);
	} else if (record->type == RECORD_LOG_LEVEL) {
		serve_log_level(client, record->value);
	} else {
		static const char no[] = "operatord does not know this request\n";
		client_answer(client, EXIT_TROUBLE, no, sizeof(no) - 1);
	}
}

static void
on_client(void *data, int events)
{
	struct client *client = data;
	struct record record;

	if (events & LOOP_WRITE) {
		flush(client);
		return;
	}
	int n = record_read(&client->reader, client->fd, &record);
	if (n == 1 && !client->asked)
		serve(client, &record);
	else if (n != 0) /* its end, nonsense, or more than one request */
		client_close(client);
}

static void
on_limit(void *data)
{
	client_close(data);
}

/* Connections that only stay open must not keep operatorctl out: over CLIENTS_KEPT the oldest goes that waits for no answer of ours. */
static void
cut_idle_client(struct sup_control *control)
{
	struct client *oldest = NULL;

	if (control->n_clients < CLIENTS_KEPT)
		return;
	for (struct client *client = control->clients; client; client = client->next)
		if (!client->waiting) /* the newest are first */
			oldest = client;
	if (oldest)
		client_free(oldest);
}

static bool
may_ask(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void
on_connection(void *data, int fd)
{
	struct sup_control *control = data;

	if (!may_ask(fd)) {
		close(fd);
		return;
	}
	cut_idle_client(control);
	if (control->n_clients >= CLIENTS_MAX) { /* all wait for a reload */
		close(fd);
		return;
	}
	struct client *client = xcalloc(1, sizeof(*client));
	*client = (struct client){
		.control = control, .next = control->clients, .fd = fd, .out = BUF_INIT};
	control->clients = client;
	control->n_clients++;
	client->io = loop_io_new(control->sup->loop, on_client, client);
	client->limit = loop_timer_new(control->sup->loop, on_limit, client);
	loop_io_set(client->io, fd, LOOP_READ);
	loop_timer_set(client->limit, CLIENT_LIMIT_NS);
}

/* Takes the lock; -EBUSY names who has it. */
static int
lock(struct sup_control *control, struct error *err)
{
	char path[CONTROL_PATH_MAX + 8], pid[32] = "";

	snprintf(path, sizeof(path), "%s.lock", control->path);
	control->fd_lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (control->fd_lock < 0)
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	if (flock(control->fd_lock, LOCK_EX | LOCK_NB) < 0) {
		ssize_t n = read(control->fd_lock, pid, sizeof(pid) - 1);
		pid[n > 0 ? strspn(pid, "0123456789") : 0] = '\0';
		return error_set(err, -EBUSY,
			"already running as pid %s on %s (another one needs another --control "
			"PATH)",
			*pid ? pid : "?", control->path);
	}
	int n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(control->fd_lock, 0) < 0 || pwrite(control->fd_lock, pid, (size_t)n, 0) != n)
		log_warn("%s: the pid can't be written: %s", path, strerror(errno));
	return 0;
}

static int
bind_socket(struct sup_control *control, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", control->path);
	if (lstat(control->path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return error_set(err, -EEXIST,
				"%s: what is there is no socket, and is left as it is; give another "
				"--control PATH",
				control->path);
		unlink(control->path); /* the lock is ours: it is a leftover */
	}
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t old = umask(0177);
	int code = control->fd < 0 ||
				   bind(control->fd, (const struct sockaddr *)&address,
					   sizeof(address)) < 0 ||
				   listen(control->fd, CLIENTS_MAX) < 0
			   ? -errno
			   : 0;
	umask(old);
	if (code < 0)
		error_set(err, code, "%s: %s", control->path, strerror(-code));
	return code;
}

/* The directory of the default place is ours to make. */
static void
make_directory(const char *path)
{
	char directory[CONTROL_PATH_MAX];

	snprintf(directory, sizeof(directory), "%s", path);
	char *last = strrchr(directory, '/');
	if (!last || last == directory)
		return;
	*last = '\0';
	/* With those above it: a prefix of one's own has no var/run. What fails, the lock's file says. */
	for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(directory, 0755);
		*slash = '/';
	}
	mkdir(directory, 0755);
}

static int
start(struct sup_control *control, const char *path, struct error *err)
{
	int code = control_path(control->path, path);

	if (code == -ENAMETOOLONG)
		return error_set(err, code,
			"the path of the control socket is too long: it may have %d bytes; give a "
			"shorter --control PATH to operatord and operatorctl",
			CONTROL_PATH_MAX - 1);
	if (code < 0)
		return error_set(err, code,
			"no place for the control socket: neither RUNTIME_DIRECTORY nor "
			"XDG_RUNTIME_DIR is "
			"set; give --control PATH, such as $HOME/operatord.sock, to operatord and "
			"operatorctl");
	if (!path)
		make_directory(control->path);
	code = lock(control, err);
	return code < 0 ? code : bind_socket(control, err);
}

int
sup_control_start(
	struct supervisor *sup, const char *path, struct sup_control **ret, struct error *err)
{
	struct sup_control *control = xcalloc(1, sizeof(*control));

	*ret = NULL;
	*control = (struct sup_control){.sup = sup, .fd = -1, .fd_lock = -1};
	int code = start(control, path, err);
	if (code == 0) {
		control->acceptor =
			acceptor_new(sup->loop, control->fd, control->path, on_connection, control);
		*ret = control;
		return 0;
	}
	if (control->fd >= 0)
		close(control->fd);
	if (control->fd_lock >= 0)
		close(control->fd_lock);
	free(control);
	if (path || code == -EBUSY)
		return code;
	log_warn("no control socket, operatorctl can't reach this operatord: %s", err->text);
	return 0;
}

void
sup_control_stop(struct sup_control *control)
{
	if (!control)
		return;
	while (control->clients) {
		control->clients->waiting = false;
		client_free(control->clients);
	}
	unlink(control->path);
	acceptor_free(control->acceptor);
	close(control->fd_lock); /* the lock's file stays: removing it would let two hold "the" lock */
	free(control);
}
