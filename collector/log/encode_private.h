/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * encode_private.h - the encoder's state, shared by encode.c (blocks, events) and encode_define.c
 * (what events refer to). No other file includes it.
 */
#ifndef ENCODE_PRIVATE_H
#define ENCODE_PRIVATE_H

#include "common/chainlog_write.h"
#include "encode.h"
#include "common/more_blocks.h"
#include "recent.h"

/* Longer strings are cut: a demangled template name has no bound. */
#define ENCODER_STRING_MAX 4000u

enum { ENCODER_LISTS = CHAINLOG_BLOCKS };

struct encoder {
	encoder_sink sink;
	void *ctx;
	uint64_t bytes, events, lost;
	struct recent strings, frames, stacks, objects;
	uint32_t ends[CHAINLOG_STACK_ENDS]; /* stacks defined */
	uint32_t modules, spaces;
	uint8_t *tids; /* one bit for each that was seen */
	uint32_t n_tids;
	struct chainlog_list
		lists[ENCODER_LISTS];  /* by block type; block is NULL before the first item */
	struct chainlog_writer **cpus; /* NULL: no event yet */
	uint32_t n_cpus;
	struct more_blocks more;
	uint64_t kernel_more;
	struct encoder_elsewhere elsewhere;
};

/*
 * Returns where an item of a list goes, and makes room there for ENCODER_STRING_MAX +
 * CHAINLOG_ITEM_MAX bytes; NULL with *err set. chainlog_list_end_item() ends the item.
 */
uint8_t *encoder_begin_item(struct encoder *e, enum chainlog_block type, int *err);

/* Hands the list's block to the sink. 0 or the sink's negative errno. */
int encoder_flush_list(struct encoder *e, enum chainlog_block type);
/* As encoder_string(), of a text that ends with 0. */
uint32_t encoder_string_id(struct encoder *e, const char *s);
/* Notes that the trace has the thread. */
void encoder_count_thread(struct encoder *e, uint32_t tid);

#endif /* ENCODE_PRIVATE_H */
