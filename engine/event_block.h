/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_block.h - decodes the payload of one EVENTS block, event by event. It owns the tables that
 * the coding inside a block refers to (threads and stack pairs seen so far), and trusts nothing:
 * each number is checked before it is used.
 */
#ifndef ENGINE_EVENT_BLOCK_H
#define ENGINE_EVENT_BLOCK_H

#include <stdint.h>

#include "pairs.h"
#include "trace.h"

/* What a block says of itself at its beginning. */
struct event_block_head {
	uint32_t cpu, count;
	uint64_t first_ns, last_ns;
};

/* Stacks, as they stand in the file; those that are not defined are taken for none. */
struct event_block_pair {
	uint32_t kstack, ustack;
	uint32_t id; /* among the pairs of all blocks, see event_block.all_pairs; 0: none */
};

struct event_block_thread {
	uint32_t tid;
	/* The pair of its last switch [0] and waking [1]: 1 + index, 0: none yet. */
	uint32_t last[2];
};

/*
 * One with all zero, or only the first two members set, is ready for event_block_begin(); it can
 * be begun again for further blocks.
 */
struct event_block {
	struct pairs *all_pairs; /* stacks get their ids here; NULL: they need none */
	uint32_t stacks_end;	 /* stack ids from here on are not defined; 0: they all are */
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
 * Takes the next event. String ids are given as they stand in the file. Returns 1; 0 at
 * the end of the block; -EBADMSG if it is malformed; -ENOMEM.
 */
int event_block_next(struct event_block *b, struct event *ev);
/* Frees the tables. */
void event_block_free(struct event_block *b);

#endif /* ENGINE_EVENT_BLOCK_H */
