/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inotify on the directory of the main file and on conf.d, and a timer that each event sets anew: when it fires, the files are looked at. A file that is written
 * in place holds the reload up until its writer closes it: half a file may well be a valid one, with fewer controllers. Nothing holds it up for more than 10 s.
 *
 * Watches are put anew before each look, by path: a directory that came, went or was replaced is followed. Without inotify the looks every 5 s go on.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/config/files.h"
#include "common/log.h"
#include "common/memory.h"
#include "supervisor/auto_reload.h"

#define QUIET_NS (500 * NSEC_PER_MSEC)
#define HOLD_NS  (10 * NSEC_PER_SEC)
#define LOOK_NS  (5 * NSEC_PER_SEC)
#define EVENTS                                                                            \
	(IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM | \
		IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define READS_MAX   64 /* of 4 KiB, before other work has its turn */
#define WRITERS_MAX 16

enum { MAIN, DROPPED, DIRECTORIES };

struct auto_reload {
	struct loop *loop;
	const char *main_name; /* the last part of its path */
	const char *main_path;
	const struct config_state *loaded;
	cJSON *const *templates;
	void (*changed)(void *data);
	void *data;
	char *directories[DIRECTORIES];
	int watches[DIRECTORIES]; /* -1: none */
	int fd;                   /* -1: no inotify */
	bool complained;
	struct loop_io *io;
	struct loop_timer *quiet, *look;
	int64_t since_ns;              /* the first event that the timer runs for, 0: none */
	struct config_state seen;      /* at the last look */
	uint64_t writers[WRITERS_MAX]; /* names that were written to and not closed yet; 0: free */
};

/* --- writers --- */

static bool
is_read(const struct auto_reload *watch, int wd, const char *name)
{
	return wd == watch->watches[DROPPED] ? config_file_wanted(name)
					     : strcmp(name, watch->main_name) == 0;
}

/* Where all places are taken one more is not waited for. */
static void
note_writer(struct auto_reload *watch, const struct inotify_event *event)
{
	uint64_t id = XXH3_64bits_withSeed(event->name, strlen(event->name), (uint64_t)event->wd);
	bool writes = (event->mask & IN_MODIFY) != 0 && is_read(watch, event->wd, event->name);
	uint64_t *place = NULL;

	for (int i = 0; i < WRITERS_MAX; i++) {
		if (watch->writers[i] == id)
			watch->writers[i] = 0;
		if (watch->writers[i] == 0)
			place = &watch->writers[i];
	}
	if (writes && place)
		*place = id;
}

static bool
has_writers(const struct auto_reload *watch)
{
	for (int i = 0; i < WRITERS_MAX; i++)
		if (watch->writers[i] != 0)
			return true;
	return false;
}

/* --- inotify --- */

static void
expect_quiet(struct auto_reload *watch)
{
	int64_t now_ns = clock_monotonic_ns();

	if (watch->since_ns == 0)
		watch->since_ns = now_ns;
	if (now_ns - watch->since_ns < HOLD_NS || !loop_timer_active(watch->quiet))
		loop_timer_set(watch->quiet, QUIET_NS);
}

static void
on_events(void *data, int events)
{
	struct auto_reload *watch = data;
	char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = 0;

	(void)events;
	for (int i = 0; i < READS_MAX; i++) {
		n = read(watch->fd, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(bytes + at);
			if (event->len > 0 && !(event->mask & IN_ISDIR))
				note_writer(watch, event);
			at += (ssize_t)sizeof(*event) + event->len;
		}
		expect_quiet(watch);
	}
}

static void
complain(struct auto_reload *watch, const char *what, int error)
{
	if (!watch->complained)
		log_warn("reload: auto: %s: %s%s; changes are found by a look every %d s", what,
			strerror(error),
			error == EMFILE   ? " (fs.inotify.max_user_instances, or open files)"
			: error == ENOSPC ? " (fs.inotify.max_user_watches)"
					  : "",
			(int)(LOOK_NS / NSEC_PER_SEC));
	watch->complained = true;
}

static bool
open_inotify(struct auto_reload *watch)
{
	if (watch->fd >= 0)
		return true;
	watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->fd < 0) {
		complain(watch, "no inotify", errno);
		return false;
	}
	loop_io_set(watch->io, watch->fd, LOOP_READ);
	return true;
}

