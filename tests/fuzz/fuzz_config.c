/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker on any bytes as the main file: a document comes out whatever goes in; what is valid decodes, and what is printed of it
 * is valid again and prints the same.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/config/check.h"
#include "common/config/config.h"
#include "common/json.h"
#include "tests/fuzz/fuzz.h"

/* The bytes as a file without a directory that others could write. */
static bool
check(const void *bytes, size_t length, struct buf *document)
{
	int fd = memfd_create("config", MFD_CLOEXEC);
	char path[64];
	bool valid;

	if (fd < 0 || fchmod(fd, 0600) < 0 || write(fd, bytes, length) != (ssize_t)length)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	valid = config_check(path, true, document);
	close(fd);
	return valid;
}

static void
decode_all(const struct buf *document)
{
	cJSON *parsed = json_parse(document->data, document->length, NULL);
	struct config_supervisor supervisor;
	const cJSON *item;

	if (!parsed)
		abort();
	if (json_bool(parsed, "valid", false)) {
		if (config_decode_supervisor(parsed, &supervisor, NULL) < 0)
			abort();
		config_supervisor_clear(&supervisor);
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(parsed, "controllers"))
	{
		struct buf bytes = BUF_INIT;
		struct config_controller *controller;

		json_print_canonical(&bytes, item);
		controller = config_decode_controller(bytes.data, bytes.length, NULL);
		if (!controller)
			abort();
		config_controller_free(controller);
		buf_free(&bytes);
	}
	cJSON_Delete(parsed);
}

static void
print_twice(const struct buf *document)
{
	struct buf first = BUF_INIT, again = BUF_INIT, second = BUF_INIT;

	config_print_yaml(&first, document->data, document->length);
	if (first.length <= CONFIG_FILE_MAX) {
		if (!check(first.data, first.length, &again)) {
			fprintf(stderr, "%s\n%s\n", first.data, again.data);
			abort();
		}
		config_print_yaml(&second, again.data, again.length);
		if (strcmp(first.data, second.data) != 0)
			abort();
	}
	buf_free(&first);
	buf_free(&again);
	buf_free(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf document = BUF_INIT;
	bool valid = check(data, size, &document);

	decode_all(&document);
	if (valid)
		print_twice(&document);
	buf_free(&document);
	return 0;
}
