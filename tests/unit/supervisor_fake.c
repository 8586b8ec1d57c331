/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that pretend. The name says what one does, by what it begins with:
 *   deaf      ignores the stop record and SIGTERM         rude      ignores the record, leaves by SIGTERM; both say they live on
 *   stubborn  ignores SIGABRT                             crash     leaves with 1 at once
 *   invalid   leaves with 78 at once                      slow      beats once, then starts for longer than three periods
 *   forger    claims a life from 1970 on, then leaves     nonsense  sends bytes that are no records, and states that are not its own
 *   flood     sends states without end                    silent    tells its state on the scoreboard only
 *   counter   counts, as a worker does                    orphan    leaves processes behind
 *   inspect   says what it inherited                      scribble  writes anything over its scoreboard, and would cut it off
 *   hostile   in the cage, turns on its parent, then runs a program
 * Any other name is a good worker. SIGUSR1 makes each stop turning.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/records.h"
#include "common/sandbox/sandbox.h"
#include "common/scoreboard.h"
#include "tests/unit/supervisor_fixture.h"
#include "workers/worker.h"

struct fake {
	const struct worker_args *args;
	struct loop *loop;
	struct loop_io *down;
	struct loop_timer *beat, *flood;
	struct record_reader reader;
	int64_t started_ns;
	int code;
};

static bool
is(const struct worker_args *args, const char *what)
{
	return strncmp(args->name, what, strlen(what)) == 0;
}

static void
heartbeat(void)
{
	__atomic_store_n(&scoreboard_mine()->heartbeat_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
}

static void
tell(const struct worker_args *args, enum worker_state state, const char *cause)
{
	struct record record;

	scoreboard_set_state(state, cause);
	if (is(args, "silent"))
		return;
	record_set(&record, RECORD_STATE, args->generation, (int32_t)state, cause);
	(void)record_write(args->fd_up, &record);
}

static void
on_down(void *data, int events)
{
	struct fake *fake = data;
	struct record record;
	int r;

	(void)events;
	while ((r = record_read(&fake->reader, fake->args->fd_down, &record)) == 1) {
		if (record.type == RECORD_STOP &&
			(is(fake->args, "deaf") || is(fake->args, "rude")))
			tell(fake->args, WORKER_LIVE, "as if nothing had been said");
		else if (record.type == RECORD_STOP)
			loop_stop(fake->loop);
		if (record.type == RECORD_LOG_LEVEL)
			tell(fake->args, WORKER_LIVE, log_level_name((enum log_level)record.value));
	}
	if (r == -EPIPE) {
		fake->code = WORKER_EXIT_ORPHANED;
		loop_stop(fake->loop);
	}
}

static void
on_term(void *data)
{
	struct fake *fake = data;

	if (!is(fake->args, "deaf"))
		loop_stop(fake->loop);
}

/* Bytes that are no record, one of another incarnation, states that only the supervisor may know, and no state at all. */
static void
send_nonsense(const struct worker_args *args)
{
	struct record record;
	char bytes[RECORD_SIZE];

	memset(bytes, 0xa5, sizeof(bytes));
	for (int i = 0; i < 10; i++)
		(void)!write(args->fd_up, bytes, sizeof(bytes));
	record_set(&record, RECORD_STATE, args->generation + 7, WORKER_LISTING, "not of this life");
	(void)record_write(args->fd_up, &record);
	record_set(&record, RECORD_STATE, args->generation, WORKER_HUNG, "says who");
	(void)record_write(args->fd_up, &record);
	record_set(&record, RECORD_STATE, args->generation, -7, "");
	(void)record_write(args->fd_up, &record);
	record_set(&record, RECORD_RELOAD, args->generation, 0, "");
	(void)record_write(args->fd_up, &record);
	(void)!write(args->fd_up, bytes, 100);
}

static void
on_flood(void *data)
{
	struct fake *fake = data;
	struct record record;

	for (int i = 0; i < 1000; i++) {
		record_set(&record, RECORD_STATE, fake->args->generation,
			i % 2 ? WORKER_LIVE : WORKER_LISTING, "flood");
		if (record_write(fake->args->fd_up, &record) < 0)
			break;
	}
	loop_timer_set(fake->flood, NSEC_PER_MSEC);
}

/* Any bytes at all, then any bytes behind a head that is sound, over and over. */
static void
on_scribble(void *data)
{
	struct fake *fake = data;
	struct scoreboard *board = scoreboard_mine();
	unsigned char *bytes = (unsigned char *)board;
	uint64_t x = (uint64_t)clock_monotonic_ns() | 1;

	for (size_t i = 0; i < sizeof(*board); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (unsigned char)x;
	}
	if (x & 4) {
		board->version = SCOREBOARD_VERSION;
		board->generation = fake->args->generation;
		board->state = (uint32_t)(x >> 8) % WORKER_STATE_MAX;
		board->sequence &= ~1u;
	}
	if (ftruncate(fake->args->fd_scoreboard, 0) == 0 ||
		ftruncate(fake->args->fd_scoreboard, 1 << 20) == 0)
		log_error("the scoreboard has another size now");
	loop_timer_set(fake->flood, NSEC_PER_MSEC / 4);
}

static void
on_beat(void *data)
{
	struct fake *fake = data;

	heartbeat();
	scoreboard_mine()->watch_seen_ns = clock_monotonic_ns();
	loop_timer_set(fake->beat, HEARTBEAT_MS * NSEC_PER_MSEC / 2);
}

static void
inspect(const struct worker_args *args)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, "fds");
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			buf_addf(&text, " %d", fd);
	buf_addf(&text, "; notify %s",
		getenv("NOTIFY_SOCKET") || getenv("WATCHDOG_USEC") ? "yes" : "no");
	buf_addf(&text, "; leader %s", getsid(0) == getpid() ? "yes" : "no");
	tell(args, WORKER_LISTING, text.data);
	buf_free(&text);
}

