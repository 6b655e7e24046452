/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * encode_private.h - what encode.c (blocks, definitions) and encode_events.c (events of one CPU)
 * know of each other. Nobody else includes it.
 */
#ifndef ENCODE_PRIVATE_H
#define ENCODE_PRIVATE_H

#include <stdbool.h>

#include "encode.h"
#include "intern.h"

/*
 * Blocks are closed at about this size: small enough that a cut-off trace loses little, large
 * enough that the dictionaries inside a block pay.
 */
#define BLOCK_TARGET (64u << 10)
/* No event or definition but a string is longer than this (a stack of 127 frames: 1.3 kB). */
#define ITEM_MAX 4096u
/* Longer strings are cut: a demangled template name can be endless. */
#define STRING_MAX 4000u
#define BLOCK_CAP (BLOCK_TARGET + ITEM_MAX)
/* Of the stacks that are known again; some half a million of them. */
#define STACKS_KEPT_BYTES (24u << 20)
/* The kernel gives none from here on (PID_MAX_LIMIT). */
#define TIDS (1u << 22)
/* An event block's head is written when the block is closed; room for its four varints. */
#define EVENTS_HEAD_MAX (4 * CHAINLOG_VARINT_MAX)

/* A list block under construction: first_id, count and the items' bytes. */
struct list_block {
	enum chainlog_block type;
	bool has_ids;
	uint32_t first_id, count;
	uint64_t prev; /* what the next item's delta is against */
	size_t len;
	uint8_t *items;
};

/* A tid -> block-local index table with what was last said of each; reset by a new generation. */
struct thread_slot {
	uint32_t tid, generation, index;
	uint32_t stacks[2][2]; /* [switch, waking][kernel, user] */
	uint8_t has[2];
};

struct pair_slot {
	uint32_t kstack, ustack, generation, index;
};

#define THREAD_SLOTS                                                                 \
	32768u /* > BLOCK_TARGET / 2: an event of a new thread takes 3 bytes or more \
		*/
#define PAIR_SLOTS 32768u

struct cpu_block {
	uint32_t cpu;
	uint32_t generation; /* 0: no block is open */
	uint32_t threads, pairs;
	uint64_t first_ns, last_ns;
	uint32_t count;
	uint32_t current; /* the last switch's next */
	bool has_current;
	size_t len;
	uint8_t *events;
	struct thread_slot *thread_slots;
	struct pair_slot *pair_slots;
};

struct encoder {
	encoder_sink sink;
	void *ctx;
	uint64_t bytes, events, lost;
	struct intern strings, frames, stacks;
	uint8_t *tids; /* one bit for each that came up */
	uint32_t n_tids;
	struct list_block list[CHAINLOG_BLOCK_END];
	uint32_t *stack_ids; /* by intern id - 1: reserved ids are not interned */
	uint32_t stack_ids_cap, last_stack;
	uint32_t modules, spaces;
	struct cpu_block **cpus;
	uint32_t ncpus;
	uint8_t *out; /* a finished block is put together here */
	struct encoder_elsewhere elsewhere;
};

/* Gives header + head + body to the sink. Returns 0 or what the sink returned. */
int encode_put_block(struct encoder *e, enum chainlog_block type, const uint8_t *head,
		     size_t head_len, const uint8_t *body, size_t body_len);
/* The id of a C string; 0 for NULL. */
uint32_t encode_cstring(struct encoder *e, const char *s);
/* Finishes the block of one CPU if it holds anything. */
int encode_flush_events(struct encoder *e, struct cpu_block *b);
/* Takes note of a thread, for the number of different ones. */
void encode_count_thread(struct encoder *e, uint32_t tid);
void encode_free_cpu(struct cpu_block *b);

#endif /* ENCODE_PRIVATE_H */
