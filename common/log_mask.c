/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secrets that no output may show: tokens and keys that were read, and that a server or a program may echo. A second
 * barrier, not the first: it knows only the exact bytes that were registered, no encoded form of them.
 * Copies are owned here and overwritten before they are freed.
 */
#include "config.h"

#include <string.h>

#include "common/log.h"
#include "common/log_line.h"
#include "common/memory.h"

#define SECRETS_MAX       64
#define SECRET_LENGTH_MIN 8

static struct secret {
	char *bytes; /* NULL: none; NUL-terminated */
	size_t length;
} secrets[SECRETS_MAX];
static unsigned next_secret;

void
log_mask(const char *secret, size_t length)
{
	struct secret *slot = &secrets[next_secret];

	/* Text holds no NUL, so that what follows one could never be found. */
	length = strnlen(secret, length);
	if (length < SECRET_LENGTH_MIN)
		return;
	for (unsigned i = 0; i < SECRETS_MAX; i++)
		if (secrets[i].length == length && memcmp(secrets[i].bytes, secret, length) == 0)
			return;
	memory_burn(slot->bytes, slot->length);
	slot->bytes = xstrndup(secret, length);
	slot->length = length;
	next_secret = (next_secret + 1) % SECRETS_MAX;
}

static void
mask_one(char *text, const struct secret *secret)
{
	size_t left = strlen(text);
	char *found;

	while ((found = memmem(text, left, secret->bytes, secret->length)) != NULL) {
		left -= (size_t)(found - text) + secret->length;
		memcpy(found, "***", 3);
		text = found + 3;
		memmove(text, found + secret->length, left + 1);
	}
}

/* Text that was cut may end in the first bytes of a secret. */
static void
mask_end(char *text, const struct secret *secret)
{
	size_t length = strlen(text);
	size_t n = secret->length - 1 < length ? secret->length - 1 : length;

	for (; n >= SECRET_LENGTH_MIN / 2; n--)
		if (memcmp(text + length - n, secret->bytes, n) == 0) {
			memcpy(text + length - n, "***", 4);
			return;
		}
}

void
log_mask_text(char *text, bool cut)
{
	for (unsigned i = 0; i < SECRETS_MAX && secrets[i].bytes; i++) {
		mask_one(text, &secrets[i]);
		if (cut)
			mask_end(text, &secrets[i]);
	}
	log_blot_secrets(text);
}

void
log_apply_mask(char *text)
{
	log_mask_text(text, false);
}
