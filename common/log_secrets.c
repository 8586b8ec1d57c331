/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What looks like a secret although nobody registered it: the user information of a URL, a bearer token, credentials after "Basic" in a header, a JSON
 * Web Token (which a service account's token is). A third barrier: text of servers and libraries passes through here. In place; what it puts is
 * never longer than what it takes away.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/log_line.h"

#define TOKEN                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"-._~+/="
#define TOKEN_MIN 8 /* shorter words after "Bearer" are words */

/* Puts "***" for n bytes; returns where what follows them is. */
static char *
blot(char *from, size_t n)
{
	if (n < 3)
		return from + n;
	memcpy(from, "***", 3);
	memmove(from + 3, from + n, strlen(from + n) + 1);
	return from + 3;
}

/* "https://user:password@host": at the two slashes. User information ends at the last "@" before path, query or end of the word (RFC 3986 3.2). */
static char *
after_slashes(char *p)
{
	size_t n = strcspn(p, "/?# \t\r\n\"'<>");
	char *at = NULL;

	for (char *q = p; q < p + n; q++)
		if (*q == '@')
			at = q;
	/* One or two bytes have no room for the asterisks: no password is that short. */
	return at && at - p >= 3 ? blot(p, (size_t)(at - p)) : p;
}

/* "Bearer TOKEN", "Basic BASE64": at the word behind it. Basic may be followed by any word in prose; in a header it comes after a colon. */
static char *
after_scheme(char *p, bool basic, const char *text, const char *scheme)
{
	size_t n = strspn(p, TOKEN);
	bool header = scheme - text >= 2 && memcmp(scheme - 2, ": ", 2) == 0;

	return n >= TOKEN_MIN && (!basic || header) ? blot(p, n) : p;
}

/* "eyJ....eyJ....SIGNATURE": two dots at least between three parts (RFC 7519). */
static char *
web_token(char *p)
{
	size_t n = strspn(p, TOKEN);
	const char *dot = memchr(p, '.', n);

	if (!dot || !memchr(dot + 1, '.', n - (size_t)(dot + 1 - p)) || n < 20)
		return p;
	return blot(p, n);
}

static bool
begins(const char *p, const char *word)
{
	return strncasecmp(p, word, strlen(word)) == 0;
}

void
log_blot_secrets(char *text)
{
	char *p = text, *next;

	while (*p) {
		if (*p == ':' && p[1] == '/' && p[2] == '/') {
			p = after_slashes(p + 3);
		} else if ((*p == 'B' || *p == 'b') && begins(p, "bearer ")) {
			p = after_scheme(p + 7, false, text, p);
		} else if ((*p == 'B' || *p == 'b') && begins(p, "basic ")) {
			p = after_scheme(p + 6, true, text, p);
		} else if (*p == 'e' && strncmp(p, "eyJ", 3) == 0) {
			next = web_token(p);
			p = next == p ? p + 3 : next;
		} else {
			p++;
		}
	}
}
