/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process around one controller: configuration and credentials at the start, heartbeat, records from and to the
 * supervisor, signals, the end.
 *
 * It leaves on RECORD_STOP, on SIGTERM, SIGINT and SIGQUIT, and when the down pipe closes without a word (its supervisor is gone:
 * WORKER_EXIT_ORPHANED). Then it starts no reconcile any more and returns when the running ones have ended; how long that may take is
 * the supervisor's to bound. It returns to the caller, which uses _exit(2): a resolver thread may still run.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/config/config.h"
#include "common/kube/client.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/proc/proc.h"
#include "common/records.h"
#include "common/scoreboard.h"
#include "common/template/template.h"
#include "workers/cage.h"
#include "workers/connect.h"
#include "workers/controller.h"
#include "workers/worker.h"

/* libcurl resolves names in threads; what they do is shallow. */
#define THREAD_STACK (256u << 10)
/* Between two looks for credentials that could not be used. */
#define LOOK_NS (2 * NSEC_PER_SEC)

struct worker {
	const struct worker_args *args;
	struct config_controller *config;
	struct loop *loop;
	struct kube *kube;
	struct controller *controller;
	struct loop_io *down;
	struct loop_timer *heartbeat;
	struct loop_signal *signals[3];
	struct record_reader reader;
	bool stopping;
	enum worker_state state; /* as the controller told it last */
	int exit_code;
};

static void
heartbeat(void)
{
	__atomic_store_n(&scoreboard_mine()->heartbeat_ns, clock_monotonic_ns(), __ATOMIC_RELAXED);
}

static void
set_state(struct worker *w, enum worker_state state, const char *cause)
{
	struct record record;

	scoreboard_set_state(state, cause);
	if (w->args->fd_up < 0)
		return;
	record_set(&record, RECORD_STATE, w->args->generation, (int)state, cause);
	/* A full pipe loses only the word: the state is on the scoreboard. */
	if (record_write(w->args->fd_up, &record) < 0)
		log_debug("the pipe to the supervisor takes no record");
}

static void
on_cured(void *data, const char *namespace_, const char *name)
{
	struct worker *w = data;
	struct record record;
	char key[SCOREBOARD_KEY_MAX];

	if (w->args->fd_up < 0)
		return;
	scoreboard_key(namespace_, name, key);
	record_set(&record, RECORD_CURED, w->args->generation, 0, key);
	/* Lost, it costs one more try of a healthy object after the next death. */
	if (record_write(w->args->fd_up, &record) < 0)
		log_debug("the pipe to the supervisor takes no record");
}

/* --- stopping --- */

static void
stop(struct worker *w, int exit_code)
{
	if (w->exit_code == WORKER_EXIT_STOPPED)
		w->exit_code = exit_code;
	w->stopping = true;
	if (w->controller == NULL)
		loop_stop(w->loop);
	else
		controller_drain(w->controller);
}

/* The sandbox knows files, not names: who replaced one closed it to this process. Looked at while the server is out of reach or refuses us. */
static void
leave_if_outdated(struct worker *w)
{
	const char *path = NULL;

	if (w->state == WORKER_UNREACHABLE || w->state == WORKER_UNAUTHORIZED)
		path = cage_outdated();
	if (path == NULL)
		return;
	log_warn("%s was replaced by a file that the sandbox keeps this process from reading: "
		 "leaving, for a new one to read it",
		path);
	stop(w, WORKER_EXIT_FAILURE);
}

static void
on_state(void *data, enum worker_state state, const char *cause)
{
	struct worker *w = data;
	bool good = state == WORKER_DISCOVERING || state == WORKER_LISTING ||
		    state == WORKER_LIVE || state == WORKER_DRAINING;
	char text[512];

	/* The state is looked at here, on this machine: it may say which file is meant. */
	if (state == WORKER_UNAUTHORIZED || state == WORKER_FORBIDDEN)
		snprintf(text, sizeof(text), "%s: %s", kube_target(w->kube)->source, cause);
	else
		snprintf(text, sizeof(text), "%s", cause);
	log_fields(good ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
		LOG_FIELDS("state", worker_state_name(state)), "%s",
		*text == '\0' ? worker_state_meaning(state) : text);
	set_state(w, state, text);
	if (state == WORKER_LIVE)
		malloc_trim(0);
	w->state = state;
}

