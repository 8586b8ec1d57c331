/* SPDX-License-Identifier: Apache-2.0 */
/* Clock, loop and processes of check_life; in the place of libloop, of common/clock.c, and of common/proc's spawn.c and status.c. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/proc/proc.h"
#include "tests/unit/life_fixture.h"

struct sup_shared life_shared;
struct sup_worker *life_worker;
struct fake_process life_process;
int life_spawn_error;
unsigned life_spawns, life_stops;

static int64_t now_ns;
static int64_t last_tick_ns;
static pid_t last_pid;

/* --- clock --- */

int64_t
clock_monotonic_ns(void)
{
	return now_ns;
}

int64_t
clock_wall_ns(void)
{
	return 1767225600 * NSEC_PER_SEC + now_ns;
}

/* The middle of every jitter. */
uint64_t
clock_random(void)
{
	return UINT64_C(1) << 63;
}

void
clock_random_bytes(void *out, size_t n)
{
	memset(out, 0x55, n);
}

/* --- loop --- */

struct loop_timer {
	struct loop_timer *next;
	void (*callback)(void *data);
	void *data;
	int64_t at_ns; /* -1: not set */
};

struct loop {
	struct loop_timer *timers;
};

static struct loop the_loop;

struct loop_timer *
loop_timer_new(struct loop *loop, void (*callback)(void *data), void *data)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));

	*timer = (struct loop_timer){loop->timers, callback, data, -1};
	loop->timers = timer;
	return timer;
}

void
loop_timer_set(struct loop_timer *timer, int64_t after_ns)
{
	timer->at_ns = now_ns + (after_ns > 0 ? after_ns : 0);
}

void
loop_timer_clear(struct loop_timer *timer)
{
	timer->at_ns = -1;
}

bool
loop_timer_active(const struct loop_timer *timer)
{
	return timer->at_ns >= 0;
}

void
loop_timer_free(struct loop_timer *timer)
{
	struct loop_timer **at = &the_loop.timers;

	while (*at && *at != timer)
		at = &(*at)->next;
	if (*at)
		*at = timer->next;
	free(timer);
}

struct loop_io {
	char unused;
};

struct loop_io *
loop_io_new(struct loop *loop, void (*callback)(void *data, int events), void *data)
{
	(void)loop;
	(void)callback;
	(void)data;
	return xcalloc(1, sizeof(struct loop_io));
}

void
loop_io_set(struct loop_io *io, int fd, int events)
{
	(void)io;
	(void)fd;
	(void)events;
}

void
loop_io_free(struct loop_io *io)
{
	free(io);
}

struct loop_child {
	void (*callback)(void *data, pid_t pid, int status);
	void *data;
};

struct loop_child *
loop_child_new(struct loop *loop, pid_t pid, void (*callback)(void *data, pid_t pid, int status),
	void *data)
{
	struct loop_child *child = xcalloc(1, sizeof(*child));

	(void)loop;
	ck_assert_int_eq(pid, life_process.pid);
	*child = (struct loop_child){callback, data};
	life_process.watcher = child;
	return child;
}

void
loop_child_free(struct loop_child *child)
{
	free(child);
}

/* --- processes --- */

static int
copy_of(const struct proc_spawn *spawn, size_t i)
{
	int fd = fcntl(spawn->fds[i].fd, F_DUPFD_CLOEXEC, 3);

	ck_assert_int_ge(fd, 3);
	return fd;
}

pid_t
proc_spawn(const struct proc_spawn *spawn, struct error *err)
{
	if (life_spawn_error)
		return error_set(err, -life_spawn_error, "can't start a process: %s",
			strerror(life_spawn_error));
	ck_assert_int_eq(life_process.pid, 0); /* never two of one worker */
	life_spawns++;
	int board = copy_of(spawn, 2);
	life_process = (struct fake_process){.pid = ++last_pid,
		.fd_down = copy_of(spawn, 0),
		.fd_up = copy_of(spawn, 1),
		.board = scoreboard_attach(board),
		.generation = life_worker->generation,
		.beats = true};
	(void)close(board);
	ck_assert_ptr_nonnull(life_process.board);
	return last_pid;
}

static void
count_signal(pid_t pid, int signo, int *kills)
{
	ck_assert_int_eq(pid, life_process.pid); /* and nobody else, ever */
	*kills += signo == SIGKILL;
	life_process.aborts += signo == SIGABRT;
	life_process.terms += signo == SIGTERM;
	life_process.continues += signo == SIGCONT;
}

