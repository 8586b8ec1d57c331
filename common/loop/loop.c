/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libev behind loop.h. Each loop keeps a list of its watchers, so that a forked child can stop those that it inherited: libev
 * holds process-wide state for signals, and destroying a loop alone would leave the parent's handlers in the child. A watcher is not
 * touched after its callback returned: its owner may have freed it there.
 */
#include "config.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop/loop.h"
#include "common/memory.h"

enum kind { KIND_IO, KIND_TIMER, KIND_SIGNAL, KIND_CHILD, KIND_PREPARE };

/* What every watcher begins with. */
struct watcher {
	enum kind kind;
	struct loop *loop;
	struct watcher *previous, *next;
	void *data;
};

struct loop {
	struct ev_loop *ev;
	struct watcher *watchers;
	bool stop; /* loop_stop() was called, perhaps before loop_run() */
};

struct loop_io {
	struct watcher base;
	ev_io ev;
	void (*callback)(void *data, int events);
};

struct loop_timer {
	struct watcher base;
	ev_timer ev;
	void (*callback)(void *data);
};

struct loop_signal {
	struct watcher base;
	ev_signal ev;
	void (*callback)(void *data);
};

struct loop_child {
	struct watcher base;
	ev_child ev;
	void (*callback)(void *data, pid_t pid, int status);
};

struct loop_prepare {
	struct watcher base;
	ev_prepare ev;
	void (*callback)(void *data);
};

/* Before or, for what the loop makes when it is first needed, after its birth. A shortage is no fault of ours, and leaves no core. */
static void
on_system_error(const char *text)
{
	int error = errno;

	log_error("event loop: %s: %s", text, strerror(error));
	if (error == EMFILE || error == ENFILE || error == ENOMEM)
		_Exit(1);
	abort();
}

struct loop *
loop_new(bool main)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));

	/* libev writes with perror(3) otherwise. */
	ev_set_syserr_cb(on_system_error);
	loop->ev = main ? ev_default_loop(EVFLAG_NOENV) : ev_loop_new(EVFLAG_NOENV);
	if (!loop->ev) {
		log_error("the system gives no event loop: out of file descriptors or memory");
		_Exit(1);
	}
	/* Without watchers libev would return from its run; ours waits for loop_stop(). */
	ev_ref(loop->ev);
	return loop;
}

void
loop_run(struct loop *loop)
{
	if (!loop->stop)
		ev_run(loop->ev, 0);
	loop->stop = false;
}

void
loop_stop(struct loop *loop)
{
	loop->stop = true;
	ev_break(loop->ev, EVBREAK_ALL);
}

void
loop_free(struct loop *loop)
{
	if (!loop)
		return;
	if (loop->ev)
		ev_loop_destroy(loop->ev);
	free(loop);
}

static void
stop(struct watcher *watcher)
{
	struct ev_loop *ev = watcher->loop->ev;

	switch (watcher->kind) {
	case KIND_IO:
		ev_io_stop(ev, &((struct loop_io *)watcher)->ev);
		break;
	case KIND_TIMER:
		ev_timer_stop(ev, &((struct loop_timer *)watcher)->ev);
		break;
	case KIND_SIGNAL:
		ev_signal_stop(ev, &((struct loop_signal *)watcher)->ev);
		break;
	case KIND_CHILD:
		ev_child_stop(ev, &((struct loop_child *)watcher)->ev);
		break;
	case KIND_PREPARE:
		ev_prepare_stop(ev, &((struct loop_prepare *)watcher)->ev);
		break;
	}
}

void
loop_abandon(struct loop *loop)
{
	/* libev tells the kernel's queue, which is the parent's too, of stopped descriptors only when it next waits: never here. */
	for (struct watcher *watcher = loop->watchers; watcher; watcher = watcher->next)
		stop(watcher);
	ev_loop_destroy(loop->ev);
	/* The structure stays: the watchers belong to others, who may still free them. */
	loop->ev = NULL;
}

static void
join(struct watcher *watcher, struct loop *loop, enum kind kind, void *data)
{
	watcher->kind = kind;
	watcher->loop = loop;
	watcher->data = data;
	watcher->next = loop->watchers;
	if (loop->watchers)
		loop->watchers->previous = watcher;
	loop->watchers = watcher;
}

static void
leave(struct watcher *watcher)
{
	if (!watcher)
		return;
	if (watcher->loop->ev)
		stop(watcher);
	if (watcher->previous)
		watcher->previous->next = watcher->next;
	else
		watcher->loop->watchers = watcher->next;
	if (watcher->next)
		watcher->next->previous = watcher->previous;
	free(watcher);
}

static void
on_io(struct ev_loop *ev, ev_io *w, int revents)
{
	struct loop_io *io = w->data;

	(void)ev;
	io->callback(io->base.data,
		((revents & EV_READ) ? LOOP_READ : 0) | ((revents & EV_WRITE) ? LOOP_WRITE : 0));
}