static void
on_drained(void *data)
{
	struct worker *w = data;

	loop_stop(w->loop);
}

static void
on_signal(void *data)
{
	stop(data, WORKER_EXIT_STOPPED);
}

static void
on_record(struct worker *w, const struct record *record)
{
	if (record->type == RECORD_STOP && record->value == RECORD_STOP_REMOVE &&
		w->controller == NULL) {
		log_warn("removed without credentials: its objects keep the finalizer that it gave "
			 "them; `operatorctl release` takes it off");
		stop(w, WORKER_EXIT_STOPPED);
	} else if (record->type == RECORD_STOP && record->value == RECORD_STOP_REMOVE)
		controller_remove(w->controller);
	else if (record->type == RECORD_STOP)
		stop(w, WORKER_EXIT_STOPPED);
	else if (record->type == RECORD_LOG_LEVEL && record->value >= 0 &&
		 record->value < LOG_LEVEL_MAX)
		log_set_level((enum log_level)record->value);
}

static void
on_down(void *data, int events)
{
	struct worker *w = data;
	struct record record;
	int r;

	(void)events;
	while ((r = record_read(&w->reader, w->args->fd_down, &record)) == 1 || r == -EBADMSG)
		if (r == 1)
			on_record(w, &record);
	if (r == 0 || r == -EAGAIN)
		return;
	loop_io_set(w->down, w->args->fd_down, 0);
	log_warn("the supervisor is gone: stopping");
	stop(w, WORKER_EXIT_ORPHANED);
}

/* --- heartbeat --- */

static void
beat(void *data)
{
	struct worker *w = data;

	heartbeat();
	if (w->controller != NULL)
		controller_measure(w->controller);
	metric_set(M_OPEN_FDS, 0, proc_open_fds());
	leave_if_outdated(w);
	log_flush(false);
	loop_timer_set(w->heartbeat, w->config->heartbeat_ns);
}

/* --- start --- */

static void
prepare_process(const struct worker_args *args)
{
	pthread_attr_t attributes;

	mallopt(M_ARENA_MAX, 1);
	if (pthread_attr_init(&attributes) == 0) {
		if (pthread_attr_setstacksize(&attributes, THREAD_STACK) == 0)
			(void)pthread_setattr_default_np(&attributes);
		pthread_attr_destroy(&attributes);
	}
	/* The end of a terminal is the supervisor's to act on. */
	signal(SIGHUP, SIG_IGN);
	/* Sent to a whole service or session, they are meant for the supervisor. */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	log_context("controller", args->name);
	log_hold_repeats();
}

static void
attach_scoreboard(const struct worker_args *args)
{
	struct scoreboard *board =
		args->fd_scoreboard < 0 ? NULL : scoreboard_attach(args->fd_scoreboard);

	if (board != NULL)
		scoreboard_use(board);
	heartbeat();
}

