/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_rows.h - the result of folding. A row has a chain, why it ends, whose waits these are, and
 * their time. A chain consists of frames, which are numbered; joined by ';' they are a folded line
 * (folded.h).
 */
#pragma once

#include "interned_stacks.h"

/* The end of a row that only counts waits: see struct chain_row. */
#define CHAIN_NO_END CHAIN_ENDS
/*
 * In place of a list above CHAIN_NETWORK: while another machine had the request, the number of a
 * remote_part.
 */
#define CHAIN_ROW_REMOTE 0x80000000u
/* What --top left out, as one line, so that sums stay whole. */
#define CHAIN_OTHER "[other]"

struct chain_row {
	uint64_t ns;
	/*
	 * Each wait is counted once, in the row of its direct waker and not in the rows of the rest
	 * of its chain. If the waker is a thread, that is a row with CHAIN_NO_END and without time,
	 * so that counts add up along the stacks as times do. 0 if counts were not asked for.
	 */
	uint64_t waits;
	uint32_t group; /* whose waits: see interned_stacks_thread_group() */
	/* In the tree of chains: group, below it the head, below that links. 0: CHAIN_OTHER. */
	uint32_t node;
	uint32_t links; /* number of wakers in the chain */
	uint32_t end;	/* enum chain_end, or CHAIN_NO_END */
	/* List of the frames above the end: who ran, or where; 0: none; or CHAIN_ROW_REMOTE | ...
	 */
	uint32_t above;
};

/*
 * Samples in the time of a row that ends running. The time is divided among them, by
 * chain_rows_share_ran() or when rows become lines (folded.h).
 */
struct chain_ran {
	uint32_t node, end; /* as in the row */
	uint32_t list;	    /* of frames: where the thread ran */
	uint64_t samples;
};

/* nodes and stacks are borrowed. All zero but for these is a valid empty value. */
struct chain_rows {
	struct chain_row *at;
	size_t n, cap;
	struct chain_ran *ran; /* in no order */
	size_t n_ran, cap_ran;
	const struct pairs *nodes; /* (parent or 0, number of the part) */
	struct interned_stacks *stacks;
	const struct remote_answers *remote; /* NULL: no row has CHAIN_ROW_REMOTE */
	bool with_ends;			     /* show why a chain ends */
	/* Private: numbers of frames, see chain_rows_order(). */
	uint32_t *number, *frame_of;
	size_t n_numbers;
	uint32_t *frames; /* of the row asked for last */
	size_t n_frames, cap_frames;
};

/* Appends samples. */
void chain_rows_add_ran(struct chain_rows *r, const struct chain_ran *ran);
/* Appends a row. */
void chain_rows_add(struct chain_rows *r, uint32_t node, uint32_t end, uint32_t above, uint64_t ns,
		    uint64_t waits);
/*
 * Splits each row that has samples in proportion to them (chain-semantics, section 8): into a row
 * for each place that was sampled, whose frames stand above the end. Removes all samples.
 */
void chain_rows_share_ran(struct chain_rows *r);
/*
 * Sorts the rows by group, chain and end. With top (0: all), only the rows of the `top` widest
 * folded lines are kept; the others are added up in one or two last rows with node 0, of which one
 * is for running time (its end is CHAIN_ON_CPU). Groups, chains and frames are ordered by their
 * numbers; or with by_contents by their texts, which is needed when several threads assigned the
 * numbers, so that these depend on chance.
 */
void chain_rows_order(struct chain_rows *r, uint64_t top, bool by_contents);
void chain_rows_free(struct chain_rows *r);

/*
 * The numbers of a row's frames, leaf first, its end included. *n: how many. The result is valid
 * until the next call.
 */
const uint32_t *chain_row_frames(struct chain_rows *r, const struct chain_row *row, size_t *n);
/* Numbers of frames are below this. They begin at 1; different frames have different numbers. */
uint32_t chain_rows_frames_end(const struct chain_rows *r);
/* The frame with this number. */
struct chain_frame chain_rows_frame(const struct chain_rows *r, uint32_t frame);

/*
 * Puts the frame lists of a row's links, last link first, and its head into path. Returns how many.
 */
#define CHAIN_PATH_MAX (OPTIONS_DEPTH_MAX + 1)
size_t chain_row_path(const struct chain_rows *r, const struct chain_row *row,
		      uint32_t path[CHAIN_PATH_MAX]);
/* Whose waits a node is of: see interned_stacks_thread_group(). */
uint32_t chain_node_group(const struct chain_rows *r, uint32_t node);
/* Which part of its thread's time a row has, of enum options_part; 0: nothing is known of it. */
unsigned int chain_row_part(const struct chain_rows *r, const struct chain_row *row);
/* The text of a row's end, or CHAIN_OTHER; NULL: it has no end, or ends are not shown. */
const char *chain_row_end(const struct chain_rows *r, const struct chain_row *row);
/* The list of frames above the end; 0: there is none, or ends are not shown. */
uint32_t chain_row_above(const struct chain_rows *r, const struct chain_row *row);
