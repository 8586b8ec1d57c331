/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, chance and the event loop of a simulated run. Timers fire in the order of their deadlines, equal ones in the order in which they
 * were set; between two of them no time passes. Descriptors, signals and children do not exist here: a module that asks for them is
 * refused loudly.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/memory.h"
#include "tests/sim/sim.h"

struct loop_timer {
	struct loop *loop;
	struct loop_timer *previous, *next;
	void (*callback)(void *data);
	void *data;
	bool active;
	int64_t at_ns;
	uint64_t order;
};

struct loop_prepare {
	struct loop *loop;
	struct loop_prepare *previous, *next;
	void (*callback)(void *data);
	void *data;
};

struct loop {
	struct loop_timer *timers;
	struct loop_prepare *prepares, *next_prepare;
	bool stopped;
};

static int64_t now_ns = NSEC_PER_SEC;
static uint64_t chance = 1, orders;
static bool tracing;
static uint64_t trace_hash;
static char failure[512];

/* SplitMix64: small, good enough, the same everywhere. */
static uint64_t
draw(void)
{
	uint64_t z = (chance += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void
sim_reset(uint64_t seed)
{
	now_ns = NSEC_PER_SEC;
	chance = seed * 0x2545f4914f6cdd1du + 1;
	orders = 0;
	trace_hash = 0xcbf29ce484222325u;
	failure[0] = '\0';
}

uint64_t
sim_below(uint64_t n)
{
	return n ? draw() % n : 0;
}

bool
sim_chance(unsigned per_mille)
{
	return per_mille && sim_below(1000) < per_mille;
}

void
sim_trace(bool on)
{
	tracing = on;
}

/* FNV-1a over everything that was said: equal runs give equal numbers. */
static void
take_into_hash(const char *text)
{
	for (; *text != '\0'; text++)
		trace_hash = (trace_hash ^ (unsigned char)*text) * 0x100000001b3u;
	trace_hash = (trace_hash ^ (uint64_t)now_ns) * 0x100000001b3u;
}

void
sim_say(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	take_into_hash(text);
	if (tracing)
		fprintf(stderr, "%12.6f  %s\n", (double)now_ns / 1e9, text);
}

uint64_t
sim_trace_hash(void)
{
	return trace_hash;
}

void
sim_fail(const char *format, ...)
{
	va_list args;

	if (failure[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(failure, sizeof(failure), format, args);
	va_end(args);
	sim_say("FAILED: %s", failure);
}

const char *
sim_failure(void)
{
	return failure[0] == '\0' ? NULL : failure;
}

void
sim_jump(int64_t ns)
{
	now_ns += ns;
}

int64_t
clock_monotonic_ns(void)
{
	return now_ns;
}

int64_t
clock_wall_ns(void)
{
	/* 2026-01-01T00:00:00Z, so that times in traces are readable and equal. */
	return 1767225600 * NSEC_PER_SEC + now_ns;
}

uint64_t
clock_random(void)
{
	return draw();
}

void
clock_random_bytes(void *out, size_t n)
{
	for (unsigned char *p = out; n > 0; n--)
		*p++ = (unsigned char)draw();
}

struct loop *
loop_new(bool main)
{
	(void)main;
	return xcalloc(1, sizeof(struct loop));
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
}

void
loop_free(struct loop *loop)
{
	if (loop && (loop->timers || loop->prepares)) {
		fprintf(stderr, "sim: a loop is freed while it has watchers\n");
		abort();
	}
	free(loop);
}

/* The timer that is due first, NULL when none is set. */
static struct loop_timer *
first_timer(const struct loop *loop)
{
	struct loop_timer *first = NULL;

	for (struct loop_timer *timer = loop->timers; timer; timer = timer->next) {
		if (timer->active &&
			(!first || timer->at_ns < first->at_ns ||
				(timer->at_ns == first->at_ns && timer->order < first->order)))
			first = timer;
	}
	return first;
}

static void
run_prepares(struct loop *loop)
{
	for (struct loop_prepare *prepare = loop->prepares; prepare; prepare = loop->next_prepare) {
		loop->next_prepare = prepare->next;
		prepare->callback(prepare->data);
	}
}

unsigned long
sim_run(struct loop *loop, int64_t duration_ns)
{
	int64_t end_ns = now_ns + duration_ns;
	unsigned long events = 0;

	loop->stopped = false;
	while (!loop->stopped && failure[0] == '\0') {
		run_prepares(loop);
		struct loop_timer *timer = first_timer(loop);
		if (!timer || timer->at_ns > end_ns)
			break;
		if (timer->at_ns > now_ns)
			now_ns = timer->at_ns;
		timer->active = false;
		events++;
		timer->callback(timer->data);
	}
	if (!loop->stopped && failure[0] == '\0' && now_ns < end_ns)
		now_ns = end_ns;
	return events;
}

void
loop_run(struct loop *loop)
{
	sim_run(loop, INT64_MAX / 2 - now_ns);
}

struct loop_timer *
loop_timer_new(struct loop *loop, void (*callback)(void *data), void *data)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));

	*timer = (struct loop_timer){
		.loop = loop, .next = loop->timers, .callback = callback, .data = data};
	if (loop->timers)
		loop->timers->previous = timer;
	loop->timers = timer;
	return timer;
}

void
loop_timer_set(struct loop_timer *timer, int64_t after_ns)
{
	timer->active = true;
	timer->at_ns = now_ns + (after_ns > 0 ? after_ns : 0);
	timer->order = orders++;
}

void
loop_timer_clear(struct loop_timer *timer)
{
	timer->active = false;
}

bool
loop_timer_active(const struct loop_timer *timer)
{
	return timer->active;
}

void
loop_timer_free(struct loop_timer *timer)
{
	if (!timer)
		return;
	if (timer->previous)
		timer->previous->next = timer->next;
	else
		timer->loop->timers = timer->next;
	if (timer->next)
		timer->next->previous = timer->previous;
	free(timer);
}

struct loop_prepare *
loop_prepare_new(struct loop *loop, void (*callback)(void *data), void *data)
{
	struct loop_prepare *prepare = xcalloc(1, sizeof(*prepare));

	*prepare = (struct loop_prepare){
		.loop = loop, .next = loop->prepares, .callback = callback, .data = data};
	if (loop->prepares)
		loop->prepares->previous = prepare;
	loop->prepares = prepare;
	return prepare;
}

void
loop_prepare_free(struct loop_prepare *prepare)
{
	if (!prepare)
		return;
	if (prepare->loop->next_prepare == prepare)
		prepare->loop->next_prepare = prepare->next;
	if (prepare->previous)
		prepare->previous->next = prepare->next;
	else
		prepare->loop->prepares = prepare->next;
	if (prepare->next)
		prepare->next->previous = prepare->previous;
	free(prepare);
}

static _Noreturn void
not_here(const char *what)
{
	fprintf(stderr, "sim: %s do not exist in a simulated run\n", what);
	abort();
}

struct loop_io *
loop_io_new(struct loop *loop, void (*callback)(void *data, int events), void *data)
{
	(void)loop;
	(void)callback;
	(void)data;
	not_here("descriptors");
}

void
loop_io_set(struct loop_io *io, int fd, int events)
{
	(void)io;
	(void)fd;
	(void)events;
	not_here("descriptors");
}

void
loop_io_free(struct loop_io *io)
{
	if (io)
		not_here("descriptors");
}

struct loop_signal *
loop_signal_new(struct loop *loop, int signo, void (*callback)(void *data), void *data)
{
	(void)loop;
	(void)signo;
	(void)callback;
	(void)data;
	not_here("signals");
}

void
loop_signal_free(struct loop_signal *signal)
{
	if (signal)
		not_here("signals");
}