static void
set_nonblocking(int fd)
{
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int
refuse(struct worker *w, int exit_code, const struct error *err)
{
	log_error("%s", err->text);
	set_state(w, WORKER_CONFIG_INVALID, err->text);
	return exit_code;
}

static void
on_lost(void *data)
{
	stop(data, WORKER_EXIT_FAILURE);
}

static int
start_controller(struct worker *w)
{
	const struct controller_callbacks callbacks = {on_state, on_drained, on_cured, w};
	const struct controller_options options = {
		.config = w->config,
		.controllers = w->args->controllers,
		.former_kinds = w->args->former_kinds,
		.suspects = w->args->suspects,
		.n_suspects = w->args->n_suspects,
	};
	struct error err = {0};

	w->controller = controller_new(w->loop, w->kube, &options, &callbacks, &err);
	return w->controller == NULL ? refuse(w, WORKER_EXIT_CONFIG, &err) : 0;
}

static void
start_watchers(struct worker *w)
{
	static const int signals[3] = {SIGTERM, SIGINT, SIGQUIT};

	for (int i = 0; i < 3; i++)
		w->signals[i] = loop_signal_new(w->loop, signals[i], on_signal, w);
	w->heartbeat = loop_timer_new(w->loop, beat, w);
	beat(w);
	if (w->args->fd_down < 0)
		return;
	w->down = loop_io_new(w->loop, on_down, w);
	loop_io_set(w->down, w->args->fd_down, LOOP_READ);
}

static void
stop_watchers(struct worker *w)
{
	for (int i = 0; i < 3; i++) {
		loop_signal_free(w->signals[i]);
		w->signals[i] = NULL;
	}
	loop_timer_free(w->heartbeat);
	loop_io_free(w->down);
	w->heartbeat = NULL;
	w->down = NULL;
}

/* --- the way to the server --- */

static void
on_look(void *data)
{
	const struct worker *w = data;

	loop_stop(w->loop);
}

/*
 * Without a kubeconfig, token or program there is nothing to do but to wait for it, in this process: that costs less than a new one for each
 * look. What is wrong is said when it changes, not at each look. The watchers are gone while we look: what is forked then must not inherit them.
 */
static void
wait_for_credentials(struct worker *w, struct error *err)
{
	char said[sizeof(err->text)] = "";

	while (w->kube == NULL && !w->stopping) {
		if (strcmp(err->text, said) != 0) {
			log_error("%s; it is looked at again every %d s", err->text,
				(int)(LOOK_NS / NSEC_PER_SEC));
			set_state(w, WORKER_CONFIG_INVALID, err->text);
			snprintf(said, sizeof(said), "%s", err->text);
		}
		struct loop_timer *timer = loop_timer_new(w->loop, on_look, w);
		loop_timer_set(timer, LOOK_NS);
		start_watchers(w);
		loop_run(w->loop);
		stop_watchers(w);
		loop_timer_free(timer);
		if (!w->stopping)
			w->kube = connect_try(w->loop, w->config, w->args->name, on_lost, w, err);
	}
}

/* Reads what comes from the environment before template_init() clears it, and forks what is to be forked before anything is connected. */
static int
connect_kube(struct worker *w)
{
	struct error err = {0};

	w->kube = connect_try(w->loop, w->config, w->args->name, on_lost, w, &err);
	if (w->kube == NULL && w->args->fd_down < 0)
		return refuse(w,
			err.code == -EACCES || err.code == -EPERM ? WORKER_EXIT_NO_PERMISSION
								  : WORKER_EXIT_CONFIG,
			&err);
	if (w->kube == NULL)
		wait_for_credentials(w, &err);
	if (w->kube == NULL)
		return w->exit_code;
	proc_fix_memory_limit();
	template_init();
	kube_set_timeout(w->kube, w->config->request_timeout_ns);
	scoreboard_set_server(kube_host(w->kube));
	return 0;
}

static void
clean_up(struct worker *w)
{
	controller_free(w->controller);
	stop_watchers(w);
	kube_free(w->kube);
	loop_free(w->loop);
	config_controller_free(w->config);
}

int
worker_main(const struct worker_args *args)
{
	struct worker w = {.args = args};
	struct error err = {0};

	prepare_process(args);
	attach_scoreboard(args);
	set_nonblocking(args->fd_down);
	set_nonblocking(args->fd_up);
	set_state(&w, WORKER_STARTING, "");
	w.config = config_decode_controller(args->config, args->config_length, &err);
	if (w.config == NULL)
		return refuse(&w, WORKER_EXIT_CONFIG, &err);
	w.loop = loop_new(false);
	w.exit_code = connect_kube(&w);
	if (w.kube != NULL) {
		/* The door closes: what is to fork, execute or read other files has done so before. Nothing is connected yet. */
		cage_enter(kube_target(w.kube));
		w.exit_code = start_controller(&w);
	}
	if (w.controller != NULL) {
		start_watchers(&w);
		loop_run(w.loop);
	}
	log_flush(true);
	clean_up(&w);
	return w.exit_code;
}
