/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer: runs a target over its seeds, so that inputs that were once found stay tested by every make check, and then over
 * changed seeds, FUZZ_RUNS of them (of the environment, 300), the same ones each time.
 *
 * usage: fuzz_NAME [FILE...]
 * Without files, all of tests/fuzz/seeds/NAME. An input that ends the program is left in fuzz_NAME.crash.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "tests/fuzz/fuzz.h"

#define SEEDS_MAX 256
#define SIZE_MAX_ ((size_t)64 << 10) /* of changed seeds; longer ones are cut */

static struct buf seeds[SEEDS_MAX];
static size_t n_seeds;
static char crash_path[128];
static const uint8_t *input;
static size_t input_length;

/* So that a sanitizer's finding is a signal like any other. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "abort_on_error=1";
}
const char *__ubsan_default_options(void);
const char *
__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void
on_crash(int signo)
{
	int fd = -1;

	signal(signo, SIG_DFL);
	if (input) /* a leak is found at the end, when there is none */
		fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd >= 0 && write(fd, input, input_length) >= 0)
		close(fd);
	raise(signo);
}

/* In a block of its own size, so that a sanitizer sees each byte read too far. */
static void
run(const void *bytes, size_t length)
{
	uint8_t *exact = malloc(length ? length : 1);

	if (!exact)
		abort();
	if (length)
		memcpy(exact, bytes, length);
	input = exact;
	input_length = length;
	LLVMFuzzerTestOneInput(exact, length);
	input = NULL;
	free(exact);
}

static bool
load(const char *path, struct buf *file)
{
	int r = buf_read_file(file, path, 16 << 20);

	if (r < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(-r));
	return r == 0;
}

/* --- changed seeds --- */

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

/* xorshift64*: the same numbers each time. */
static size_t
below(size_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return n ? (size_t)((state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n : 0;
}

static void
change(uint8_t *bytes, size_t *length)
{
	static const char *const words[] = {"null", "{", "}", "[", "]", "\"", ":", ",", "\n",
		"\\u0000", "\\ud800", "\xef\xbb\xbf", "\xff", "%00", "..", "/", "- ", "&a ", "*a",
		"<<: ", "1e999", "-1", "9007199254740993", "${", "\t", "\r\n", "'", "true"};
	size_t at = below(*length + 1), n = below(16) + 1, left = *length - at;

	if (n > left)
		n = left;
	switch (below(6)) {
	case 0:
		if (left)
			bytes[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		if (left)
			bytes[at] = (uint8_t)below(256);
		break;
	case 2: /* a piece goes */
		memmove(bytes + at, bytes + at + n, left - n);
		*length -= n;
		break;
	case 3: /* a piece twice */
		memmove(bytes + at + n, bytes + at, left);
		*length += n;
		break;
	case 4: { /* a word comes in */
		const char *word = words[below(sizeof words / sizeof words[0])];

		n = strlen(word);
		memmove(bytes + at + n, bytes + at, left);
		memcpy(bytes + at, word, n);
		*length += n;
		break;
	}
	case 5: /* the end of another seed */
	{
		const struct buf *other = &seeds[below(n_seeds)];
		size_t from = below(other->length + 1);

		n = other->length - from;
		if (n > SIZE_MAX_ - at)
			n = SIZE_MAX_ - at;
		if (n)
			memcpy(bytes + at, other->data + from, n);
		*length = at + n;
		break;
	}
	}
}

static void
run_changed(unsigned long runs)
{
	static uint8_t bytes[SIZE_MAX_ + 1024];

	for (unsigned long i = 0; i < runs; i++) {
		const struct buf *seed = &seeds[i % n_seeds];
		size_t length = seed->length < SIZE_MAX_ ? seed->length : SIZE_MAX_;

		if (length)
			memcpy(bytes, seed->data, length);
		for (size_t changes = below(8) + 1; changes > 0; changes--) {
			change(bytes, &length);
			if (length > SIZE_MAX_)
				length = SIZE_MAX_;
		}
		run(bytes, length);
	}
}

/* --- seeds --- */

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
run_seeds(const char *name)
{
	const char *text = getenv("FUZZ_RUNS");
	unsigned long runs = text ? strtoul(text, NULL, 10) : 300;
	struct dirent **entries;
	struct buf path = BUF_INIT;
	int n, failed = 0;

	buf_addf(&path, "%s/%s", SEEDS, name);
	n = scandir(path.data, &entries, NULL, by_name); /* in one order everywhere */
	for (int i = 0; i < n; i++) {
		buf_reset(&path);
		buf_addf(&path, "%s/%s/%s", SEEDS, name, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && n_seeds < SEEDS_MAX) {
			if (load(path.data, &seeds[n_seeds]))
				n_seeds++;
			else
				failed = 1;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	buf_free(&path);
	for (size_t i = 0; i < n_seeds; i++)
		run(seeds[i].data, seeds[i].length);
	if (n_seeds > 0)
		run_changed(runs);
	printf("%s: %zu seeds, %lu changed ones\n", name, n_seeds, runs);
	for (size_t i = 0; i < n_seeds; i++)
		buf_free(&seeds[i]);
	return n_seeds > 0 ? failed : 1;
}

int
main(int argc, char **argv)
{
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
	const char *name = strstr(argv[0], "fuzz_");
	int failed = 0;

	for (const char *later = name; later; later = strstr(later + 1, "fuzz_"))
		name = later;
	snprintf(crash_path, sizeof crash_path, "%s.crash", name ? name : "fuzz");
	for (size_t i = 0; argc < 2 && i < sizeof signals / sizeof signals[0]; i++)
		signal(signals[i], on_crash);
	if (argc < 2)
		return name ? run_seeds(name + strlen("fuzz_")) : 1;
	for (int i = 1; i < argc; i++) {
		struct buf file = BUF_INIT;

		if (load(argv[i], &file))
			run(file.data, file.length);
		else
			failed = 1;
		buf_free(&file);
	}
	return failed;
}
