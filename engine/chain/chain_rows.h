/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_rows.h - the result of folding: rows of a chain, why it ends, whose waits these are, how
 * long. A chain consists of frames, which are numbered; joined by ';' they are a folded line
 * (folded.h).
 */
#ifndef ENGINE_CHAIN_ROWS_H
#define ENGINE_CHAIN_ROWS_H

#include "chain_parts.h"

/* A row without an end: see waits. */
#define CHAIN_NO_END CHAIN_ENDS
/* What --top left out, as one line, so that sums stay whole. */
#define CHAIN_OTHER "[other]"

struct chain_row {
	uint64_t ns;
	/*
	 * Each wait is counted once, in the row of its direct waker and not in the rows of the
	 * chain beyond. Where the waker is a thread, that is a row without an end and without time;
	 * so counts add up along the stacks, too. 0 if they were not asked for.
	 */
	uint64_t waits;
	uint32_t group; /* whose waits: see chain_parts_group() */
	/* In the tree of chains: group, below it the head, below that links. 0: CHAIN_OTHER. */
	uint32_t node;
	uint32_t links; /* how many wakers there are in the chain */
	uint32_t end;	/* enum chain_end, or CHAIN_NO_END */
	uint32_t above; /* number of the part above the end: who ran, or where; 0: none */
};

/*
 * Samples of the time of a row that ends running: they share it out, by chain_rows_share_ran() or
 * when rows become lines (folded.h).
 */
struct chain_ran {
	uint32_t node, end; /* as in the row */
	uint32_t list;	    /* of frames: where it ran */
	uint64_t samples;
};

/* What they were made from must outlive them. */
struct chain_rows {
	struct chain_row *at;
	size_t n, cap;
	struct chain_ran *ran; /* in no order */
	size_t n_ran, cap_ran;
	const struct pairs *nodes; /* (parent or 0, number of the part) */
	struct chain_parts *parts;
	bool with_ends; /* show why a chain ends */
	/* Private: numbers of frames, see chain_rows_order(). */
	uint32_t *number, *frame_of;
	size_t n_numbers;
	uint32_t *frames; /* of the row asked for last */
	size_t n_frames, cap_frames;
};

/* Appends samples. 0 or -ENOMEM. */
int chain_rows_add_ran(struct chain_rows *r, const struct chain_ran *ran);
/* Appends a row. 0 or -ENOMEM. */
int chain_rows_add(struct chain_rows *r, uint32_t node, uint32_t end, uint32_t above, uint64_t ns,
		   uint64_t waits);
/*
 * Splits the rows that have samples in proportion (chain-semantics, section 8): a row for each
 * place where there were some, which stands above the end. None are left then. 0 or -ENOMEM.
 */
int chain_rows_share_ran(struct chain_rows *r);
/*
 * Puts the rows in order, group by group. With top, only the rows of the `top` widest folded lines
 * are kept; last rows with node 0 have the sums of the others, one of them (its end is
 * CHAIN_ON_CPU) of running time. Rows and frames stand in the order in which they were numbered;
 * by_content: if that is a matter of chance, because several threads took part, by what they are. 0
 * or -ENOMEM.
 */
int chain_rows_order(struct chain_rows *r, uint64_t top, bool by_content);
void chain_rows_free(struct chain_rows *r);

/*
 * The frames of a row by number, leaf first, its end included; *n: how many, 0 when out of memory.
 * Valid until the next call.
 */
const uint32_t *chain_row_frames(struct chain_rows *r, const struct chain_row *row, size_t *n);
/* Frames are numbered from 1 without gaps; two that differ in any field differ in number. */
uint32_t chain_rows_frames_end(const struct chain_rows *r);
struct chain_frame chain_rows_frame(const struct chain_rows *r, uint32_t frame);

/*
 * A row in parts: the lists of its head and links, the last link first, in path; returns how many.
 * chain_row_end() is the text of its end, or CHAIN_OTHER; NULL if it has none or none is shown.
 */
#define CHAIN_PATH_MAX (OPTIONS_DEPTH_MAX + 1)
size_t chain_row_path(const struct chain_rows *r, const struct chain_row *row,
		      uint32_t path[CHAIN_PATH_MAX]);
const char *chain_row_end(const struct chain_rows *r, const struct chain_row *row);
/* The list of frames above that; 0: there is none, or ends are not shown. */
uint32_t chain_row_above(const struct chain_rows *r, const struct chain_row *row);

#endif /* ENGINE_CHAIN_ROWS_H */