struct loop_io *
loop_io_new(struct loop *loop, void (*callback)(void *data, int events), void *data)
{
	struct loop_io *io = xcalloc(1, sizeof(*io));

	io->callback = callback;
	ev_init(&io->ev, on_io);
	io->ev.data = io;
	join(&io->base, loop, KIND_IO, data);
	return io;
}

void
loop_io_set(struct loop_io *io, int fd, int events)
{
	int want = ((events & LOOP_READ) ? EV_READ : 0) | ((events & LOOP_WRITE) ? EV_WRITE : 0);

	ev_io_stop(io->base.loop->ev, &io->ev);
	if (!want)
		return;
	ev_io_set(&io->ev, fd, want);
	ev_io_start(io->base.loop->ev, &io->ev);
}

void
loop_io_free(struct loop_io *io)
{
	leave(io ? &io->base : NULL);
}

static void
on_timer(struct ev_loop *ev, ev_timer *w, int revents)
{
	struct loop_timer *timer = w->data;

	(void)ev;
	(void)revents;
	timer->callback(timer->base.data);
}

struct loop_timer *
loop_timer_new(struct loop *loop, void (*callback)(void *data), void *data)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));

	timer->callback = callback;
	ev_init(&timer->ev, on_timer);
	timer->ev.data = timer;
	join(&timer->base, loop, KIND_TIMER, data);
	return timer;
}

void
loop_timer_set(struct loop_timer *timer, int64_t after_ns)
{
	struct ev_loop *ev = timer->base.loop->ev;

	ev_timer_stop(ev, &timer->ev);
	/* libev counts from the time at which this turn of the loop began: a long callback would shorten the delay. */
	ev_now_update(ev);
	ev_timer_set(&timer->ev, after_ns > 0 ? (double)after_ns / 1e9 : 0., 0.);
	ev_timer_start(ev, &timer->ev);
}

void
loop_timer_clear(struct loop_timer *timer)
{
	ev_timer_stop(timer->base.loop->ev, &timer->ev);
}

bool
loop_timer_active(const struct loop_timer *timer)
{
	return ev_is_active(&timer->ev);
}

void
loop_timer_free(struct loop_timer *timer)
{
	leave(timer ? &timer->base : NULL);
}

static void
on_signal(struct ev_loop *ev, ev_signal *w, int revents)
{
	struct loop_signal *signal = w->data;

	(void)ev;
	(void)revents;
	signal->callback(signal->base.data);
}

struct loop_signal *
loop_signal_new(struct loop *loop, int signo, void (*callback)(void *data), void *data)
{
	struct loop_signal *signal = xcalloc(1, sizeof(*signal));

	signal->callback = callback;
	ev_signal_init(&signal->ev, on_signal, signo);
	signal->ev.data = signal;
	join(&signal->base, loop, KIND_SIGNAL, data);
	ev_signal_start(loop->ev, &signal->ev);
	return signal;
}

void
loop_signal_free(struct loop_signal *signal)
{
	leave(signal ? &signal->base : NULL);
}

static void
on_child(struct ev_loop *ev, ev_child *w, int revents)
{
	struct loop_child *child = w->data;

	(void)revents;
	/* The pid is free now and may come back as another child's. */
	if (w->pid != 0)
		ev_child_stop(ev, w);
	child->callback(child->base.data, w->rpid, w->rstatus);
}

struct loop_child *
loop_child_new(struct loop *loop, pid_t pid, void (*callback)(void *data, pid_t pid, int status),
	void *data)
{
	struct loop_child *child = xcalloc(1, sizeof(*child));

	child->callback = callback;
	ev_child_init(&child->ev, on_child, pid, 0);
	child->ev.data = child;
	join(&child->base, loop, KIND_CHILD, data);
	ev_child_start(loop->ev, &child->ev);
	return child;
}

void
loop_child_free(struct loop_child *child)
{
	leave(child ? &child->base : NULL);
}

static void
on_prepare(struct ev_loop *ev, ev_prepare *w, int revents)
{
	struct loop_prepare *prepare = w->data;

	(void)ev;
	(void)revents;
	prepare->callback(prepare->base.data);
}

struct loop_prepare *
loop_prepare_new(struct loop *loop, void (*callback)(void *data), void *data)
{
	struct loop_prepare *prepare = xcalloc(1, sizeof(*prepare));

	prepare->callback = callback;
	ev_prepare_init(&prepare->ev, on_prepare);
	prepare->ev.data = prepare;
	join(&prepare->base, loop, KIND_PREPARE, data);
	ev_prepare_start(loop->ev, &prepare->ev);
	return prepare;
}

void
loop_prepare_free(struct loop_prepare *prepare)
{
	leave(prepare ? &prepare->base : NULL);
}