/* The grandchild outlives its parent, and ends when nobody of its family is left. */
static void
leave_orphans(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();
		if (child == 0) {
			if (fork() == 0)
				pause_ms(50);
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
}

static void
forge(void)
{
	scoreboard_begin();
	scoreboard_mine()->state = WORKER_LIVE;
	scoreboard_mine()->live_since_ns = 1;
	scoreboard_mine()->heartbeat_ns = INT64_MAX;
	scoreboard_end();
	memset(scoreboard_mine()->slots, 0xff, sizeof(scoreboard_mine()->slots));
}

static void
turn_hostile(void)
{
	const struct sandbox sandbox = {.network = true};
	char *arguments[] = {NULL};

	if (sandbox_missing() || sandbox_enter(&sandbox, NULL) < 0)
		return;
	(void)kill(getppid(), SIGKILL);
	(void)sigqueue(getppid(), SIGKILL, (union sigval){0});
	(void)execve("/bin/true", arguments, arguments);
}

static void
stop_turning(int signo)
{
	(void)signo;
	for (;;)
		(void)pause();
}

/* What is done before the loop turns; true: the exit code in *ret_code. */
static bool
begin(const struct worker_args *args, int *ret_code)
{
	*ret_code = 1;
	if (is(args, "crash"))
		return true;
	if (is(args, "forger")) {
		forge();
		return true;
	}
	*ret_code = WORKER_EXIT_CONFIG;
	if (is(args, "invalid")) {
		tell(args, WORKER_CONFIG_INVALID, "made so by its name");
		return true;
	}
	if (is(args, "slow"))
		pause_ms(HEARTBEAT_MS * 6);
	if (is(args, "nonsense"))
		send_nonsense(args);
	if (is(args, "inspect"))
		inspect(args);
	if (is(args, "hostile"))
		turn_hostile();
	if (is(args, "orphan"))
		leave_orphans();
	if (is(args, "counter"))
		metric_add(M_LISTS_TOTAL, 0, 10);
	if (is(args, "stubborn"))
		(void)signal(SIGABRT, SIG_IGN);
	return false;
}

static void
run(struct fake *fake)
{
	const struct worker_args *args = fake->args;

	(void)signal(SIGUSR1, stop_turning);
	fake->loop = loop_new(false);
	struct loop_signal *term = loop_signal_new(fake->loop, SIGTERM, on_term, fake);
	fake->down = loop_io_new(fake->loop, on_down, fake);
	loop_io_set(fake->down, args->fd_down, LOOP_READ);
	fake->beat = loop_timer_new(fake->loop, on_beat, fake);
	fake->flood =
		loop_timer_new(fake->loop, is(args, "scribble") ? on_scribble : on_flood, fake);
	on_beat(fake);
	if (is(args, "flood") || is(args, "scribble"))
		loop_timer_set(fake->flood, 0);
	if (!is(args, "inspect"))
		tell(args, WORKER_LIVE, "");
	loop_run(fake->loop);
	loop_signal_free(term);
	loop_io_free(fake->down);
	loop_timer_free(fake->beat);
	loop_timer_free(fake->flood);
	loop_free(fake->loop);
}

int
fake_worker_main(const struct worker_args *args)
{
	struct fake fake = {.args = args};
	struct scoreboard *board = scoreboard_attach(args->fd_scoreboard);

	if (!board)
		return 100;
	scoreboard_use(board);
	(void)fcntl(args->fd_down, F_SETFL, O_NONBLOCK);
	(void)fcntl(args->fd_up, F_SETFL, O_NONBLOCK);
	heartbeat();
	if (!begin(args, &fake.code)) {
		fake.code = 0;
		run(&fake);
	}
	return fake.code;
}
