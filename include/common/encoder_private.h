/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * encoder_private.h - the encoder's state, shared by encoder.c (blocks, events) and
 * encoder_define.c (what events refer to). No other file includes it.
 */
#pragma once

#include <string.h>

#include "encoder.h"
#include "intern.h"

struct recent_half {
	struct intern keys;
	uint32_t *ids; /* by the number of the key - 1 */
	size_t cap;
};

/*
 * Gives keys ids that ascend from 1, and recognizes those keys that came lately, in bounded memory.
 * A key that was forgotten is a new one when it comes again. When the young half is half of what
 * may be kept, the old one is cleared, and they change places. A key that is found in the old one
 * becomes young again. All zero is empty.
 */
struct recent {
	struct recent_half young, old;
	uint32_t last; /* id given; the caller may give the next ones, too, which have no key */
};

void recent_free(struct recent *r);

/* A block of definitions in the making. */
struct encoder_list {
	uint8_t *block; /* CHAINLOG_FRONT bytes of room, then the items; NULL before the first */
	size_t len;	/* of the items */
	uint32_t first_id, count;
	uint64_t prev; /* what the next item's delta is against */
};

struct encoder_cpu {
	struct chainlog_writer *events; /* NULL: no event yet */
	struct chainlog_aux_writer *aux;
};

struct encoder {
	encoder_sink sink;
	void *ctx;
	int err; /* the first one */
	bool keep_all;
	size_t string_max; /* bytes; longer ones are cut */
	uint64_t bytes, events, lost;
	uint64_t first_ns, last_ns; /* of the EVENTS blocks that are finished */
	uint64_t aux_events;
	uint64_t aux_losses; /* those of these that report losses */
	uint64_t aux_lost;   /* how many events they report as lost */
	uint64_t kernel_aux, left_out[CHAINLOG_LEFT_OUTS];
	struct recent strings, frames, stacks, objects;
	uint32_t ends[CHAINLOG_STACK_ENDS]; /* stacks defined */
	uint32_t modules, spaces;
	/* Paths of source files, and their modules by the path's id. */
	struct intern sources;
	uint32_t *source_modules;
	size_t cap_sources;
	uint8_t *tids; /* one bit for each that was seen */
	uint32_t n_tids;
	struct encoder_list lists[CHAINLOG_BLOCKS]; /* by block type; some are never used */
	struct encoder_cpu *cpus;
	uint32_t n_cpus;
	struct encoder_elsewhere elsewhere;
};

/* Notes an error, if it is the first, and returns it. */
int encoder_note(struct encoder *e, int err);
/* Hands a finished block to the sink; NULL: none. 0 or the sink's negative errno. */
int encoder_give(struct encoder *e, const void *block, size_t len);
/* Hands the list's block to the sink. 0 or the sink's negative errno. */
int encoder_flush_list(struct encoder *e, enum chainlog_block type);
/* Notes that the trace has the thread. */
void encoder_count_thread(struct encoder *e, uint32_t tid);

static inline uint8_t *encoder_put_bytes(uint8_t *p, const void *bytes, size_t len)
{
	p = chainlog_put_varint(p, len);
	if (len)
		memcpy(p, bytes, len);
	return p + len;
}
