/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scoreboard's two sides. The reader copies first and looks at the copy alone, since the writer may change any byte at
 * any time. The writer owns its mapping and updates it without a lock: numbers by single stores, texts within an odd
 * sequence. A writer that dies within one leaves a board that can't be read until its successor has its own.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

#include "common/clock.h"
#include "common/scoreboard.h"
#include "common/utf8.h"

/* A writer holds an odd sequence for well under a microsecond; when it was interrupted there the next period reads it. */
#define COPY_TRIES 100

static struct scoreboard private_board;
static struct scoreboard *mine = &private_board;

/* Sized, with its first words, and sealed. */
static int
prepare(int fd, uint32_t generation)
{
	const uint32_t head[] = {SCOREBOARD_VERSION, generation};

	if (ftruncate(fd, sizeof(struct scoreboard)) < 0 ||
		pwrite(fd, head, sizeof(head), 0) != sizeof(head) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	return 0;
}

int
scoreboard_create(uint32_t generation, const struct scoreboard **ret_map)
{
	void *map;
	int fd, r;

	fd = memfd_create("operatord-scoreboard", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	r = prepare(fd, generation);
	if (r < 0)
		goto fail;
	map = mmap(NULL, sizeof(struct scoreboard), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		r = -errno;
		goto fail;
	}
	if (madvise(map, sizeof(struct scoreboard), MADV_DONTFORK) < 0) {
		r = -errno;
		scoreboard_unmap(map);
		goto fail;
	}
	*ret_map = map;
	return fd;
fail:
	(void)close(fd);
	return r;
}

struct scoreboard *
scoreboard_attach(int fd)
{
	struct scoreboard *board;
	struct stat st;

	/* Beyond the end of a shorter file a store would be SIGBUS. */
	if (fstat(fd, &st) < 0 || st.st_size != (off_t)sizeof(*board))
		return NULL;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		return NULL;
	if (board->version == SCOREBOARD_VERSION)
		return board;
	scoreboard_unmap(board);
	return NULL;
}

void
scoreboard_unmap(const struct scoreboard *map)
{
	if (map)
		(void)munmap((void *)(uintptr_t)map, sizeof(*map));
}

static void
clean_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	utf8_clean_line(text);
}

/* Times of the future would make a heartbeat look fresh for ever. */
static void
clean_time(int64_t *time, int64_t now)
{
	if (*time < 0)
		*time = 0;
	if (*time > now)
		*time = now;
}

static bool
check_copy(struct scoreboard *copy, uint32_t generation)
{
	int64_t now = clock_monotonic_ns();

	if (copy->version != SCOREBOARD_VERSION || copy->generation != generation ||
		copy->state >= WORKER_STATE_MAX)
		return false;
	clean_time(&copy->heartbeat_ns, now);
	clean_time(&copy->watch_seen_ns, now);
	clean_time(&copy->live_since_ns, now);
	clean_time(&copy->busy_since_ns, now);
	clean_text(copy->busy_key, sizeof(copy->busy_key));
	clean_text(copy->server_host, sizeof(copy->server_host));
	clean_text(copy->cause, sizeof(copy->cause));
	return true;
}

bool
scoreboard_copy(const struct scoreboard *map, uint32_t generation, struct scoreboard *ret)
{
	struct scoreboard copy;

	for (int i = 0; i < COPY_TRIES; i++) {
		uint32_t before = __atomic_load_n(&map->sequence, __ATOMIC_ACQUIRE);
		if (before & 1)
			continue;
		memcpy(&copy, map, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&map->sequence, __ATOMIC_RELAXED) != before)
			continue;
		if (!check_copy(&copy, generation))
			return false;
		*ret = copy;
		return true;
	}
	return false;
}

void
scoreboard_use(struct scoreboard *board)
{
	mine = board ? board : &private_board;
}

struct scoreboard *
scoreboard_mine(void)
{
	return mine;
}

void
scoreboard_begin(void)
{
	__atomic_store_n(&mine->sequence, mine->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

void
scoreboard_end(void)
{
	__atomic_store_n(&mine->sequence, mine->sequence + 1, __ATOMIC_RELEASE);
}

/* At most size - 1 bytes of text, cut at a character; returns the length. */
static size_t
put_text(char *out, size_t size, const char *text)
{
	size_t n = utf8_cut(text, strlen(text), size - 1);

	memcpy(out, text, n);
	out[n] = '\0';
	return n;
}

void
scoreboard_set_server(const char *host)
{
	scoreboard_begin();
	(void)put_text(mine->server_host, sizeof(mine->server_host), host);
	scoreboard_end();
}

void
scoreboard_set_state(enum worker_state state, const char *cause)
{
	scoreboard_begin();
	mine->state = state;
	if (state != WORKER_LIVE)
		mine->live_since_ns = 0;
	else if (mine->live_since_ns == 0)
		mine->live_since_ns = clock_monotonic_ns();
	(void)put_text(mine->cause, sizeof(mine->cause), cause ? cause : "");
	scoreboard_end();
}

void
scoreboard_key(const char *namespace_, const char *name, char out[SCOREBOARD_KEY_MAX])
{
	size_t n = 0;

	if (namespace_ && *namespace_) {
		n = put_text(out, SCOREBOARD_KEY_MAX - 1, namespace_);
		out[n++] = '/';
	}
	(void)put_text(out + n, SCOREBOARD_KEY_MAX - n, name);
}

void
scoreboard_enter(const char *namespace_, const char *name, uint64_t version)
{
	scoreboard_begin();
	mine->busy_version = version;
	scoreboard_key(namespace_, name, mine->busy_key);
	mine->busy_since_ns = clock_monotonic_ns();
	scoreboard_end();
}

void
scoreboard_leave(void)
{
	scoreboard_begin();
	mine->busy_since_ns = 0;
	mine->busy_key[0] = '\0';
	scoreboard_end();
}

static void
store(uint64_t *slot, uint64_t value)
{
	__atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

/* The first slot of a series; NULL for one that the table does not have. */
static uint64_t *
find_slot(enum metric_id id, unsigned series)
{
	const struct metric *metric = &metrics[id];
	unsigned step = metric->type == METRIC_HISTOGRAM ? metric->n_buckets + 2 : 1;

	if (series >= metric_slots(metric) / step)
		return NULL;
	return &mine->slots[metric_offset(id) + series * step];
}

void
metric_add(enum metric_id id, unsigned series, uint64_t n)
{
	uint64_t *slot = find_slot(id, series);

	if (slot)
		store(slot, *slot + n);
}

void
metric_set(enum metric_id id, unsigned series, uint64_t value)
{
	uint64_t *slot = find_slot(id, series);

	if (slot)
		store(slot, value);
}

void
metric_observe(enum metric_id id, unsigned series, int64_t duration_ns)
{
	const struct metric *metric = &metrics[id];
	uint64_t *slot = find_slot(id, series);
	double seconds;
	unsigned i = 0;

	if (!slot)
		return;
	if (duration_ns < 0)
		duration_ns = 0;
	/* Divided, not multiplied: 5 ms gives the very double of the bound 0.005. */
	seconds = (double)duration_ns / 1e9;
	while (i < metric->n_buckets && seconds > metric->buckets[i])
		i++;
	store(&slot[i], slot[i] + 1);
	store(&slot[metric->n_buckets + 1], slot[metric->n_buckets + 1] + (uint64_t)duration_ns);
}