int
proc_kill(pid_t pid, int signo)
{
	count_signal(pid, signo, &life_process.kills);
	return 0;
}

int
proc_kill_group(pid_t pid, int signo)
{
	count_signal(pid, signo, &life_process.group_kills);
	return 0;
}

void
proc_status_text(int status, char out[96])
{
	if (WIFEXITED(status))
		(void)snprintf(out, 96, "exited with code %d", WEXITSTATUS(status));
	else
		(void)snprintf(out, 96, "killed by signal %d", WTERMSIG(status));
}

/* --- what tests do --- */

static void
beat(void)
{
	if (life_process.pid && life_process.beats)
		life_process.board->heartbeat_ns = now_ns;
}

/* As supervisor.c does it. */
static void
on_tick(void *data)
{
	struct loop_timer **tick = data;

	beat();
	bool late = sup_is_late(&last_tick_ns, now_ns, LIFE_HEARTBEAT_NS);
	sup_worker_check(life_worker, now_ns, late);
	loop_timer_set(*tick, LIFE_HEARTBEAT_NS);
}

static struct loop_timer *tick;

static void
on_stopped(void *data, struct sup_worker *worker)
{
	(void)data;
	(void)worker;
	life_stops++;
}

void
life_setup(void)
{
	static struct sup_worker *none;

	now_ns = 1000 * NSEC_PER_SEC;
	last_pid = 1000000000; /* of no real process */
	last_tick_ns = 0;
	life_spawn_error = 0;
	life_spawns = life_stops = 0;
	life_shared = (struct sup_shared){.loop = &the_loop,
		.workers = &none,
		.heartbeat_ns = LIFE_HEARTBEAT_NS,
		.stop_grace_ns = 20 * NSEC_PER_SEC,
		.kill_grace_ns = 3 * NSEC_PER_SEC,
		.stopped = on_stopped};
	life_worker = sup_worker_new(&life_shared, "w", "{}", 2, NULL);
	tick = loop_timer_new(&the_loop, on_tick, &tick);
	loop_timer_set(tick, 0);
}

static void
release(void)
{
	(void)close(life_process.fd_down);
	(void)close(life_process.fd_up);
	scoreboard_unmap(life_process.board);
	life_process = (struct fake_process){0};
}

void
life_teardown(void)
{
	if (life_process.pid)
		release();
	sup_worker_free(life_worker);
	loop_timer_free(tick);
	ck_assert_ptr_null(the_loop.timers);
}

static struct loop_timer *
first_due(int64_t end_ns)
{
	struct loop_timer *first = NULL;

	for (struct loop_timer *timer = the_loop.timers; timer; timer = timer->next)
		if (timer->at_ns >= 0 && timer->at_ns <= end_ns &&
			(!first || timer->at_ns < first->at_ns))
			first = timer;
	return first;
}

static void
fire(struct loop_timer *timer)
{
	if (timer->at_ns > now_ns)
		now_ns = timer->at_ns;
	timer->at_ns = -1;
	timer->callback(timer->data);
}

void
life_run(int64_t ns)
{
	int64_t end_ns = now_ns + ns;
	struct loop_timer *timer;

	while ((timer = first_due(end_ns)))
		fire(timer);
	now_ns = end_ns;
	beat();
}

int64_t
life_run_until_spawn(int64_t at_most_ns)
{
	int64_t start_ns = now_ns, end_ns = now_ns + at_most_ns;
	struct loop_timer *timer;

	while (!life_process.pid && (timer = first_due(end_ns)))
		fire(timer);
	ck_assert_msg(life_process.pid, "no process within the time");
	return now_ns - start_ns;
}

void
life_freeze(int64_t ns)
{
	now_ns += ns;
}

void
life_die(int status)
{
	struct loop_child *watcher = life_process.watcher;
	pid_t pid = life_process.pid;

	release();
	watcher->callback(watcher->data, pid, status);
}

void
life_say(enum worker_state state)
{
	life_process.board->state = state;
	life_process.board->live_since_ns = state == WORKER_LIVE ? now_ns : 0;
	beat();
	(void)sup_worker_look(life_worker);
}

bool
life_was_asked(void)
{
	struct record_reader reader = {0};
	struct record record;

	(void)fcntl(life_process.fd_down, F_SETFL, O_NONBLOCK);
	return record_read(&reader, life_process.fd_down, &record) == 1 &&
	       record.type == RECORD_STOP;
}
