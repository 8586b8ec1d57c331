/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 for Secrets, kubeconfigs and continue tokens. */
#include "config.h"

#include <string.h>
#include "devserver/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(struct buf *out, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i;
		unsigned int bits = (unsigned int)p[i] << 16 |
				    (left > 1 ? (unsigned int)p[i + 1] << 8 : 0) |
				    (left > 2 ? p[i + 2] : 0);

		buf_addc(out, digits[bits >> 18]);
		buf_addc(out, digits[bits >> 12 & 63]);
		buf_addc(out, left > 1 ? digits[bits >> 6 & 63] : '=');
		buf_addc(out, left > 2 ? digits[bits & 63] : '=');
	}
}

bool
base64_decode(struct buf *out, const char *text, size_t length)
{
	size_t padding = 0;

	if (length % 4)
		return false;
	while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < length; i += 4) {
		unsigned int bits = 0;
		size_t bytes = i + 4 == length ? 3 - padding : 3;

		for (size_t k = 0; k < 4; k++) {
			const char *at = k > bytes ? digits : memchr(digits, text[i + k], 64);

			if (!at)
				return false;
			bits = bits << 6 | (unsigned int)(at - digits);
		}
		for (size_t k = 0; k < bytes; k++)
			buf_addc(out, (char)(bits >> (16 - 8 * k) & 0xff));
	}
	return true;
}
