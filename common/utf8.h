/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: no surrogates, nothing above U+10FFFF, nothing longer than needed. */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the sequence at p (1 to 4 bytes, all before end), or 0 when there is none. p < end. */
size_t utf8_sequence(const char *p, const char *end);
bool utf8_valid(const char *text, size_t length);
/* The most bytes of text, at most `most`, that end with a whole character. */
size_t utf8_cut(const char *text, size_t length, size_t most);
/* Makes one line of valid UTF-8 of a NUL-terminated text, in place: control characters become spaces, wrong bytes '?'. */
void utf8_clean_line(char *text);

#endif
