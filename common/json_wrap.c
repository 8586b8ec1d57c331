/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrapping: what a double or a C string can't hold goes through parsers as a marked string (see json.h), and the printer turns
 * it back. Here are the way in, and the question that it hangs on: does a number survive a double?
 *
 * It does when its decimal digits, zeros at both ends aside, are those of the shortest text that reads back as the same double.
 * Up to 15 digits of ordinary size always do.
 */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/json_number.h"
#include "common/jsonscan_token.h"

#define MARK        "\xee\x80\x80" /* U+E000 */
#define MARK_LENGTH 3

/* cJSON takes no longer ones. */
#define NUMBER_TEXT_MAX 60

/* --- decimals --------------------------------------------------------------------- */

static void
add_digit(struct decimal *d, char c)
{
	if (d->n == 0 && c == '0')
		return;
	if (d->n < (int)sizeof(d->digits))
		d->digits[d->n] = c;
	else if (c != '0')
		d->too_long = true;
	d->n++;
}

/* The exponent behind e, clamped far beyond what counts. */
static long
read_exponent(const char *p, const char *end)
{
	bool negative = p < end && *p == '-';
	long value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && value < 100000; p++)
		value = value * 10 + (*p - '0');
	return negative ? -value : value;
}

void
decimal_read(struct decimal *ret, const char *text, size_t length)
{
	const char *p = text, *end = text + length;
	long before = 0, point = 0; /* digits before the point, zeros behind it */
	bool behind_point = false;

	*ret = (struct decimal){.negative = *p == '-'};
	for (p += ret->negative; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p < '0' || *p > '9') { /* whatever the locale has for a point */
			behind_point = true;
			continue;
		}
		add_digit(ret, *p);
		if (!behind_point && ret->n > 0)
			before++;
		else if (behind_point && ret->n == 0)
			point--;
	}
	if (ret->n > (int)sizeof(ret->digits))
		ret->n = (int)sizeof(ret->digits);
	while (ret->n > 0 && ret->digits[ret->n - 1] == '0')
		ret->n--;
	ret->point = before + point;
	if (p < end)
		ret->point += read_exponent(p + 1, end);
	if (ret->n == 0)
		ret->point = 0;
}

void
decimal_shortest(struct decimal *ret, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, value);
		if (digits == 17 || strtod(text, NULL) == value)
			break;
	}
	decimal_read(ret, text, strlen(text));
}

static double
decimal_value(const struct decimal *d)
{
	char text[sizeof(d->digits) + 24];

	/* Without a point, whatever the locale has for one. */
	snprintf(text, sizeof(text), "%s%.*se%ld", d->negative ? "-" : "", d->n, d->digits,
		d->point - d->n);
	return strtod(text, NULL);
}

bool
json_number_exact(const char *text, size_t length)
{
	struct decimal written, read;
	double value;

	if (length > NUMBER_TEXT_MAX)
		return false;
	decimal_read(&written, text, length);
	if (written.too_long)
		return false;
	if (written.n == 0 || (written.n <= 15 && labs(written.point) < 290))
		return true;
	value = decimal_value(&written);
	if (!isfinite(value))
		return false;
	decimal_shortest(&read, value);
	return read.n == written.n && read.point == written.point &&
	       memcmp(read.digits, written.digits, (size_t)read.n) == 0;
}

/* --- one value -------------------------------------------------------------------- */

const char *
json_wrapped_number(const char *text)
{
	struct scan s;
	const char *number;

	if (strncmp(text, MARK "n", MARK_LENGTH + 1) != 0)
		return NULL;
	number = text + MARK_LENGTH + 1;
	s = (struct scan){.end = number + strlen(number)};
	return scan_number(&s, number) == s.end ? number : NULL;
}

static cJSON *
string_of(struct buf *b)
{
	cJSON *value = b->failed ? NULL : cJSON_CreateString(b->data);

	buf_free(b);
	return value;
}

cJSON *
json_new_number(const char *text, size_t length)
{
	struct buf b = BUF_INIT;
	struct decimal d;

	if (json_number_exact(text, length)) {
		decimal_read(&d, text, length);
		return cJSON_CreateNumber(d.n ? decimal_value(&d) : d.negative ? -0.0 : 0.0);
	}
	buf_adds(&b, MARK "n");
	buf_add(&b, text, length);
	return string_of(&b);
}

cJSON *
json_new_string(const char *bytes, size_t length)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\0') {
			buf_adds(&b, MARK "0");
		} else if (length - i >= MARK_LENGTH && memcmp(bytes + i, MARK, MARK_LENGTH) == 0) {
			buf_adds(&b, MARK "e");
			i += MARK_LENGTH - 1;
		} else {
			buf_addc(&b, bytes[i]);
		}
	}
	return string_of(&b);
}

/* --- a whole document ----------------------------------------------------------------- */

struct wrap {
	struct buf *out;
	const char *copied; /* the input up to here is in out */
	bool any;
};

/* Puts text in the place of from..to. */
static void
replace(struct wrap *w, const char *from, const char *to, const char *text)
{
	buf_add(w->out, w->copied, (size_t)(from - w->copied));
	buf_adds(w->out, text);
	w->copied = to;
	w->any = true;
}

static bool
is_escape(const char *p, const char *end, const char *hex)
{
	return end - p >= 6 && p[1] == 'u' && strncasecmp(p + 2, hex, 4) == 0;
}

/* p behind the opening quote; to behind the closing one. */
static const char *
wrap_string(struct wrap *w, const char *p, const char *end)
{
	while (p < end && *p != '"') {
		if (*p == '\\') {
			size_t n = 2;

			if (is_escape(p, end, "0000"))
				replace(w, p, p + (n = 6), MARK "0");
			else if (is_escape(p, end, "e000"))
				replace(w, p, p + (n = 6), MARK "e");
			p += n;
		} else if (*p == MARK[0] && end - p >= MARK_LENGTH &&
			   memcmp(p, MARK, MARK_LENGTH) == 0) {
			replace(w, p, p + MARK_LENGTH, MARK "e");
			p += MARK_LENGTH;
		} else {
			p++;
		}
	}
	return p + 1;
}

static const char *
wrap_number(struct wrap *w, const char *p, const char *end)
{
	struct scan s = {.end = end};
	const char *behind = scan_number(&s, p);

	if (!behind)
		return end;
	if (!json_number_exact(p, (size_t)(behind - p))) {
		replace(w, p, behind, "\"" MARK "n");
		buf_add(w->out, p, (size_t)(behind - p));
		buf_addc(w->out, '"');
	}
	return behind;
}

bool
json_wrap(struct buf *out, const char *bytes, size_t length)
{
	struct wrap w = {.out = out, .copied = bytes};
	const char *p = bytes, *end = bytes + length;

	while (p < end) {
		if (*p == '"')
			p = wrap_string(&w, p + 1, end);
		else if (*p == '-' || (*p >= '0' && *p <= '9'))
			p = wrap_number(&w, p, end);
		else
			p++;
	}
	if (w.any)
		buf_add(out, w.copied, (size_t)(end - w.copied));
	return w.any;
}
