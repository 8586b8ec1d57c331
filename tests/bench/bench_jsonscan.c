/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the scanner is: jsonscan_object() and jsonscan_strip() over objects of 2.6 KB, and the list cutter over a body of them in
 * chunks of 16 KiB. Prints GB/s of input, the best of five rounds.
 *
 * usage: bench_jsonscan [COUNT]
 * With COUNT, that many objects are scanned once, and nothing is measured: for callgrind.
 *
 * The objects differ in names and numbers, so that the processor can't learn one by heart.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/buf.h"
#include "common/jsonscan.h"

#define OBJECTS 256
#define ROUNDS  5
#define REPEATS 200
#define CHUNK   16384

static struct buf objects[OBJECTS];

static void
add_managed_fields(struct buf *b, unsigned i)
{
	static const char *const fields[] = {
		"replicas", "image", "strategy", "port", "resources", "template", "env"};

	buf_addf(b, "\"managedFields\":[{\"apiVersion\":\"stable.example.com/"
		    "v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":"
		    "{\"f:metadata\":{\"f:annotations\":{\".\":{},\"f:kubectl.kubernetes.io/"
		    "last-applied-configuration\":{}},"
		    "\"f:labels\":{\".\":{},\"f:app\":{},\"f:tier\":{}}},\"f:spec\":{\".\":{}");
	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		buf_addf(b, ",\"f:%s\":{%s}", fields[(f + i) % 7],
			f % 2 ? "\".\":{},\"f:value\":{}" : "");
	buf_addf(b,
		"}},\"manager\":\"kubectl-client-side-apply\",\"operation\":\"Update\",\"time\":"
		"\"2024-03-01T10:%02u:00Z\"},"
		"{\"apiVersion\":\"stable.example.com/"
		"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{\"f:ready\":{},"
		"\"f:conditions\":{}}},\"manager\":\"operator\",\"operation\":\"Update\","
		"\"subresource\":\"status\"}],",
		i % 60);
}

static void
make(struct buf *b, unsigned i)
{
	buf_addf(b,
		"{\"apiVersion\":\"stable.example.com/"
		"v1\",\"kind\":\"Nginx\",\"metadata\":{\"annotations\":{\"note\":\"object %u\","
		"\"kubectl.kubernetes.io/"
		"last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"stable.example.com/v1\\\","
		"\\\"kind\\\":\\\"Nginx\\\",\\\"metadata\\\":{\\\"name\\\":\\\"web-%u\\\"},"
		"\\\"spec\\\":{\\\"replicas\\\":%u}}\\n\"},"
		"\"creationTimestamp\":\"2024-03-01T10:00:00Z\",\"generation\":%u,\"labels\":{"
		"\"app\":\"web-%u\",\"tier\":\"front\"},",
		i, i, i % 9, i % 40, i);
	add_managed_fields(b, i);
	buf_addf(b,
		"\"name\":\"web-%u\",\"namespace\":\"team-%u\",\"resourceVersion\":\"%u\",\"uid\":"
		"\"0f8fad5b-d9cb-469f-a165-%012u\"},"
		"\"spec\":{\"replicas\":%u,\"image\":\"registry.example.com/web/"
		"nginx:1.%u\",\"env\":[",
		i, i % 17, 100000 + i * 7, i, i % 9, i % 30);
	for (unsigned e = 0; e < 5; e++)
		buf_addf(b, "%s{\"name\":\"SETTING_%u\",\"value\":\"value %u of a setting\"}",
			e ? "," : "", e, i * e);
	buf_adds(b, "],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"128Mi\"},"
		    "\"requests\":{\"cpu\":0.25,\"memory\":67108864}},"
		    "\"text\":\"");
	while (b->length < 2400)
		buf_addf(b, "Some words of a longer text %u. ", i);
	buf_addf(b,
		"\"},\"status\":{\"conditions\":[{\"lastTransitionTime\":\"2024-03-01T10:00:%"
		"02uZ\",\"status\":\"True\","
		"\"type\":\"Ready\",\"reason\":\"Succeeded\"}],\"observedGeneration\":%u,\"ready\":"
		"true}}",
		i % 60, i % 40);
}

/* Scans and strips every object once; returns the bytes that came out. */
static size_t
pass(char *out)
{
	size_t sum = 0;

	for (unsigned i = 0; i < OBJECTS; i++) {
		struct json_object_info info;

		if (!jsonscan_object(objects[i].data, objects[i].length, &info))
			abort();
		sum += jsonscan_strip(objects[i].data, objects[i].length, &info, out);
	}
	return sum;
}

static void
count_item(void *data, const char *bytes, size_t length)
{
	(void)bytes;
	*(size_t *)data += length;
}

static size_t
cut(const struct buf *body)
{
	size_t sum = 0;
	const struct jsonscan_list_callbacks callbacks = {.item = count_item, .data = &sum};
	struct jsonscan_list *list = jsonscan_list_new(&callbacks, 1 << 20);

	for (size_t at = 0; at < body->length; at += CHUNK)
		if (jsonscan_list_feed(list, body->data + at,
			    body->length - at < CHUNK ? body->length - at : CHUNK) < 0)
			abort();
	if (!jsonscan_list_done(list))
		abort();
	jsonscan_list_free(list);
	return sum;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
measure(size_t total, const struct buf *body, char *out)
{
	double best_scan = 1e9, best_cut = 1e9;
	size_t stripped = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double begin = now(), middle;

		for (int i = 0; i < REPEATS; i++)
			stripped = pass(out);
		middle = now();
		for (int i = 0; i < REPEATS; i++)
			cut(body);
		if (middle - begin < best_scan)
			best_scan = middle - begin;
		if (now() - middle < best_cut)
			best_cut = now() - middle;
	}
	printf("objects of %zu bytes, %zu without managedFields and last-applied\n",
		total / OBJECTS, stripped / OBJECTS);
	printf("scan and strip     %6.2f GB/s %8.0f ns an object\n",
		(double)total * REPEATS / best_scan / 1e9, best_scan / REPEATS / OBJECTS * 1e9);
	printf("list in 16 KiB     %6.2f GB/s %8.0f ns an object\n",
		(double)body->length * REPEATS / best_cut / 1e9,
		best_cut / REPEATS / OBJECTS * 1e9);
}

int
main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct buf body = BUF_INIT;
	size_t total = 0, sum = 0;
	char out[8192];

	buf_adds(&body,
		"{\"kind\":\"NginxList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (unsigned i = 0; i < OBJECTS; i++) {
		objects[i] = BUF_INIT;
		make(&objects[i], i);
		total += objects[i].length;
		if (i)
			buf_addc(&body, ',');
		buf_add(&body, objects[i].data, objects[i].length);
	}
	buf_adds(&body, "]}");
	if (count == 0)
		measure(total, &body, out);
	for (long i = 0; i < count; i++) {
		struct buf *b = &objects[i % OBJECTS];
		struct json_object_info info;

		if (jsonscan_object(b->data, b->length, &info))
			sum += jsonscan_strip(b->data, b->length, &info, out);
	}
	if (count)
		printf("%ld objects, %zu bytes left\n", count, sum);
	for (unsigned i = 0; i < OBJECTS; i++)
		buf_free(&objects[i]);
	buf_free(&body);
	return 0;
}