/* The same directory gives the same number; another one in its place leaves the old one's to be removed. */
static bool
put_watch(struct auto_reload *watch, int which)
{
	int wd = inotify_add_watch(watch->fd, watch->directories[which], EVENTS), error = errno;
	int before = watch->watches[which];

	watch->watches[which] = wd;
	if (wd != before && before >= 0)
		(void)inotify_rm_watch(watch->fd, before);
	if (wd >= 0 || error == ENOENT || error == ENOTDIR)
		return true;
	complain(watch, watch->directories[which], error);
	return false;
}

static void
put_watches(struct auto_reload *watch)
{
	bool good = open_inotify(watch);

	for (int i = 0; i < DIRECTORIES && watch->fd >= 0; i++)
		good = put_watch(watch, i) && good;
	if (good && watch->complained) {
		log_info("reload: auto: inotify works now");
		watch->complained = false;
	}
}

/* --- looks --- */

static bool
take(struct auto_reload *watch, struct config_state *ret)
{
	put_watches(watch); /* first: what changes after the look is an event */
	config_state_take(watch->main_path, ret);
	config_state_add(ret, *watch->templates);
	return config_state_same(watch->loaded, ret);
}

static void
on_quiet(void *data)
{
	struct auto_reload *watch = data;
	struct config_state now;
	bool same = take(watch, &now), steady = config_state_same(&watch->seen, &now);
	bool patient = clock_monotonic_ns() - watch->since_ns < HOLD_NS;

	watch->seen = now;
	/* Without inotify only a second look tells that it is quiet. */
	if (patient && (has_writers(watch) || (watch->fd < 0 && !steady))) {
		loop_timer_set(watch->quiet, QUIET_NS);
		return;
	}
	watch->since_ns = 0;
	memset(watch->writers, 0, sizeof(watch->writers));
	if (same)
		return;
	log_info("reload: auto: the configuration's files have changed");
	watch->changed(watch->data);
}

static void
on_look(void *data)
{
	struct auto_reload *watch = data;
	struct config_state now;

	if (!take(watch, &now) && !loop_timer_active(watch->quiet)) {
		watch->seen = now;
		expect_quiet(watch);
	}
	loop_timer_set(watch->look, LOOK_NS);
}

struct auto_reload *
auto_reload_new(struct loop *loop, const char *main_path, const struct config_state *loaded,
	cJSON *const *templates, void (*changed)(void *data), void *data)
{
	struct auto_reload *watch = xcalloc(1, sizeof(*watch));
	const char *slash = strrchr(main_path, '/');

	*watch = (struct auto_reload){.loop = loop,
		.main_name = slash ? slash + 1 : main_path,
		.main_path = main_path,
		.loaded = loaded,
		.templates = templates,
		.changed = changed,
		.data = data,
		.fd = -1};
	for (int i = 0; i < DIRECTORIES; i++) {
		watch->directories[i] = config_state_directory(main_path, i == DROPPED);
		watch->watches[i] = -1;
	}
	watch->io = loop_io_new(loop, on_events, watch);
	watch->quiet = loop_timer_new(loop, on_quiet, watch);
	watch->look = loop_timer_new(loop, on_look, watch);
	on_look(watch); /* there may be changes since the files were read */
	return watch;
}

void
auto_reload_free(struct auto_reload *watch)
{
	if (!watch)
		return;
	loop_io_free(watch->io);
	loop_timer_free(watch->quiet);
	loop_timer_free(watch->look);
	if (watch->fd >= 0)
		close(watch->fd);
	for (int i = 0; i < DIRECTORIES; i++)
		free(watch->directories[i]);
	free(watch);
}
