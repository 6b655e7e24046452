/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_block.h - decodes the payload of one EVENTS block, event by event. It owns the tables that
 * the coding inside a block refers to (threads and stack pairs seen so far), and trusts nothing:
 * each number is checked before it is used.
 */
#ifndef ENGINE_EVENT_BLOCK_H
#define ENGINE_EVENT_BLOCK_H

#include <stdint.h>

#include "trace.h"

/* What a block says of itself at its beginning. */
struct event_block_head {
	uint32_t cpu, count;
	uint64_t first_ns, last_ns;
};

/* Stacks of a thread's last event of a kind: [0] of a switch, [1] of a waking. 0, 0: none yet. */
struct event_block_pair {
	uint32_t kstack, ustack;
};

struct event_block_thread {
	uint32_t tid;
	struct event_block_pair last[2];
};

/* A zeroed one is ready for event_block_begin(); it can be begun again for further blocks. */
struct event_block {
	const uint8_t *p, *end;
	uint64_t time_ns, last_ns;
	uint32_t cpu, left;
	uint32_t max_tid; /* the highest in any block so far */
	uint32_t current; /* index of the thread that the last switch put there */
	size_t n_threads, cap_threads, n_pairs, cap_pairs;
	struct event_block_thread *threads;
	struct event_block_pair *pairs;
};

#define EVENT_BLOCK_NO_CURRENT UINT32_MAX

/*
 * Reads the head of a payload of len bytes, which must live until the last event is taken. head
 * may be NULL. Returns 0, or -EBADMSG if it is impossible.
 */
int event_block_begin(struct event_block *b, const uint8_t *payload, uint32_t len,
		      struct event_block_head *head);
/*
 * Takes the next event. Stack and string ids are given as they stand in the file. Returns 1; 0 at
 * the end of the block; -EBADMSG if it is malformed; -ENOMEM.
 */
int event_block_next(struct event_block *b, struct event *ev);
/* Frees the tables. */
void event_block_free(struct event_block *b);

#endif /* ENGINE_EVENT_BLOCK_H */
