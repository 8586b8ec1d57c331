/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "kube_fixture.h"

struct turning {
	struct loop *loop;
	struct loop_timer *timer;
	bool (*holds)(void *data);
	void *data;
	int64_t deadline_ns;
	bool held;
};

struct kube_target *
fixture_target(const struct https_server *server)
{
	struct kube_target *target = xcalloc(1, sizeof(*target));

	target->server = xasprintf("https://127.0.0.1:%d", https_server_port(server));
	target->ca_pem = xstrdup(https_server_ca(server));
	target->ca_pem_length = strlen(target->ca_pem);
	target->source = xstrdup("test");
	return target;
}

static void
look(void *data)
{
	struct turning *t = data;

	t->held = t->holds != NULL && t->holds(t->data);
	if (t->held || clock_monotonic_ns() >= t->deadline_ns)
		loop_stop(t->loop);
	else
		loop_timer_set(t->timer, 2 * NSEC_PER_MSEC);
}

bool
fixture_until(struct loop *loop, bool (*holds)(void *data), void *data, int ms)
{
	struct turning t = {.loop = loop, .holds = holds, .data = data};

	t.deadline_ns = clock_monotonic_ns() + ms * NSEC_PER_MSEC;
	t.timer = loop_timer_new(loop, look, &t);
	loop_timer_set(t.timer, 0);
	loop_run(loop);
	loop_timer_free(t.timer);
	return t.held;
}

void
fixture_run(struct loop *loop, int ms)
{
	(void)fixture_until(loop, NULL, NULL, ms);
}

char *
fixture_directory(void)
{
	const char *tmp = getenv("TMPDIR");
	char *out = xasprintf("%s/operatord-test-XXXXXX", tmp != NULL ? tmp : "/tmp");

	if (mkdtemp(out) == NULL)
		abort();
	return out;
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void
fixture_remove(char *directory)
{
	nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(directory);
}

char *
fixture_file(const char *directory, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", directory, name);
	FILE *file = fopen(path, "w");

	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
	return path;
}
