/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop, and the only user of libev. One loop a process (the default loop of libev in the supervisor
 * and programs, a loop of its own in a worker), passed to every module that waits. Callbacks are short and
 * never block. Watchers are owned by whoever embeds or allocates them here: *_new returns an allocation that
 * *_free ends; free functions take NULL. Starting a running watcher again only changes it.
 * The simulator links its own implementation of this header.
 */
#ifndef COMMON_LOOP_LOOP_H
#define COMMON_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct loop_io;
struct loop_timer;
struct loop_signal;
struct loop_child;
struct loop_prepare;

/* main: the process's default loop, the only one that can watch children. Exits when the system refuses. */
struct loop *loop_new(bool main);
/* Runs until loop_stop(). */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* Frees a loop whose watchers are all freed. */
void loop_free(struct loop *loop);
/*
 * In a forked child: stops every signal, child and io watcher that was inherited, then destroys the loop. libev
 * keeps process-wide signal state: destroying alone would leave the parent's handlers firing.
 */
void loop_abandon(struct loop *loop);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };
struct loop_io *loop_io_new(struct loop *loop, void (*callback)(void *data, int events), void *data);
/* events: LOOP_READ | LOOP_WRITE; 0 stops it. */
void loop_io_set(struct loop_io *io, int fd, int events);
void loop_io_free(struct loop_io *io);

/* One-shot; the callback may set it again. */
struct loop_timer *loop_timer_new(struct loop *loop, void (*callback)(void *data), void *data);
void loop_timer_set(struct loop_timer *timer, int64_t after_ns);
void loop_timer_clear(struct loop_timer *timer);
bool loop_timer_active(const struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer);

struct loop_signal *loop_signal_new(struct loop *loop, int signo, void (*callback)(void *data), void *data);
void loop_signal_free(struct loop_signal *signal);

/* Ends of children; pid 0 watches every child. status as waitpid(2) gives it. Every child is reaped, watched or not. */
struct loop_child *loop_child_new(struct loop *loop, pid_t pid, void (*callback)(void *data, pid_t pid, int status), void *data);
void loop_child_free(struct loop_child *child);

/* Called each time the loop is about to wait: the place for work that collects what callbacks asked for. */
struct loop_prepare *loop_prepare_new(struct loop *loop, void (*callback)(void *data), void *data);
void loop_prepare_free(struct loop_prepare *prepare);

#endif
