/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The title that ps(1) and /proc/PID/cmdline show. The kernel shows the memory where it put argv, and when that does not
 * end with NUL, also the environment behind it (proc(5)). So both are moved away first, and that memory is ours. Their
 * copies live as long as the process.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/proc/proc.h"

static struct {
	char *start;
	size_t size;
	char **argv_copies, **environ_copies; /* kept here for leak checkers */
} area;

/* Copies strings that follow each other from *end on; moves *end behind the last. */
static char **
move_strings(char **strings, size_t n, char **end)
{
	char **copies = xcalloc(n + 1, sizeof(*copies));

	for (size_t i = 0; i < n; i++) {
		if (strings[i] == *end)
			*end += strlen(strings[i]) + 1;
		copies[i] = xstrdup(strings[i]);
	}
	return copies;
}

void
proc_title_init(int argc, char **argv)
{
	size_t n_environ = 0;
	char *end;

	if (argc < 1 || area.start)
		return;
	while (environ[n_environ])
		n_environ++;
	area.start = end = argv[0];
	area.argv_copies = move_strings(argv, (size_t)argc, &end);
	area.environ_copies = move_strings(environ, n_environ, &end);
	area.size = (size_t)(end - area.start);
	for (int i = 0; i < argc; i++)
		argv[i] = area.argv_copies[i];
	environ = area.environ_copies;
	program_invocation_name = argv[0];
	program_invocation_short_name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
}

/* comm has 15 bytes: of "operatord: worker nginx" it shows "operatord: nginx" as far as that fits. */
static void
set_comm(const char *title)
{
	const char *colon = strstr(title, ": "), *last = strrchr(title, ' ');
	size_t n = colon ? (size_t)(colon - title) + 2 : 0;
	char comm[16] = "";

	if (n >= sizeof(comm))
		n = 0;
	memcpy(comm, title, n);
	title = n ? last + 1 : title;
	memcpy(comm + n, title, strnlen(title, sizeof(comm) - 1 - n));
	(void)prctl(PR_SET_NAME, comm, 0, 0, 0);
}

void
proc_title_set(const char *title)
{
	size_t n = strlen(title);

	set_comm(title);
	if (area.size == 0)
		return;
	if (n >= area.size)
		n = area.size - 1;
	memcpy(area.start, title, n);
	memset(area.start + n, '\0', area.size - n);
}
