/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * logmaker_private.h - a log in the making from within: what logmaker.c (blocks, definitions, the
 * whole) and logmaker_events.c (events) know of each other. Nobody else includes it.
 */
#ifndef ENGINE_LOGMAKER_PRIVATE_H
#define ENGINE_LOGMAKER_PRIVATE_H

#include "logmaker.h"
#include "pairs.h"

/* A block is ended when its payload has grown to this. */
#define LOGMAKER_BLOCK_BYTES (64u << 10)

struct bytes {
	uint8_t *p;
	size_t len, cap;
};

/* A list of definitions that is being filled. */
struct list {
	struct bytes body;
	uint32_t first, count; /* of the block at hand */
	uint64_t prev;	       /* what the next delta goes from */
};

/* The block of events of a CPU that is being filled. */
struct cpu_block {
	struct bytes body;
	uint64_t first_ns, last_ns;
	uint32_t count;
	uint32_t current; /* tid of the last switch's next */
	bool has_current;
	struct pairs threads, stacks; /* an id less one is the index in the block */
};

enum {
	LISTS = CHAINLOG_BLOCK_END, /* by block type; most are unused */
};

struct logmaker {
	struct bytes out;
	struct list lists[LISTS];
	struct cpu_block *cpus;
	size_t n_cpus;
	uint32_t ids[LISTS]; /* given so far */
	uint64_t events, lost, threads;
	uint64_t first_ns, last_ns; /* of all events */
	bool failed;
};

/* Room for more bytes behind b->len; false, and the log has failed: out of memory. */
bool logmaker_reserve(struct logmaker *l, struct bytes *b, size_t more);
void logmaker_put(struct logmaker *l, struct bytes *b, const void *p, size_t len);
void logmaker_put_byte(struct logmaker *l, struct bytes *b, unsigned int byte);
void logmaker_put_number(struct logmaker *l, struct bytes *b, uint64_t v);
/* Adds a block; its payload is n numbers and then the body, which is emptied. */
void logmaker_put_block(struct logmaker *l, unsigned int type, const uint64_t *numbers, size_t n,
			struct bytes *body);
/* Ends the block of a CPU that is being filled. */
void logmaker_end_cpu(struct logmaker *l, uint32_t cpu);

#endif /* ENGINE_LOGMAKER_PRIVATE_H */
