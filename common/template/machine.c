/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjq, held on a short line: an empty environment and no search path (it would run ~/.jq), messages caught, and a run that takes too long is
 * halted by a timer signal. libjq looks at its halt flag between instructions; a builtin that does not return is not ended by this. A
 * second halt of one run would abort the process, so the handler asks first. The timer counts this thread's CPU time: a busy machine makes no
 * render fail; its signal goes to this thread, for libcurl's resolver threads must not halt a run that they do not see.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/template/machine.h"
#include "common/template/template.h"

/* The signal of the timer: of those that nothing else here uses, one whose default ends the process and is never sent by people. */
#define TIMEOUT_SIGNAL SIGVTALRM

#ifndef sigev_notify_thread_id /* glibc before 2.38 has the field without its name */
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct machine {
	jq_state *jq;
	struct buf messages; /* what libjq says while compiling */
};

/* The run that the timer would end; NULL between runs. Read by the signal handler. */
static jq_state *volatile running;
static timer_t timer;
static pid_t timer_owner; /* timers do not live through fork(2) */

void
template_init(void)
{
	static char *empty[] = {NULL};

	environ = empty; /* not clearenv(): a NULL environ crashes libjq */
}

static void
on_timeout(int signo)
{
	jq_state *jq = running;

	(void)signo;
	if (jq && !jq_halted(jq))
		jq_halt(jq, jv_invalid(), jv_invalid());
}

static int
make_timer(struct error *err)
{
	struct sigaction action = {.sa_handler = on_timeout, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = TIMEOUT_SIGNAL,
		.sigev_notify_thread_id = gettid()};

	if (timer_owner == getpid())
		return 0;
	if (sigaction(TIMEOUT_SIGNAL, &action, NULL) < 0 ||
		timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) < 0)
		return error_set(err, -errno, "no timer to bound expressions: %s", strerror(errno));
	timer_owner = getpid();
	return 0;
}

static void
set_timer(int64_t ns)
{
	struct itimerspec spec = {
		.it_value = {.tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC}};

	timer_settime(timer, 0, &spec, NULL);
}

static void
on_message(void *data, jv message)
{
	struct buf *messages = data;

	if (jv_get_kind(message) == JV_KIND_STRING) {
		buf_adds(messages, jv_string_value(message));
		buf_addc(messages, '\n');
	}
	jv_free(message);
}

/* jq's first message without what only makes sense on a command line. */
static void
set_compile_error(struct error *err, char *text)
{
	static const char *const ends[] = {" (Unix shell quoting issues?)", " at <top-level>", "\n",
		" (Windows cmd shell quoting issues?)"};
	static const char start[] = "jq: error: ";

	if (strncmp(text, start, sizeof(start) - 1) == 0)
		text += sizeof(start) - 1;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *end = strstr(text, ends[i]);
		if (end)
			*end = '\0';
	}
	error_set(err, -EINVAL, "%s", *text ? text : "libjq does not compile it");
}

/* libjq would abort(): that looks like a fault of its own. */
static void
on_no_memory(void *data)
{
	(void)data;
	log_error("out of memory in an expression");
	_exit(MEMORY_EXIT);
}

struct machine *
machine_new(const char *program, jv vars, struct error *err)
{
	struct machine *machine = xcalloc(1, sizeof(*machine));

	machine->messages = BUF_INIT_LIMIT(65536);
	machine->jq = jq_init();
	if (!machine->jq) {
		jv_free(vars);
		error_set(err, -ENOMEM, "libjq does not start: out of memory");
		machine_free(machine);
		return NULL;
	}
	jq_set_nomem_handler(machine->jq, on_no_memory, NULL);
	jq_set_attr(machine->jq, jv_string("JQ_LIBRARY_PATH"), jv_array());
	jq_set_error_cb(machine->jq, on_message, &machine->messages);
	if (!jq_compile_args(
		    machine->jq, program, jv_object_set(jv_object(), jv_string("vars"), vars))) {
		set_compile_error(err, machine->messages.data);
		machine_free(machine);
		return NULL;
	}
	return machine;
}

void
machine_free(struct machine *machine)
{
	if (!machine)
		return;
	if (machine->jq)
		jq_teardown(&machine->jq);
	buf_free(&machine->messages);
	free(machine);
}

int
machine_start(struct machine *machine, jv input, int64_t timeout_ns, struct error *err)
{
	int code = make_timer(
		err); /* here and not in machine_new(): timers do not live through a fork */

	if (code < 0) {
		jv_free(input);
		return code;
	}
	buf_reset(&machine->messages);
	jq_start(machine->jq, input, 0);
	running = machine->jq;
	set_timer(timeout_ns);
	return 0;
}

int
machine_next(struct machine *machine, jv *ret)
{
	jv value = jq_next(machine->jq);

	if (jq_halted(machine->jq)) {
		jv_free(value);
		return -ETIMEDOUT;
	}
	if (jv_is_valid(value)) {
		*ret = value;
		return 1;
	}
	if (!jv_invalid_has_msg(jv_copy(value))) {
		jv_free(value);
		return 0;
	}
	*ret = jv_invalid_get_msg(value);
	return -EINVAL;
}

void
machine_end(struct machine *machine)
{
	set_timer(0);
	running = NULL;
	jq_start(machine->jq, jv_null(),
		0); /* its stack holds the input, and the mark of a halt stays */
}
