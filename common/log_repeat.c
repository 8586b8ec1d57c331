/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds back lines that say the same again and again: of one message about one object a few pass within a minute, the rest is counted and summed up
 * in a line of its own. Numbers that stand alone ("pid 4711", "in 1.6 s") do not make a message another one. A small table, in which the oldest makes room with
 * its sum said first, so that neither memory nor work grows with the flood. It writes nothing: log.c does.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/log_line.h"
#include "common/utf8.h"

#define ENTRIES   32
#define BURST     5
#define WINDOW_NS (60 * NSEC_PER_SEC)

static struct entry {
	uint64_t hash; /* 0: free */
	int64_t since_ns;
	unsigned passed;
	struct log_repeat sum;
} entries[ENTRIES];
static uint64_t held_in_all;

/* --- sameness --- */

static bool
in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c & 0x80) || (c && strchr("-_./:", c));
}

/* The length of a number at p that is a word of its own, 0: there is none. */
static size_t
lone_number(const char *text, const char *p)
{
	size_t n = strspn(p, "0123456789.");

	if (n == 0 || *p == '.' || (p > text && in_word(p[-1])) || in_word(p[n]))
		return 0;
	return n;
}

static uint64_t
add(uint64_t hash, const char *text, size_t n)
{
	return XXH3_64bits_withSeed(text, n, hash);
}

/* Each part begins where the last one's hash left off, so that "a", "bc" is another thing than "ab", "c". */
static uint64_t
hash_of(enum log_level level, const char *namespace_, const char *name, const char *message)
{
	uint64_t hash = (uint64_t)level;

	hash = add(hash, namespace_, strlen(namespace_));
	hash = add(hash, name, strlen(name));
	for (const char *p = message, *from = p; *from; p++) {
		size_t n = lone_number(message, p);

		if (n == 0 && *p)
			continue;
		hash = add(hash, from, (size_t)(p - from));
		from = p += n;
		if (*p == '\0')
			break;
	}
	return hash ? hash : 1;
}

/* --- the table --- */

static void
copy(char *out, size_t size, const char *text)
{
	size_t n = utf8_cut(text, strlen(text), size - 1);

	memcpy(out, text, n);
	out[n] = '\0';
}

/* The entry of this hash, else the one that makes room. */
static struct entry *
find(uint64_t hash)
{
	struct entry *room = &entries[0];

	for (unsigned i = 0; i < ENTRIES; i++) {
		if (entries[i].hash == hash)
			return &entries[i];
		if (entries[i].hash == 0 || (room->hash && entries[i].since_ns < room->since_ns))
			room = &entries[i];
	}
	return room;
}

/* Hands out the sum, and begins anew without one. */
static bool
take_sum(struct entry *entry, int64_t now_ns, struct log_repeat *ret)
{
	if (entry->hash == 0 || entry->sum.n == 0)
		return false;
	*ret = entry->sum;
	ret->over_ns = now_ns - entry->since_ns;
	entry->sum.n = 0;
	return true;
}

enum log_repeat_verdict
log_repeat_note(int64_t now_ns, enum log_level level, const char *namespace_, const char *name,
	const char *message, struct log_repeat *ret_sum)
{
	uint64_t hash = hash_of(level, namespace_, name, message);
	struct entry *entry = find(hash);
	bool has_sum;

	if (entry->hash == hash && now_ns - entry->since_ns < WINDOW_NS) {
		if (entry->passed++ < BURST)
			return LOG_REPEAT_PASSES;
		entry->sum.n++;
		held_in_all++;
		return LOG_REPEAT_HELD;
	}
	has_sum = take_sum(entry, now_ns, ret_sum);
	if (entry->hash != hash) {
		entry->hash = hash;
		entry->passed = 0;
		entry->sum.level = level;
		copy(entry->sum.namespace_, sizeof(entry->sum.namespace_), namespace_);
		copy(entry->sum.name, sizeof(entry->sum.name), name);
		copy(entry->sum.message, sizeof(entry->sum.message), message);
	} else if (!has_sum) {
		entry->passed = 0;
	}
	/* After a minute of too many the next one has a single line. */
	entry->passed = entry->passed ? BURST : 1;
	entry->since_ns = now_ns;
	return has_sum ? LOG_REPEAT_PASSES_AFTER_SUM : LOG_REPEAT_PASSES;
}

bool
log_repeat_due(int64_t now_ns, bool all, struct log_repeat *ret_sum)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		struct entry *entry = &entries[i];

		if (entry->hash == 0 || (!all && now_ns - entry->since_ns < WINDOW_NS))
			continue;
		if (take_sum(entry, now_ns, ret_sum)) {
			entry->since_ns = now_ns;
			entry->passed = BURST;
			return true;
		}
		entry->hash = 0;
	}
	return false;
}

void
log_repeat_clear(void)
{
	memset(entries, 0, sizeof(entries));
	held_in_all = 0;
}

uint64_t
log_repeated(void)
{
	return held_in_all;
}
