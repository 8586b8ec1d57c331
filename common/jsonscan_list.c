/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the body of a list into its items while it arrives.
 *
 * A small state machine walks the top level of the document and the list "items". What stands there (keys, values, items) is
 * one piece each: when its first byte comes and the rest is in the same chunk, as for most items, it is validated and handed on
 * where it lies. Otherwise its bytes are gathered in `held` while counting brackets and quotes, to its end, and validated
 * then. So each byte is looked at two or three times whatever the chunking, and never more than one piece of at most
 * item_limit bytes is held.
 *
 * A document without "items", a Status and a Table are refused; a second "items" too, since items are gone once given out.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/jsonscan.h"
#include "common/jsonscan_token.h"

enum state {
	AT_START,     /* before the document's brace */
	AT_FIRST_KEY, /* a key, or the end of an empty document */
	AT_KEY,       /* behind a comma */
	AT_COLON,
	AT_VALUE,
	AT_COMMA,      /* behind a member's value */
	AT_FIRST_ITEM, /* an item, or the end of an empty list */
	AT_ITEM,       /* behind a comma */
	AT_ITEM_COMMA,
	AT_END, /* only white space may follow */
};

enum member { MEMBER_OTHER, MEMBER_ITEMS, MEMBER_KIND, MEMBER_METADATA };

struct jsonscan_list {
	struct jsonscan_list_callbacks callbacks;
	size_t item_limit;
	int error; /* the first, kept */
	enum state state;
	enum member member; /* whose value comes next */
	bool items_seen;

	struct buf held; /* the piece being gathered */
	bool gathering;
	size_t depth; /* brackets open in it */
	bool in_string, behind_backslash;

	char *resource_version, *continue_;
};

struct jsonscan_list *
jsonscan_list_new(const struct jsonscan_list_callbacks *callbacks, size_t item_limit)
{
	struct jsonscan_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->callbacks = *callbacks;
	list->item_limit = item_limit;
	list->held = BUF_INIT;
	return list;
}

void
jsonscan_list_free(struct jsonscan_list *list)
{
	if (!list)
		return;
	buf_free(&list->held);
	free(list->resource_version);
	free(list->continue_);
	free(list);
}

bool
jsonscan_list_done(const struct jsonscan_list *list)
{
	return list->state == AT_END && !list->error;
}

const char *
jsonscan_list_resource_version(const struct jsonscan_list *list)
{
	return list->resource_version ? list->resource_version : "";
}

const char *
jsonscan_list_continue(const struct jsonscan_list *list)
{
	return list->continue_ ? list->continue_ : "";
}

/* --- whole pieces ------------------------------------------------------------------ */

struct key_match {
	const char *text;
	enum member member;
};

static int
take_key(struct jsonscan_list *list, const char *bytes, size_t length)
{
	static const struct key_match known[] = {
		{"items", MEMBER_ITEMS}, {"kind", MEMBER_KIND}, {"metadata", MEMBER_METADATA}};
	char room[6 * 16];
	size_t n;

	list->member = MEMBER_OTHER;
	list->state = AT_COLON;
	if (length - 2 > sizeof(room))
		return 0;
	n = jsonscan_unescape(bytes + 1, length - 2, room);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].text) == n && memcmp(known[i].text, room, n) == 0)
			list->member = known[i].member;
	return 0;
}

/* A string value's text, NULL for no memory, "" for a value of another type. */
static char *
value_text(const char *value, const char *behind)
{
	size_t n = *value == '"' ? (size_t)(behind - value) - 2 : 0;
	char *text = malloc(n + 1);

	if (text)
		text[jsonscan_unescape(value + 1, n, text)] = '\0';
	return text;
}

static const char *
metadata_member(
	struct scan *s, const struct scan_key *key, const char *value, int levels, void *data)
{
	struct jsonscan_list *list = data;
	const char *behind = scan_value(s, value, levels);
	char **place = scan_key_is(key, "resourceVersion") ? &list->resource_version
		       : scan_key_is(key, "continue")      ? &list->continue_
							   : NULL;

	if (!behind || !place)
		return behind;
	free(*place);
	*place = value_text(value, behind);
	if (!*place)
		list->error = -ENOMEM;
	return *place ? behind : NULL;
}

static int
take_metadata(struct jsonscan_list *list, const char *bytes, size_t length)
{
	struct scan s = {.end = bytes + length};

	free(list->resource_version);
	free(list->continue_);
	list->resource_version = list->continue_ = NULL;
	if (*bytes == '{' && !scan_object(&s, bytes, JSON_DEPTH_MAX, metadata_member, list))
		return list->error ? list->error : -EBADMSG;
	return 0;
}

static bool
bytes_are(const char *bytes, size_t length, const char *text)
{
	return length == strlen(text) && memcmp(bytes, text, length) == 0;
}

static int
take_value(struct jsonscan_list *list, const char *bytes, size_t length)
{
	list->state = AT_COMMA;
	switch (list->member) {
	case MEMBER_METADATA:
		return take_metadata(list, bytes, length);
	case MEMBER_ITEMS: /* a list does not come here */
		if (list->items_seen || !bytes_are(bytes, length, "null"))
			return -EBADMSG;
		list->items_seen = true;
		return 0;
	case MEMBER_KIND:
		return bytes_are(bytes, length, "\"Status\"") ||
				       bytes_are(bytes, length, "\"Table\"")
			       ? -EBADMSG
			       : 0;
	case MEMBER_OTHER:
	default:
		return 0;
	}
}

