/* SPDX-License-Identifier: Apache-2.0 */
/* How far one name is from another, for "did you mean". */
#ifndef COMMON_SPELLING_H
#define COMMON_SPELLING_H

#define SPELLING_FAR 255u /* also for names that are too long to compare */

/* Edits (insert, drop, change, swap of neighbours) from a to b, upper and lower case alike. Names of 64 bytes or more are SPELLING_FAR. */
unsigned spelling_distance(const char *a, const char *b);

#endif
