/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer: runs a target over its seeds, so that inputs that were once found stay tested by every make check.
 *
 * usage: fuzz_NAME [FILE...]
 * Without files, all of tests/fuzz/seeds/NAME.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "tests/fuzz/fuzz.h"

static bool
run(const char *path)
{
	struct buf file = BUF_INIT;
	int r = buf_read_file(&file, path, 16 << 20);
	uint8_t *exact = NULL;

	if (r == 0)
		exact = malloc(file.length ? file.length : 1);
	if (exact) {
		/* In a block of its own size, so that a sanitizer sees each byte read too far. */
		memcpy(exact, file.data, file.length);
		LLVMFuzzerTestOneInput(exact, file.length);
	} else {
		fprintf(stderr, "%s: %s\n", path, strerror(-r));
	}
	free(exact);
	buf_free(&file);
	return exact != NULL;
}

static int
run_seeds(const char *name)
{
	struct buf path = BUF_INIT;
	struct dirent *entry;
	int count = 0;
	DIR *directory;

	buf_addf(&path, "%s/%s", SEEDS, name);
	directory = opendir(path.data);
	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		buf_reset(&path);
		buf_addf(&path, "%s/%s/%s", SEEDS, name, entry->d_name);
		if (!run(path.data)) {
			count = 0;
			break;
		}
		count++;
	}
	if (directory)
		closedir(directory);
	printf("%s: %d seeds\n", name, count);
	buf_free(&path);
	return count > 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "fuzz_");
	int failed = 0;

	for (const char *later = name; later; later = strstr(later + 1, "fuzz_"))
		name = later;
	if (argc < 2)
		return name ? run_seeds(name + strlen("fuzz_")) : 1;
	for (int i = 1; i < argc; i++)
		failed |= !run(argv[i]);
	return failed;
}
