/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable run of bytes.
 *
 * Invariants: data is never NULL (an empty buffer points at a static "\0"), data[length] is always NUL,
 * which is not counted. Growth beyond `limit` (0: none), or a failed allocation, sets `failed` and drops
 * the bytes of that call and of all later ones, so that a caller may append freely and look once, at the end.
 * Initialise with BUF_INIT; buf_free() gives the memory back and leaves an empty buffer.
 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

extern char buf_empty[1];

struct buf {
	char *data;
	size_t length, capacity;
	size_t limit; /* most bytes it may hold, 0 for no bound */
	bool failed;
};

#define BUF_INIT          ((struct buf){.data = buf_empty})
#define BUF_INIT_LIMIT(n) ((struct buf){.data = buf_empty, .limit = (n)})

void buf_free(struct buf *b);
/* Empties it and clears failed; keeps the memory. */
void buf_reset(struct buf *b);
/* Makes room for n more bytes; 0 or -ENOMEM / -EFBIG. */
int buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_adds(struct buf *b, const char *text);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Drops the first n bytes (n <= length). */
void buf_consume(struct buf *b, size_t n);
/* Hands the memory to the caller (free()), NUL-terminated, NULL if failed; the buffer is empty again. */
char *buf_detach(struct buf *b, size_t *ret_length);
/* Reads a whole regular file of at most limit bytes (appends). 0 or -errno, -EFBIG when larger. */
int buf_read_file(struct buf *b, const char *path, size_t limit);

#endif
