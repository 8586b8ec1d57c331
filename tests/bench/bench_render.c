/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What templates cost: the nginx example compiled, and rendered for objects of 2.6 KB that differ, its Deployment and its status as the
 * worker asks for them. Prints milliseconds a compilation, microseconds a render (one group) and an object (all groups), the best of five
 * rounds, and by how much the heap grew over all renders.
 *
 * usage: bench_render [COUNT]
 * With COUNT, that many objects are rendered once, and nothing is measured: for callgrind.
 */
#include "config.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "common/template/template.h"

#define OBJECTS 256
#define ROUNDS  5
#define REPEATS 40

enum { GROUP_DEPLOY, GROUP_STATUS, GROUPS };

static const char deploy[] =
	"{\"apiVersion\":\"apps/"
	"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"${.metadata.name}-deploy\","
	"\"labels\":{\"app\":\"underneathall\",\"underneathall-app\":\"nginx-${.metadata.name}\"}},"
	"\"spec\":{\"replicas\":\"${get(.spec.replicas; "
	"1)}\",\"selector\":{\"matchLabels\":{\"app\":\"underneathall\","
	"\"underneathall-app\":\"nginx-${.metadata.name}\"}},\"template\":{\"metadata\":{"
	"\"labels\":{\"app\":\"underneathall\","
	"\"underneathall-app\":\"nginx-${.metadata.name}\"}},\"spec\":{\"containers\":[{\"name\":"
	"\"nginx\",\"image\":\"nginx:1.7.9\","
	"\"ports\":[{\"containerPort\":80}]}]}}}}";
static const char status[] =
	"{\"readyReplicas\":\"${$children.deploy.status.readyReplicas // 0}\"}";
static const char children[] =
	"{\"deploy\":{\"metadata\":{\"name\":\"web\"},\"status\":{\"readyReplicas\":2}}}";
static const char *const ids[] = {"deploy"};

static struct buf objects[OBJECTS];

static void
make(struct buf *b, unsigned i)
{
	buf_addf(b,
		"{\"apiVersion\":\"stable.underneathall.com/"
		"v1\",\"kind\":\"Nginx\",\"metadata\":{\"generation\":%u,"
		"\"name\":\"web-%u\",\"namespace\":\"team-%u\",\"resourceVersion\":\"%u\","
		"\"uid\":\"0f8fad5b-d9cb-469f-a165-%012u\"},\"spec\":{\"replicas\":%u,\"env\":[",
		i % 40, i, i % 17, 100000 + i * 7, i, i % 9);
	for (unsigned e = 0; b->length < 2550; e++)
		buf_addf(b,
			"%s{\"name\":\"SETTING_%u\",\"value\":\"value %u of a "
			"setting\",\"weight\":%u}",
			e ? "," : "", e, i * e, e);
	buf_adds(b, "]}}");
}

static struct template_program *
compile(void)
{
	struct template_group groups[GROUPS] = {
		[GROUP_DEPLOY] = {.path = "children[deploy].template"},
		[GROUP_STATUS] = {.path = "status", .allow_children = true},
	};
	struct template_source source = {
		.groups = groups, .n_groups = GROUPS, .children_ids = ids, .n_children = 1};
	cJSON *trees[GROUPS] = {
		json_parse(deploy, strlen(deploy), NULL), json_parse(status, strlen(status), NULL)};
	struct error err = {0};

	for (int i = 0; i < GROUPS; i++)
		groups[i].value = trees[i];
	struct template_program *program = template_compile(&source, &err);
	for (int i = 0; i < GROUPS; i++)
		cJSON_Delete(trees[i]);
	if (!program) {
		fprintf(stderr, "bench_render: %s\n", err.text);
		exit(1);
	}
	return program;
}

static void
render(struct template_program *program, size_t group, unsigned i, struct buf *out)
{
	const struct buf *object = &objects[i % OBJECTS];
	struct template_input input = {.object = object->data,
		.object_length = object->length,
		.children = children,
		.children_length = strlen(children)};
	struct template_problem problem;

	buf_reset(out);
	if (template_render(program, group, &input, out, &problem) < 0) {
		fprintf(stderr, "bench_render: %s: %s\n", problem.path, problem.text);
		exit(1);
	}
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds for one object, the best of the rounds; the groups from first to last. */
static double
measure(struct template_program *program, size_t first, size_t last, struct buf *out)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = seconds();

		for (unsigned i = 0; i < OBJECTS * REPEATS; i++)
			for (size_t group = first; group <= last; group++)
				render(program, group, i, out);
		double took = (seconds() - start) / (OBJECTS * REPEATS);
		if (took < best)
			best = took;
	}
	return best;
}

static double
measure_compile(void)
{
	double best = 1e9;

	for (int round = 0; round < 4 * ROUNDS; round++) {
		double start = seconds();

		template_free(compile());
		if (seconds() - start < best)
			best = seconds() - start;
	}
	return best;
}

static void
measure_all(struct template_program *program, struct buf *out)
{
	size_t before;

	printf("compile               %8.2f ms\n", measure_compile() * 1e3);
	render(program, GROUP_STATUS, 0, out);
	before = mallinfo2().uordblks;
	printf("a child of an object  %8.2f us\n",
		measure(program, GROUP_DEPLOY, GROUP_DEPLOY, out) * 1e6);
	printf("its status            %8.2f us\n",
		measure(program, GROUP_STATUS, GROUP_STATUS, out) * 1e6);
	printf("both                  %8.2f us\n",
		measure(program, GROUP_DEPLOY, GROUP_STATUS, out) * 1e6);
	render(program, GROUP_STATUS, 0, out);
	printf("heap growth           %8ld bytes over %u renders\n",
		(long)mallinfo2().uordblks - (long)before, 4U * ROUNDS * OBJECTS * REPEATS);
}

int
main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	struct buf out = BUF_INIT;

	template_init();
	for (unsigned i = 0; i < OBJECTS; i++) {
		objects[i] = BUF_INIT;
		make(&objects[i], i);
	}
	struct template_program *program = compile();
	for (unsigned i = 0; i < count; i++)
		for (size_t group = 0; group < GROUPS; group++)
			render(program, group, i, &out);
	if (count == 0)
		measure_all(program, &out);
	template_free(program);
	for (unsigned i = 0; i < OBJECTS; i++)
		buf_free(&objects[i]);
	buf_free(&out);
	return 0;
}
