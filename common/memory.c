/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that does not fail: without memory for its own bookkeeping a process can only say so and end. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/memory.h"

static void *
checked(void *p)
{
	if (!p) {
		log_error("out of memory");
		_exit(MEMORY_EXIT);
	}
	return p;
}

void *
xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *
xreallocarray(void *old, size_t count, size_t size)
{
	return checked(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *
xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *
xstrndup(const char *text, size_t n)
{
	return checked(strndup(text, n));
}

char *
xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return checked(text);
}

void
memory_burn(void *p, size_t n)
{
	if (!p)
		return;
	explicit_bzero(p, n);
	free(p);
}