/* A whole piece that is valid by itself. */
static int
take_piece(struct jsonscan_list *list, const char *bytes, size_t length)
{
	switch (list->state) {
	case AT_FIRST_KEY:
	case AT_KEY:
		return take_key(list, bytes, length);
	case AT_FIRST_ITEM:
	case AT_ITEM:
		list->state = AT_ITEM_COMMA;
		list->callbacks.item(list->callbacks.data, bytes, length);
		return 0;
	case AT_VALUE:
	default:
		return take_value(list, bytes, length);
	}
}

/* --- gathering ---------------------------------------------------------------------- */

enum piece_end { GOES_ON, ENDS_BEFORE, ENDS_WITH };

static enum piece_end
count_in_string(struct jsonscan_list *list, char c)
{
	if (list->behind_backslash)
		list->behind_backslash = false;
	else if (c == '\\')
		list->behind_backslash = true;
	else if (c == '"')
		list->in_string = false;
	return !list->in_string && list->depth == 0 ? ENDS_WITH : GOES_ON;
}

/* Only quotes and brackets count: the piece is validated when it is whole. */
static enum piece_end
count(struct jsonscan_list *list, char c)
{
	if (list->in_string)
		return count_in_string(list, c);
	switch (c) {
	case '"':
		list->in_string = true;
		return GOES_ON;
	case '{':
	case '[':
		list->depth++;
		return GOES_ON;
	case '}':
	case ']':
		if (list->depth == 0)
			return ENDS_BEFORE; /* the bracket behind a number or a word */
		return --list->depth == 0 ? ENDS_WITH : GOES_ON;
	case ',':
	case ' ':
	case '\n':
	case '\r':
	case '\t':
		return list->depth == 0 ? ENDS_BEFORE : GOES_ON;
	default:
		return GOES_ON;
	}
}

static int
take_gathered(struct jsonscan_list *list)
{
	const char *bytes = list->held.data, *end = bytes + list->held.length;
	int r = -EBADMSG;

	list->gathering = false;
	if (jsonscan_skip(bytes, end) == end)
		r = take_piece(list, bytes, list->held.length);
	buf_reset(&list->held); /* its memory stays for the next piece */
	return r;
}

static int
gather(struct jsonscan_list *list, const char **p, const char *end)
{
	enum piece_end is = GOES_ON;
	const char *from = *p;

	while (*p < end && is == GOES_ON) {
		is = count(list, **p);
		if (is != ENDS_BEFORE)
			++*p;
	}
	if ((size_t)(*p - from) > list->item_limit - list->held.length)
		return -EFBIG;
	buf_add(&list->held, from, (size_t)(*p - from));
	if (list->held.failed)
		return -ENOMEM;
	return is == GOES_ON ? 0 : take_gathered(list);
}

/* A piece begins at *p: from the chunk itself when it ends in it, else it is gathered. */
static int
begin(struct jsonscan_list *list, const char **p, const char *end)
{
	const char *from = *p, *behind = NULL;

	/* Numbers and words end only with the byte behind them. */
	if (*from == '{' || *from == '[' || *from == '"')
		behind = jsonscan_skip(from, end);
	if (behind) {
		*p = behind;
		return (size_t)(behind - from) > list->item_limit
			       ? -EFBIG
			       : take_piece(list, from, (size_t)(behind - from));
	}
	list->gathering = true;
	list->depth = 0;
	list->in_string = list->behind_backslash = false;
	return 0;
}

/* --- structure ---------------------------------------------------------------------- */

static int
end_of_document(struct jsonscan_list *list)
{
	list->state = AT_END;
	return list->items_seen ? 0 : -EBADMSG;
}

/* The byte at *p is not white space and no piece is open. Either it is taken, or a piece begins with it. */
static int
step(struct jsonscan_list *list, const char **p, const char *end)
{
	char c = **p;

	switch (list->state) {
	case AT_FIRST_KEY:
	case AT_KEY:
		if (c == '"')
			return begin(list, p, end);
		++*p;
		return c == '}' && list->state == AT_FIRST_KEY ? end_of_document(list) : -EBADMSG;
	case AT_VALUE:
		if (list->member != MEMBER_ITEMS || c != '[')
			return begin(list, p, end);
		if (list->items_seen)
			return -EBADMSG;
		list->items_seen = true;
		list->state = AT_FIRST_ITEM;
		break;
	case AT_FIRST_ITEM:
	case AT_ITEM:
		if (c == '{')
			return begin(list, p, end);
		if (c != ']' || list->state == AT_ITEM)
			return -EBADMSG;
		list->state = AT_COMMA;
		break;
	case AT_START:
		list->state = AT_FIRST_KEY;
		++*p;
		return c == '{' ? 0 : -EBADMSG;
	case AT_COLON:
		list->state = AT_VALUE;
		++*p;
		return c == ':' ? 0 : -EBADMSG;
	case AT_COMMA:
		list->state = AT_KEY;
		++*p;
		return c == ',' ? 0 : c == '}' ? end_of_document(list) : -EBADMSG;
	case AT_ITEM_COMMA:
		list->state = c == ',' ? AT_ITEM : AT_COMMA;
		++*p;
		return c == ',' || c == ']' ? 0 : -EBADMSG;
	case AT_END:
	default:
		return -EBADMSG;
	}
	++*p;
	return 0;
}

int
jsonscan_list_feed(struct jsonscan_list *list, const char *bytes, size_t length)
{
	const char *p = bytes, *end = bytes + length;

	while (p < end && !list->error) {
		if (list->gathering) {
			list->error = gather(list, &p, end);
			continue;
		}
		if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
			p++;
		else
			list->error = step(list, &p, end);
	}
	return list->error;
}
