/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode.h - reads the events of an EVENTS block (include/chainlog.h) again that encode.h made: the
 * flight recorder keeps its events in blocks, and needs them back when they grow old or are to be
 * written. It owns the dictionaries of the block being read, which serve the next one as well.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "chainlog.h"

/* What an event says; fields that its kind does not have are 0. */
struct decoded_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu;
	uint8_t kind;	/* enum chainlog_event */
	char state;	/* of a switch: as ps shows it */
	uint32_t tid;	/* who acts: prev, waker, parent, or just the thread */
	uint32_t other; /* next, target, child; of EXEC the tid before */
	uint32_t kstack, ustack;
	uint32_t tgid;	 /* of FORK: the child's */
	uint32_t string; /* id: name, file name */
};

struct decoded_thread {
	uint32_t tid;
	uint32_t stacks[2][2]; /* [switch, waking][kernel, user] */
};

/* A zeroed struct is a decoder; decoder_free() makes it one again. */
struct decoder {
	const uint8_t *p, *end;
	uint32_t cpu, left, current;
	uint64_t time_ns;
	struct decoded_thread *threads;
	uint32_t n_threads, cap_threads;
	uint32_t (*pairs)[2];
	uint32_t n_pairs, cap_pairs;
};

/*
 * Begins with a payload of len bytes, which has to stay until it has been read. Returns 0, or
 * -EBADMSG if its head is none.
 */
int decoder_begin(struct decoder *d, const uint8_t *payload, size_t len);
/*
 * The next event into *ev. Returns 1; 0 at the end; -EBADMSG for what is no event, -ENOMEM.
 */
int decoder_next(struct decoder *d, struct decoded_event *ev);
void decoder_free(struct decoder *d);

#endif /* DECODE_H */
