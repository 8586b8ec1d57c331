/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store costs: a changed object scanned and put over the one that is there, as for each event of a watch, among 2048 objects of
 * 1.7 KB. Prints nanoseconds an update, the best of five rounds, and bytes an object.
 *
 * usage: bench_store [COUNT]
 * With COUNT, that many updates are made once, and nothing is measured: for callgrind.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/buf.h"
#include "workers/store.h"

#define OBJECTS 2048
#define ROUNDS  5
#define REPEATS 20

/* Each object in two versions of different length, so that an update finds its place again, larger and smaller. */
static struct buf objects[OBJECTS][2];

static void
make(struct buf *b, unsigned i, unsigned version)
{
	buf_addf(b,
		"{\"apiVersion\":\"stable.example.com/"
		"v1\",\"kind\":\"Nginx\",\"metadata\":{\"generation\":%u,"
		"\"managedFields\":[{\"manager\":\"kubectl\",\"operation\":\"Update\","
		"\"fieldsType\":\"FieldsV1\","
		"\"fieldsV1\":{\"f:spec\":{\"f:replicas\":{}}}}],\"name\":\"web-%u\",\"namespace\":"
		"\"team-%u\","
		"\"resourceVersion\":\"%u\",\"uid\":\"0f8fad5b-d9cb-469f-a165-%012u\"},\"spec\":{"
		"\"text\":\"",
		version + 1, i, i % 17, 100000 + i * 2 + version, i);
	while (b->length < 1700 + 40 * version)
		buf_addf(b, "Some words of a longer text %u. ", i);
	buf_adds(b, "\"}}");
}

static void
update(struct store *store, unsigned i, enum store_result expected)
{
	const struct buf *object = &objects[i % OBJECTS][i / OBJECTS % 2];
	struct json_object_info info;
	const struct store_entry entry = {
		.bytes = object->data, .length = object->length, .info = &info, .keep_body = true};

	if (!jsonscan_object(object->data, object->length, &info) ||
		store_put(store, &entry, STORE_FROM_SERVER) != expected)
		abort();
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
measure(struct store *store)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = seconds();

		for (unsigned i = 0; i < OBJECTS * REPEATS; i++)
			update(store, i + OBJECTS, STORE_CHANGED);
		if (seconds() - start < best)
			best = seconds() - start;
	}
	printf("an update          %8.0f ns\n", best / (OBJECTS * REPEATS) * 1e9);
	printf("an object          %8zu bytes in the store, %zu as it came\n",
		store_bytes(store) / OBJECTS, objects[0][1].length);
}

int
main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	struct store_budget budget = {0};
	struct store *store = store_new(&budget);

	if (!store)
		abort();
	for (unsigned i = 0; i < OBJECTS; i++)
		for (unsigned version = 0; version < 2; version++) {
			objects[i][version] = BUF_INIT;
			make(&objects[i][version], i, version);
		}
	for (unsigned i = 0; i < OBJECTS; i++)
		update(store, i, STORE_NEW);
	for (unsigned i = 0; i < count; i++)
		update(store, i + OBJECTS, STORE_CHANGED);
	if (count == 0)
		measure(store);
	store_free(store);
	for (unsigned i = 0; i < OBJECTS; i++)
		for (unsigned version = 0; version < 2; version++)
			buf_free(&objects[i][version]);
	return 0;
}
