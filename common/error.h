/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error as a value: a negative errno for the program, one line of text for the person.
 *
 * Functions that can fail for a reason worth telling take a `struct error *` as their last argument,
 * which may be NULL, return 0 or -errno, and fill it only on failure. They do not log: the caller that
 * decides what happens next logs once, or puts the text into a condition. Text never holds a secret.
 */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

struct error {
	int code;       /* negative errno */
	char text[512]; /* one line, valid UTF-8, cut to fit; says what to do where that is known */
};

/* Sets the code (negative errno) and the text; err may be NULL. Returns code. */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "format: " before the text that is there, which keeps its code. Returns err's code, or -EIO when err is NULL. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
