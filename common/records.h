/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-size records on the pipes between supervisor and worker, and on the control socket.
 *
 * One format for both: a record is RECORD_SIZE bytes, host order (both ends are one machine and one binary; the version is
 * checked). A reader takes bytes as they come and hands out whole records; an unknown version or type, a length out of range or
 * a text that is not NUL-terminated UTF-8 is an error of the sender: the reader says so and drops it, it never trusts it.
 */
#ifndef COMMON_RECORDS_H
#define COMMON_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_VERSION  1
#define RECORD_SIZE     512
#define RECORD_TEXT_MAX (RECORD_SIZE - 32)

enum record_type {
	/* supervisor -> worker (pipe down); the end of the pipe means stop */
	RECORD_STOP = 1,  /* end: start no reconcile, finish the running ones, leave; value RECORD_STOP_REMOVE: do first what onRemove says */
	RECORD_LOG_LEVEL, /* value: enum log_level; from operatorctl too, there -1: that of the configuration */
	/* worker -> supervisor (pipe up) */
	RECORD_STATE = 16, /* value: enum worker_state; text: the cause in words, may be empty */
	RECORD_CURED,      /* text: an object on the worker's list of suspects that was reconciled from end to end, or is gone */
	/* operatorctl -> supervisor (control socket) */
	RECORD_RELOAD = 32, /* answered by RECORD_LINE records and one RECORD_END */
	RECORD_STATUS,      /* the same; each RECORD_LINE is a part of one JSON document, to be joined */
	/* supervisor -> operatorctl */
	RECORD_LINE = 48, /* text: up to RECORD_TEXT_MAX - 1 bytes, no line end implied */
	RECORD_END,       /* value: 0 done, else the exit code to leave with */
	RECORD_TYPE_MAX
};

enum { RECORD_STOP_NOW, RECORD_STOP_REMOVE };

struct record {
	uint32_t version, type;
	uint32_t generation; /* the worker's incarnation; a record of an earlier one is dropped */
	int32_t value;
	int64_t when_ns; /* clock_monotonic_ns() of the sender */
	uint32_t length; /* of text, its NUL not counted */
	uint32_t reserved;
	char text[RECORD_TEXT_MAX];
};
_Static_assert(sizeof(struct record) == RECORD_SIZE, "records are of one size");

/* Fills a record; text may be NULL, is cut to fit at a character. */
void record_set(struct record *record, enum record_type type, uint32_t generation, int32_t value, const char *text);
/* 0 if version, type, length and text are sound, else -EBADMSG. */
int record_check(const struct record *record);

/* Collects bytes of a non-blocking fd into whole records. */
struct record_reader {
	size_t have;
	struct record record;
};
/* Reads what is there: 1 and *ret for a sound record, 0 nothing whole yet, -EPIPE at the end of the stream, -EBADMSG for a bad record
 * (dropped; read on), other -errno. Call until it does not return 1 or -EBADMSG. */
int record_read(struct record_reader *reader, int fd, struct record *ret);
/* Writes one record to a non-blocking fd: 0, -EAGAIN when it does not fit whole (nothing is written: RECORD_SIZE <= PIPE_BUF), other -errno. */
int record_write(int fd, const struct record *record);

#endif
